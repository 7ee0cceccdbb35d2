// tests/fuzz/fuzz_tmx.c: any bytes as Tiled's XML, see map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.tmx", bytes, size);
    return 0;
}
