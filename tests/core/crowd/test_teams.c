// core/crowd/test_teams.c: units of several teams, where a cell holds one: nobody pushes a unit of
// another team, and nobody waits for one that leaves.
//
// Method: a corridor, tick by tick; a press of four teams. The checks of crowd.h after every tick.

#include "tests/support/crowd.h"

#include "core/planners/goal_field.h"

static crowd stage;

#define CORRIDOR 24u // cells

// A corridor of `width` cells between two walls. Returns the first team.
static uint32_t begin_corridor(fm_world_rules rules, uint32_t width)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(CORRIDOR, width + 2, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t x = 0; x < CORRIDOR; x++) {
        fm_grid_set(grid, fm_cell_at(x, 0), FM_TERRAIN_WALL, FM_COST_FLOOR);
        fm_grid_set(grid, fm_cell_at(x, width + 1), FM_TERRAIN_WALL, FM_COST_FLOOR);
    }
    crowd_init(&stage, &rules, grid);
    return crowd_team(&stage);
}

static uint32_t begin(void)
{
    return begin_corridor(crowd_rules(), 1);
}

// In line they follow each other without a gap, although those behind are asked first.
static void teams_follow_each_other(void **state)
{
    (void)state;
    enum {
        UNITS = 8,
        TICKS = 10
    };
    uint32_t teams[2] = {begin()};
    teams[1] = crowd_team(&stage);
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t unit = crowd_spawn_at(&stage, teams[i / 2 % 2], fm_cell_at(i, 1));
        crowd_order(&stage, unit, fm_cell_at(CORRIDOR - 1, 1), FM_UNREACHABLE_NEAREST);
    }
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < UNITS; i++) {
            assert_int_equal(crowd_cell(&stage, i), fm_cell_at(i + tick, 1));
        }
    }
    crowd_fini(&stage);
}

// A large unit behind two of another team: it waits until both have decided.
static void a_large_one_follows_others(void **state)
{
    (void)state;
    uint32_t team = begin_corridor(crowd_rules_of_sizes(), 2), other = crowd_team(&stage);
    crowd_spawn_to(&stage, team, 2, 1, 1, CORRIDOR - 2, 1);
    crowd_spawn_to(&stage, other, 1, 3, 1, CORRIDOR - 1, 1);
    crowd_spawn_to(&stage, other, 1, 3, 2, CORRIDOR - 1, 2);
    for (uint32_t tick = 1; tick <= 10; tick++) {
        crowd_tick(&stage, NULL);
        assert_int_equal(crowd_cell(&stage, 0), fm_cell_at(1 + tick, 1));
        assert_int_equal(crowd_cell(&stage, 1), fm_cell_at(3 + tick, 1));
        assert_int_equal(crowd_cell(&stage, 2), fm_cell_at(3 + tick, 2));
    }
    crowd_fini(&stage);
}

// Where they meet head on nobody is pushed, and nobody counts on a place that is not left.
static void teams_that_meet_stand(void **state)
{
    (void)state;
    enum {
        EACH = 3
    };
    uint32_t team = begin(), other = crowd_team(&stage);
    for (uint32_t i = 0; i < EACH; i++) {
        uint32_t right = crowd_spawn_at(&stage, team, fm_cell_at(9 - i, 1));
        uint32_t left = crowd_spawn_at(&stage, other, fm_cell_at(10 + i, 1));
        crowd_order(&stage, right, fm_cell_at(CORRIDOR - 1, 1), FM_UNREACHABLE_NEAREST);
        crowd_order(&stage, left, fm_cell_at(0, 1), FM_UNREACHABLE_NEAREST);
    }
    crowd_run(&stage, 2 * EACH, 20);
    for (uint32_t i = 0; i < EACH; i++) {
        assert_int_equal(crowd_cell(&stage, 2 * i), fm_cell_at(9 - i, 1));
        assert_int_equal(crowd_cell(&stage, 2 * i + 1), fm_cell_at(10 + i, 1));
    }
    crowd_fini(&stage);
}

// With 4 neighbours there are two ways to begin with, both as short. One of another team stands in
// the one that the search names: the unit goes the other way.
static void one_in_the_way_is_passed(void **state)
{
    (void)state;
    enum {
        SIDE = 12
    };
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_rules rules = crowd_rules();
        rules.connectivity = FM_CONNECT_4;
        rules.steps = FM_STEPS_1;
        rules.planner.ops = &fm_goal_field;
        fm_grid *grid;
        assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
        fm_cell in_the_way = i == 0 ? fm_cell_at(3, 2) : fm_cell_at(2, 3);
        crowd_spawn_at(&stage, other, in_the_way);
        uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(2, 2));
        crowd_order(&stage, unit, fm_cell_at(8, 8), FM_UNREACHABLE_NEAREST);
        assert_int_equal(crowd_run(&stage, 1, 100), 12);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
        assert_int_equal(crowd_cell(&stage, 0), in_the_way);
        crowd_fini(&stage);
    }
}

// Two units of 2 x 2 cells of two teams come straight towards each other, in the open. Each needs a
// step to the side, which brings it no nearer; they stood there until they gave up.
static void large_ones_that_meet_pass(void **state)
{
    (void)state;
    enum {
        SIZE = 2,
        LENGTH = 30,
        HEIGHT = 12
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(LENGTH, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage), end = LENGTH - SIZE;
    crowd_spawn_to(&stage, team, SIZE, 0, 4, end, 4);
    crowd_spawn_to(&stage, other, SIZE, end, 4, 0, 4);
    assert_in_range(crowd_run(&stage, 2, 200), end, 60);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2);
    crowd_fini(&stage);
}

// Four teams of all sizes on half of the ground, so close that most wait for somebody.
static void a_press_of_teams(void **state)
{
    (void)state;
    enum {
        SIDE = 64,
        TEAMS = 4,
        UNITS = 1200,
        TICKS = 200
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_random random = fm_random_seed(fm_test_seed() ^ 3);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, &rules, grid);
    for (uint32_t i = 0; i < TEAMS; i++) {
        crowd_team(&stage);
    }
    for (uint32_t i = 0; i < UNITS; i++) {
        fm_cell cell = fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE));
        uint32_t size = i < UNITS / 16 ? 2 + fm_random_below(&random, 3) : 1; // while there is room
        crowd_spawn(&stage, (fm_command){.team = 1 + i % TEAMS,
                                         .cells = &cell,
                                         .cell_count = 1,
                                         .class_index = size - 1,
                                         .placing = FM_PLACE_NEAREST});
    }
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = 0; i < (tick == 0 ? UNITS : 8); i++) {
            crowd_order(&stage, tick == 0 ? i : fm_random_below(&random, UNITS),
                        fm_cell_at(fm_random_below(&random, SIDE), fm_random_below(&random, SIDE)),
                        FM_UNREACHABLE_NEAREST);
        }
        crowd_tick(&stage, NULL);
    }
    assert_true(stage.ended[FM_END_ARRIVED] > 0);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_follow_each_other),   cmocka_unit_test(a_large_one_follows_others),
        cmocka_unit_test(teams_that_meet_stand),     cmocka_unit_test(one_in_the_way_is_passed),
        cmocka_unit_test(large_ones_that_meet_pass), cmocka_unit_test(a_press_of_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
