// core/search/bend.h: paths of one diagonal and one straight line of steps, the shortest ones of
// open ground: over them a cell is as far as fm_view_distance() says.
//
//   . . . . .       a from the west: the diagonal line first, b the straight line first.
//   a a . . B       Either bends once.
//   b . a . .
//   . b b A .
//
// Threads: anybody; each uses its own fm_sight.

#pragma once

#include "core/search/jump_search.h"

/// Finds such a path of up to so many steps.
///
/// @param bend  receives where it bends; `to` if it does not
/// @return false: there is none, and `bend` is left undefined
bool fm_bend_find(const fm_view *view, fm_cell from, fm_cell to, uint32_t steps_max, fm_cell *bend);

// Cells from which one cell is seen: from where such a path leads to it. Keeps what many of them
// ask.
typedef struct fm_sight {
    const fm_view *view;
    fm_cell to;
    uint32_t steps_max;               // of a path; up to 254
    uint8_t runs[FM_DIRECTION_COUNT]; // legal steps from `to`, up to steps_max, where it was asked
} fm_sight;

/// @param steps_max  1..254
fm_sight fm_sight_of(const fm_view *view, fm_cell to, uint32_t steps_max);

/// Whether such a path leads from a cell. As fm_bend_find() says.
bool fm_sight_reaches(fm_sight *sight, fm_cell from);
