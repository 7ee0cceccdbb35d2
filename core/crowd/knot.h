// core/crowd/knot.h: a joint search for a few units on a small piece of ground, where the rule of
// pibt.h alone does not get them through: LaCAM.
//
// A configuration is the positions of all units. The next one is made by priority inheritance
// (knot_step.h) with the moves of some units fixed: of none at first, then, when the search comes
// back to the same configuration, of one, two and so on, in all combinations. So in the end every
// successor is tried, and a plan is found if there is one, memory and work permitting.
// Configurations are kept in a stack and looked up by hash: depth first, and nothing is opened
// twice.
//
// Source: K. Okumura, "LaCAM: Search-Based Algorithm for Quick Multi-Agent Pathfinding", AAAI 2023.
//
// Threads: any, one for a search. Knows cells of its ground by index, and nothing of worlds.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/map/cell.h"

#define FM_KNOT_CELLS_MAX 640u
#define FM_KNOT_UNITS_MAX 448u
#define FM_KNOT_KINDS_MAX 8u
#define FM_KNOT_SIZE_MAX  4u
#define FM_KNOT_NODES_MAX 20000u // configurations
#define FM_KNOT_NONE      UINT16_MAX

// By direction, the cell there; FM_KNOT_NONE for none.
typedef struct fm_knot_cell {
    uint16_t next[FM_DIRECTION_COUNT];
} fm_knot_cell;

// How some of the units move.
typedef struct fm_knot_kind {
    uint32_t size;             // cells to a side, 1..FM_KNOT_SIZE_MAX
    const fm_knot_cell *steps; // by north-west cell: where a step leads
} fm_knot_kind;

typedef struct fm_knot_ground {
    uint32_t cell_count, kind_count;
    const fm_knot_cell *beside; // by cell: the cells around it, for units of any kind
    const fm_knot_kind *kinds;
} fm_knot_ground;

// Cells of a unit are its north-west ones.
typedef struct fm_knot_unit {
    uint16_t start;
    uint16_t goal; // FM_KNOT_NONE: it may end anywhere
    uint8_t kind;
} fm_knot_unit;

typedef enum fm_knot_state {
    FM_KNOT_RUNNING,
    FM_KNOT_FOUND,
    FM_KNOT_FAILED, // there is no plan, or it takes more configurations than there may be
} fm_knot_state;

typedef struct fm_knot fm_knot;

/// Copies the units and what it needs of the ground, but for the kinds' steps, which must live.
/// No two units overlap where they start, or on their goals.
///
/// @param nodes_max  configurations, at most FM_KNOT_NODES_MAX
/// @param seed  breaks ties
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_knot_create(const fm_knot_ground *ground, const fm_knot_unit *units,
                                    uint32_t unit_count, uint32_t nodes_max, uint64_t seed,
                                    const fm_memory *memory, fm_knot **out);

/// NULL is allowed.
void fm_knot_destroy(fm_knot *knot);

/// Continues the search. Fails when out of memory.
///
/// @param configurations  to make, at most
/// @param work  units to ask in them, at most; the last configuration may take more
/// @param used  the work done is added
fm_knot_state fm_knot_search(fm_knot *knot, uint32_t configurations, uint64_t work, uint64_t *used);

/// Of a plan that was found: how many steps it takes, and where all units are after `step` of them.
uint32_t fm_knot_steps(const fm_knot *knot);
const uint16_t *fm_knot_at(const fm_knot *knot, uint32_t step);
