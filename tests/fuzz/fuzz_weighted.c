// tests/fuzz/fuzz_weighted.c: any bytes as a MovingAI map with a legend and a table of costs, see
// map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.map", bytes, size);
    return 0;
}
