// core/search/starts.h: the agents that share one search from their goal, as that search sees them.
//
// The open list is ordered by f = cost + h + km. h is the distance to the box around the agents,
// which with one agent is its cell. When they move, h shrinks; instead of touching every key, km
// grows by as much (fm_starts_rebase), so that every stored key stays a lower bound, and a key that
// is too small is renewed when it comes up. That is the "key modifier" of D* Lite.
//
// The search continues until the last agent is settled: until its cell's cost is known to be the
// true distance. The search decides when that is; this list only keeps which ones are. Settled
// starts stay settled until the map changes, so only the first unsettled one is ever checked.
//
// Source: S. Koenig, M. Likhachev, "D* Lite", AAAI 2002 (km).

#pragma once

#include "core/map/box.h"
#include "core/search/pages.h"

#define FM_KM_MAX (FM_COST_INFINITE / 4) // beyond it keys would outgrow 32 bits

typedef struct fm_starts {
    const fm_memory *memory;
    fm_cell *cells; // owned
    uint32_t count, capacity;
    fm_box box;      // around the cells when keys were last rebased
    fm_box next_box; // around the cells now
    uint32_t km;
    uint32_t settled_count; // the first so many cells are settled
    void *node;             // of cells[settled_count], NULL while its page is not touched
    uint32_t node_pages;    // page count when that was looked up
} fm_starts;

/// Sets up an empty list. Takes no memory yet.
static inline void fm_starts_init(fm_starts *starts, const fm_memory *memory)
{
    *starts = (fm_starts){.memory = memory};
}

void fm_starts_fini(fm_starts *starts);

/// The agents stand here now; nobody is settled. Copies the cells; count >= 1. False when out of
/// memory; then nothing has changed.
FM_CHECKED bool fm_starts_set(fm_starts *starts, const fm_cell *cells, uint32_t count);

/// Declares the first `settled_count` starts settled, and no other.
static inline void fm_starts_settle(fm_starts *starts, uint32_t settled_count)
{
    starts->settled_count = settled_count;
    starts->node = NULL;
    starts->node_pages = 0;
}

/// The first start that is not settled. There is one: settled_count < count.
static inline fm_cell fm_starts_next(const fm_starts *starts)
{
    return starts->cells[starts->settled_count];
}

/// The node of fm_starts_next(), or NULL while its page is not touched.
void *fm_starts_next_node(fm_starts *starts, const fm_pages *pages);

/// A search begins with an empty open list: keys will be computed for where the agents are now.
static inline void fm_starts_begin(fm_starts *starts)
{
    starts->km = 0;
    starts->box = starts->next_box;
}

/// Whether the agents are elsewhere than when keys were last rebased.
static inline bool fm_starts_have_moved(const fm_starts *starts)
{
    return !fm_box_equals(&starts->box, &starts->next_box);
}

/// From now on keys are computed for where the agents are now; older ones are lower bounds. False
/// when km would pass FM_KM_MAX, which takes very long: then the search has to start over.
FM_CHECKED bool fm_starts_rebase(fm_starts *starts, const fm_view *view);

/// Bytes held.
static inline size_t fm_starts_bytes(const fm_starts *starts)
{
    return starts->capacity * sizeof *starts->cells;
}
