// tests/fuzz/fuzz.c: see fuzz.h.

#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fm_fuzz_file(const uint8_t *bytes, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", 0);
        FM_ASSERT(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    FM_ASSERT(ftruncate(file, 0) == 0);
    FM_ASSERT(pwrite(file, bytes, size, 0) == (ssize_t)size);
    return path;
}

char *fm_fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    FM_ASSERT(text != NULL);
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}
