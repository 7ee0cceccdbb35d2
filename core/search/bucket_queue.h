// core/search/bucket_queue.h: an open list for integer keys: one list of references per key, newest
// first.
//
// Adding and taking the smallest are O(1). Nothing is ever searched or unlinked: the owner stores
// in its node the key that counts, leaves old entries where they are, and skips an entry whose key
// is not the node's (see core/search/dstar_open.h). fm_bucket_queue_sweep() drops such leftovers
// when there may be too many of them.
//
// An owner whose keys may all have become too small (the agents have moved) calls
// fm_bucket_queue_age(). What is queued by then is stale: it still comes up by its old key, but
// must be renewed with fm_bucket_queue_refresh() before it can be taken. That renews a run of stale
// entries in one small loop, far cheaper than taking each and queuing it again.
//
// Keys may span a wide range and be sparse (70/99 costs), so heads live in pages of 64 keys that
// stand in the directory only while one of their buckets holds something; a bit per bucket and a
// bit per page find the next key without walking over empty ones. The page of the smallest key is
// at hand.
//
// Source: S. Koenig et al. on bucket-based open lists for D* Lite; R. Dial, "Algorithm 360", 1969.

#pragma once

#include "core/base/slab.h"

#define FM_BUCKET_KEY_NONE UINT32_MAX

typedef struct fm_bucket_entry {
    uint32_t ref;
    uint32_t next; // place of the next entry of the bucket, or of the next free one; 0 ends a list
} fm_bucket_entry;

typedef struct fm_bucket_page fm_bucket_page;

struct fm_bucket_page {
    uint64_t filled;    // bit per bucket that holds something
    uint32_t epoch;     // the queue's when `stale` was set
    uint32_t heads[64]; // places; 0: empty
    uint32_t stale[64]; // place of the first entry from before the epoch; 0: none
    fm_bucket_page *next_spare;
};

#define FM_BUCKET_SPARES_MAX 8u    // pages kept for the next keys
#define FM_BUCKET_SWEEP_MIN  1024u // up to so many entries there is no sweep

typedef struct fm_bucket_queue {
    const fm_memory *memory;
    fm_bucket_page *top;      // page of the smallest key; NULL: the queue is empty
    uint32_t top_key;         // its first key
    uint32_t entry_free;      // place of the first free entry; 0: none
    fm_bucket_entry *entries; // place 0 is never used
    fm_bucket_page **pages;   // directory: page of keys (base + i) * 64 ..., NULL: nothing there
    uint32_t base;            // key / 64 of the first directory place
    uint32_t capacity;        // places, a multiple of 64; 0 at first
    uint32_t live;            // entries in buckets, leftovers included
    uint32_t sweep_above;     // see fm_bucket_queue_sweep()
    uint64_t *filled;         // bit per directory place that has a page
    fm_bucket_page *spares;   // all zero
    uint32_t spare_count;
    uint32_t entry_capacity;
    uint32_t page_count; // spares included
    uint32_t epoch;      // one more whenever the queue has aged
} fm_bucket_queue;

/// Sets up an empty queue. Takes no memory yet.
void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory);

/// Drops all entries; keeps the arrays.
void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab);

void fm_bucket_queue_fini(fm_bucket_queue *queue, fm_slab *slab);

/// Bytes held.
size_t fm_bucket_queue_bytes(const fm_bucket_queue *queue);

/// From now on every entry is stale.
void fm_bucket_queue_age(fm_bucket_queue *queue);

/// Drops the entries for which `keep` returns false, but only if there are three times as many as
/// after the last sweep (at first, as FM_BUCKET_SWEEP_MIN).
void fm_bucket_queue_sweep(fm_bucket_queue *queue, fm_slab *slab,
                           bool (*keep)(const void *context, uint32_t key, uint32_t ref),
                           const void *context);

/// For push(): makes a page for `key`, which is about to get its first entry, or room for more
/// entries. False when out of memory.
bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key, fm_slab *slab);
bool fm_bucket_queue_grow_entries(fm_bucket_queue *queue);

/// The top page has lost its last entry.
void fm_bucket_queue_top_emptied(fm_bucket_queue *queue, fm_slab *slab);

/// The page of a key, marked as holding something under it: the caller adds an entry at once. NULL
/// when out of memory.
FM_INLINE fm_bucket_page *fm_bucket_queue_page_for(fm_bucket_queue *queue, uint32_t key,
                                                   fm_slab *slab)
{
    uint32_t place = (key >> 6) - queue->base;
    if (__builtin_expect(place >= queue->capacity || queue->pages[place] == NULL, 0)) {
        if (!fm_bucket_queue_grow(queue, key, slab)) {
            return NULL;
        }
        place = (key >> 6) - queue->base;
    }
    fm_bucket_page *page = queue->pages[place];
    page->filled |= (uint64_t)1 << (key & 63);
    return page;
}

/// Adds an entry. False when out of memory.
FM_INLINE bool fm_bucket_queue_push(fm_bucket_queue *queue, uint32_t key, uint32_t ref,
                                    fm_slab *slab)
{
    if (__builtin_expect(queue->entry_free == 0, 0) && !fm_bucket_queue_grow_entries(queue)) {
        return false;
    }
    fm_bucket_page *page = fm_bucket_queue_page_for(queue, key, slab);
    if (__builtin_expect(page == NULL, 0)) {
        return false;
    }
    uint32_t place = queue->entry_free;
    fm_bucket_entry *entry = &queue->entries[place];
    queue->entry_free = entry->next;
    *entry = (fm_bucket_entry){.ref = ref, .next = page->heads[key & 63]};
    page->heads[key & 63] = place;
    queue->live += 1;
    return true;
}

// The newest entry of the smallest key.
typedef struct fm_bucket_top {
    uint32_t key; // FM_BUCKET_KEY_NONE: the queue is empty
    uint32_t ref;
    uint32_t place; // of the entry
} fm_bucket_top;

/// Finds the newest entry of the smallest key.
FM_INLINE fm_bucket_top fm_bucket_queue_peek(const fm_bucket_queue *queue)
{
    const fm_bucket_page *page = queue->top;
    if (__builtin_expect(page == NULL, 0)) {
        return (fm_bucket_top){.key = FM_BUCKET_KEY_NONE};
    }
    uint32_t bucket = (uint32_t)__builtin_ctzll(page->filled);
    uint32_t place = page->heads[bucket];
    return (fm_bucket_top){
        .key = queue->top_key | bucket, .ref = queue->entries[place].ref, .place = place};
}

/// Whether the entry that fm_bucket_queue_peek() has just found is stale.
FM_INLINE bool fm_bucket_queue_is_stale(const fm_bucket_queue *queue, const fm_bucket_top *top)
{
    return queue->top->stale[top->key & 63] == top->place;
}

// The list of the smallest key has become another one.
FM_INLINE void fm_bucket_queue_set_top_list(fm_bucket_queue *queue, uint32_t bucket, uint32_t head,
                                            fm_slab *slab)
{
    fm_bucket_page *page = queue->top;
    page->heads[bucket] = head;
    if (head == 0) {
        page->filled &= page->filled - 1;
        if (__builtin_expect(page->filled == 0, 0)) {
            fm_bucket_queue_top_emptied(queue, slab);
        }
    }
}

/// Removes the entry that the call just before, fm_bucket_queue_peek(), has found. It is not stale.
FM_INLINE void fm_bucket_queue_take(fm_bucket_queue *queue, const fm_bucket_top *top, fm_slab *slab)
{
    fm_bucket_entry *entry = &queue->entries[top->place];
    uint32_t next = entry->next;
    entry->next = queue->entry_free;
    queue->entry_free = top->place;
    queue->live -= 1;
    fm_bucket_queue_set_top_list(queue, top->key & 63, next, slab);
}

// Returns the new key of a stale entry: not smaller than `key`, or FM_BUCKET_KEY_NONE for a
// leftover.
typedef uint32_t fm_bucket_rekey_fn(const void *context, uint32_t key, uint32_t ref);

// What fm_bucket_queue_refresh() did.
typedef struct fm_bucket_refresh {
    uint32_t moved; // entries that have another key now
    bool failed;    // out of memory; nothing is lost
} fm_bucket_refresh;

/// Renews the keys of stale entries of the smallest key, the newest first, up to one that keeps it,
/// which is then stale no longer. Expansions then come in the same order as if each entry were
/// renewed when it came up.
///
/// @param top    what fm_bucket_queue_peek() has just found, a stale entry
/// @param limit  moves at most so many entries; >= 1
/// @param rekey  a static inline function, so that the compiler folds it in
FM_INLINE fm_bucket_refresh fm_bucket_queue_refresh(fm_bucket_queue *queue,
                                                    const fm_bucket_top *top, uint32_t limit,
                                                    fm_bucket_rekey_fn *rekey, const void *context,
                                                    fm_slab *slab)
{
    fm_bucket_refresh done = {0};
    uint32_t place = top->place;
    uint32_t stale = place;
    while (place != 0 && done.moved < limit) {
        fm_bucket_entry *entry = &queue->entries[place];
        uint32_t next = stale = entry->next;
        uint32_t key = rekey(context, top->key, entry->ref);
        uint32_t *list = &queue->entry_free; // where the entry goes
        if (key == top->key) {
            break;
        }
        if (key == FM_BUCKET_KEY_NONE) {
            queue->live -= 1;
        } else {
            fm_bucket_page *page = fm_bucket_queue_page_for(queue, key, slab);
            if (__builtin_expect(page == NULL, 0)) {
                done.failed = true;
                break;
            }
            list = &page->heads[key & 63];
            done.moved += 1;
        }
        entry->next = *list;
        *list = place;
        place = next;
    }
    queue->top->stale[top->key & 63] = stale;
    fm_bucket_queue_set_top_list(queue, top->key & 63, place, slab);
    return done;
}
