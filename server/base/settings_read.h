// server/base/settings_read.h: files that settings name, read without waiting for ever.
//
// A pipe is fine, as in `--config <(render match.yaml)`. Where nothing comes, because a named pipe
// has no writer or a terminal nobody who types, reading ends with an error.
//
// Threads: any.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <stddef.h>

#define FM_SETTINGS_READ_MS 5000u // longest wait for the end of a file that is a pipe

/// Reads a file to its end, or as much of it as there is room for.
///
/// @param bytes  receives the file
/// @param room   bytes; a file that fills it has perhaps more
/// @param size   receives how many were read
/// @return NULL, or what is wrong in words; it is good until the thread's next call
FM_CHECKED const char *fm_settings_read(const char *path, void *bytes, size_t room, size_t *size);

/// Whether something may be opened by a library that waits for what it opens.
/// @return NULL: a regular file; or what is wrong in words
FM_CHECKED const char *fm_settings_check_regular(const char *path);
