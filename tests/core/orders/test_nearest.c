// test_nearest.c: where an order leads if its goal cannot be reached.
//
// Goal: to the reachable cell that is nearest to the goal; ties go to the smaller straight-line
// distance, then to the smaller cell number. The planner (forward, backward or jump points) and the
// start make no difference: the cell is chosen before the planner runs. Method: random maps, all
// known, with a walled-in goal; an agent for each of several planners in random cells of one
// component. The cells where they end are compared with a search of all its cells.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "tests/support/support.h"

#define SIDE  40u
#define CELLS (SIDE * SIDE)
#define RUNS  40u
#define TICKS 600u

static const fm_planner_ops *const planners[] = {
    &fm_auto,           &fm_repeated_jps,
    &fm_dstar_lite,     &fm_dstar_extra_lite,
    &fm_adaptive_astar, &fm_repeated_backward_astar,
    &fm_tbaa_star,      &fm_repeated_forward_astar,
};

#define PLANNERS FM_COUNT_OF(planners)

static uint32_t distance(fm_cell a, fm_cell b)
{
    uint32_t dx = fm_cell_dx(a, b), dy = fm_cell_dy(a, b);
    return dx < dy ? 10 * (dy - dx) + 14 * dx : 10 * (dx - dy) + 14 * dy;
}

// Random walls, and a wall on each cell nearer to the goal than `radius`.
static fm_grid *make_grid(fm_random *random, fm_cell goal, uint32_t radius)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (cell != goal &&
                (distance(cell, goal) < radius || fm_random_below(random, 4) == 0)) {
                fm_grid_set(grid, cell, FM_TERRAIN_WALL, 1);
            }
        }
    }
    return grid;
}

// All cells that are connected with the first one by straight steps.
static uint32_t flood(const fm_grid *grid, fm_cell first, fm_cell cells[CELLS])
{
    static bool seen[SIDE][SIDE];
    memset(seen, 0, sizeof seen);
    uint32_t count = 1;
    cells[0] = first;
    seen[fm_cell_y(first)][fm_cell_x(first)] = true;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t x = (int64_t)fm_cell_x(cells[i]) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(cells[i]) + fm_direction_dy[d];
            if (!fm_grid_contains(grid, x, y) || seen[y][x] ||
                fm_grid_is_blocked(grid, fm_cell_at((uint32_t)x, (uint32_t)y))) {
                continue;
            }
            seen[y][x] = true;
            cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
        }
    }
    return count;
}

// The keys that decide, most important first. No two cells have the same.
static uint64_t rank_of(fm_cell cell, fm_cell goal)
{
    uint64_t dx = fm_cell_dx(cell, goal), dy = fm_cell_dy(cell, goal);
    return (uint64_t)distance(cell, goal) << 40 | (dx * dx + dy * dy) << 24 | cell;
}

static fm_cell nearest_of(const fm_cell *cells, uint32_t count, fm_cell goal)
{
    fm_cell nearest = cells[0];
    for (uint32_t i = 1; i < count; i++) {
        nearest = rank_of(cells[i], goal) < rank_of(nearest, goal) ? cells[i] : nearest;
    }
    return nearest;
}

static void spawn_and_send(fm_world *world, const fm_planner_ops *ops, fm_cell cell, fm_cell goal,
                           fm_agent_id *agent)
{
    fm_command_result result = {.spawned = agent};
    fm_command spawn = {.kind = FM_COMMAND_SPAWN,
                        .team = 1,
                        .cells = &cell,
                        .cell_count = 1,
                        .planner = {.ops = ops}};
    fm_world_apply(world, &spawn, &result);
    assert_int_equal(result.status, FM_OK);
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .agents = agent,
                        .agent_count = 1,
                        .cells = &goal,
                        .cell_count = 1,
                        .order = FM_ORDER_MOVE,
                        .on_unreachable = FM_UNREACHABLE_NEAREST};
    fm_world_apply(world, &order, &result);
    assert_int_equal(result.status, FM_OK);
}

static void orders_end_at_the_same_cell_with_every_planner(void **state)
{
    (void)state;
    static fm_cell cells[CELLS];
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_cell goal = fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE));
        // At 70 cells straight ahead and on a diagonal are equally near.
        uint32_t radius = run % 2 == 0 ? 70 : 15 + fm_random_below(&random, 100);
        fm_grid *grid = make_grid(&random, goal, radius);
        fm_cell first = goal;
        while (first == goal || fm_grid_is_blocked(grid, first)) {
            first = fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE));
        }
        uint32_t count = flood(grid, first, cells);
        fm_cell expected = nearest_of(cells, count, goal);

        fm_world_rules rules = fm_world_rules_default();
        rules.omniscient = true;
        fm_world *world;
        assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
        fm_command_result result = {0};
        fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
        fm_agent_id agents[PLANNERS];
        for (uint32_t i = 0; i < PLANNERS; i++) {
            spawn_and_send(world, planners[i], cells[fm_random_below(&random, count)], goal,
                           &agents[i]);
        }
        for (uint32_t tick = 0; tick < TICKS; tick++) {
            fm_tick_report report;
            fm_tick_run(world, NULL, 100000, NULL, &report);
        }
        for (uint32_t i = 0; i < PLANNERS; i++) {
            fm_agent_report report;
            assert_int_equal(fm_world_inspect(world, agents[i], &report), FM_OK);
            assert_int_equal(report.cell, expected);
        }
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        assert_int_equal(counts.orders_ended[FM_END_NEAREST], PLANNERS);
        fm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_end_at_the_same_cell_with_every_planner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
