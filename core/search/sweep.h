// core/search/sweep.h: the cells of a rectangle in the order of what it costs to reach them from
// one cell: A* towards a box (box.h), which continues where a search for one goal would stop.
//
// Inside the box the estimate is zero, so its cells come in the order of their costs; outside it,
// the search heads straight for the box. For the nearest of several goals, take the box around
// them: the first goal to come is the nearest. For a field of distances, sweep until all cells of
// the box have come.
//
// Threads: one worker at a time for each sweep.

#pragma once

#include "core/map/box.h"
#include "core/search/planner.h"

typedef struct fm_sweep fm_sweep;

typedef enum fm_sweep_state {
    FM_SWEEP_RUNNING,
    FM_SWEEP_STOPPED,   // the visitor has had enough
    FM_SWEEP_DONE,      // all that can be reached has come
    FM_SWEEP_EXHAUSTED, // memory ran out
} fm_sweep_state;

/// Called once for each cell of the box that can be reached, by rising cost. Returns true to stop.
typedef bool fm_sweep_fn(fm_cell cell, uint32_t cost, void *context);

/// @param view    must not change until the sweep is over; its words may move
/// @param source  inside the map; a blocked one reaches itself alone
/// @param box     inside the map
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_sweep_create(const fm_view *view, fm_cell source, fm_box box,
                                     const fm_memory *memory, fm_sweep **out);

/// NULL is allowed.
void fm_sweep_destroy(fm_sweep *sweep);

/// Searches on, as fm_planner_ops.advance does.
fm_sweep_state fm_sweep_advance(fm_sweep *sweep, fm_work *work, fm_sweep_fn *visit, void *context);

/// The path to a cell that has come, the source first.
///
/// @param cells  receives the first `capacity` of them
/// @return how many there are, which may exceed capacity
uint32_t fm_sweep_path(const fm_sweep *sweep, fm_cell cell, fm_cell *cells, uint32_t capacity);
