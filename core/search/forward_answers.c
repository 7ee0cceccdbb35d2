// core/search/forward_answers.c: what a forward search answers: the path, distances and what it has
// looked at. See forward_search.h. Nothing here changes a search.

#include "core/search/forward_search.h"

fm_plan_state fm_forward_state_at(const void *self, fm_cell start)
{
    const fm_forward *forward = self;
    return start == forward->goal ? FM_PLAN_FOUND : forward->state;
}

fm_cell fm_forward_next_step(const void *self, fm_cell start)
{
    const fm_forward *forward = self;
    if (start == forward->goal) {
        return start;
    }
    if (forward->state != FM_PLAN_FOUND || start != forward->start) {
        return FM_CELL_NONE;
    }
    return fm_cell_step(start, fm_forward_find(forward, start)->next);
}

// How far the goal is from a cell: what was learned, or in a search from the goal what was found.
// `behind` is returned for cells that such a search has not reached.
static uint32_t distance_from(const fm_forward *forward, fm_cell cell, uint32_t behind)
{
    const fm_forward_node *node = fm_forward_find(forward, cell);
    if (!forward->rules.backward) {
        return fm_forward_estimate(forward, node, cell);
    }
    return fm_forward_is_reached(forward, node) ? node->g : behind;
}

void fm_forward_distances(const void *self, fm_cell start, uint32_t moves,
                          uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const fm_forward *forward = self;
    uint32_t own = distance_from(forward, start, FM_COST_INFINITE);
    distances[FM_DIRECTION_COUNT] = own;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(start, d);
        distances[d] = distance_from(forward, next, own + forward->view->step[d & 1]);
    }
}

uint32_t fm_forward_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const fm_forward *forward = self;
    if (start != forward->goal && (forward->state != FM_PLAN_FOUND || start != forward->start)) {
        return 0;
    }
    uint32_t length = 0;
    for (fm_cell cell = start;; cell = fm_cell_step(cell, fm_forward_find(forward, cell)->next)) {
        if (length < capacity) {
            cells[length] = cell;
        }
        length += 1;
        if (cell == forward->goal) {
            return length;
        }
    }
}

fm_cell fm_forward_nearest(const void *self, fm_cell start)
{
    const fm_forward *forward = self;
    return start == forward->start ? forward->nearest : FM_CELL_NONE;
}

static fm_inspection inspection_of(const fm_forward *forward, const fm_forward_node *node,
                                   fm_cell cell)
{
    bool reached = fm_forward_is_reached(forward, node);
    bool closed = reached && node->closed != FM_FORWARD_REACHED;
    uint32_t h = reached ? node->h : fm_forward_estimate(forward, node, cell);
    bool has_parent = reached && node->parent != FM_NO_DIRECTION;
    return (fm_inspection){
        .cell = cell,
        .open = reached && !closed,
        .closed = closed,
        .g = reached ? node->g : FM_COST_INFINITE,
        .h = h,
        .rhs = FM_COST_INFINITE,
        .key = reached && !closed ? fm_forward_key(forward, forward->queue, node->g, h) : 0,
        .parent = has_parent ? fm_cell_step(cell, node->parent) : FM_CELL_NONE};
}

void fm_forward_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const fm_forward *forward = self;
    for (uint32_t slot = 0; slot < forward->pages.page_count; slot++) {
        const fm_page *page = forward->pages.by_slot[slot];
        for (uint32_t i = 0; i < FM_PAGE_CELLS; i++) {
            const fm_forward_node *node = &fm_forward_nodes(page)[i];
            if (node->search != 0) {
                fm_inspection cell = inspection_of(forward, node, fm_page_cell(page, i));
                visit(&cell, context);
            }
        }
    }
}
