// core/crowd/test_teams.c: units of several teams, where a cell holds one: nobody waits for one
// that leaves, nobody pushes a unit of another team at once, and armies that meet pass each other.
//
// Method: a corridor, tick by tick; two armies change sides; a press of four teams. The checks of
// crowd.h after every tick.

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

// Where they meet head on nobody is pushed for some ticks, and nobody counts on a place that is not
// left.
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
    crowd_run(&stage, 2 * EACH, 4);
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

// Units of a size on one side of a field, in columns from its edge on, want to the other side.
static void spawn_side(uint32_t team, uint32_t size, uint32_t count, bool is_right, uint32_t top,
                       uint32_t height)
{
    uint32_t rows = height / size, width = stage.grid->width;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t near = i / rows * size, far = width - size - near, y = top + i % rows * size;
        crowd_spawn_to(&stage, team, size, is_right ? far : near, y, is_right ? near : far, y);
    }
}

struct armies {
    uint32_t sizes[2], counts[2], height, ticks_max;
    uint32_t gap;    // rows of a passage between two halves of the field; 0: there is none
    uint32_t beside; // free rows above and below
};

// Returns how many units there are.
static uint32_t begin_armies(const struct armies *armies)
{
    enum {
        WIDTH = 60,
        PASSAGE = 10 // cells long
    };
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid;
    uint32_t height = armies->height, gap = armies->gap, total = 0;
    assert_int_equal(fm_grid_create(WIDTH, height + 2 * armies->beside, &fm_memory_libc, &grid),
                     FM_OK);
    for (uint32_t j = 0; gap > 0 && j < PASSAGE * height; j++) {
        uint32_t y = j / PASSAGE;
        if (y < (height - gap) / 2 || y >= (height - gap) / 2 + gap) {
            fm_grid_set(grid, fm_cell_at((WIDTH - PASSAGE) / 2 + j % PASSAGE, y), FM_TERRAIN_WALL,
                        FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    for (uint32_t side = 0; side < 2; side++) {
        spawn_side(crowd_team(&stage), armies->sizes[side], armies->counts[side], side == 1,
                   armies->beside, height);
        total += armies->counts[side];
    }
    return total;
}

// Runs until all orders have ended.
static void run_armies(const struct armies *armies, uint32_t total)
{
    uint32_t ticks = crowd_run(&stage, total, 3 * armies->ticks_max);
    print_message("%u of size %u against %u of size %u, passage %u: %u ticks, %u arrived\n",
                  armies->counts[0], armies->sizes[0], armies->counts[1], armies->sizes[1],
                  armies->gap, ticks, stage.ended[FM_END_ARRIVED]);
    assert_int_equal(stage.ended_count, total);
    assert_in_range(ticks, 1, armies->ticks_max);
}

// Two armies face to face, from one edge of the field to the other: who is blocked by the other
// team for some time lets it push. Of most of these nobody arrived; all gave up. Rows beside them
// stay free: who comes last would be shut in behind those that have arrived.
static void armies_that_meet_pass(void **state)
{
    (void)state;
    static const struct armies cases[] = {
        {{1, 1}, {40, 40}, 40, 150, 0, 4}, {{2, 2}, {10, 10}, 20, 300, 0, 4},
        {{3, 3}, {1, 1}, 12, 200, 0, 4},   {{3, 3}, {5, 5}, 15, 300, 0, 4},
        {{4, 4}, {1, 1}, 12, 200, 0, 4},   {{4, 4}, {5, 5}, 20, 400, 0, 4},
        {{4, 1}, {10, 60}, 40, 300, 0, 4}, {{2, 1}, {20, 40}, 40, 200, 0, 4},
        {{2, 2}, {1, 1}, 9, 150, 3, 0},    {{2, 2}, {10, 10}, 21, 300, 3, 0},
        {{1, 1}, {20, 20}, 21, 300, 1, 0}, {{4, 4}, {10, 10}, 25, 500, 5, 0},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        uint32_t total = begin_armies(&cases[i]);
        run_armies(&cases[i], total);
        assert_int_equal(stage.ended[FM_END_ARRIVED], total);
        crowd_fini(&stage);
    }
}

// Without these rows who comes last is shut in behind a column of the others that have arrived, of
// which one wants to go back to where that unit stands. It waited for 1,800 ticks.
static void who_is_shut_in_by_an_army_gives_up(void **state)
{
    (void)state;
    static const struct armies cases[] = {
        {{4, 1}, {10, 60}, 40, 300, 0, 0},
        {{2, 1}, {20, 40}, 40, 200, 0, 0},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        uint32_t total = begin_armies(&cases[i]);
        run_armies(&cases[i], total);
        assert_true(stage.ended[FM_END_ARRIVED] >= total - 1);
        crowd_fini(&stage);
    }
}

#define FIELDS      6u
#define FIELD       15u // rows
#define FIELD_APART 6u
#define FIELD_EACH  50u

// Two armies in each of several fields, so far from each other that workers divide them.
static void begin_fields(void)
{
    fm_world_rules rules = crowd_rules();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(30, FIELDS * (FIELD + FIELD_APART), &fm_memory_libc, &grid),
                     FM_OK);
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; y % (FIELD + FIELD_APART) >= FIELD && x < grid->width; x++) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    for (uint32_t field = 0; field < FIELDS; field++) {
        spawn_side(team, 1, FIELD_EACH, false, field * (FIELD + FIELD_APART), FIELD);
        spawn_side(other, 1, FIELD_EACH, true, field * (FIELD + FIELD_APART), FIELD);
    }
}

static void armies_meet_alike_on_all_workers(void **state)
{
    (void)state;
    assert_true(crowd_play_on_workers(&stage, begin_fields, UINT32_MAX, 60) > 0);
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
        cmocka_unit_test(teams_follow_each_other),
        cmocka_unit_test(a_large_one_follows_others),
        cmocka_unit_test(teams_that_meet_stand),
        cmocka_unit_test(one_in_the_way_is_passed),
        cmocka_unit_test(large_ones_that_meet_pass),
        cmocka_unit_test(armies_that_meet_pass),
        cmocka_unit_test(who_is_shut_in_by_an_army_gives_up),
        cmocka_unit_test(armies_meet_alike_on_all_workers),
        cmocka_unit_test(a_press_of_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
