// core/search/field.h: reading the field of distances that a search from the goal leaves in its
// pages.
//
// D* Lite and D* Extra Lite keep different things in a node, but the first is always g, the cost of
// the path to the goal. An agent that stands where g is the true distance walks down it.
//
// Threads: any number of readers while the search rests.

#pragma once

#include "core/search/pages.h"
#include "core/search/planner.h"

typedef struct fm_field {
    const fm_view *view;
    const fm_pages *pages; // of nodes whose first member is a uint32_t g
    fm_cell goal;
} fm_field;

/// The neighbour from which the goal is nearest, the step to it included; FM_CELL_NONE when none
/// leads there. Among equals it takes, by `choice`, the one nearest to the goal as the crow flies,
/// which wastes fewer moves (3 % on game maps, 7 % in mazes), or the first in the order of
/// directions.
fm_cell fm_field_step(const fm_field *field, fm_cell cell, fm_step_choice choice);

/// The same, where the cell's page is known.
fm_cell fm_field_step_from(const fm_field *field, const fm_page *page, fm_cell cell,
                           fm_step_choice choice);

/// The path down to the goal, as fm_planner_ops.path returns it. `start` has its true distance.
/// Where the map was edited since the distances were found, there may be none.
uint32_t fm_field_path(const fm_field *field, fm_cell start, fm_step_choice choice, fm_cell *cells,
                       uint32_t capacity);
