// server/base/first_line.h: files of which only the first line counts: a token or a password.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <stddef.h>

/// Reads the first line of a file. Neither the line nor a part of it is ever in an error text.
///
/// @param key    name of the setting that names the file, for the error
/// @param path   the file
/// @param line   receives the line without its end; empty after an error
/// @param size   room in `line`; a line has 1 to `size` - 2 bytes
/// @param error  receives a sentence, KEY: 'PATH': what is wrong
/// @param room   of `error`
/// @return FM_OK, FM_ERR_IO (it cannot be read) or FM_ERR_BAD_VALUE (there is no such line)
FM_CHECKED fm_status fm_first_line_read(const char *key, const char *path, char *line, size_t size,
                                        char *error, size_t room);
