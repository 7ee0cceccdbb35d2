// clients/cli/views/snapshot.c: see snapshot.h.

#include "clients/cli/views/snapshot.h"

#include "clients/cli/views/views.h"

#include <stdlib.h>

void fm_snapshot_take(fm_cli *cli, uint64_t world, uint64_t team, const fm_rect *rect,
                      fm_mirror *mirror)
{
    fm_views views;
    fm_views_init(cli, &views);
    // The keyframe is all we want, so deltas may be as rare as they can be.
    *mirror = *fm_views_add(cli, &views, world, team, rect, 1000, NULL, NULL);
    views.count = 0; // the mirror is the caller's now
    fm_params_uint(&cli->params, FM_FIELD_SUBSCRIPTION, mirror->subscription);
    (void)fm_cli_call(cli, FM_METHOD_UNSUBSCRIBE);
    fm_views_fini(cli, &views);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

void fm_snapshot_agents(const fm_cli *cli, const fm_mirror *mirror, uint64_t team, fm_id_list *list)
{
    for (uint32_t i = 0; i < mirror->agent_count; i++) {
        if ((team == 0 || mirror->agents[i].team == team) &&
            !fm_id_list_add(list, mirror->agents[i].id)) {
            fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        }
    }
    if (list->count > 0) {
        qsort(list->ids, list->count, sizeof *list->ids, compare_ids);
    }
}

// ---- parts of the map ---------------------------------------------------------------------------

static size_t position(const fm_mirror *mirror, fm_cell cell)
{
    return (size_t)(fm_cell_y(cell) - mirror->rect.y) * mirror->rect.width +
           (fm_cell_x(cell) - mirror->rect.x);
}

static bool fits(const fm_mirror *mirror, const fm_movement_class *movement, uint32_t x, uint32_t y)
{
    for (uint32_t k = 0; k < (uint32_t)movement->size * movement->size; k++) {
        uint32_t cx = x + k % movement->size, cy = y + k / movement->size;
        fm_terrain terrain = fm_look_terrain(fm_mirror_look(mirror, cx, cy)); // outside: unknown
        if (terrain == FM_TERRAIN_UNKNOWN || movement->cost[terrain] == 0) {
            return false;
        }
    }
    return true;
}

// In map order: a square's other cells come after its corner, and are still as they were.
void fm_snapshot_fit(fm_mirror *mirror, const fm_movement_class *movement)
{
    const fm_rect *rect = &mirror->rect;
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            mirror->looks[position(mirror, fm_cell_at(x, y))] =
                fits(mirror, movement, x, y) ? FM_TERRAIN_GROUND : FM_TERRAIN_WALL;
        }
    }
}

// Walks over the free cells around `from` that have no label yet, and gives them one.
//
// @param queue  receives the cells, nearest first; room for all of the rectangle
// @return how many
static uint32_t spread(const fm_mirror *mirror, fm_cell from, uint32_t count_max, uint32_t label,
                       uint32_t *labels, fm_cell *queue)
{
    const fm_rect *rect = &mirror->rect;
    uint32_t count = 0;
    queue[count++] = from;
    labels[position(mirror, from)] = label;
    for (uint32_t head = 0; head < count && count < count_max; head++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT && count < count_max; d += 2) {
            uint32_t x = fm_cell_x(queue[head]) + (uint32_t)fm_direction_dx[d];
            uint32_t y = fm_cell_y(queue[head]) + (uint32_t)fm_direction_dy[d];
            // Left of the rectangle or above it the difference wraps and is large.
            if (x - rect->x >= rect->width || y - rect->y >= rect->height ||
                !fm_look_is_free(fm_mirror_look(mirror, x, y))) {
                continue;
            }
            fm_cell next = fm_cell_at(x, y);
            if (labels[position(mirror, next)] == 0) {
                labels[position(mirror, next)] = label;
                queue[count++] = next;
            }
        }
    }
    return count;
}

static uint32_t distance(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx > dy ? dx : dy;
}

fm_cell fm_snapshot_mainland(const fm_cli *cli, const fm_mirror *mirror, fm_cell near)
{
    const fm_rect *rect = &mirror->rect;
    size_t area = (size_t)rect->width * rect->height;
    uint32_t *labels = fm_cli_need(cli, calloc(area, sizeof *labels));
    fm_cell *queue = fm_cli_need(cli, malloc(area * sizeof *queue));
    uint32_t label = 0, largest_size = 0;
    fm_cell nearest = FM_CELL_NONE;
    for (size_t i = 0; i < area; i++) {
        fm_cell cell = fm_cell_at(rect->x + (uint32_t)(i % rect->width),
                                  rect->y + (uint32_t)(i / rect->width));
        if (labels[i] != 0 || !fm_look_is_free(mirror->looks[i])) {
            continue;
        }
        uint32_t size = spread(mirror, cell, UINT32_MAX, ++label, labels, queue);
        if (size <= largest_size) {
            continue;
        }
        largest_size = size;
        nearest = cell;
        for (uint32_t k = 0; k < size; k++) {
            nearest = distance(queue[k], near) < distance(nearest, near) ? queue[k] : nearest;
        }
    }
    free(queue);
    free(labels);
    return nearest;
}

uint32_t fm_snapshot_flood(const fm_cli *cli, const fm_mirror *mirror, fm_cell from,
                           uint32_t count_max, fm_cell **cells)
{
    size_t area = (size_t)mirror->rect.width * mirror->rect.height;
    uint32_t *labels = fm_cli_need(cli, calloc(area, sizeof *labels));
    *cells = fm_cli_need(cli, malloc(area * sizeof **cells));
    uint32_t count = spread(mirror, from, count_max, 1, labels, *cells);
    free(labels);
    return count;
}
