// core/search/distance_field.h: what the cheapest path costs from one cell, or from a set of cells,
// to every other; Dijkstra's search over the whole map, in slices.
//
// The tables behind heuristics are made of these (core/search/landmarks.h, core/search/clusters.h).
// Unlike a planner's search a field is an array over the map: there are few of them, and all cells
// are wanted.
//
// The map may change between two slices as long as steps only become costlier. The field is then
// not exact for either map, but |cost(u) - cost(v)| <= c(u, v) still holds on every step, because
// the step between u and v cost no more than now when they were reached. That is all a heuristic
// needs. When a step becomes cheaper, the field must be restarted.
//
// Work is charged as expansions: one for each cell settled, one for each FM_FIELD_CELLS_PER_UNIT
// cells cleared.

#pragma once

#include "core/search/open_list.h"

#define FM_FIELD_CELLS_PER_UNIT 256u // cells that cost as much to walk over as one to expand

typedef enum fm_field_state {
    FM_FIELD_RUNNING,
    FM_FIELD_DONE,
    FM_FIELD_NO_MEMORY, // start over, or give up
} fm_field_state;

typedef struct fm_distance_field {
    const fm_view *view;
    const fm_memory *memory;
    fm_field_state state;
    fm_cell first, last; // corners of the rectangle whose free cells are the sources
    size_t cleared_count;
    fm_queue_kind queue;
    fm_open_list open;
    uint32_t *costs;  // row-major; FM_COST_INFINITE where there is no path
    uint8_t *parents; // row-major: direction of the cell before, FM_DIRECTION_COUNT at sources
    fm_cell *order;   // the cells that were reached, by rising cost
    uint32_t settled_count; // of them
} fm_distance_field;

/// Sets up a field that holds no memory yet. View and memory outlive it.
void fm_distance_field_init(fm_distance_field *field, const fm_view *view, const fm_memory *memory);

/// Releases all memory. The field may be used again.
void fm_distance_field_fini(fm_distance_field *field);

/// Starts measuring from the free cells of a rectangle, given by its north-west and south-east
/// cells; both the same for one cell. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_distance_field_begin(fm_distance_field *field, fm_cell first, fm_cell last);

/// Continues, until done or until the grant is used up. `expansions_at_start` is for
/// fm_work_must_stop().
fm_field_state fm_distance_field_advance(fm_distance_field *field, fm_work *work,
                                         uint32_t expansions_at_start);

/// Hands the costs of a field that is done over to the caller, who releases them:
/// fm_distance_field_costs_size() bytes.
uint32_t *fm_distance_field_take_costs(fm_distance_field *field);

/// Bytes of the costs of a view's cells.
size_t fm_distance_field_costs_size(const fm_view *view);

/// Bytes held, the struct itself left out.
size_t fm_distance_field_bytes(const fm_distance_field *field);

/// Place of a cell in the arrays.
static inline size_t fm_distance_field_index(const fm_distance_field *field, fm_cell cell)
{
    return (size_t)fm_cell_y(cell) * field->view->width + fm_cell_x(cell);
}
