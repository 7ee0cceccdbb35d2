// core/search/dstar_open.h: the open list of D* Lite: what a node holds, and the three orders in
// which inconsistent cells are expanded.
//
// All of them order by f first, and at equal f underconsistent cells come before the others where
// an order decides between them. What is packed into a key, with m = min(g, rhs) and f = m + h +
// km:
//
//   buckets           2f + (over- or consistent ? 1 : 0), an integer of its own; newest first
//   heap, smaller g   f, then m
//   heap, larger g    f, then underconsistent ones by g, then the others by falling rhs
//
// In buckets a cell stays where it is while the agents move; the caller renews its key when it
// comes up (bucket_queue.h).
//
// The order is an argument of all functions, a constant wherever they are called from a loop, and
// so are the pages of the nodes, whose address the caller has at hand.
//
// Source: S. Koenig, M. Likhachev, "D* Lite", AAAI 2002; the bucket key and the larger-g triple
// follow the conditions of the authors' later work on tie-breaking.

#pragma once

#include "core/base/heap.h"
#include "core/search/bucket_queue.h"
#include "core/search/pages.h"

#include <stddef.h>
#include <string.h>

typedef struct fm_dstar_node {
    uint32_t g;
    uint32_t rhs;
    union {
        fm_bucket_links links; // buckets
        uint32_t place;        // heap: see heap.h
    };
} fm_dstar_node;

_Static_assert(sizeof(fm_dstar_node) == sizeof(fm_bucket_node) &&
                   offsetof(fm_dstar_node, links) == offsetof(fm_bucket_node, links),
               "the queue finds its links");

typedef enum fm_dstar_order {
    FM_DSTAR_BUCKET,
    FM_DSTAR_HEAP_SMALLER_G,
    FM_DSTAR_HEAP_LARGER_G,
} fm_dstar_order;

typedef struct fm_dstar_open {
    const fm_pages *pages; // of fm_dstar_node
    fm_bucket_queue buckets;
    fm_heap heap;
} fm_dstar_open;

// The cell at the top.
typedef struct fm_dstar_top {
    uint64_t key;
    uint32_t ref;
} fm_dstar_top;

/// Whether a cell is queued.
static inline bool fm_dstar_is_queued(fm_dstar_order order, const fm_dstar_node *node)
{
    return order == FM_DSTAR_BUCKET ? fm_bucket_is_queued(&node->links) : node->place != 0;
}

/// Sets up an empty list. Takes no memory yet. `pages` outlives it.
void fm_dstar_open_init(fm_dstar_open *open, const fm_pages *pages, const fm_memory *memory);

void fm_dstar_open_fini(fm_dstar_open *open, fm_slab *slab);

/// Drops everything. The nodes are the caller's to forget.
void fm_dstar_open_clear(fm_dstar_open *open, fm_slab *slab);

/// Bytes held.
size_t fm_dstar_open_bytes(const fm_dstar_open *open);

FM_INLINE fm_dstar_node *fm_dstar_node_at(const fm_page *page, uint32_t position)
{
    return (fm_dstar_node *)(void *)page->nodes + position;
}

FM_INLINE fm_dstar_node *fm_dstar_node_of(const fm_dstar_open *open, uint32_t ref)
{
    return fm_dstar_node_at(fm_node_page(open->pages, ref), fm_node_position(ref));
}

/// g and rhs in one, to see whether one of them has changed.
FM_INLINE uint64_t fm_dstar_costs(const fm_dstar_node *node)
{
    uint64_t costs;
    memcpy(&costs, node, sizeof costs);
    return costs;
}

// For the heap.
FM_INLINE uint32_t *fm_dstar_heap_place(const void *context, uint32_t ref)
{
    return &fm_dstar_node_of(context, ref)->place;
}

/// A key from f and the tie-break.
FM_INLINE uint64_t fm_dstar_key(fm_dstar_order order, uint32_t f, const fm_dstar_node *node)
{
    bool under = node->g < node->rhs;
    switch (order) {
    case FM_DSTAR_BUCKET:
        return f << 1 | (uint32_t)!under;
    case FM_DSTAR_HEAP_SMALLER_G:
        return (uint64_t)f << 32 | (under ? node->g : node->rhs);
    case FM_DSTAR_HEAP_LARGER_G:
        return (uint64_t)f << 32 | (under ? node->g : 0xffffffffu - node->rhs);
    }
    FM_UNREACHABLE();
}

/// Removes a cell, if it is queued.
FM_INLINE void fm_dstar_open_remove(fm_dstar_open *open, const fm_pages *nodes,
                                    fm_dstar_order order, fm_dstar_node *node, uint32_t ref,
                                    fm_slab *slab)
{
    if (order != FM_DSTAR_BUCKET) {
        fm_heap_remove(&open->heap, ref, fm_dstar_heap_place, open);
    } else if (fm_bucket_is_queued(&node->links)) {
        fm_bucket_queue_remove(&open->buckets, nodes, &node->links, slab);
    }
}

/// Queues a cell under a key, wherever it was before. False when out of memory.
FM_INLINE bool fm_dstar_open_put(fm_dstar_open *open, const fm_pages *nodes, fm_dstar_order order,
                                 fm_dstar_node *node, uint32_t ref, uint64_t key, fm_slab *slab)
{
    if (order != FM_DSTAR_BUCKET) {
        return fm_heap_set(&open->heap, key, ref, fm_dstar_heap_place, open);
    }
    fm_dstar_open_remove(open, nodes, order, node, ref, slab);
    return fm_bucket_queue_push(&open->buckets, nodes, (uint32_t)key, ref, &node->links, slab);
}

/// Finds the cell with the smallest key. False when there is none.
FM_INLINE bool fm_dstar_open_top(const fm_dstar_open *open, fm_dstar_order order, fm_dstar_top *top)
{
    if (order != FM_DSTAR_BUCKET) {
        if (open->heap.count == 0) {
            return false;
        }
        top->key = open->heap.entries[0].key;
        top->ref = open->heap.entries[0].ref;
        return true;
    }
    fm_bucket_top bucket = fm_bucket_queue_peek(&open->buckets);
    top->key = bucket.key;
    top->ref = bucket.ref;
    return bucket.key != FM_BUCKET_KEY_NONE;
}

/// Removes the cell that the call just before, fm_dstar_open_top(), has found.
FM_INLINE void fm_dstar_open_take(fm_dstar_open *open, const fm_pages *nodes, fm_dstar_order order,
                                  fm_dstar_node *node, const fm_dstar_top *top, fm_slab *slab)
{
    if (order != FM_DSTAR_BUCKET) {
        fm_heap_remove(&open->heap, top->ref, fm_dstar_heap_place, open);
        return;
    }
    const fm_bucket_top bucket = {.key = (uint32_t)top->key, .ref = top->ref};
    fm_bucket_queue_take(&open->buckets, nodes, &bucket, &node->links, slab);
}
