// test_field_growth.c: what a goal field costs depends on the tiles that it computes, not on how
// many agents it is for.
//
// Method: agents scattered over a map that is known, with single walls, are ordered to its middle.
// The tick after the order charges for each tile that is computed; with 64 times as many agents
// about as many tiles are needed, and each must cost about as much. Work is counted, not timed.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/planners/goal_field.h"
#include "core/tick/tick.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#include <inttypes.h>

#define SIDE       2048u
#define ROW_FEW    16u
#define ROW_MANY   128u
#define AGENTS_MAX (ROW_MANY * ROW_MANY)

// Of the work for an expansion. What each agent costs by itself, being looked at a few times, is in
// it.
#define GROWTH_MOST 3.0

static fm_cell cells[AGENTS_MAX];
static fm_agent_id agents[AGENTS_MAX];

static fm_grid *make_map(void)
{
    fm_grid *grid;
    fm_random random = fm_random_seed(fm_test_seed());
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < SIDE * SIDE / 16; i++) {
        uint32_t x = fm_random_below(&random, SIDE), y = fm_random_below(&random, SIDE);
        if (x % (SIDE / ROW_MANY) != 0) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    return grid;
}

static fm_command_result apply(fm_world *world, fm_command command, fm_agent_id *spawned)
{
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    return result;
}

static fm_world *make_world(uint32_t row)
{
    fm_world_rules rules = fm_world_rules_default();
    fm_world *world;
    rules.omniscient = true;
    rules.planner = (fm_planner_spec){.ops = &fm_goal_field};
    assert_int_equal(fm_world_create(&rules, make_map(), &fm_memory_libc, &world), FM_OK);
    uint32_t team = apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, NULL).team;
    for (uint32_t i = 0; i < row * row; i++) {
        cells[i] = fm_cell_at(i % row * (SIDE / row), i / row * (SIDE / row));
    }
    apply(world,
          (fm_command){
              .kind = FM_COMMAND_SPAWN, .team = team, .cells = cells, .cell_count = row * row},
          agents);
    return world;
}

// The work of the ticks after the order, until all agents move, for an expansion.
static double work_of_one(uint32_t row)
{
    fm_world *world = make_world(row);
    fm_tick_report report;
    fm_tick_run(world, NULL, 1000000, NULL, &report);
    fm_cell goal = fm_cell_at(SIDE / 2, SIDE / 2);
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = agents,
                       .agent_count = row * row,
                       .cells = &goal,
                       .cell_count = 1},
          NULL);
    uint64_t before = counted_work();
    fm_tick_run(world, NULL, 1000000, NULL, &report);
    uint64_t work = counted_work() - before;
    assert_true(report.expansions > 10000 && report.moved_count > row * row / 2);
    print_message("%u agents: %" PRIu64 " for %" PRIu64 " expansions\n", row * row, work,
                  report.expansions);
    fm_world_destroy(world);
    return (double)work / (double)report.expansions;
}

static void fields_cost_what_their_tiles_cost(void **state)
{
    (void)state;
    double few = work_of_one(ROW_FEW), many = work_of_one(ROW_MANY);
    print_message("an expansion: %.1f for few, %.1f for many agents\n", few, many);
    assert_true(many <= GROWTH_MOST * few);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_cost_what_their_tiles_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
