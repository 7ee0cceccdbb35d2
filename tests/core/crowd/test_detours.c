// core/crowd/test_detours.c: orders with max_detour (core/orders/detour.h) where a cell holds one
// unit: a path that gets too long.
//
// Method: a wall comes down on the short way, with planners of three kinds; the checks of crowd.h
// after every tick.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/views/inspect.h"

static crowd stage;

static void all_arrive(uint32_t ticks_max)
{
    crowd_run(&stage, stage.unit_count, ticks_max);
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
}

// The short path, of 8 steps, is blocked after the order; the other one takes 3 times as many.
static void a_way_that_gets_too_long(fm_on_unreachable on_unreachable, uint32_t max_detour,
                                     const fm_planner_ops *ops)
{
    static const char *const rows[] = {"@@@@@@@@@", //
                                       ".........", //
                                       ".@@@@@@@.", //
                                       ".@@@@@@@.", //
                                       ".@@@@@@@.", //
                                       ".@@@@@@@.", //
                                       "........."};
    fm_world_rules rules = crowd_rules();
    rules.planner.ops = ops;
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t team = crowd_team(&stage);
    uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(0, 1));
    fm_cell goal = fm_cell_at(8, 1);
    fm_command command = {.kind = FM_COMMAND_ORDER,
                          .agents = &stage.units[unit],
                          .agent_count = 1,
                          .cells = &goal,
                          .cell_count = 1,
                          .order = FM_ORDER_MOVE,
                          .on_unreachable = on_unreachable,
                          .max_detour = max_detour};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    crowd_run(&stage, 1, 2);
    crowd_set_terrain(&stage, fm_cell_at(6, 1), FM_TERRAIN_WALL);
}

static void detours_are_bounded(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_dstar_lite, &fm_auto, &fm_adaptive_astar};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        a_way_that_gets_too_long(FM_UNREACHABLE_FAIL, 150, planners[i]);
        crowd_run(&stage, 1, 5);
        assert_int_equal(stage.ended[FM_END_UNREACHABLE], 1);
        assert_int_equal(crowd_cell(&stage, 0), fm_cell_at(2, 1));
        crowd_fini(&stage);

        a_way_that_gets_too_long(FM_UNREACHABLE_NEAREST, 150, planners[i]);
        crowd_run(&stage, 1, 5);
        assert_int_equal(stage.ended[FM_END_NEAREST], 1);
        crowd_fini(&stage);

        a_way_that_gets_too_long(FM_UNREACHABLE_WAIT, 150, planners[i]);
        assert_int_equal(crowd_run(&stage, 1, 10), 10);
        assert_int_equal(crowd_cell(&stage, 0), fm_cell_at(2, 1));
        crowd_set_terrain(&stage, fm_cell_at(6, 1), FM_TERRAIN_GROUND);
        all_arrive(10);
        crowd_fini(&stage);

        a_way_that_gets_too_long(FM_UNREACHABLE_FAIL, 400, planners[i]);
        all_arrive(40);
        crowd_fini(&stage);
    }
}

// One that waits for its path to be short enough again keeps its search: nothing has changed.
static void a_detour_is_waited_out_with_one_search(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_dstar_lite, &fm_auto, &fm_adaptive_astar};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        a_way_that_gets_too_long(FM_UNREACHABLE_WAIT, 150, planners[i]);
        crowd_run(&stage, 1, 5);
        uint64_t expansions = 0;
        for (uint32_t tick = 0; tick < 32; tick++) {
            fm_tick_report report;
            fm_tick_run(stage.world, NULL, 100000, NULL, &report);
            expansions += report.expansions;
        }
        fm_agent_report unit;
        assert_int_equal(fm_world_inspect(stage.world, stage.units[0], &unit), FM_OK);
        assert_int_equal(unit.state, FM_AGENT_BLOCKED);
        assert_int_equal(expansions, 0);
        crowd_fini(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detours_are_bounded),
        cmocka_unit_test(a_detour_is_waited_out_with_one_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
