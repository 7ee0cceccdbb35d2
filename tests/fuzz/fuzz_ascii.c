// tests/fuzz/fuzz_ascii.c: any bytes as an ASCII drawing, with a legend or without, see
// map_files.h.

#include "tests/fuzz/map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_fuzz_map_file("a.txt", bytes, size);
    return 0;
}
