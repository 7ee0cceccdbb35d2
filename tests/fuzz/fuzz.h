// tests/fuzz/fuzz.h: what the fuzz targets share.
//
// A target is one function that takes any bytes. It may do whatever it likes with them but crash,
// leak, hang, or break one of the promises that it checks with FM_ASSERT. Nothing lives from one
// call to the next that could change what the next one does.

#pragma once

#include "core/base/base.h"

#include <stdint.h>

/// libFuzzer calls it with each input. @return 0
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/// Puts the bytes into a file that has no name, for readers that want a path. The same file each
/// time.
/// @return its path, static
const char *fm_fuzz_file(const uint8_t *bytes, size_t size);

/// A copy of the bytes with a NUL behind it, in a block that is not one byte larger, so that a read
/// past its end is noticed. The caller frees it.
char *fm_fuzz_text(const uint8_t *bytes, size_t size);

/// A folder for files that have to have names: in memory where the system has such a place, because
/// the disk is not what is tried; removed with its files at the end of the process.
/// @return its path, static
const char *fm_fuzz_folder(void);
