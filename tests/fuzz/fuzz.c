// tests/fuzz/fuzz.c: see fuzz.h.

#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *__asan_default_options(void); // AddressSanitizer calls it

// Most inputs release less than this, so their blocks stay in quarantine until they end. With
// AddressSanitizer's default of 256 MiB every new block is out of the caches, and page faults take
// a fifth of the time of an execution. Where a block was made is not kept either: an input that was
// found runs again with ASAN_OPTIONS=malloc_context_size=30.
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:malloc_context_size=0:max_malloc_fill_size=512";
}

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

static char folder[64];

static void remove_folder(void)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        unlinkat(dirfd(entries), entry->d_name, 0); // "." and ".." stay
    }
    closedir(entries);
    rmdir(folder);
}

const char *fm_fuzz_folder(void)
{
    if (folder[0] == '\0') {
        const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/fogmarch-fuzz-XXXXXX", place);
        FM_ASSERT(mkdtemp(folder) != NULL);
        atexit(remove_folder);
    }
    return folder;
}
