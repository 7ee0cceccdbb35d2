// core/base/memory.h: where a world's memory comes from.
//
// core/ never calls malloc for anything that belongs to a world. It asks the fm_memory the world
// was created with, so that the server can give each world a jemalloc arena of its own, count its
// bytes, and take everything back at once when the world goes.
//
// Threads: both functions are called from workers at the same time and must be thread-safe.

#pragma once

#include "core/base/base.h"

typedef struct fm_memory {
    /// size >= 1 bytes, aligned for any type, contents unspecified; NULL when out of memory.
    void *(*allocate)(void *context, size_t size);
    /// Gives back what allocate() returned; `size` is the size it was asked for. Not NULL.
    void (*release)(void *context, void *block, size_t size);
    void *context;
} fm_memory;

/// The C library's allocator.
extern const fm_memory fm_memory_libc;

static inline void *fm_memory_allocate(const fm_memory *memory, size_t size)
{
    return memory->allocate(memory->context, size);
}

/// NULL is allowed.
static inline void fm_memory_release(const fm_memory *memory, void *block, size_t size)
{
    if (block != NULL) {
        memory->release(memory->context, block, size);
    }
}

/// Zeroed. NULL when out of memory, or when count * size overflows.
void *fm_memory_allocate_zeroed(const fm_memory *memory, size_t count, size_t size);

/// Grows (or shrinks) an array, keeping the first min(old_count, new_count) elements. On failure
/// returns NULL and leaves the old array as it was. `block` may be NULL when old_count is 0.
void *fm_memory_resize(const fm_memory *memory, void *block, size_t old_count, size_t new_count,
                       size_t size);

/// Makes room for `wanted` elements of `size` bytes in a growing array of `*capacity`, half as much
/// again each time. On failure the array stays as it was.
///
/// @return whether there is room now
bool fm_reserve(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                size_t size);

/// The same; all bytes of new elements are 0.
bool fm_reserve_zeroed(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                       size_t size);

/// An empty array that needed less than a quarter of its room gives the rest back, but for a few
/// thousand elements. Out of memory it stays as it is.
///
/// @param needed  elements that it held last, or is about to hold
void fm_shrink_empty(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t needed,
                     size_t size);

// fm_reserve() by the names of the array and its capacity; true on success.
#define FM_RESERVE_FROM(memory, array, capacity, wanted)                                           \
    ((wanted) <= (capacity) ||                                                                     \
     fm_reserve((memory), (void **)&(array), &(capacity), (wanted), sizeof *(array)))

// fm_shrink_empty() by the names of the array and its capacity.
#define FM_SHRINK_EMPTY(memory, array, capacity, needed)                                           \
    fm_shrink_empty((memory), (void **)&(array), &(capacity), (needed), sizeof *(array))
