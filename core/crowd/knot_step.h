// core/crowd/knot_step.h: makes the next configuration of a joint search, by priority inheritance
// with backtracking and swaps like pibt.h and swap.h, on ground whose cells are numbered.
//
// Where all units have one cell, a unit that is asked and finds no place stays, and is not asked
// again. Where some are larger, a try may have several units in its way: if one of them finds no
// place, all decisions of that try are taken back. Then a unit may be asked often, so the work has
// a bound.
//
// Sources: see pibt.h; K. Okumura, "Improving LaCAM for Scalable Eventually Optimal Multi-Agent
// Pathfinding", IJCAI 2023, for the swap.
//
// Threads: any, one for a step.

#pragma once

#include "core/base/random.h"
#include "core/crowd/knot.h"

#define FM_KNOT_OPTIONS_MAX (FM_DIRECTION_COUNT + 1u) // cells around and one's own

typedef struct fm_knot_step {
    fm_knot_ground ground;
    const fm_knot_unit *units;
    const uint16_t *distances; // to the goal of each unit, cell by cell
    uint32_t unit_count;
    bool is_mixed; // some units are larger than one cell
    fm_random random;
    const uint16_t *places;                                   // where each unit is
    uint16_t now[FM_KNOT_CELLS_MAX], then[FM_KNOT_CELLS_MAX]; // unit + 1 in a cell, 0: nobody
    uint16_t to[FM_KNOT_UNITS_MAX];    // where each goes; FM_KNOT_NONE: not decided
    uint16_t trail[FM_KNOT_UNITS_MAX]; // those decided, in that order
    uint32_t trail_count;
    uint32_t asked;  // so often units were
    uint32_t looked; // at so many cells of corridors
    uint16_t under[FM_KNOT_CELLS_MAX][FM_KNOT_SIZE_MAX * FM_KNOT_SIZE_MAX]; // cells from a cell on
} fm_knot_step;

/// Fills in what follows from ground and units, which the caller has set.
void fm_knot_step_init(fm_knot_step *step);

/// What the step has taken so far, in units: each once at least. Looks at 64 cells of corridors
/// count as one more.
static inline uint64_t fm_knot_step_work(const fm_knot_step *step)
{
    uint32_t asked = step->asked > step->unit_count ? step->asked : step->unit_count;
    return (uint64_t)asked + step->looked / 64;
}

/// Starts with all units at `places`, which must outlive the step, and nothing decided.
void fm_knot_step_begin(fm_knot_step *step, const uint16_t *places);

/// A unit goes to a cell around it, or stays. Returns whether it can.
bool fm_knot_step_tell(fm_knot_step *step, uint32_t unit, uint16_t cell);

/// Decides for all others, asked in this order. Returns whether all have a place, in `to`.
bool fm_knot_step_complete(fm_knot_step *step, const uint16_t *order);

/// The cells that a unit may go to from `at`, which is among them; the nearest to its goal first,
/// equals in any order, cells where nobody is before others. Returns how many.
uint32_t fm_knot_step_options(fm_knot_step *step, uint32_t unit, uint16_t at, uint16_t *cells);

/// How far a cell is from a unit's goal; 0 without one.
static inline uint16_t fm_knot_distance(const fm_knot_step *step, uint32_t unit, uint32_t cell)
{
    return step->units[unit].goal == FM_KNOT_NONE
               ? 0
               : step->distances[unit * step->ground.cell_count + cell];
}
