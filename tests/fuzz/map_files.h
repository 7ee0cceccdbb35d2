// tests/fuzz/map_files.h: any bytes as a map file of some format, for the targets of the readers of
// clients/maps.

#pragma once

#include "tests/fuzz/fuzz.h"

#include <stddef.h>
#include <stdint.h>

/// Reads `bytes` as a file of that name. The bytes behind the last line "%%%%" are the content of
/// every file beside it: legend, table of costs, tileset. Asserts that the file is refused with a
/// sentence and without a leak, or makes a map that is the same when it is written as .map and read
/// again.
void fm_fuzz_map_file(const char *name, const uint8_t *bytes, size_t size);
