// clients/cli/snapshot.c: see snapshot.h.

#include "clients/cli/snapshot.h"

#include "clients/cli/views.h"

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

// The free cell nearest to `from`, ring by ring; FM_CELL_NONE when there is none.
static fm_cell nearest_free(const fm_mirror *mirror, fm_cell from)
{
    int64_t x0 = fm_cell_x(from), y0 = fm_cell_y(from);
    for (int64_t radius = 0; radius < FM_SIDE_MAX; radius++) {
        for (int64_t y = y0 - radius; y <= y0 + radius; y++) {
            bool edge = y == y0 - radius || y == y0 + radius;
            for (int64_t x = x0 - radius; x <= x0 + radius;
                 x += edge || radius == 0 ? 1 : 2 * radius) {
                if (x >= 0 && y >= 0 && x < FM_SIDE_MAX && y < FM_SIDE_MAX &&
                    fm_look_is_free(fm_mirror_look(mirror, (uint32_t)x, (uint32_t)y))) {
                    return fm_cell_at((uint32_t)x, (uint32_t)y);
                }
            }
        }
    }
    return FM_CELL_NONE;
}

uint32_t fm_snapshot_flood(const fm_cli *cli, const fm_mirror *mirror, fm_cell from,
                           uint32_t count_max, fm_cell **cells)
{
    const fm_rect *rect = &mirror->rect;
    size_t area = (size_t)rect->width * rect->height;
    *cells = NULL;
    from = nearest_free(mirror, from);
    if (from == FM_CELL_NONE || count_max == 0) {
        return 0;
    }
    fm_cell *queue = fm_cli_need(cli, malloc(area * sizeof *queue));
    bool *seen = fm_cli_need(cli, calloc(area, sizeof *seen));
    uint32_t count = 0;
    queue[count++] = from;
    seen[(size_t)(fm_cell_y(from) - rect->y) * rect->width + (fm_cell_x(from) - rect->x)] = true;
    for (uint32_t head = 0; head < count && count < count_max; head++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT && count < count_max; d += 2) {
            uint32_t x = fm_cell_x(queue[head]) + (uint32_t)fm_direction_dx[d];
            uint32_t y = fm_cell_y(queue[head]) + (uint32_t)fm_direction_dy[d];
            uint32_t column = x - rect->x, row = y - rect->y; // wraps below the rectangle
            if (column >= rect->width || row >= rect->height ||
                seen[(size_t)row * rect->width + column] ||
                !fm_look_is_free(fm_mirror_look(mirror, x, y))) {
                continue;
            }
            seen[(size_t)row * rect->width + column] = true;
            queue[count++] = fm_cell_at(x, y);
        }
    }
    free(seen);
    *cells = queue;
    return count;
}
