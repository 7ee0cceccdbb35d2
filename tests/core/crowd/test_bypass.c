// core/crowd/test_bypass.c: ways round a press (core/crowd/bypass.h).
//
// Method: a crowd before a wall with a gap of two cells, and open ground beside the wall, with the
// checks of crowd.h after every tick; distances with tolls (press.h) in the same scene; a planner
// that is told to go by way of a cell.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/press.h"
#include "core/planners/catalogue.h"
#include "core/planners/repeated_jps.h"
#include "core/saves/settle.h"
#include "core/world/world_classes.h"

static crowd stage;

#define WIDTH     90u
#define HEIGHT    44u
#define WALL_X    40u
#define OPEN_END  12u // rows beside the wall
#define GAP_Y     26u
#define GAP       2u
#define SIDE      20u // units in a row
#define UNITS     (SIDE * SIDE)
#define TICKS_MAX 400u

static bool is_wall(uint32_t x, uint32_t y, bool has_way_round)
{
    bool is_open = (has_way_round && y < OPEN_END) || (y >= GAP_Y && y < GAP_Y + GAP);
    return x >= WALL_X && x < WALL_X + 2 && !is_open;
}

static fm_cell start_of(uint32_t i)
{
    return fm_cell_at(12 + i % SIDE, 18 + i / SIDE);
}

static fm_cell goal_of(uint32_t i)
{
    return start_of(i) + fm_cell_at(WALL_X + 2, 0);
}

// A square of units west of the wall, with goals in the same square east of it.
static void begin(const char *planner, bool has_way_round)
{
    fm_world_rules rules = crowd_rules_of_sizes();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    rules.omniscient = true;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(WIDTH, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        if (is_wall(i % WIDTH, i / WIDTH, has_way_round)) {
            fm_grid_set(grid, fm_cell_at(i % WIDTH, i / WIDTH), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t unit = crowd_spawn_at(&stage, team, start_of(i));
        crowd_order(&stage, unit, goal_of(i), FM_UNREACHABLE_FAIL);
    }
}

static void all_get_there(const char *planner, bool has_way_round, uint32_t ticks_max)
{
    begin(planner, has_way_round);
    uint32_t ticks = crowd_run(&stage, UNITS, TICKS_MAX);
    print_message("%s: %u units, a gap of %u cells and %s way round: %u ticks\n", planner, UNITS,
                  GAP, has_way_round ? "a" : "no", ticks);
    assert_int_equal(stage.ended[FM_END_ARRIVED], UNITS);
    assert_true(ticks <= ticks_max);
    crowd_fini(&stage);
}

// Without rule 16 of core/crowd/README.md it takes 230 ticks.
static void a_crowd_goes_round_a_press(void **state)
{
    (void)state;
    all_get_there("auto", true, 180);
    all_get_there("repeated-jps", true, 180);
}

// Where there is no other way nobody is sent anywhere: 248 ticks without that rule.
static void the_only_way_is_kept_to(void **state)
{
    (void)state;
    all_get_there("auto", false, 260);
}

// An order that bounds its path says itself which ones it accepts.
static void who_has_a_bound_is_told_nothing(void **state)
{
    (void)state;
    begin("auto", true);
    for (uint32_t i = 0; i < UNITS; i++) {
        fm_cell goal = goal_of(i);
        fm_command command = {.kind = FM_COMMAND_ORDER,
                              .agents = &stage.units[i],
                              .agent_count = 1,
                              .cells = &goal,
                              .cell_count = 1,
                              .order = FM_ORDER_MOVE,
                              .max_detour = 1000};
        fm_command_result result = {0};
        fm_world_apply(stage.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
    }
    assert_true(crowd_run(&stage, 2 * UNITS, TICKS_MAX) > 200); // the first ones are replaced
    assert_int_equal(stage.ended[FM_END_ARRIVED], UNITS);
    crowd_fini(&stage);
}

// In a team with a large unit all make way for each other in turns, and presses are let alone.
static void a_team_with_large_units_is_told_nothing(void **state)
{
    (void)state;
    begin("auto", true);
    crowd_spawn(&stage, (fm_command){.team = 1,
                                     .class_index = 1,
                                     .cells = &(fm_cell){fm_cell_at(2, 2)},
                                     .cell_count = 1});
    uint32_t ticks = crowd_run(&stage, UNITS, TICKS_MAX);
    print_message("with a large unit: %u ticks\n", ticks);
    assert_true(ticks > 280); // 241 if those of one cell were told
    crowd_fini(&stage);
}

// Units with D* Lite are told nothing. Tolls are where they stand before the gap, and the way from
// the back leads to a cell beside the wall, from where nobody is in the way.
static void the_way_from_the_back_leads_round(void **state)
{
    (void)state;
    begin("dstar-lite", true);
    for (uint32_t tick = 0; tick < 60; tick++) {
        crowd_tick(&stage, NULL);
    }
    fm_press *press = fm_press_create(&fm_memory_libc, WIDTH, HEIGHT);
    assert_non_null(press);
    assert_true(fm_press_sample(press, stage.world, 1) >= FM_PRESSED_LEAST);
    fm_cell end = fm_cell_at(WALL_X + 8, GAP_Y + 1), back = fm_cell_at(WALL_X - 13, GAP_Y - 4);
    assert_true(fm_press_toll(press, fm_cell_at(WALL_X - 6, GAP_Y)) > 0);
    assert_int_equal(fm_press_toll(press, fm_cell_at(WALL_X - 6, 2)), 0);
    const fm_view *view = fm_world_truth(stage.world, 0);
    fm_press_measure(press, view, end, back);
    assert_int_equal(fm_press_distance(press, end), 0);
    assert_int_equal(fm_press_distance(press, end + fm_cell_at(3, 0)), 30);
    assert_int_equal(fm_press_distance(press, fm_cell_at(WALL_X, GAP_Y - 1)), FM_PRESS_FAR);
    assert_in_range(fm_press_distance(press, back), 300, 600); // 225 through the gap, without tolls
    fm_cell cells[256];
    uint32_t count = fm_press_way(press, view, back, cells, 256);
    assert_true(count > 2);
    assert_int_equal(cells[0], back);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t d = fm_cell_direction(cells[i - 1], cells[i]);
        assert_true(fm_view_moves(view, cells[i - 1]) >> d & 1);
    }
    assert_true(fm_cell_y(cells[count - 1]) < GAP_Y - 4);
    assert_int_equal(fm_press_toll(press, cells[count - 1]), 0);
    assert_int_equal(fm_press_way(press, view, back, cells, 2), 0); // too little room
    fm_press_destroy(press, &fm_memory_libc);
    crowd_fini(&stage);
}

static void begin_with_auto(void)
{
    begin("auto", true);
}

static void workers_tell_the_same(void **state)
{
    (void)state;
    assert_int_equal(crowd_play_on_workers(&stage, begin_with_auto, UNITS, TICKS_MAX), UNITS);
}

// Settling ends ways that units were told: a world that goes on and one that was loaded from its
// file decide alike.
static void a_saved_world_goes_on_alike(void **state)
{
    (void)state;
    begin("auto", true);
    for (uint32_t tick = 0; tick < 60; tick++) {
        crowd_tick(&stage, NULL);
    }
    fm_world_settle(stage.world);
    fm_world *copy = crowd_copy(&stage);
    for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < UNITS; tick++) {
        crowd_tick_both(&stage, copy);
    }
    assert_int_equal(stage.ended[FM_END_ARRIVED], UNITS);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

static fm_plan_state finish(void *planner)
{
    fm_work work = {.expansions_max = 10000};
    return fm_repeated_jps.advance(planner, &work);
}

// It goes there, also when it is pushed off its path, and then to its goal.
static void a_planner_goes_by_way_of_a_cell(void **state)
{
    (void)state;
    begin("auto", true);
    const fm_view *view = fm_world_truth(stage.world, 0);
    const fm_planner_ops *ops = &fm_repeated_jps;
    fm_planner_options options = {.rejoin = true};
    fm_cell start = fm_cell_at(30, 20), via = fm_cell_at(40, 6), goal = fm_cell_at(60, 20);
    void *planner = calloc(1, ops->size);
    assert_non_null(planner);
    assert_int_equal(ops->init(planner, view, &options, &fm_memory_libc, goal), FM_OK);
    ops->set_starts(planner, &start, 1);
    assert_int_equal(finish(planner), FM_PLAN_FOUND);
    const fm_cell turns[] = {start, fm_cell_at(30, 16), via};
    assert_false(ops->go_via(planner, fm_cell_at(31, 20), turns, 3)); // it does not stand there
    assert_true(ops->go_via(planner, start, turns, 3));
    assert_int_equal(ops->next_step(planner, start), fm_cell_at(30, 19));
    fm_cell cell = fm_cell_at(20, 30); // far off
    bool was_there = false;
    for (uint32_t steps = 0; steps < 100 && cell != goal; steps++) {
        if (ops->walk(planner, cell, 8) != FM_PLAN_FOUND) {
            assert_int_equal(finish(planner), FM_PLAN_FOUND);
        }
        cell = ops->next_step(planner, cell);
        assert_int_not_equal(cell, FM_CELL_NONE);
        was_there = was_there || fm_cell_dy(cell, via) <= 4;
    }
    assert_true(was_there);
    assert_int_equal(cell, goal);
    ops->fini(planner, NULL);
    free(planner);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_goes_round_a_press),
        cmocka_unit_test(the_only_way_is_kept_to),
        cmocka_unit_test(who_has_a_bound_is_told_nothing),
        cmocka_unit_test(a_team_with_large_units_is_told_nothing),
        cmocka_unit_test(the_way_from_the_back_leads_round),
        cmocka_unit_test(workers_tell_the_same),
        cmocka_unit_test(a_saved_world_goes_on_alike),
        cmocka_unit_test(a_planner_goes_by_way_of_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
