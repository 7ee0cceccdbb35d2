// core/planners/dstar_state.h: the inside of D* Lite, for dstar_lite.c, which searches, and
// dstar_answers.c, which reads what was found.

#pragma once

#include "core/search/dstar_open.h"
#include "core/search/planner.h"
#include "core/search/starts.h"

// What the inner loops are compiled for: constants wherever it is passed.
typedef struct fm_dstar_shape {
    fm_dstar_order order;
    bool four; // 4 neighbours
    bool weighted;
} fm_dstar_shape;

typedef struct fm_dstar {
    const fm_view *view;
    fm_dstar_shape shape;
    fm_cell goal;
    fm_step_choice step;

    fm_pages pages;
    fm_dstar_open open;
    fm_starts starts;

    uint64_t top;   // nothing on the open list has a smaller key
    bool done;      // every start is settled
    bool begun;     // the goal has been queued
    bool exhausted; // memory ran out
} fm_dstar;

// What the loops read over and over. It is copied once per call: were it read from the planner,
// every store to a node would make the compiler read it again.
typedef struct fm_dstar_frame {
    fm_view view;
    fm_bitmap blocked;
    fm_box box;
    uint32_t km;
} fm_dstar_frame;

static inline fm_dstar_frame fm_dstar_frame_of(const fm_dstar *d)
{
    return (fm_dstar_frame){
        .view = *d->view, .blocked = *d->view->blocked, .box = d->starts.box, .km = d->starts.km};
}

// A cell with everything needed to reach its neighbours.
typedef struct fm_dstar_spot {
    fm_page *page;
    uint32_t position;
    fm_cell cell;
    fm_dstar_node *node;
} fm_dstar_spot;

FM_INLINE fm_dstar_spot fm_dstar_spot_at(fm_page *page, uint32_t position)
{
    return (fm_dstar_spot){page, position, fm_page_cell(page, position),
                           fm_dstar_node_at(page, position)};
}

FM_INLINE uint64_t fm_dstar_key_of(const fm_dstar_frame *frame, fm_dstar_shape shape, fm_cell cell,
                                   const fm_dstar_node *node)
{
    uint32_t least = node->g < node->rhs ? node->g : node->rhs;
    uint32_t h = fm_box_distance(&frame->view, shape.four, &frame->box, cell);
    return fm_dstar_key(shape.order, least + h + frame->km, node);
}

// Whether a start's rhs is its true distance, given its key and the smallest key of the open list.
FM_INLINE bool fm_dstar_is_settled(const fm_dstar_node *node, uint64_t key, uint64_t top)
{
    return top >= key && node->rhs <= node->g && node->rhs < FM_COST_INFINITE;
}

// ---- ops that only read ----

fm_plan_state fm_dstar_state_at(const void *self, fm_cell start);
fm_plan_state fm_dstar_answer(const void *self, fm_cell start, fm_cell *next);
fm_cell fm_dstar_next_step(const void *self, fm_cell start);
void fm_dstar_distances(const void *self, fm_cell start, uint32_t moves,
                        uint32_t distances[FM_DIRECTION_COUNT + 1]);
uint32_t fm_dstar_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity);
void fm_dstar_inspect(const void *self, fm_inspect_fn *visit, void *context);
