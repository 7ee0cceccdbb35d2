// core/search/open_list.h: the open list of a forward search, by buckets or as a heap.
//
// Both forms are lazy: a cell whose priority falls is pushed again, and nothing is ever searched
// for, unlinked or sifted from the middle. The old entry no longer matches its cell; the search
// drops it when it comes to the top, because it knows g and h. This works for searches whose
// priorities only fall; D* Lite raises them and has bucket_queue.h.
//
// Buckets   one list per value of f, in a ring. With a consistent h all keys in the list lie within
//           twice the costliest step of the smallest, so the ring is short (32 for steps of 10 and
//           14) and never wraps onto itself. A bitmap of the buckets in use finds the next one.
//           Last in, first out within a bucket, which comes close to preferring larger g.
// Heap      binary, ordered by a 64-bit key: f above, the tie-break below, exactly.
//
// `kind` is a constant where the functions are called from an inner loop.

#pragma once

#include "core/base/memory.h"
#include "core/search/planner.h"

#define FM_OPEN_NONE        UINT32_MAX
#define FM_OPEN_BUCKETS_MAX 8192u

typedef struct fm_open_entry {
    uint32_t node;
    uint32_t next; // in the bucket, or in the chain of free entries
} fm_open_entry;

typedef struct fm_open_item {
    uint64_t key;
    uint32_t node;
} fm_open_item;

typedef struct fm_open_list {
    const fm_memory *memory;
    uint32_t count; // entries, stale ones included

    uint32_t bucket_count; // a power of two, at least 64; 0: none yet
    uint32_t *heads;       // by key % bucket_count: first entry, or FM_OPEN_NONE
    uint64_t *used;        // one bit per bucket: it has entries
    uint32_t cursor;       // smallest key; UINT32_MAX while there are none
    fm_open_entry *entries;
    uint32_t entry_capacity;
    uint32_t entry_top;  // entries from here on were never used
    uint32_t entry_free; // chain of free entries below entry_top

    fm_open_item *items;
    uint32_t item_capacity;
} fm_open_list;

/// Sets up an empty list. Takes no memory yet.
void fm_open_init(fm_open_list *list, const fm_memory *memory);

/// Releases all memory. The list is empty and may be used again.
void fm_open_fini(fm_open_list *list);

/// How far above the smallest key others can lie when estimates are consistent: twice the costliest
/// step. Buckets are for spans below FM_OPEN_BUCKETS_MAX.
uint32_t fm_open_span(const fm_view *view);

/// Empties the list and prepares it for keys within `span` of the smallest.
/// @return false when out of memory
FM_CHECKED bool fm_open_clear(fm_open_list *list, fm_queue_kind kind, uint32_t span);

/// The part of fm_open_reserve() that is not in line.
FM_CHECKED bool fm_open_grow(fm_open_list *list, fm_queue_kind kind, uint32_t extra);

/// Makes room for `extra` more pushes. @return false when out of memory
FM_CHECKED FM_INLINE bool fm_open_reserve(fm_open_list *list, const fm_queue_kind kind,
                                          uint32_t extra)
{
    bool fits = kind == FM_QUEUE_BUCKET ? list->entry_top + extra <= list->entry_capacity
                                        : list->count + extra <= list->item_capacity;
    return fits || fm_open_grow(list, kind, extra);
}

/// Bytes held.
size_t fm_open_bytes(const fm_open_list *list);

/// Calls `visit` for every entry, stale ones included: buckets by rising key, a heap in its order.
/// Stops when `visit` returns false.
void fm_open_visit(const fm_open_list *list, fm_queue_kind kind,
                   bool (*visit)(void *context, uint32_t node, uint64_t key), void *context);

// The distance from bucket `from` to the next one in use, around the ring. Some bucket is in use.
static inline uint32_t fm_open_gap(const fm_open_list *list, uint32_t from)
{
    uint32_t word_mask = list->bucket_count / 64 - 1;
    uint32_t word = from >> 6;
    uint64_t bits = list->used[word] >> (from & 63);
    if (bits != 0) {
        return (uint32_t)__builtin_ctzll(bits);
    }
    uint32_t gap = 64 - (from & 63);
    for (;;) {
        word = (word + 1) & word_mask;
        if (list->used[word] != 0) {
            return gap + (uint32_t)__builtin_ctzll(list->used[word]);
        }
        gap += 64;
    }
}

FM_INLINE void fm_open_push_bucket(fm_open_list *list, uint32_t node, uint32_t key)
{
    uint32_t entry = list->entry_free;
    if (entry != FM_OPEN_NONE) {
        list->entry_free = list->entries[entry].next;
    } else {
        entry = list->entry_top++;
    }
    uint32_t bucket = key & (list->bucket_count - 1);
    list->entries[entry] = (fm_open_entry){.node = node, .next = list->heads[bucket]};
    list->heads[bucket] = entry;
    list->used[bucket >> 6] |= (uint64_t)1 << (bucket & 63);
    list->cursor = key < list->cursor ? key : list->cursor;
    list->count += 1;
}

FM_INLINE void fm_open_drop_bucket(fm_open_list *list)
{
    uint32_t bucket = list->cursor & (list->bucket_count - 1);
    uint32_t entry = list->heads[bucket];
    uint32_t next = list->entries[entry].next;
    list->entries[entry].next = list->entry_free;
    list->entry_free = entry;
    list->heads[bucket] = next;
    list->count -= 1;
    if (next == FM_OPEN_NONE) {
        list->used[bucket >> 6] &= ~((uint64_t)1 << (bucket & 63));
        list->cursor = list->count > 0 ? list->cursor + fm_open_gap(list, bucket) : UINT32_MAX;
    }
}

FM_INLINE void fm_open_push_heap(fm_open_list *list, uint32_t node, uint64_t key)
{
    uint32_t slot = list->count++;
    while (slot > 0) {
        uint32_t above = (slot - 1) / 2;
        if (list->items[above].key <= key) {
            break;
        }
        list->items[slot] = list->items[above];
        slot = above;
    }
    list->items[slot] = (fm_open_item){.key = key, .node = node};
}

FM_INLINE void fm_open_drop_heap(fm_open_list *list)
{
    uint32_t count = --list->count;
    fm_open_item last = list->items[count];
    uint32_t slot = 0;
    for (uint32_t child = 1; child < count; child = 2 * slot + 1) {
        if (child + 1 < count && list->items[child + 1].key < list->items[child].key) {
            child += 1;
        }
        if (last.key <= list->items[child].key) {
            break;
        }
        list->items[slot] = list->items[child];
        slot = child;
    }
    list->items[slot] = last;
}

/// Adds a node. Room for it was reserved. Buckets: `key` is f.
FM_INLINE void fm_open_push(fm_open_list *list, const fm_queue_kind kind, uint32_t node,
                            uint64_t key)
{
    if (kind == FM_QUEUE_BUCKET) {
        fm_open_push_bucket(list, node, (uint32_t)key);
    } else {
        fm_open_push_heap(list, node, key);
    }
}

/// The node at the top. The list is not empty.
FM_INLINE uint32_t fm_open_top(const fm_open_list *list, const fm_queue_kind kind)
{
    return kind == FM_QUEUE_BUCKET
               ? list->entries[list->heads[list->cursor & (list->bucket_count - 1)]].node
               : list->items[0].node;
}

/// The key it was pushed with. The list is not empty.
FM_INLINE uint64_t fm_open_top_key(const fm_open_list *list, const fm_queue_kind kind)
{
    return kind == FM_QUEUE_BUCKET ? list->cursor : list->items[0].key;
}

/// Removes the top. The list is not empty.
FM_INLINE void fm_open_drop(fm_open_list *list, const fm_queue_kind kind)
{
    if (kind == FM_QUEUE_BUCKET) {
        fm_open_drop_bucket(list);
    } else {
        fm_open_drop_heap(list);
    }
}
