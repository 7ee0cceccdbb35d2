// core/base/heap.h: an indexed binary heap on 64-bit keys, for keys too sparse for buckets, and as
// the textbook's open list in comparisons.
//
// The owner packs its whole lexicographic priority into the key, so that comparing is one
// instruction, and keeps for every reference where in the heap it is: `place_of(context, ref)`
// gives a pointer to that number, which is position + 1, or 0 while not in the heap. Pass a static
// inline function, so that the compiler folds it in.

#pragma once

#include "core/base/memory.h"

typedef struct fm_heap_entry {
    uint64_t key;
    uint32_t ref;
} fm_heap_entry;

typedef struct fm_heap {
    const fm_memory *memory;
    fm_heap_entry *entries; // smallest key first, children of i at 2i + 1 and 2i + 2
    uint32_t count;
    uint32_t capacity;
} fm_heap;

typedef uint32_t *fm_heap_place_fn(const void *context, uint32_t ref);

static inline void fm_heap_init(fm_heap *heap, const fm_memory *memory)
{
    *heap = (fm_heap){.memory = memory};
}

static inline void fm_heap_fini(fm_heap *heap)
{
    fm_memory_release(heap->memory, heap->entries, heap->capacity * sizeof *heap->entries);
    *heap = (fm_heap){.memory = heap->memory};
}

static inline size_t fm_heap_bytes(const fm_heap *heap)
{
    return heap->capacity * sizeof *heap->entries;
}

FM_INLINE void fm_heap_put(fm_heap *heap, uint32_t position, fm_heap_entry entry,
                           fm_heap_place_fn *place_of, const void *context)
{
    heap->entries[position] = entry;
    *place_of(context, entry.ref) = position + 1;
}

FM_INLINE void fm_heap_sift_up(fm_heap *heap, uint32_t position, fm_heap_entry entry,
                               fm_heap_place_fn *place_of, const void *context)
{
    while (position > 0) {
        uint32_t above = (position - 1) / 2;
        if (heap->entries[above].key <= entry.key) {
            break;
        }
        fm_heap_put(heap, position, heap->entries[above], place_of, context);
        position = above;
    }
    fm_heap_put(heap, position, entry, place_of, context);
}

FM_INLINE void fm_heap_sift_down(fm_heap *heap, uint32_t position, fm_heap_entry entry,
                                 fm_heap_place_fn *place_of, const void *context)
{
    for (;;) {
        uint32_t child = 2 * position + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && heap->entries[child + 1].key < heap->entries[child].key) {
            child += 1;
        }
        if (heap->entries[child].key >= entry.key) {
            break;
        }
        fm_heap_put(heap, position, heap->entries[child], place_of, context);
        position = child;
    }
    fm_heap_put(heap, position, entry, place_of, context);
}

/// Inserts a reference or changes its key, up or down. False when out of memory.
FM_INLINE bool fm_heap_set(fm_heap *heap, uint64_t key, uint32_t ref, fm_heap_place_fn *place_of,
                           const void *context)
{
    fm_heap_entry entry = {.key = key, .ref = ref};
    uint32_t place = *place_of(context, ref);
    if (place == 0) {
        if (!FM_RESERVE_FROM(heap->memory, heap->entries, heap->capacity, heap->count + 1)) {
            return false;
        }
        fm_heap_sift_up(heap, heap->count++, entry, place_of, context);
    } else if (key < heap->entries[place - 1].key) {
        fm_heap_sift_up(heap, place - 1, entry, place_of, context);
    } else {
        fm_heap_sift_down(heap, place - 1, entry, place_of, context);
    }
    return true;
}

/// Takes a reference out; nothing happens when it is not in.
FM_INLINE void fm_heap_remove(fm_heap *heap, uint32_t ref, fm_heap_place_fn *place_of,
                              const void *context)
{
    uint32_t *place = place_of(context, ref);
    if (*place == 0) {
        return;
    }
    uint32_t position = *place - 1;
    *place = 0;
    fm_heap_entry last = heap->entries[--heap->count];
    if (position == heap->count) {
        return;
    }
    if (position > 0 && last.key < heap->entries[(position - 1) / 2].key) {
        fm_heap_sift_up(heap, position, last, place_of, context);
    } else {
        fm_heap_sift_down(heap, position, last, place_of, context);
    }
}
