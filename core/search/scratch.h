// core/search/scratch.h: search memory that a worker lends to planners that keep none between
// replans.
//
// A jump-point search needs a table and an open list for some microseconds and then only its path.
// So the memory belongs to the worker, stays warm in its cache, and passes from planner to planner.
// A search that does not finish within its grant keeps its memory until it does, and the worker
// makes another.
//
// Threads: one worker at a time for each scratch. What was taken from one worker's scratch may be
// given to another's of the same world.

#pragma once

#include "core/search/jump_search.h"

#define FM_SCRATCH_KEPT_MAX 64u        // idle searches kept by one worker
#define FM_SCRATCH_SIZE_MAX (4u << 20) // bytes, of all that one worker keeps

typedef struct fm_scratch {
    const fm_memory *memory;
    fm_jump_search *idle[FM_SCRATCH_KEPT_MAX];
    uint32_t idle_count;
    size_t idle_size; // bytes
} fm_scratch;

/// Sets up an empty scratch on memory that outlives it. Takes nothing yet.
void fm_scratch_init(fm_scratch *scratch, const fm_memory *memory);

/// Releases what is idle.
void fm_scratch_fini(fm_scratch *scratch);

/// An idle search, or a new one. NULL when out of memory.
fm_jump_search *fm_scratch_take(fm_scratch *scratch);

/// Takes back a search that is over. NULL is allowed.
void fm_scratch_give(fm_scratch *scratch, fm_jump_search *search);
