// server/process/http_files.h: the web client's files, in memory.
//
// All files below a folder are read once, at the start and on SIGHUP, and found by their exact
// path: requests never reach the disk, no path leads out of the folder, and a slow disk delays no
// client. All clients share a file's bytes.
//
// Bounds: 1024 files and 64 MiB; more are left out, and the log says so. Names that begin with a
// dot are left out.
//
// Threads: the event loop.

#pragma once

#include "server/process/http_answer.h"
#include "server/wire/http_request.h"

typedef struct fm_http_files fm_http_files;

/// Reads the files below a folder.
///
/// @return NULL when there is no index.html, or out of memory
fm_http_files *fm_http_files_read(const char *folder);

/// NULL is allowed. Answers that are under way keep what they need.
void fm_http_files_destroy(fm_http_files *files);

/// Answers with a file, or with 304 to a client that has it. "/" is index.html.
///
/// @param files  NULL: there are none
/// @return false: there is no such file
bool fm_http_files_answer(const fm_http_files *files, const fm_http_request *request,
                          fm_http_answer *answer);
