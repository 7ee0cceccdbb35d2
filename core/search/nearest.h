// core/search/nearest.h: where to go when there is no path to the goal: the reachable cell that is
// nearest to it.
//
// Jumps skip most cells, so the cells that a failed search has reached do not answer this. Instead
// the part of the map that the start belongs to is flooded, and its rows are looked through from
// the goal's row outward. Where several cells are equally near, jump searches find which of them
// has the shortest path.
//
// "Nearest" is by fm_view_distance() to the goal, then by cost of the path, then by row distance
// from the goal's row, the row below first, the cell to the west first.
//
// Threads: one worker at a time for each fm_nearest.

#pragma once

#include "core/search/jump_search.h"

typedef struct fm_nearest fm_nearest;

/// Sets up a search for the reachable cell nearest to a goal that has no path.
///
/// @param view  as for fm_jump_search_begin(); must not change until the search is over
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_nearest_create(const fm_view *view, fm_cell start, fm_cell goal,
                                       const fm_memory *memory, fm_nearest **out);

/// NULL is allowed.
void fm_nearest_destroy(fm_nearest *nearest);

/// Searches on, as fm_planner_ops.advance does.
///
/// @param search  the caller's; only this object uses it between the first and the last call
/// @param cell    receives the nearest cell with FM_JUMP_FOUND
/// @return FM_JUMP_RUNNING, FM_JUMP_FOUND or FM_JUMP_EXHAUSTED
fm_jump_state fm_nearest_advance(fm_nearest *nearest, fm_jump_search *search, fm_work *work,
                                 fm_cell *cell);

/// Bytes held.
size_t fm_nearest_bytes(const fm_nearest *nearest);
