// core/base/memory.c: see memory.h.

#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MIN 4096u // elements that an empty array keeps, however few it needs

static void *libc_allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void libc_release(void *context, void *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

const fm_memory fm_memory_libc = {.allocate = libc_allocate, .release = libc_release};

void *fm_memory_allocate_zeroed(const fm_memory *memory, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total == 0) {
        return NULL;
    }
    void *block = fm_memory_allocate(memory, total);
    if (block != NULL) {
        memset(block, 0, total);
    }
    return block;
}

void *fm_memory_resize(const fm_memory *memory, void *block, size_t old_count, size_t new_count,
                       size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(new_count, size, &total) || total == 0) {
        return NULL;
    }
    void *grown = fm_memory_allocate(memory, total);
    if (grown == NULL) {
        return NULL;
    }
    size_t kept = old_count < new_count ? old_count : new_count;
    if (kept > 0) {
        memcpy(grown, block, kept * size);
    }
    fm_memory_release(memory, block, old_count * size);
    return grown;
}

bool fm_reserve(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                size_t size)
{
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t grown = *capacity < 16 ? 16 : *capacity;
    while (grown < wanted) {
        grown += grown / 2;
    }
    void *block = fm_memory_resize(memory, *array, *capacity, grown, size);
    if (block == NULL) {
        return false;
    }
    *array = block;
    *capacity = grown;
    return true;
}

bool fm_reserve_zeroed(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                       size_t size)
{
    uint32_t before = *capacity;
    if (!fm_reserve(memory, array, capacity, wanted, size)) {
        return false;
    }
    if (*capacity > before) {
        memset((char *)*array + before * size, 0, (*capacity - before) * size);
    }
    return true;
}

void fm_shrink_empty(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t needed,
                     size_t size)
{
    uint32_t kept = needed > KEPT_MIN ? needed : KEPT_MIN;
    if (*capacity / 4 <= kept) {
        return;
    }
    void *smaller = fm_memory_allocate(memory, kept * size);
    if (smaller != NULL) {
        fm_memory_release(memory, *array, *capacity * size);
        *array = smaller;
        *capacity = kept;
    }
}
