// tests/fuzz/fuzz_png.c: any bytes as a PNG, with a legend or without, see map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.png", bytes, size);
    return 0;
}
