// tests/fuzz/fuzz_pnm.c: any bytes as a PGM or PPM, with a legend or without, see map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.ppm", bytes, size);
    return 0;
}
