// tests/test_due.c: the search stage turns to planners that something has happened to, and to no
// others; nobody is forgotten all the same.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/map/view.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "tests/support.h"

#include "core/base/random.h"

#define SIDE   128u
#define UNITS  200u
#define BUDGET 1000000u

static fm_agent_id units[UNITS];

static fm_cell free_cell(fm_random *random, const fm_world *world)
{
    const fm_grid *grid = fm_world_grid(world);
    for (;;) {
        fm_cell cell = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
        if (!fm_grid_is_blocked(grid, cell)) {
            return cell;
        }
    }
}

static void apply(fm_world *world, fm_command command, fm_command_result *result)
{
    fm_world_apply(world, &command, result);
    assert_int_equal(result->status, FM_OK);
}

static fm_world *make_world(fm_random *random, const fm_planner_ops *ops, bool omniscient)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_RANDOM;
    options.width = options.height = SIDE;
    options.blocked_permille = 150;
    options.seed = fm_random_next(random);
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = ops;
    rules.omniscient = omniscient;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_command_result result = {0};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    for (uint32_t i = 0; i < UNITS; i++) {
        fm_cell cell = free_cell(random, world);
        result.spawned = &units[i];
        apply(world,
              (fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .cells = &cell, .cell_count = 1},
              &result);
    }
    return world;
}

static void send(fm_world *world, fm_random *random)
{
    static fm_cell goals[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        goals[i] = free_cell(random, world);
    }
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = units,
                       .agent_count = UNITS,
                       .cells = goals,
                       .cell_count = UNITS},
          &result);
}

// On a map that is known a walk costs nothing: after the first tick no planner is touched.
static void a_walk_costs_nothing(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_auto, &fm_repeated_jps};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        fm_random random = fm_random_seed(fm_test_seed() + i);
        fm_world *world = make_world(&random, planners[i], true);
        send(world, &random);
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        assert_true(report.planners_told > UNITS / 2);
        uint32_t moved = 0;
        for (uint32_t tick = 0; tick < 40; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
            assert_int_equal(report.planners_told, 0);
            assert_int_equal(report.expansions, 0);
            moved += report.moved_count;
        }
        assert_true(moved > 10 * UNITS);
        fm_world_destroy(world);
    }
}

// A cell that is blocked on somebody's way wakes those whose way it is on, within the tick; one
// that is freed wakes all.
static void edits_wake(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_world *world = make_world(&random, &fm_auto, true);
    send(world, &random);
    fm_tick_report report;
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    fm_cell path[SIDE * SIDE];
    uint32_t length = 0, unit = 0;
    while (length < 30) {
        length = fm_world_agent_path(world, units[unit++], path, SIDE * SIDE);
    }
    fm_rect site = {fm_cell_x(path[20]), fm_cell_y(path[20]), 1, 1};
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = &site,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_WALL},
          &result);
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    assert_in_range(report.planners_told, 1, UNITS / 4);
    assert_int_equal(report.planners_unfinished, 0);
    length = fm_world_agent_path(world, units[unit - 1], path, SIDE * SIDE);
    for (uint32_t i = 0; i < length; i++) {
        assert_true(path[i] != fm_cell_at(site.x, site.y));
    }
    apply(world,
          (fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = &site,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_GROUND},
          &result);
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    assert_true(report.planners_told > UNITS / 2);
    fm_world_destroy(world);
}

// In fog most steps tell something new. Everybody arrives, by whatever planner.
static void everybody_arrives_in_fog(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_auto, &fm_repeated_jps, &fm_dstar_lite,
                                                     &fm_adaptive_astar};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        fm_random random = fm_random_seed(fm_test_seed() + i);
        fm_world *world = make_world(&random, planners[i], false);
        send(world, &random);
        fm_tick_report report;
        for (uint32_t tick = 0; tick < 3 * SIDE; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
        }
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        assert_int_equal(counts.agents_by_state[FM_AGENT_IDLE], UNITS);
        assert_int_equal(counts.planners, 0);
        assert_int_equal(report.planners_told, 0);
        fm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_costs_nothing),
        cmocka_unit_test(edits_wake),
        cmocka_unit_test(everybody_arrives_in_fog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
