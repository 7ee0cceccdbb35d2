// core/search/bucket_queue.h: an open list for integer keys whose links stand in the nodes: one
// list of cells per key, newest first.
//
// A queued cell's node holds references of the cells before and after it in its bucket, so adding a
// cell, removing any and taking the smallest are O(1), nothing is left behind, and the queue takes
// no memory for a cell. The first cell of a bucket holds the key in place of a predecessor; the
// others do not know theirs.
//
// An owner whose keys may all have become too small (the agents have moved) compares the key of the
// top with what it ought to be before taking it, and calls fm_bucket_queue_renew() if it differs.
// That renews a run of cells in one small loop, far cheaper than taking each and queuing it again.
//
// Keys may span a wide range and be sparse (70/99 costs), so heads live in pages of 64 keys that
// stand in the directory only while one of their buckets holds something; a bit per bucket and a
// bit per page find the next key without walking over empty ones. The page of the smallest key is
// at hand.
//
// Source: S. Koenig et al. on bucket-based open lists for D* Lite; R. Dial, "Algorithm 360", 1969.

#pragma once

#include "core/search/pages.h"

#define FM_BUCKET_KEY_NONE UINT32_MAX
#define FM_BUCKET_FIRST    (1u << 24) // above all references: a map has at most 2^24 cells

// The queue's part of a node. Blank: {FM_NODE_NONE, FM_NODE_NONE}.
typedef struct fm_bucket_links {
    uint32_t next; // FM_NODE_NONE: the last of its bucket
    uint32_t prev; // FM_BUCKET_FIRST + key: the first one; FM_NODE_NONE: not queued
} fm_bucket_links;

// How the nodes of a queue's owner begin and end.
typedef struct fm_bucket_node {
    uint32_t owners[2];
    fm_bucket_links links;
} fm_bucket_node;

typedef struct fm_bucket_page fm_bucket_page;

struct fm_bucket_page {
    uint64_t filled;    // bit per bucket that holds something
    uint32_t heads[64]; // references; FM_NODE_NONE: empty
    fm_bucket_page *next_spare;
};

#define FM_BUCKET_SPARES_MAX 8u // pages kept for the next keys

typedef struct fm_bucket_queue {
    const fm_memory *memory;
    fm_bucket_page *top;    // page of the smallest key; NULL: the queue is empty
    uint32_t top_key;       // its first key; FM_BUCKET_KEY_NONE: there is none
    uint32_t base;          // key / 64 of the first directory place
    fm_bucket_page **pages; // directory: page of keys (base + i) * 64 ..., NULL: nothing there
    uint32_t capacity;      // places, a multiple of 64; 0 at first
    uint32_t spare_count;
    uint64_t *filled;       // bit per directory place that has a page
    fm_bucket_page *spares; // all empty
    uint32_t page_count;    // spares included
} fm_bucket_queue;

// `nodes` below are those of the cells, always the same for a queue. They have the size of
// fm_bucket_node.

/// Sets up an empty queue. Takes no memory yet.
void fm_bucket_queue_init(fm_bucket_queue *queue, const fm_memory *memory);

/// Drops everything; keeps the directory. The nodes are the caller's to forget.
void fm_bucket_queue_clear(fm_bucket_queue *queue, fm_slab *slab);

void fm_bucket_queue_fini(fm_bucket_queue *queue, fm_slab *slab);

/// Bytes held.
size_t fm_bucket_queue_bytes(const fm_bucket_queue *queue);

/// For push(): makes a page for `key`, which is about to get its first cell. False when out of
/// memory.
bool fm_bucket_queue_grow(fm_bucket_queue *queue, uint32_t key, fm_slab *slab);

/// The page at a directory place has lost its last cell.
void fm_bucket_queue_emptied(fm_bucket_queue *queue, uint32_t place, fm_slab *slab);

FM_INLINE fm_bucket_links *fm_bucket_links_of(const fm_pages *nodes, uint32_t ref)
{
    fm_bucket_node *first = (void *)fm_node_page(nodes, ref)->nodes;
    return &first[fm_node_position(ref)].links;
}

FM_INLINE bool fm_bucket_is_queued(const fm_bucket_links *links)
{
    return links->prev != FM_NODE_NONE;
}

/// The page of a key that is about to get a cell. NULL when out of memory.
FM_INLINE fm_bucket_page *fm_bucket_queue_page_for(fm_bucket_queue *queue, uint32_t key,
                                                   fm_slab *slab)
{
    if ((key ^ queue->top_key) < 64) {
        return queue->top;
    }
    uint32_t place = (key >> 6) - queue->base;
    if (__builtin_expect(place >= queue->capacity || queue->pages[place] == NULL, 0)) {
        if (!fm_bucket_queue_grow(queue, key, slab)) {
            return NULL;
        }
        place = (key >> 6) - queue->base;
    }
    return queue->pages[place];
}

/// Adds a cell that is not queued. False when out of memory.
FM_INLINE bool fm_bucket_queue_push(fm_bucket_queue *queue, const fm_pages *nodes, uint32_t key,
                                    uint32_t ref, fm_bucket_links *links, fm_slab *slab)
{
    fm_bucket_page *page = fm_bucket_queue_page_for(queue, key, slab);
    if (__builtin_expect(page == NULL, 0)) {
        return false;
    }
    uint32_t head = page->heads[key & 63];
    page->heads[key & 63] = ref;
    page->filled |= (uint64_t)1 << (key & 63);
    links->next = head;
    links->prev = FM_BUCKET_FIRST + key;
    if (head != FM_NODE_NONE) {
        fm_bucket_links_of(nodes, head)->prev = ref;
    }
    return true;
}

// A bucket begins with another cell, or is empty. `page` is that of its key.
FM_INLINE void fm_bucket_queue_set_head(fm_bucket_queue *queue, const fm_pages *nodes,
                                        fm_bucket_page *page, uint32_t key, uint32_t head,
                                        fm_slab *slab)
{
    page->heads[key & 63] = head;
    if (head != FM_NODE_NONE) {
        fm_bucket_links_of(nodes, head)->prev = FM_BUCKET_FIRST + key;
        return;
    }
    page->filled &= ~((uint64_t)1 << (key & 63));
    if (__builtin_expect(page->filled == 0, 0)) {
        fm_bucket_queue_emptied(queue, (key >> 6) - queue->base, slab);
    }
}

/// Removes a queued cell.
FM_INLINE void fm_bucket_queue_remove(fm_bucket_queue *queue, const fm_pages *nodes,
                                      fm_bucket_links *links, fm_slab *slab)
{
    uint32_t next = links->next, prev = links->prev;
    links->prev = FM_NODE_NONE;
    if (prev >= FM_BUCKET_FIRST) {
        uint32_t key = prev - FM_BUCKET_FIRST;
        fm_bucket_page *page = queue->pages[(key >> 6) - queue->base];
        fm_bucket_queue_set_head(queue, nodes, page, key, next, slab);
        return;
    }
    fm_bucket_links_of(nodes, prev)->next = next;
    if (next != FM_NODE_NONE) {
        fm_bucket_links_of(nodes, next)->prev = prev;
    }
}

// The newest cell of the smallest key.
typedef struct fm_bucket_top {
    uint32_t key; // FM_BUCKET_KEY_NONE: the queue is empty
    uint32_t ref;
} fm_bucket_top;

/// Finds the newest cell of the smallest key.
FM_INLINE fm_bucket_top fm_bucket_queue_peek(const fm_bucket_queue *queue)
{
    const fm_bucket_page *page = queue->top;
    if (__builtin_expect(page == NULL, 0)) {
        return (fm_bucket_top){.key = FM_BUCKET_KEY_NONE};
    }
    uint32_t bucket = (uint32_t)__builtin_ctzll(page->filled);
    return (fm_bucket_top){.key = queue->top_key | bucket, .ref = page->heads[bucket]};
}

/// Removes the cell that the call just before, fm_bucket_queue_peek(), has found.
FM_INLINE void fm_bucket_queue_take(fm_bucket_queue *queue, const fm_pages *nodes,
                                    const fm_bucket_top *top, fm_bucket_links *links, fm_slab *slab)
{
    links->prev = FM_NODE_NONE;
    fm_bucket_queue_set_head(queue, nodes, queue->top, top->key, links->next, slab);
}

// Returns the key that a queued cell ought to have, not smaller than the one that it has.
typedef uint32_t fm_bucket_key_fn(const void *context, uint32_t ref);

// What fm_bucket_queue_renew() did.
typedef struct fm_bucket_renewal {
    uint32_t moved; // cells that have another key now
    bool failed;    // out of memory; nothing is lost
} fm_bucket_renewal;

/// Renews keys of the bucket of the smallest key, the newest cell first, up to one that keeps its
/// key. Cells then come up in the same order as if each were renewed when it came up.
///
/// @param top    what fm_bucket_queue_peek() has just found
/// @param key    that the top ought to have, another one than it has
/// @param limit  moves at most so many cells; >= 1
/// @param key_of a static inline function, so that the compiler folds it in
FM_INLINE fm_bucket_renewal fm_bucket_queue_renew(fm_bucket_queue *queue, const fm_pages *nodes,
                                                  const fm_bucket_top *top, uint32_t key,
                                                  uint32_t limit, fm_bucket_key_fn *key_of,
                                                  const void *context, fm_slab *slab)
{
    fm_bucket_renewal done = {0};
    uint32_t ref = top->ref;
    do {
        fm_bucket_links *links = fm_bucket_links_of(nodes, ref);
        uint32_t next = links->next;
        if (__builtin_expect(!fm_bucket_queue_push(queue, nodes, key, ref, links, slab), 0)) {
            done.failed = true;
            break;
        }
        done.moved += 1;
        ref = next;
        if (ref == FM_NODE_NONE || done.moved == limit) {
            break;
        }
        key = key_of(context, ref);
    } while (key != top->key);
    fm_bucket_queue_set_head(queue, nodes, queue->top, top->key, ref, slab);
    return done;
}
