// reference.h: plain searches that are obviously right, to compare planners with.
//
// They use dense arrays over the whole map. A cell whose cost fell waits in a ring for the update
// of its neighbours, until no cost falls (Bellman and Ford). No heuristic, no pages, no priorities;
// the rules themselves decide which moves are legal, not the tables that planners read.

#pragma once

#include "core/map/view.h"

// Cost of a cheapest path from every cell to one target; FM_COST_INFINITE where there is none.
typedef struct reference {
    uint32_t width, height;
    fm_cell target;
    uint32_t *cost; // row-major
} reference;

/// Whether a step from `from` to `to` is legal by the rules of the view. Any two cells inside the
/// map.
bool reference_is_legal(const fm_view *view, fm_cell from, fm_cell to);

/// Cost of a legal step.
uint32_t reference_step_cost(const fm_view *view, fm_cell from, fm_cell to);

/// Measures the path from every cell to `target` on the view. The caller calls reference_fini().
reference reference_measure(const fm_view *view, fm_cell target);

void reference_fini(reference *costs);

static inline uint32_t reference_cost(const reference *costs, fm_cell cell)
{
    return costs->cost[(size_t)fm_cell_y(cell) * costs->width + fm_cell_x(cell)];
}

/// Whether `nearest` can be reached from `start`, and no such cell is nearer to the goal by
/// fm_view_distance(); with `is_cheapest`, nor as near and cheaper to reach.
bool reference_is_nearest(const fm_view *view, fm_cell start, fm_cell goal, fm_cell nearest,
                          bool is_cheapest);
