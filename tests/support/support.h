// support.h: what many tests need: cmocka with its prerequisites, the seed of this
// run, memory that runs out, whole files, and the benchmark maps, if they are beside the checkout.
//
// Environment
//   FOGMARCH_SEED  seed of the random tests; without it, or empty, every run draws another one and
//                  prints it; tests/run sets it
//   FOGMARCH_MAPS  folder of benchmark maps; by default ../shared/maps beside the source tree
//
// Each function fails the test with a message when it cannot do its work, so callers check nothing.

#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/base/memory.h"

/// The seed of this run: FOGMARCH_SEED, or a fresh one. The same for the whole process, printed at
/// the first call.
static inline uint64_t fm_test_seed(void)
{
    static bool chosen = false;
    static uint64_t seed;
    if (chosen) {
        return seed;
    }
    const char *given = getenv("FOGMARCH_SEED");
    if (given != NULL && given[0] != '\0') {
        char *end;
        seed = strtoull(given, &end, 0);
        if (*end != '\0') {
            fail_msg("FOGMARCH_SEED is not a number: %s", given);
        }
    } else if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        fail_msg("getrandom: %s", strerror(errno));
    }
    chosen = true;
    print_message("[ SEED     ] to repeat this run: FOGMARCH_SEED=%llu\n",
                  (unsigned long long)seed);
    return seed;
}

// Memory that gives so many blocks and then no more, and counts the blocks that it gave. For one
// thread.
typedef struct fm_test_memory {
    fm_memory memory; // pass this one on
    uint64_t left;    // blocks it will still give
    uint64_t held;    // blocks given and not yet released
} fm_test_memory;

static inline void *fm_test_memory_allocate(void *context, size_t size)
{
    fm_test_memory *test = context;
    if (test->left == 0) {
        return NULL;
    }
    char *block = malloc(size + 16); // the size goes in front, where release can check it
    if (block == NULL) {
        fail_msg("malloc(%zu) failed", size + 16);
    }
    test->left -= 1;
    test->held += 1;
    memcpy(block, &size, sizeof size);
    return block + 16;
}

static inline void fm_test_memory_release(void *context, void *block, size_t size)
{
    fm_test_memory *test = context;
    size_t allocated_size;
    memcpy(&allocated_size, (char *)block - 16, sizeof allocated_size);
    assert_int_equal(size, allocated_size);
    test->held -= 1;
    free((char *)block - 16);
}

/// Prepares memory that gives `left` blocks; UINT64_MAX: no limit.
static inline void fm_test_memory_init(fm_test_memory *test, uint64_t left)
{
    *test = (fm_test_memory){.memory = {fm_test_memory_allocate, fm_test_memory_release, test},
                             .left = left};
}

/// Reads a whole file. The caller frees the bytes, which are followed by a NUL that `size` does
/// not count.
static inline char *fm_test_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s: %s", path, strerror(errno));
    }
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        fail_msg("%s: not a regular file", path);
    }
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size + 1);
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size) {
        fail_msg("%s: cannot read %zu bytes", path, *size);
    }
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

/// The folder of benchmark maps. Where there is none, the calling test is skipped with a message
/// that says so, and this does not return.
static inline const char *fm_test_maps(void)
{
    const char *folder = getenv("FOGMARCH_MAPS");
    if (folder == NULL || folder[0] == '\0') {
        folder = FOGMARCH_MAPS_DEFAULT;
    }
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
        print_message("[ SKIPPED  ] no maps in %s; FOGMARCH_MAPS names another folder\n", folder);
        skip();
    }
    return folder;
}

/// The benchmark files MAPS/FOLDER/NAME that match a pattern such as "*.map" or "*.scen", in the
/// order of their names: gl_pathv[0 .. gl_pathc - 1], released with globfree(). Skips the calling
/// test like fm_test_maps().
static inline glob_t fm_test_find_maps(const char *pattern)
{
    char full_pattern[4096];
    snprintf(full_pattern, sizeof full_pattern, "%s/*/%s", fm_test_maps(), pattern);
    glob_t found;
    if (glob(full_pattern, 0, NULL, &found) != 0) {
        fail_msg("nothing matches %s", full_pattern);
    }
    return found;
}
