// core/crowd/press.h: how slowly a team's units get on, and how far cells are from a place when
// that counts.
//
// Threads: one.

#pragma once

#include "core/base/memory.h"
#include "core/map/view.h"
#include "core/world/world.h"

#define FM_PRESS_REACH 80u // cells around the end, for which there are distances
#define FM_PRESS_SIDE  (2 * FM_PRESS_REACH + 1)
#define FM_PRESS_CELLS (FM_PRESS_SIDE * FM_PRESS_SIDE)
#define FM_PRESS_FAR   UINT32_MAX

#define FM_PRESSED_LEAST 24u // units: with fewer there is no press

typedef struct fm_press fm_press;

/// For a map of so many cells from side to side. The caller's, for fm_press_destroy() with the same
/// memory. NULL: out of memory.
fm_press *fm_press_create(const fm_memory *memory, uint32_t width, uint32_t height);

/// NULL is allowed.
void fm_press_destroy(fm_press *press, const fm_memory *memory);

/// Measures the tolls of a team, for all that follows.
///
/// Takes time for the team's units, however large the map is.
///
/// @return how many units stand in a press; with fewer than FM_PRESSED_LEAST there may be no tolls
uint32_t fm_press_sample(fm_press *press, const fm_world *world, uint32_t team);

/// What a cell costs beyond the step, a cell a tick being 10. 0: nobody is held up there.
uint32_t fm_press_toll(const fm_press *press, fm_cell cell);

/// Finds distances to `end`, with tolls. `from` has some if it can; so have those that are not much
/// farther away, inside the window.
void fm_press_measure(fm_press *press, const fm_view *view, fm_cell end, fm_cell from);

/// Cells that distances were found for since the last call. FM_PRESS_CELLS twice, at most, for
/// fm_press_measure() and the ways that follow.
uint32_t fm_press_take_work(fm_press *press);

/// Distance to the end with tolls, in costs of the view. FM_PRESS_FAR: not known.
uint32_t fm_press_distance(const fm_press *press, fm_cell cell);

/// The first cells of the way by these distances, up to one from where the shortest way without
/// tolls meets none.
///
/// @param view   as for fm_press_measure()
/// @param cells  receives `from` and those that follow
/// @return how many; 0: there is no way, or too little room
uint32_t fm_press_way(fm_press *press, const fm_view *view, fm_cell from, fm_cell *cells,
                      uint32_t capacity);
