// tests/fuzz/fuzz_tmj.c: any bytes as Tiled's JSON, see map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.tmj", bytes, size);
    return 0;
}
