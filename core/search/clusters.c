// core/search/clusters.c: see clusters.h.

#include "core/search/clusters.h"

#define TILES_ABREAST 8u  // FM_CLUSTERS_MAX is its square
#define SCAN_STRIDE   16u // cells examined for one unit of work

static size_t table_size(const fm_clusters *c)
{
    return (size_t)c->count * c->count * sizeof(uint32_t);
}

void fm_clusters_init(fm_clusters *c, const fm_view *view, const fm_memory *memory)
{
    *c = (fm_clusters){.view = view, .memory = memory};
    uint32_t longest = view->width > view->height ? view->width : view->height;
    c->side = (longest + TILES_ABREAST - 1) / TILES_ABREAST;
    c->columns = (view->width + c->side - 1) / c->side;
    c->count = c->columns * ((view->height + c->side - 1) / c->side);
    FM_ASSERT(c->count <= FM_CLUSTERS_MAX);
    fm_distance_field_init(&c->field, view, memory);
}

void fm_clusters_abandon(fm_clusters *c)
{
    fm_distance_field_fini(&c->field);
    fm_memory_release(c->memory, c->next, table_size(c));
    c->next = NULL;
    c->busy = c->ready = false;
}

void fm_clusters_fini(fm_clusters *c)
{
    fm_clusters_abandon(c);
    fm_memory_release(c->memory, c->live, table_size(c));
    c->live = NULL;
}

size_t fm_clusters_bytes(const fm_clusters *c)
{
    return fm_distance_field_bytes(&c->field) + (c->live == NULL ? 0 : table_size(c)) +
           (c->next == NULL ? 0 : table_size(c));
}

void fm_clusters_publish(fm_clusters *c, fm_cluster_table *table)
{
    if (!c->ready) {
        return;
    }
    fm_memory_release(c->memory, c->live, table_size(c));
    c->live = c->next;
    c->next = NULL;
    c->ready = false;
    fm_distance_field_fini(&c->field);
    *table = (fm_cluster_table){.costs = c->live,
                                .count = c->count,
                                .columns = c->columns,
                                .side = c->side,
                                .generation = table->generation + 1};
}

static void begin_tile(fm_clusters *c)
{
    uint32_t x = c->tile % c->columns * c->side, y = c->tile / c->columns * c->side;
    fm_cell last = fm_cell_at(fm_min(x + c->side, c->view->width) - 1,
                              fm_min(y + c->side, c->view->height) - 1);
    c->scanning = false;
    c->cursor = 0;
    if (fm_distance_field_begin(&c->field, fm_cell_at(x, y), last) != FM_OK) {
        fm_clusters_abandon(c);
    }
}

void fm_clusters_begin(fm_clusters *c)
{
    fm_clusters_abandon(c);
    c->next = fm_memory_allocate(c->memory, table_size(c));
    if (c->next == NULL) {
        return;
    }
    for (uint32_t i = 0; i < c->count * c->count; i++) {
        c->next[i] = FM_COST_INFINITE;
    }
    c->busy = true;
    c->tile = 0;
    begin_tile(c);
}

// Cells come by rising cost, so the first of a tile is the nearest. Returns false at the end.
static bool scan_some(fm_clusters *c)
{
    for (uint32_t i = 0; i < SCAN_STRIDE; i++) {
        if (c->cursor == c->field.settled_count) {
            return false;
        }
        fm_cell cell = c->field.order[c->cursor++];
        uint32_t tile = fm_cell_y(cell) / c->side * c->columns + fm_cell_x(cell) / c->side;
        uint32_t *least = &c->next[c->tile * c->count + tile];
        *least = fm_min(*least, c->field.costs[fm_distance_field_index(&c->field, cell)]);
    }
    return true;
}

static void end_tile(fm_clusters *c)
{
    c->tile += 1;
    if (c->tile < c->count) {
        begin_tile(c);
    } else {
        c->busy = false;
        c->ready = true;
    }
}

void fm_clusters_advance(fm_clusters *c, fm_work *work, uint32_t expansions_at_start)
{
    while (c->busy) {
        if (!c->scanning) {
            switch (fm_distance_field_advance(&c->field, work, expansions_at_start)) {
            case FM_FIELD_RUNNING:
                return;
            case FM_FIELD_DONE:
                c->scanning = true;
                break;
            case FM_FIELD_NO_MEMORY:
                fm_clusters_abandon(c);
                return;
            }
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return;
        }
        work->expansions += 1;
        if (!scan_some(c)) {
            end_tile(c);
        }
    }
}
