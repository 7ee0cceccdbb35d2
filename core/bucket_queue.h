// core/bucket_queue.h: an open list for integer keys: one list of references per key, newest first.
//
// Adding and taking the smallest are O(1). Nothing is ever searched or unlinked: the owner stores
// in its node under which key it wants to be found, leaves old entries where they are, and skips an
// entry whose key is not the node's (see core/dstar_lite.c). fm_bucket_queue_sweep() drops such
// leftovers when there are too many of them.
//
// Keys may span a wide range and be sparse (70/99 costs), so heads live in pages of 64 keys that
// exist only while one of their buckets holds something; a bit per bucket and a bit per page find
// the next key without walking over empty ones.
//
// Source: S. Koenig et al. on bucket-based open lists for D* Lite; R. Dial, "Algorithm 360", 1969.

#pragma once

#include "core/slab.h"

#define FM_BUCKET_KEY_NONE UINT32_MAX

typedef struct fm_bucket_entry {
    uint32_t ref;
    uint32_t next; // position + 1 in `entries`; 0 ends the list
} fm_bucket_entry;

typedef struct fm_bucket_page {
    uint64_t filled;    // bit per bucket that holds something
    uint32_t heads[64]; // position + 1; valid where `filled` says so
} fm_bucket_page;

typedef struct fm_bucket_queue {
    const fm_memory *memory;
    fm_bucket_page **pages; // directory: page of keys (base + i) * 64 ...
    uint64_t *filled;       // bit per directory place that has a page
    uint32_t base;          // key / 64 of the first directory place
    uint32_t capacity;      // places, a multiple of 64; 0 at first
    uint32_t cursor;        // no place below this one has a page
    fm_bucket_entry *entries;
    uint32_t entry_capacity;
    uint32_t entry_count; // places ever used in `entries`
    uint32_t entry_free;  // head of the free list, position + 1
    uint32_t live;        // entries in buckets, leftovers included
    uint32_t page_count;
} fm_bucket_queue;

/// Sets up an empty queue. Takes no memory yet.
void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory);

/// Drops all entries; keeps the arrays.
void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab);

void fm_bucket_queue_fini(fm_bucket_queue *queue, fm_slab *slab);

/// Bytes held.
size_t fm_bucket_queue_bytes(const fm_bucket_queue *queue);

/// For push(): makes room for one entry under `key`. False when memory is out.
bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key);

/// Keeps the entries for which `keep` says yes and drops the others.
void fm_bucket_queue_sweep(fm_bucket_queue *queue, fm_slab *slab,
                           bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                           const void *context);

/// Adds an entry. False when memory is out.
static inline bool fm_bucket_queue_push(fm_bucket_queue *queue, uint32_t key, uint32_t ref,
                                        fm_slab *slab)
{
    uint32_t place = (key >> 6) - queue->base;
    if (__builtin_expect(place >= queue->capacity || (queue->entry_free == 0 &&
                                                      queue->entry_count == queue->entry_capacity),
                         0)) {
        if (!fm_bucket_queue_grow(queue, key)) {
            return false;
        }
        place = (key >> 6) - queue->base;
    }
    fm_bucket_page *page = queue->pages[place];
    if (page == NULL) {
        page = fm_slab_take(slab, sizeof *page);
        if (page == NULL) {
            return false;
        }
        page->filled = 0;
        queue->pages[place] = page;
        queue->page_count += 1;
        queue->filled[place >> 6] |= (uint64_t)1 << (place & 63);
        if (place < queue->cursor) {
            queue->cursor = place;
        }
    }
    uint32_t position;
    if (queue->entry_free != 0) {
        position = queue->entry_free - 1;
        queue->entry_free = queue->entries[position].next;
    } else {
        position = queue->entry_count++;
    }
    uint32_t bucket = key & 63;
    uint64_t bit = (uint64_t)1 << bucket;
    queue->entries[position] =
        (fm_bucket_entry){.ref = ref, .next = page->filled & bit ? page->heads[bucket] : 0};
    page->heads[bucket] = position + 1;
    page->filled |= bit;
    queue->live += 1;
    return true;
}

/// The smallest key that has an entry, or FM_BUCKET_KEY_NONE; *ref receives its newest entry.
static inline uint32_t fm_bucket_queue_top(fm_bucket_queue *queue, uint32_t *ref)
{
    if (queue->live == 0) {
        return FM_BUCKET_KEY_NONE;
    }
    uint32_t place = queue->cursor;
    if (queue->pages[place] == NULL) {
        uint32_t word = place >> 6;
        uint64_t bits = queue->filled[word] >> (place & 63) << (place & 63);
        while (bits == 0) {
            bits = queue->filled[++word];
        }
        place = word * 64 + (uint32_t)__builtin_ctzll(bits);
        queue->cursor = place;
    }
    const fm_bucket_page *page = queue->pages[place];
    uint32_t bucket = (uint32_t)__builtin_ctzll(page->filled);
    *ref = queue->entries[page->heads[bucket] - 1].ref;
    return (queue->base + place) << 6 | bucket;
}

/// Removes the entry that fm_bucket_queue_top() has just returned.
static inline void fm_bucket_queue_pop(fm_bucket_queue *queue, fm_slab *slab)
{
    fm_bucket_page *page = queue->pages[queue->cursor];
    uint32_t bucket = (uint32_t)__builtin_ctzll(page->filled);
    uint32_t position = page->heads[bucket] - 1;
    uint32_t next = queue->entries[position].next;
    queue->entries[position].next = queue->entry_free;
    queue->entry_free = position + 1;
    queue->live -= 1;
    page->heads[bucket] = next;
    if (next == 0) {
        page->filled &= page->filled - 1;
        if (page->filled == 0) {
            queue->pages[queue->cursor] = NULL;
            queue->page_count -= 1;
            queue->filled[queue->cursor >> 6] &= ~((uint64_t)1 << (queue->cursor & 63));
            fm_slab_give(slab, page, sizeof *page);
        }
    }
}
