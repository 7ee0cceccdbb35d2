// core/planners/dstar_answers.c: what D* Lite answers: states, steps, distances, paths, and what it
// has looked at. See dstar_state.h. Nothing here changes a search.

#include "core/planners/dstar_state.h"

#include "core/search/field.h"

// The answer at a start that is not the goal. `page` is the start's, NULL when it is not touched.
static fm_plan_state state_on(const fm_dstar *d, fm_cell start, const fm_page *page)
{
    if (d->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    const fm_dstar_node *node =
        page == NULL ? NULL : fm_dstar_node_at(page, fm_page_position(start));
    if (d->done) {
        return node != NULL && node->rhs < FM_COST_INFINITE ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
    }
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    bool settled =
        node != NULL &&
        fm_dstar_is_settled(node, fm_dstar_key_of(&frame, d->shape, start, node), d->top);
    return settled ? FM_PLAN_FOUND : FM_PLAN_RUNNING;
}

static inline fm_plan_state state_at(const fm_dstar *d, fm_cell start)
{
    return start == d->goal ? FM_PLAN_FOUND : state_on(d, start, fm_pages_find(&d->pages, start));
}

fm_plan_state fm_dstar_state_at(const void *self, fm_cell start)
{
    return state_at(self, start);
}

static fm_field field_of(const fm_dstar *d)
{
    return (fm_field){.view = d->view, .pages = &d->pages, .goal = d->goal};
}

static inline fm_plan_state answer(const fm_dstar *d, fm_cell start, fm_cell *next)
{
    const fm_field field = field_of(d);
    if (start == d->goal) {
        *next = start;
        return FM_PLAN_FOUND;
    }
    const fm_page *page = fm_pages_find(&d->pages, start);
    fm_plan_state state = state_on(d, start, page);
    *next =
        state == FM_PLAN_FOUND ? fm_field_step_from(&field, page, start, d->step) : FM_CELL_NONE;
    return state;
}

fm_plan_state fm_dstar_answer(const void *self, fm_cell start, fm_cell *next)
{
    return answer(self, start, next);
}

fm_cell fm_dstar_next_step(const void *self, fm_cell start)
{
    fm_cell next;
    answer(self, start, &next);
    return next;
}

// fm_dstar_distances() of a cell where no page was taken.
static void distances_from_outside(const fm_dstar *d, fm_cell start, uint32_t moves,
                                   uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    distances[FM_DIRECTION_COUNT] = FM_COST_INFINITE;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(start, i);
        uint32_t behind = FM_COST_INFINITE + fm_view_cost(d->view, start, i, next);
        const fm_dstar_node *node = fm_pages_node(&d->pages, next);
        distances[i] = node != NULL && node->rhs < behind ? node->rhs : behind;
    }
}

// A neighbour that was not looked at lies behind the agent: the path from there leads back.
void fm_dstar_distances(const void *self, fm_cell start, uint32_t moves,
                        uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const fm_dstar *d = self;
    const fm_page *page = fm_pages_find(&d->pages, start);
    if (page == NULL) {
        distances_from_outside(d, start, moves, distances);
        return;
    }
    uint32_t position = fm_page_position(start);
    uint32_t own = fm_dstar_node_at(page, position)->rhs;
    distances[FM_DIRECTION_COUNT] = own;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[position][i];
        uint32_t rhs = fm_dstar_node_at(page->near[step.page], step.position)->rhs;
        uint32_t behind = own + fm_view_cost(d->view, start, i, fm_cell_step(start, i));
        distances[i] = rhs < behind ? rhs : behind;
    }
}

uint32_t fm_dstar_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const fm_dstar *d = self;
    const fm_field field = field_of(d);
    return state_at(d, start) == FM_PLAN_FOUND
               ? fm_field_path(&field, start, d->step, cells, capacity)
               : 0;
}

void fm_dstar_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const fm_dstar *d = self;
    const fm_field field = field_of(d);
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            const fm_dstar_spot u = fm_dstar_spot_at(d->pages.by_slot[slot], position);
            if (u.node->g == FM_COST_INFINITE && u.node->rhs == FM_COST_INFINITE) {
                continue;
            }
            bool open = u.node->g != u.node->rhs;
            // Out of memory: a cell that should be queued is not.
            bool queued = open && fm_dstar_is_queued(d->shape.order, u.node);
            fm_inspection inspection = {
                .cell = u.cell,
                .open = open,
                .closed = !open,
                .g = u.node->g,
                .h = fm_box_distance(d->view, d->shape.four, &d->starts.box, u.cell),
                .rhs = u.node->rhs,
                .key = queued ? fm_dstar_key_of(&frame, d->shape, u.cell, u.node) : 0,
                .parent =
                    u.cell == d->goal ? FM_CELL_NONE : fm_field_step(&field, u.cell, d->step)};
            visit(&inspection, context);
        }
    }
}
