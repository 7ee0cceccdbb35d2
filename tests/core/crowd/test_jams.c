// core/crowd/test_jams.c: no order lasts for ever where a cell holds one unit.
//
// Method: places where units stand in each other's way for good without a joint search: corridors
// with units of several sizes, with dead ends to back out to. All must arrive, under the eyes of
// the witness of crowd.h. Where nobody can get through, because those in the way are another
// team's, orders end as crowded after a bounded time.

#include "tests/support/crowd.h"

#include "core/crowd/patience.h"
#include "core/views/explain.h"

#define ROWS(...)                                                                                  \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static crowd stage;

// One class for each size, 1 to 4.
static fm_world_rules rules_of_sizes(void)
{
    static const char *const classes[] = {"one", "two:size=2,ground=1", "three:size=3,ground=1",
                                          "four:size=4,ground=1"};
    fm_world_rules rules = crowd_rules();
    for (uint32_t i = 0; i < FM_CLASS_SIZE_MAX; i++) {
        assert_int_equal(fm_movement_class_parse(classes[i], &rules.classes[i], NULL, 0), FM_OK);
    }
    rules.class_count = FM_CLASS_SIZE_MAX;
    return rules;
}

static void spawn(uint32_t team, uint32_t size, uint32_t x, uint32_t y, uint32_t to_x,
                  uint32_t to_y)
{
    fm_cell cell = fm_cell_at(x, y);
    uint32_t unit = crowd_spawn(
        &stage,
        (fm_command){.team = team, .cells = &cell, .cell_count = 1, .class_index = size - 1});
    crowd_order(&stage, unit, fm_cell_at(to_x, to_y), FM_UNREACHABLE_NEAREST);
}

static void all_arrive(uint32_t ticks)
{
    crowd_run(&stage, stage.unit_count, ticks);
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
    crowd_fini(&stage);
}

// Two of 2 x 2 cells meet in a corridor as wide as they are; there is a bay beside its middle.
static void the_large_pass_in_a_corridor(void **state)
{
    (void)state;
    fm_world_rules rules = rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("@@@@@@@@@@@@", //
                         "@@@@@..@@@@@", //
                         "@@@@@..@@@@@", //
                         "............", //
                         "............", //
                         "@@@@@@@@@@@@"));
    uint32_t team = crowd_team(&stage);
    spawn(team, 2, 0, 3, 10, 3);
    spawn(team, 2, 10, 3, 0, 3);
    all_arrive(1000);
}

// A large one and a file of small ones want through the same corridor, in opposite directions.
static void sizes_pass_in_a_corridor(void **state)
{
    (void)state;
    fm_world_rules rules = rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("...@@@@@@@@...", //
                         "...@@@..@@@...", //
                         "...@@@..@@@...", //
                         "..............", //
                         "..............", //
                         "...@@@@@@@@..."));
    uint32_t team = crowd_team(&stage);
    spawn(team, 2, 1, 3, 12, 0);
    for (uint32_t i = 0; i < 4; i++) {
        spawn(team, 1, 11, 2 + i, 2, 2 + i);
    }
    all_arrive(1500);
}

// One side has to back out of the whole corridor: it is as long as both files together.
static void one_side_backs_out(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("...@@@@@@@@@@@@...", //
                         "..................", //
                         "...@@@@@@@@@@@@..."));
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 6; i++) {
        spawn(team, 1, 3 + i, 1, 17 - i % 3, i / 3);
        spawn(team, 1, 14 - i, 1, i % 3, i / 3);
    }
    all_arrive(600);
}

// A maze of corridors one cell wide, with units from each corner to the one across.
static void a_maze_is_crossed(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("...........", //
                         ".@@@.@.@@@.", //
                         ".@...@...@.", //
                         ".@.@@@@@.@.", //
                         "...@...@...", //
                         "@@.@.@.@.@@", //
                         "...........", //
                         ".@.@@@@@.@.", //
                         ".@...@...@.", //
                         ".@@@.@.@@@.", //
                         "..........."));
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 4; i++) {
        spawn(team, 1, i, 0, 10 - i, 10);
        spawn(team, 1, 10 - i, 10, i, 0);
        spawn(team, 1, 10 - i, 0, i, 10);
        spawn(team, 1, i, 10, 10 - i, 0);
    }
    all_arrive(1500);
}

// A door of one cell: eighteen from each side go to the other.
static void a_door_lets_both_sides_through(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("......@......", //
                         "......@......", //
                         ".............", //
                         "......@......", //
                         "......@......"));
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 18; i++) {
        spawn(team, 1, i % 4, i / 4, 12 - i % 4, i / 4);
        spawn(team, 1, 12 - i % 4, i / 4, i % 4, i / 4);
    }
    all_arrive(1000);
}

// Two teams in a corridor without a bay: neither makes way for the other.
static void enemies_in_a_corridor_give_up(void **state)
{
    (void)state;
    for (fm_on_unreachable how = FM_UNREACHABLE_NEAREST; how <= FM_UNREACHABLE_FAIL; how++) {
        fm_world_rules rules = crowd_rules();
        crowd_init_rows(&stage, &rules, ROWS(".........."));
        uint32_t teams[] = {crowd_team(&stage), crowd_team(&stage)};
        crowd_spawn_at(&stage, teams[0], fm_cell_at(1, 0));
        crowd_spawn_at(&stage, teams[1], fm_cell_at(8, 0));
        crowd_order(&stage, 0, fm_cell_at(9, 0), how);
        crowd_order(&stage, 1, fm_cell_at(0, 0), how);
        uint32_t ticks = crowd_run(&stage, 2, 2 * FM_PATIENCE_TICKS);
        assert_in_range(ticks, FM_PATIENCE_TICKS, FM_PATIENCE_TICKS + 20);
        fm_order_end end = how == FM_UNREACHABLE_FAIL ? FM_END_UNREACHABLE : FM_END_CROWDED;
        assert_int_equal(stage.ended[end], 2);
        crowd_fini(&stage);
    }
}

// Three in a file wait for an enemy, who waits for the first of them: who waits for whom is told.
static void who_waits_for_whom_is_told(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, ROWS(".........."));
    uint32_t teams[] = {crowd_team(&stage), crowd_team(&stage)};
    for (uint32_t x = 3; x-- > 0;) {
        spawn(teams[0], 1, x, 0, 7 + x, 0);
    }
    spawn(teams[1], 1, 5, 0, 0, 0);
    for (uint32_t i = 0; i < 20; i++) {
        crowd_tick(&stage, NULL);
    }
    static fm_explanation explanation;
    assert_int_equal(fm_world_explain(stage.world, stage.units[2], &explanation), FM_OK);
    assert_int_equal(explanation.why, FM_WHY_OCCUPIED);
    const uint32_t expected[] = {1, 0, 3, 0};
    assert_int_equal(explanation.chain_count, FM_COUNT_OF(expected));
    for (uint32_t i = 0; i < FM_COUNT_OF(expected); i++) {
        assert_int_equal(explanation.chain[i].index1, stage.units[expected[i]].index1);
        assert_int_equal(explanation.chain_cells[i], crowd_cell(&stage, expected[i]));
    }
    crowd_fini(&stage);
}

// More units want into a dead end than it has cells: those left over end beside the others.
static void more_units_than_cells_are_crowded(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("@@@@@@@@@@@@", //
                         "@..........@", //
                         "@@@@@@@@@@@@"));
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 6; i++) {
        spawn(team, 1, 1 + i, 1, 10, 1);
    }
    crowd_run(&stage, 6, 200);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    assert_int_equal(stage.ended[FM_END_CROWDED], 5);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_large_pass_in_a_corridor),
        cmocka_unit_test(sizes_pass_in_a_corridor),
        cmocka_unit_test(one_side_backs_out),
        cmocka_unit_test(a_maze_is_crossed),
        cmocka_unit_test(a_door_lets_both_sides_through),
        cmocka_unit_test(enemies_in_a_corridor_give_up),
        cmocka_unit_test(who_waits_for_whom_is_told),
        cmocka_unit_test(more_units_than_cells_are_crowded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
