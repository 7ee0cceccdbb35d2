// core/search/sweep.c: see sweep.h.

#include "core/search/sweep.h"

#include "core/search/open_list.h"
#include "core/search/pages.h"

struct node {
    uint32_t g;     // cost from the source, FM_COST_INFINITE while not reached
    uint8_t parent; // direction of the cell before this one, FM_DIRECTION_COUNT at the source
};

struct fm_sweep {
    const fm_view *view;
    const fm_memory *memory;
    fm_cell source;
    fm_box box;
    fm_queue_kind queue;
    fm_slab slab; // its own slab, so that the sweep may be dropped at any time
    fm_pages pages;
    fm_open_list open;
    bool begun;
};

static const struct node blank = {.g = FM_COST_INFINITE, .parent = FM_DIRECTION_COUNT};

static struct node *nodes_of(fm_page *page)
{
    return (struct node *)(void *)page->nodes;
}

static uint32_t key_of(const fm_sweep *sweep, uint32_t g, fm_cell cell)
{
    bool four = sweep->view->connectivity == FM_CONNECT_4;
    return g + fm_box_distance(sweep->view, four, &sweep->box, cell);
}

fm_status fm_sweep_create(const fm_view *view, fm_cell source, fm_box box, const fm_memory *memory,
                          fm_sweep **out)
{
    fm_sweep *sweep = fm_memory_allocate_zeroed(memory, 1, sizeof *sweep);
    if (sweep == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    sweep->view = view;
    sweep->memory = memory;
    sweep->source = source;
    sweep->box = box;
    sweep->queue = fm_open_span(view) < FM_OPEN_BUCKETS_MAX ? FM_QUEUE_BUCKET : FM_QUEUE_HEAP;
    fm_slab_init(&sweep->slab, memory);
    fm_pages_init(&sweep->pages, &blank, sizeof blank, memory);
    fm_open_init(&sweep->open, memory);
    *out = sweep;
    return FM_OK;
}

void fm_sweep_destroy(fm_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    fm_open_fini(&sweep->open);
    fm_pages_fini(&sweep->pages, &sweep->slab);
    fm_slab_fini(&sweep->slab);
    fm_memory_release(sweep->memory, sweep, sizeof *sweep);
}

static bool begin(fm_sweep *sweep)
{
    fm_page *page = fm_pages_get(&sweep->pages, sweep->source, &sweep->slab);
    if (page == NULL || !fm_open_clear(&sweep->open, sweep->queue, fm_open_span(sweep->view)) ||
        !fm_open_reserve(&sweep->open, sweep->queue, 1)) {
        return false;
    }
    uint32_t position = fm_page_position(sweep->source);
    nodes_of(page)[position].g = 0;
    fm_open_push(&sweep->open, sweep->queue, fm_node_ref(page, position),
                 key_of(sweep, 0, sweep->source));
    sweep->begun = true;
    return true;
}

static bool expand(fm_sweep *sweep, fm_page *page, uint32_t position)
{
    fm_cell cell = fm_page_cell(page, position);
    uint32_t g = nodes_of(page)[position].g;
    if (!fm_open_reserve(&sweep->open, sweep->queue, FM_DIRECTION_COUNT)) {
        return false;
    }
    for (uint32_t moves = fm_view_moves(sweep->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[position][d];
        fm_page *there = page->near[step.page];
        if (there == sweep->pages.nowhere) {
            there = fm_pages_get_near(&sweep->pages, page, step.page, &sweep->slab);
        }
        if (there == NULL) {
            return false;
        }
        fm_cell to_cell = fm_cell_step(cell, d);
        uint32_t to_g = g + fm_view_cost(sweep->view, cell, d, to_cell);
        struct node *to = &nodes_of(there)[step.position];
        if (to_g < to->g) {
            *to = (struct node){.g = to_g, .parent = (uint8_t)(d ^ 4)};
            fm_open_push(&sweep->open, sweep->queue, fm_node_ref(there, step.position),
                         key_of(sweep, to_g, to_cell));
        }
    }
    return true;
}

static bool is_in_box(const fm_box *box, fm_cell cell)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    return x >= box->left && x <= box->right && y >= box->top && y <= box->bottom;
}

fm_sweep_state fm_sweep_advance(fm_sweep *sweep, fm_work *work, fm_sweep_fn *visit, void *context)
{
    uint32_t expansions_at_start = work->expansions;
    fm_open_list *open = &sweep->open;
    if (!sweep->begun && !begin(sweep)) {
        return FM_SWEEP_EXHAUSTED;
    }
    while (open->count > 0) {
        uint32_t ref = fm_open_top(open, sweep->queue);
        fm_page *page = fm_node_page(&sweep->pages, ref);
        uint32_t position = fm_node_position(ref);
        fm_cell cell = fm_page_cell(page, position);
        uint32_t g = nodes_of(page)[position].g;
        if (key_of(sweep, g, cell) != fm_open_top_key(open, sweep->queue)) {
            fm_open_drop(open, sweep->queue); // a better path was found after this push
            continue;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return FM_SWEEP_RUNNING;
        }
        fm_open_drop(open, sweep->queue);
        work->expansions += 1;
        if (is_in_box(&sweep->box, cell) && visit(cell, g, context)) {
            return FM_SWEEP_STOPPED;
        }
        if (!expand(sweep, page, position)) {
            return FM_SWEEP_EXHAUSTED;
        }
    }
    return FM_SWEEP_DONE;
}

// The direction back to the cell before, FM_DIRECTION_COUNT at the source.
static uint32_t way_back(const fm_sweep *sweep, fm_cell cell)
{
    fm_page *page = fm_pages_find(&sweep->pages, cell);
    FM_ASSERT(page != NULL);
    return nodes_of(page)[fm_page_position(cell)].parent;
}

uint32_t fm_sweep_path(const fm_sweep *sweep, fm_cell cell, fm_cell *cells, uint32_t capacity)
{
    uint32_t count = 1;
    for (fm_cell at = cell; way_back(sweep, at) != FM_DIRECTION_COUNT; count++) {
        at = fm_cell_step(at, way_back(sweep, at));
    }
    uint32_t place = count;
    for (fm_cell at = cell; place-- > 0;) {
        if (place < capacity) {
            cells[place] = at;
        }
        at = place == 0 ? at : fm_cell_step(at, way_back(sweep, at));
    }
    return count;
}
