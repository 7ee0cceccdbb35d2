// core/map/view.h: the map as one search sees it: which cells block, which moves are legal, what a
// step costs, and the heuristic that fits.
//
// A view is what decides a search: a team's knowledge gives one (unknown cells free), the truth
// gives one, and each movement class has its own. Planners hold a `const fm_view *` and read
// nothing else of the world.
//
// Costs are integers. A step in direction d between cells of weight 1 costs step[d & 1]; between
// cells of weights a and b it costs step[d & 1] * (a + b) / 2, and a weighted view has even steps
// so that this is exact. Sums at or above FM_COST_INFINITE count as "no path".

#pragma once

#include "core/map/bitmap.h"
#include "core/map/grid.h"

#define FM_COST_INFINITE ((uint32_t)0x3fffffff)

// How a step may be made; a rule of the world.
typedef enum fm_connectivity {
    FM_CONNECT_4,         // straight steps only
    FM_CONNECT_8,         // a diagonal needs both cells beside it free (MovingAI)
    FM_CONNECT_8_CORNERS, // a diagonal needs one of the two free (corner cutting)
} fm_connectivity;

// What steps cost; a rule of the world.
typedef enum fm_step_costs {
    FM_STEPS_1,     // straight 1; 4 neighbours only
    FM_STEPS_10_14, // straight 10, diagonal 14
    FM_STEPS_70_99, // straight 70, diagonal 99: within 0.005 % of the square root of 2
} fm_step_costs;

typedef struct fm_view {
    const fm_bitmap *blocked;            // 1 = cannot be entered; margin 1
    const fm_bitmap *blocked_transposed; // the same with x and y exchanged, or NULL
    const uint8_t *weights;              // width * height, row-major; NULL when all are 1
    const uint8_t *moves;                // 512 entries, see fm_view_moves()
    uint32_t width;                      // cells
    uint32_t height;                     // cells
    uint32_t step[2];                    // straight, diagonal; even where weights is not NULL
    fm_connectivity connectivity;
    const struct fm_heuristic_tables *tables; // tables for better estimates than distance, or NULL
    const struct fm_tile_map *tiles;          // of this view (core/map/tile_map.h), or NULL
} fm_view;

/// Sets connectivity, step costs and the move table. The caller has set blocked, width, height
/// and weights (which decides whether odd step costs are doubled).
void fm_view_set_rules(fm_view *view, fm_connectivity connectivity, fm_step_costs steps);

/// The view that knows the whole true map. Good as long as the grid lives and stays (un)weighted.
fm_view fm_view_of_grid(const fm_grid *grid, fm_connectivity connectivity, fm_step_costs steps);

/// The legal moves from a cell inside the map, bit d for direction d. Zero when the cell itself
/// is blocked. Moves are symmetric: v is in moves(u) exactly when u is in moves(v).
static inline uint32_t fm_view_moves(const fm_view *view, fm_cell cell)
{
    return view->moves[fm_bitmap_window(view->blocked, cell)];
}

static inline bool fm_view_is_blocked(const fm_view *view, fm_cell cell)
{
    return fm_bitmap_get(view->blocked, cell);
}

static inline uint32_t fm_view_weight(const fm_view *view, fm_cell cell)
{
    return view->weights == NULL
               ? 1
               : view->weights[(size_t)fm_cell_y(cell) * view->width + fm_cell_x(cell)];
}

/// Cost of the legal step from `from` in direction d to `to`.
static inline uint32_t fm_view_cost(const fm_view *view, fm_cell from, uint32_t d, fm_cell to)
{
    if (view->weights == NULL) {
        return view->step[d & 1];
    }
    return view->step[d & 1] / 2 * (fm_view_weight(view, from) + fm_view_weight(view, to));
}

/// Lower bound of the cost between two cells: octile distance, or Manhattan with 4 neighbours.
/// Consistent, symmetric, and obeys the triangle inequality.
static inline uint32_t fm_view_distance(const fm_view *view, fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    if (view->connectivity == FM_CONNECT_4) {
        return view->step[0] * (dx + dy);
    }
    uint32_t low = dx < dy ? dx : dy, high = dx < dy ? dy : dx;
    return view->step[0] * (high - low) + view->step[1] * low;
}

/// Length of a path in true units (straight 1, diagonal sqrt 2, times the mean weight).
///
/// @param cells  neighbours in order; count >= 1
double fm_view_length(const fm_view *view, const fm_cell *cells, uint32_t count);
