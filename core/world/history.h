// core/world/history.h: recent events of orders, searches and the map, for people who ask why.
//
// One ring of entries for a whole world: writing one costs a few nanoseconds and no memory beyond
// the ring; a query scans all of it. When it is full the oldest entries are overwritten. It has no
// effect on the simulation or its digest; when out of memory, entries are left out.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

#define FM_HISTORY_MAX 65536u // entries

typedef enum fm_history_kind {
    FM_HISTORY_GIVEN,  // an order was given; detail: its kind
    FM_HISTORY_BEGUN,  // its turn came; detail: its kind
    FM_HISTORY_ENDED,  // it ended; detail: reason
    FM_HISTORY_REPLAN, // a search continued because of what was learned
    FM_HISTORY_EDIT,   // the map was edited
} fm_history_kind;

typedef struct fm_history_entry {
    uint64_t tick;       // ticks completed when it happened
    uint64_t subject;    // order entries: packed agent id; REPLAN: serial of the planner; EDIT: 0
    uint64_t order;      // id, of order entries
    uint64_t expansions; // REPLAN: in that tick; EDIT: of all replans of the tick that followed
    uint32_t count;      // REPLAN: cells that had changed; EDIT: cells edited
    fm_cell cell;        // where the agent stood; REPLAN: the first changed cell; EDIT: one of them
    uint8_t kind;        // fm_history_kind
    uint8_t detail;
} fm_history_entry;

typedef struct fm_history {
    fm_history_entry *entries; // ring; owned
    uint32_t capacity;
    uint64_t count; // ever written
} fm_history;

void fm_history_add(fm_history *history, const fm_memory *memory, const fm_history_entry *entry);

/// The entry written `age` entries ago, 0 the last one; NULL when it was overwritten or never
/// existed.
fm_history_entry *fm_history_at(const fm_history *history, uint64_t age);

void fm_history_destroy(fm_history *history, const fm_memory *memory);
