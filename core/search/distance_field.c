// core/search/distance_field.c: see distance_field.h.

#include "core/search/distance_field.h"

static size_t cell_count(const fm_view *view)
{
    return (size_t)view->width * view->height;
}

size_t fm_distance_field_costs_size(const fm_view *view)
{
    return cell_count(view) * sizeof(uint32_t);
}

void fm_distance_field_init(fm_distance_field *field, const fm_view *view, const fm_memory *memory)
{
    *field = (fm_distance_field){.view = view, .memory = memory, .state = FM_FIELD_DONE};
    fm_open_init(&field->open, memory);
}

void fm_distance_field_fini(fm_distance_field *field)
{
    size_t count = cell_count(field->view);
    fm_open_fini(&field->open);
    fm_memory_release(field->memory, field->costs, count * sizeof *field->costs);
    fm_memory_release(field->memory, field->parents, count * sizeof *field->parents);
    fm_memory_release(field->memory, field->order, count * sizeof *field->order);
    fm_distance_field_init(field, field->view, field->memory);
}

size_t fm_distance_field_bytes(const fm_distance_field *field)
{
    size_t count = cell_count(field->view), bytes = fm_open_bytes(&field->open);
    bytes += field->costs == NULL ? 0 : count * sizeof *field->costs;
    bytes += field->parents == NULL ? 0 : count * sizeof *field->parents;
    return bytes + (field->order == NULL ? 0 : count * sizeof *field->order);
}

static bool allocate(fm_distance_field *field)
{
    size_t count = cell_count(field->view);
    if (field->costs == NULL) {
        field->costs = fm_memory_allocate(field->memory, count * sizeof *field->costs);
    }
    if (field->parents == NULL) {
        field->parents = fm_memory_allocate(field->memory, count * sizeof *field->parents);
    }
    if (field->order == NULL) {
        field->order = fm_memory_allocate(field->memory, count * sizeof *field->order);
    }
    return field->costs != NULL && field->parents != NULL && field->order != NULL;
}

fm_status fm_distance_field_begin(fm_distance_field *field, fm_cell first, fm_cell last)
{
    const fm_view *view = field->view;
    uint32_t step = view->connectivity == FM_CONNECT_4 ? view->step[0] : view->step[1];
    uint32_t costliest = view->weights == NULL ? step : step * FM_COST_MAX;
    field->queue = costliest < FM_OPEN_BUCKETS_MAX ? FM_QUEUE_BUCKET : FM_QUEUE_HEAP;
    field->first = first;
    field->last = last;
    field->cleared_count = 0;
    field->settled_count = 0;
    if (!allocate(field) || !fm_open_clear(&field->open, field->queue, costliest)) {
        field->state = FM_FIELD_NO_MEMORY;
        return FM_ERR_NO_MEMORY;
    }
    field->state = FM_FIELD_RUNNING;
    return FM_OK;
}

uint32_t *fm_distance_field_take_costs(fm_distance_field *field)
{
    uint32_t *costs = field->costs;
    field->costs = NULL;
    return costs;
}

static bool push(fm_distance_field *field, fm_cell cell, uint32_t cost, uint32_t parent)
{
    size_t i = fm_distance_field_index(field, cell);
    if (cost >= field->costs[i]) {
        return true;
    }
    if (!fm_open_reserve(&field->open, field->queue, 1)) {
        return false;
    }
    field->costs[i] = cost;
    field->parents[i] = (uint8_t)parent;
    fm_open_push(&field->open, field->queue, cell, cost);
    return true;
}

static bool push_sources(fm_distance_field *field)
{
    for (uint32_t y = fm_cell_y(field->first); y <= fm_cell_y(field->last); y++) {
        for (uint32_t x = fm_cell_x(field->first); x <= fm_cell_x(field->last); x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (!fm_view_is_blocked(field->view, cell) &&
                !push(field, cell, 0, FM_DIRECTION_COUNT)) {
                return false;
            }
        }
    }
    return true;
}

// One unit. The last one puts the sources on the list.
static bool clear_some(fm_distance_field *field)
{
    size_t count = cell_count(field->view), end = field->cleared_count + FM_FIELD_CELLS_PER_UNIT;
    end = end < count ? end : count;
    for (size_t i = field->cleared_count; i < end; i++) {
        field->costs[i] = FM_COST_INFINITE;
    }
    field->cleared_count = end;
    return end < count || push_sources(field);
}

static bool settle(fm_distance_field *field, fm_cell cell, uint32_t cost)
{
    const fm_view *view = field->view;
    field->order[field->settled_count++] = cell;
    for (uint32_t moves = fm_view_moves(view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell to = fm_cell_step(cell, d);
        if (!push(field, to, cost + fm_view_cost(view, cell, d, to), d ^ 4)) {
            return false;
        }
    }
    return true;
}

// Throws away entries of cells to which a cheaper path was found. False when none is left.
static bool find_top(fm_distance_field *field)
{
    fm_open_list *open = &field->open;
    while (open->count > 0) {
        fm_cell cell = fm_open_top(open, field->queue);
        if (field->costs[fm_distance_field_index(field, cell)] ==
            fm_open_top_key(open, field->queue)) {
            return true;
        }
        fm_open_drop(open, field->queue);
    }
    return false;
}

fm_field_state fm_distance_field_advance(fm_distance_field *field, fm_work *work,
                                         uint32_t expansions_at_start)
{
    while (field->state == FM_FIELD_RUNNING) {
        bool clearing = field->cleared_count < cell_count(field->view);
        if (!clearing && !find_top(field)) {
            field->state = FM_FIELD_DONE;
            break;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            break;
        }
        work->expansions += 1;
        bool done;
        if (clearing) {
            done = clear_some(field);
        } else {
            fm_cell cell = fm_open_top(&field->open, field->queue);
            uint32_t cost = (uint32_t)fm_open_top_key(&field->open, field->queue);
            fm_open_drop(&field->open, field->queue);
            done = settle(field, cell, cost);
        }
        if (!done) {
            field->state = FM_FIELD_NO_MEMORY;
        }
    }
    return field->state;
}
