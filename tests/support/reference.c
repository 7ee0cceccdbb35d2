// reference.c: see reference.h.

#include "tests/support/reference.h"

#include <stdlib.h>

static bool is_free(const fm_view *view, int32_t x, int32_t y)
{
    return x >= 0 && y >= 0 && (uint32_t)x < view->width && (uint32_t)y < view->height &&
           !fm_bitmap_get(view->blocked, fm_cell_at((uint32_t)x, (uint32_t)y));
}

bool reference_is_legal(const fm_view *view, fm_cell from, fm_cell to)
{
    int32_t x = (int32_t)fm_cell_x(from), y = (int32_t)fm_cell_y(from);
    int32_t dx = (int32_t)fm_cell_x(to) - x, dy = (int32_t)fm_cell_y(to) - y;
    if (dx < -1 || dx > 1 || dy < -1 || dy > 1 || (dx == 0 && dy == 0) || !is_free(view, x, y) ||
        !is_free(view, x + dx, y + dy)) {
        return false;
    }
    if (dx == 0 || dy == 0) {
        return true;
    }
    bool beside_x = is_free(view, x + dx, y), beside_y = is_free(view, x, y + dy);
    switch (view->connectivity) {
    case FM_CONNECT_4:
        return false;
    case FM_CONNECT_8:
        return beside_x && beside_y;
    case FM_CONNECT_8_CORNERS:
        return beside_x || beside_y;
    }
    FM_UNREACHABLE();
}

uint32_t reference_step_cost(const fm_view *view, fm_cell from, fm_cell to)
{
    bool diagonal = fm_cell_x(from) != fm_cell_x(to) && fm_cell_y(from) != fm_cell_y(to);
    uint32_t weights = fm_view_weight(view, from) + fm_view_weight(view, to);
    uint32_t twice = view->step[diagonal] * weights;
    FM_ASSERT(twice % 2 == 0);
    return twice / 2;
}

reference reference_measure(const fm_view *view, fm_cell target)
{
    size_t cell_count = (size_t)view->width * view->height;
    reference costs = {.width = view->width,
                       .height = view->height,
                       .target = target,
                       .cost = malloc(cell_count * sizeof(uint32_t))};
    fm_cell *waiting = malloc(cell_count * sizeof *waiting); // a ring
    bool *is_waiting = calloc(cell_count, sizeof *is_waiting);
    FM_ASSERT(costs.cost != NULL && waiting != NULL && is_waiting != NULL);
    for (size_t i = 0; i < cell_count; i++) {
        costs.cost[i] = FM_COST_INFINITE;
    }

    size_t first = 0, count = 1;
    waiting[0] = target;
    costs.cost[(size_t)fm_cell_y(target) * view->width + fm_cell_x(target)] = 0;
    while (count > 0) {
        fm_cell cell = waiting[first];
        first = (first + 1) % cell_count;
        count -= 1;
        is_waiting[(size_t)fm_cell_y(cell) * view->width + fm_cell_x(cell)] = false;
        for (int32_t y = (int32_t)fm_cell_y(cell) - 1; y <= (int32_t)fm_cell_y(cell) + 1; y++) {
            for (int32_t x = (int32_t)fm_cell_x(cell) - 1; x <= (int32_t)fm_cell_x(cell) + 1; x++) {
                if (!is_free(view, x, y)) {
                    continue;
                }
                fm_cell near = fm_cell_at((uint32_t)x, (uint32_t)y);
                if (!reference_is_legal(view, near, cell)) {
                    continue;
                }
                size_t index = (size_t)y * view->width + (size_t)x;
                uint32_t cost =
                    reference_cost(&costs, cell) + reference_step_cost(view, near, cell);
                if (cost < costs.cost[index]) {
                    costs.cost[index] = cost;
                    if (!is_waiting[index]) {
                        is_waiting[index] = true;
                        waiting[(first + count++) % cell_count] = near;
                    }
                }
            }
        }
    }
    free(waiting);
    free(is_waiting);
    return costs;
}

void reference_fini(reference *costs)
{
    free(costs->cost);
    costs->cost = NULL;
}

bool reference_is_nearest(const fm_view *view, fm_cell start, fm_cell goal, fm_cell nearest,
                          bool is_cheapest)
{
    reference costs = reference_measure(view, start);
    uint32_t h = fm_view_distance(view, nearest, goal), least = reference_cost(&costs, nearest);
    bool is_nearest = least < FM_COST_INFINITE;
    for (uint32_t i = 0; i < view->width * view->height; i++) {
        fm_cell cell = fm_cell_at(i % view->width, i / view->width);
        uint32_t cost = reference_cost(&costs, cell), cell_h = fm_view_distance(view, cell, goal);
        bool is_better = cell_h < h || (cell_h == h && is_cheapest && cost < least);
        is_nearest = is_nearest && (cost >= FM_COST_INFINITE || !is_better);
    }
    reference_fini(&costs);
    return is_nearest;
}
