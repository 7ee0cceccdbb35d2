// tests/fuzz/fuzz.h: what the fuzz targets share.
//
// A target is one function that takes any bytes. It must not crash, leak, hang, or break one of the
// promises that it checks with FM_ASSERT. It keeps no state that could change what a later call
// does.

#pragma once

#include "core/base/base.h"

#include <stdint.h>

/// libFuzzer calls it with each input. @return 0
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/// Writes the bytes into a file without a name, for readers that need a path. Each call uses the
/// same file.
/// @return its path, static
const char *fm_fuzz_file(const uint8_t *bytes, size_t size);

/// A copy of the bytes with a NUL behind it, in a block of exactly that size, so that a read past
/// its end is noticed. The caller frees it.
char *fm_fuzz_text(const uint8_t *bytes, size_t size);

/// A folder for files that need names: in memory if possible, because the disk is not what is
/// tested. It is removed with its files at the end of the process.
/// @return its path, static
const char *fm_fuzz_folder(void);
