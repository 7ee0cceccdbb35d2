// core/search/reach.h: everything that can be reached from a cell, as a bitmap.
//
// Used when a planner has proven a goal unreachable: where else should the agent go? Whatever the
// movement rule, two cells reach each other exactly when straight steps connect them (a legal
// diagonal step always has a free cell beside it), so the flood goes by horizontal runs of free
// cells, a word of the map at a time. Resumable after any run.
//
// Threads: one worker at a time.

#pragma once

#include "core/search/planner.h"

typedef struct fm_reach_run {
    uint16_t y, x_first, x_last; // rows and ranges to scan for free cells not reached yet
} fm_reach_run;

typedef struct fm_reach {
    const fm_view *view;
    const fm_memory *memory;
    fm_bitmap reached;
    fm_reach_run *stack;
    uint32_t stack_count, stack_capacity;
    bool done;      // nothing is left to scan
    bool exhausted; // memory ran out; `reached` is incomplete
} fm_reach;

/// Begins a flood at a cell inside the map. `view` and `memory` outlive it.
/// @return FM_OK or FM_ERR_NO_MEMORY; on failure nothing needs undoing
FM_CHECKED fm_status fm_reach_init(fm_reach *reach, const fm_view *view, fm_cell from,
                                   const fm_memory *memory);

/// A zeroed fm_reach is allowed.
void fm_reach_fini(fm_reach *reach);

/// Floods on; every run of cells counts as one expansion. Returns whether the flood is over.
bool fm_reach_advance(fm_reach *reach, fm_work *work);

/// Bytes held, the fm_reach itself left out.
size_t fm_reach_bytes(const fm_reach *reach);
