// core/map/view.c: the move tables: for each of the 512 patterns of blocked cells around a cell,
// the directions in which it may be left. One table look-up replaces up to twelve bit tests in the
// innermost loop of every search, and each rule of the world is just another table.

#include "core/map/view.h"

#include <math.h>
#include <pthread.h>

static uint8_t move_tables[3][512];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static bool pattern_blocks(uint32_t pattern, int dx, int dy)
{
    return pattern >> ((dy + 1) * 3 + (dx + 1)) & 1;
}

static uint8_t moves_of(uint32_t pattern, fm_connectivity connectivity)
{
    uint8_t moves = 0;
    if (pattern_blocks(pattern, 0, 0)) {
        return 0;
    }
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        int dx = fm_direction_dx[d], dy = fm_direction_dy[d];
        bool legal = !pattern_blocks(pattern, dx, dy);
        if (d & 1) {
            bool beside_x = pattern_blocks(pattern, dx, 0),
                 beside_y = pattern_blocks(pattern, 0, dy);
            switch (connectivity) {
            case FM_CONNECT_4:
                legal = false;
                break;
            case FM_CONNECT_8:
                legal = legal && !beside_x && !beside_y;
                break;
            case FM_CONNECT_8_CORNERS:
                legal = legal && !(beside_x && beside_y);
                break;
            }
        }
        moves |= (uint8_t)(legal << d);
    }
    return moves;
}

static void fill_tables(void)
{
    for (uint32_t rule = 0; rule < FM_COUNT_OF(move_tables); rule++) {
        for (uint32_t pattern = 0; pattern < 512; pattern++) {
            move_tables[rule][pattern] = moves_of(pattern, (fm_connectivity)rule);
        }
    }
}

void fm_view_set_rules(fm_view *view, fm_connectivity connectivity, fm_step_costs steps)
{
    static const uint32_t costs[][2] = {
        [FM_STEPS_1] = {1, 1}, [FM_STEPS_10_14] = {10, 14}, [FM_STEPS_70_99] = {70, 99}};

    pthread_once(&tables_once, fill_tables);
    view->connectivity = connectivity;
    view->moves = move_tables[connectivity];
    bool odd = (costs[steps][0] | costs[steps][1]) & 1;
    uint32_t scale = view->weights != NULL && odd ? 2 : 1;
    view->step[0] = costs[steps][0] * scale;
    view->step[1] = costs[steps][1] * scale;
}

fm_view fm_view_of_grid(const fm_grid *grid, fm_connectivity connectivity, fm_step_costs steps)
{
    fm_view view = {.blocked = &grid->blocked,
                    .blocked_transposed = &grid->blocked_transposed,
                    .weights = grid->weighted ? grid->cost : NULL,
                    .width = grid->width,
                    .height = grid->height};
    fm_view_set_rules(&view, connectivity, steps);
    return view;
}

double fm_view_length(const fm_view *view, const fm_cell *cells, uint32_t count)
{
    double length = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t d = fm_cell_direction(cells[i - 1], cells[i]);
        double weight = (fm_view_weight(view, cells[i - 1]) + fm_view_weight(view, cells[i])) / 2.0;
        length += (d & 1 ? M_SQRT2 : 1.0) * weight;
    }
    return length;
}
