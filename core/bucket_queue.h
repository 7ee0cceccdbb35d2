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
    uint32_t
        next; // place of the next entry of the bucket, or of the next free one; 0 ends the list
} fm_bucket_entry;

typedef struct fm_bucket_page {
    uint64_t filled;    // bit per bucket that holds something
    uint32_t heads[64]; // places; 0: empty
} fm_bucket_page;

#define FM_BUCKET_PAGES_KEPT 8u // empty pages that stay where they are

typedef struct fm_bucket_queue {
    const fm_memory *memory;
    fm_bucket_page **pages;   // directory: page of keys (base + i) * 64 ..., or NULL
    uint64_t *filled;         // bit per directory place whose page holds something
    uint32_t base;            // key / 64 of the first directory place
    uint32_t capacity;        // places, a multiple of 64; 0 at first
    uint32_t cursor;          // no place below this one holds anything
    fm_bucket_entry *entries; // place 0 is never used
    uint32_t entry_capacity;
    uint32_t entry_free; // place of the first free entry; 0: none
    uint32_t live;       // entries in buckets, leftovers included
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
bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key, fm_slab *slab);

/// For push() and pop(): a page has got its first entry, or lost its last.
void fm_bucket_queue_page_filled(fm_bucket_queue *queue, uint32_t place);
void fm_bucket_queue_page_emptied(fm_bucket_queue *queue, fm_slab *slab);

/// Keeps the entries for which `keep` says yes and drops the others.
void fm_bucket_queue_sweep(fm_bucket_queue *queue, fm_slab *slab,
                           bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                           const void *context);

/// Adds an entry. False when memory is out.
FM_INLINE bool fm_bucket_queue_push(fm_bucket_queue *queue, uint32_t key, uint32_t ref,
                                    fm_slab *slab)
{
    uint32_t place = (key >> 6) - queue->base;
    uint32_t entry = queue->entry_free;
    if (__builtin_expect(place >= queue->capacity || entry == 0 || queue->pages[place] == NULL,
                         0)) {
        if (!fm_bucket_queue_grow(queue, key, slab)) {
            return false;
        }
        place = (key >> 6) - queue->base;
        entry = queue->entry_free;
    }
    fm_bucket_page *page = queue->pages[place];
    queue->entry_free = queue->entries[entry].next;
    queue->entries[entry].ref = ref;
    queue->entries[entry].next = page->heads[key & 63];
    page->heads[key & 63] = entry;
    if (__builtin_expect(page->filled == 0, 0)) {
        fm_bucket_queue_page_filled(queue, place);
    }
    page->filled |= (uint64_t)1 << (key & 63);
    queue->live += 1;
    return true;
}

// The newest entry of the smallest key.
typedef struct fm_bucket_top {
    uint32_t key; // FM_BUCKET_KEY_NONE: the queue is empty
    uint32_t ref;
    fm_bucket_page *page;
    uint32_t entry;
} fm_bucket_top;

/// Finds the newest entry of the smallest key.
FM_INLINE fm_bucket_top fm_bucket_queue_peek(fm_bucket_queue *queue)
{
    if (__builtin_expect(queue->live == 0, 0)) {
        return (fm_bucket_top){.key = FM_BUCKET_KEY_NONE};
    }
    uint32_t place = queue->cursor;
    fm_bucket_page *page = queue->pages[place];
    if (__builtin_expect(page == NULL || page->filled == 0, 0)) {
        uint32_t word = place >> 6;
        uint64_t bits = queue->filled[word] >> (place & 63) << (place & 63);
        while (bits == 0) {
            bits = queue->filled[++word];
        }
        place = word * 64 + (uint32_t)__builtin_ctzll(bits);
        queue->cursor = place;
        page = queue->pages[place];
    }
    uint32_t bucket = (uint32_t)__builtin_ctzll(page->filled);
    uint32_t entry = page->heads[bucket];
    return (fm_bucket_top){.key = (queue->base + place) << 6 | bucket,
                           .ref = queue->entries[entry].ref,
                           .page = page,
                           .entry = entry};
}

/// Removes the entry that fm_bucket_queue_peek() has just found, with nothing done in between.
FM_INLINE void fm_bucket_queue_take(fm_bucket_queue *queue, const fm_bucket_top *top, fm_slab *slab)
{
    fm_bucket_page *page = top->page;
    fm_bucket_entry *entry = &queue->entries[top->entry];
    uint32_t next = entry->next;
    entry->next = queue->entry_free;
    queue->entry_free = top->entry;
    queue->live -= 1;
    page->heads[top->key & 63] = next;
    if (next == 0) {
        page->filled &= page->filled - 1;
        if (page->filled == 0) {
            fm_bucket_queue_page_emptied(queue, slab);
        }
    }
}

/// The smallest key that has an entry, or FM_BUCKET_KEY_NONE; *ref receives its newest entry.
FM_INLINE uint32_t fm_bucket_queue_top(fm_bucket_queue *queue, uint32_t *ref)
{
    fm_bucket_top top = fm_bucket_queue_peek(queue);
    *ref = top.ref;
    return top.key;
}

/// Removes the entry that fm_bucket_queue_top() has just returned.
FM_INLINE void fm_bucket_queue_pop(fm_bucket_queue *queue, fm_slab *slab)
{
    fm_bucket_top top = fm_bucket_queue_peek(queue);
    fm_bucket_queue_take(queue, &top, slab);
}
