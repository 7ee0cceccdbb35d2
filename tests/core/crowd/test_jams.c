// core/crowd/test_jams.c: no order lasts for ever where a cell holds one unit.
//
// Method: places where units block each other for ever without a joint search: corridors with units
// of several sizes, with dead ends to back out to. All must arrive, with the checks of crowd.h.
// Where no unit can get through, because another team's units are in the way, orders end as crowded
// after a bounded time.

#include "tests/support/crowd.h"

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/crowd/jam.h"
#include "core/crowd/patience.h"
#include "core/views/explain.h"
#include "core/views/inspect.h"
#include "core/views/jams.h"
#include "core/world/team.h"

#include <inttypes.h>
#include <string.h>

#define ROWS(...)                                                                                  \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static crowd stage;

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
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("@@@@@@@@@@@@", //
                         "@@@@@..@@@@@", //
                         "@@@@@..@@@@@", //
                         "............", //
                         "............", //
                         "@@@@@@@@@@@@"));
    uint32_t team = crowd_team(&stage);
    crowd_spawn_to(&stage, team, 2, 0, 3, 10, 3);
    crowd_spawn_to(&stage, team, 2, 10, 3, 0, 3);
    all_arrive(1000);
}

// The same, but one of the two may not be moved any more once there is a plan: it is frozen, or
// gets the order to hold. It stays.
static void who_must_stay_leaves_the_plan(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    for (uint32_t holds = 0; holds < 2; holds++) {
        crowd_init_rows(&stage, &rules,
                        ROWS("@@@@@..@@@@@", //
                             "@@@@@..@@@@@", //
                             "............", //
                             "............"));
        uint32_t team = crowd_team(&stage);
        crowd_spawn_to(&stage, team, 2, 0, 2, 10, 2);
        crowd_spawn_to(&stage, team, 2, 10, 2, 0, 2);
        fm_explanation told = {0};
        for (uint32_t tick = 0; tick < 1000 && told.help != FM_HELP_PLAN; tick++) {
            crowd_tick(&stage, NULL);
            assert_int_equal(fm_world_explain_now(stage.world, stage.units[0], &told), FM_OK);
        }
        assert_int_equal(told.help, FM_HELP_PLAN);
        fm_command command = {.agents = &stage.units[0], .agent_count = 1};
        if (holds) {
            command.kind = FM_COMMAND_ORDER;
            command.order = FM_ORDER_HOLD;
        } else {
            command.kind = FM_COMMAND_SET;
            command.set = FM_SET_FROZEN;
            command.frozen = true;
        }
        fm_command_result result = {0};
        fm_world_apply(stage.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
        fm_cell cell = crowd_cell(&stage, 0);
        for (uint32_t tick = 0; tick < 40; tick++) {
            crowd_tick(&stage, NULL);
            assert_int_equal(crowd_cell(&stage, 0), cell);
        }
        assert_int_equal(fm_world_explain_now(stage.world, stage.units[1], &told), FM_OK);
        assert_int_not_equal(told.help, FM_HELP_PLAN);
        crowd_fini(&stage);
    }
}

// The same, while far away a file of the same team makes way for ever behind an enemy: others who
// make way keep only those around them from being helped.
static void a_knot_far_from_a_crowd_is_solved(void **state)
{
    (void)state;
    enum {
        FAR = 150,
        FILE_LENGTH = 24,
        ENEMY = 30,
        FILE_GOAL = 40
    };
    static const char *const knot[] = {"@@@@@..@@@@@", //
                                       "@@@@@..@@@@@", //
                                       "............", //
                                       "............"};
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(FAR + 12, 6, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < (FAR + 12) * 6; i++) {
        uint32_t x = i % (FAR + 12), y = i / (FAR + 12);
        bool is_free = x < FAR ? y == 4 && x <= FILE_GOAL
                               : y > 0 && y <= FM_COUNT_OF(knot) && knot[y - 1][x - FAR] == '.';
        if (!is_free) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    crowd_spawn_at(&stage, other, fm_cell_at(ENEMY, 4));
    for (uint32_t x = 0; x < FILE_LENGTH; x++) {
        uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(x, 4));
        crowd_order(&stage, unit, fm_cell_at(FILE_GOAL, 4), FM_UNREACHABLE_WAIT);
    }
    for (uint32_t tick = 0; tick < 300; tick++) {
        crowd_tick(&stage, NULL);
    }
    crowd_spawn_to(&stage, team, 2, FAR, 3, FAR + 10, 3);
    crowd_spawn_to(&stage, team, 2, FAR + 10, 3, FAR, 3);
    crowd_run(&stage, 2, 1000);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2);
    crowd_fini(&stage);
}

// Two of 4 x 4 cells, and one of 3 x 3 and a small one, run into each other where there is room
// enough: they pass at once, long before jams are searched for.
static void the_large_pass_in_the_open(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{4, 4}, {3, 1}, {1, 3}, {4, 1}, {2, 3}};
    static char rows[20][25];
    const char *lines[20];
    for (uint32_t y = 0; y < FM_COUNT_OF(lines); y++) {
        memset(rows[y], '.', sizeof rows[y] - 1);
        lines[y] = rows[y];
    }
    for (uint32_t i = 0; i < FM_COUNT_OF(sizes); i++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        crowd_init_rows(&stage, &rules, lines, FM_COUNT_OF(lines));
        uint32_t team = crowd_team(&stage);
        crowd_spawn_to(&stage, team, sizes[i][0], 1, 8, 19, 8);
        crowd_spawn_to(&stage, team, sizes[i][1], 19, 8, 1, 8);
        all_arrive(48);
    }
}

// Two large ones and a file of small ones want through the same corridor, in opposite directions.
static void sizes_pass_in_a_corridor(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("...@@@@@@@@...", //
                         "...@@@..@@@...", //
                         "...@@@..@@@...", //
                         "..............", //
                         "..............", //
                         "...@@@@@@@@..."));
    uint32_t team = crowd_team(&stage);
    crowd_spawn_to(&stage, team, 2, 1, 3, 12, 0);
    crowd_spawn_to(&stage, team, 2, 1, 1, 12, 2);
    for (uint32_t i = 0; i < 4; i++) {
        crowd_spawn_to(&stage, team, 1, 11, 2 + i, 2, 2 + i);
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
        crowd_spawn_to(&stage, team, 1, 3 + i, 1, 17 - i % 3, i / 3);
        crowd_spawn_to(&stage, team, 1, 14 - i, 1, i % 3, i / 3);
    }
    all_arrive(600);
}

// A unit must enter a dead end past one that has arrived at its mouth. Beside the mouth there is a
// fork, but its other way is full of units that have arrived: the first two have to back out to the
// room. They do so at once, long before jams are searched for.
static void a_full_corridor_is_no_fork(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("@@.@@@@@", //
                         "@@.@@...", //
                         "@.......", //
                         "@@@@@..."));
    uint32_t team = crowd_team(&stage);
    for (uint32_t y = 0; y < 3; y++) {
        crowd_spawn_to(&stage, team, 1, 2, y, 2, y);
    }
    crowd_spawn_to(&stage, team, 1, 7, 2, 1, 2);
    all_arrive(60);
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
        crowd_spawn_to(&stage, team, 1, i, 0, 10 - i, 10);
        crowd_spawn_to(&stage, team, 1, 10 - i, 10, i, 0);
        crowd_spawn_to(&stage, team, 1, 10 - i, 0, i, 10);
        crowd_spawn_to(&stage, team, 1, i, 10, 10 - i, 0);
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
        crowd_spawn_to(&stage, team, 1, i % 4, i / 4, 12 - i % 4, i / 4);
        crowd_spawn_to(&stage, team, 1, 12 - i % 4, i / 4, i % 4, i / 4);
    }
    all_arrive(1000);
}

#define SIDE        56u
#define UNITS       48u
#define STILL_TICKS 600u

static void send(fm_random *random, uint32_t unit)
{
    fm_cell goal = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
    crowd_order(&stage, unit, goal, FM_UNREACHABLE_NEAREST);
}

// Units of all sizes cross a map with passes, and each gets another order when its order ends: none
// stays in one place for long.
static void nobody_stands_still_for_ever(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 1, 4};
    fm_random random = fm_random_seed(14);
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < SIDE; i++) { // walls with a gap each, and one in the middle
        if (i % 14 > 5 && (i < 24 || i > 32)) {
            fm_grid_set(grid, fm_cell_at(i, 18), FM_TERRAIN_WALL, FM_COST_FLOOR);
            fm_grid_set(grid, fm_cell_at(37, i), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < UNITS; i++) {
        fm_cell cell =
            fm_cell_at(fm_random_below(&random, SIDE - 4), fm_random_below(&random, SIDE - 4));
        crowd_spawn(&stage, (fm_command){.team = team,
                                         .cells = &cell,
                                         .cell_count = 1,
                                         .class_index = sizes[i % FM_COUNT_OF(sizes)] - 1,
                                         .placing = FM_PLACE_NEAREST});
        send(&random, i);
    }
    fm_cell anchors[UNITS];
    uint32_t since[UNITS] = {0}, longest = 0;
    for (uint32_t tick = 1; tick <= 2 * STILL_TICKS; tick++) {
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < UNITS; i++) {
            fm_cell cell = crowd_cell(&stage, i);
            fm_agent_report report;
            assert_int_equal(fm_world_describe(stage.world, stage.units[i], &report), FM_OK);
            bool goes = fm_cell_dx(cell, anchors[i]) > 4 || fm_cell_dy(cell, anchors[i]) > 4;
            if (tick == 1 || goes || report.order == 0) {
                anchors[i] = cell;
                since[i] = tick;
            }
            longest = tick - since[i] > longest ? tick - since[i] : longest;
            if (report.order == 0) {
                send(&random, i);
            }
        }
    }
    print_message("%u units, %" PRIu64 " moves in %u ticks; %u ticks in one place at most\n", UNITS,
                  stage.moves, 2 * STILL_TICKS, longest);
    assert_in_range(longest, 0, STILL_TICKS - 1);
    // Most of those under way move in each tick.
    assert_true(stage.moves * 10 > (uint64_t)UNITS * 2 * STILL_TICKS * 7);
    assert_int_equal(stage.collisions + stage.crossings, 0);
    crowd_fini(&stage);
}

// Two teams in a corridor without a bay: one drives the other to its end, and neither arrives.
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
        assert_in_range(ticks, FM_PATIENCE_TICKS, FM_PATIENCE_TICKS + 40);
        fm_order_end end = how == FM_UNREACHABLE_FAIL ? FM_END_UNREACHABLE : FM_END_CROWDED;
        assert_int_equal(stage.ended[end], 2);
        crowd_fini(&stage);
    }
}

// Three in a file wait for an enemy, which waits for the first of them: the list says which unit
// waits for which.
static void who_waits_for_whom_is_told(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, ROWS(".........."));
    uint32_t teams[] = {crowd_team(&stage), crowd_team(&stage)};
    for (uint32_t x = 3; x-- > 0;) {
        crowd_spawn_to(&stage, teams[0], 1, x, 0, 7 + x, 0);
    }
    crowd_spawn_to(&stage, teams[1], 1, 5, 0, 0, 0);
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

static uint32_t list_jams(fm_jams *jams)
{
    fm_world_list_jams(stage.world, jams);
    assert_int_equal(jams->stuck, jams->count);
    return jams->stuck;
}

// Two pairs of enemies, each in its own corridor: stuck units are listed in two groups.
static void who_is_stuck_is_listed(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules,
                    ROWS("..........", //
                         "@@@@@@@@@@", //
                         ".........."));
    uint32_t teams[] = {crowd_team(&stage), crowd_team(&stage)};
    for (uint32_t i = 0; i < 4; i++) {
        crowd_spawn_to(&stage, teams[i % 2], 1, i % 2 == 0 ? 2 : 7, i / 2 * 2, i % 2 == 0 ? 9 : 0,
                       i / 2 * 2);
    }
    static fm_jams jams;
    for (uint32_t tick = 0; tick < FM_JAM_TICKS; tick++) {
        crowd_tick(&stage, NULL);
        assert_int_equal(list_jams(&jams), 0);
    }
    for (uint32_t tick = 0; tick <= FM_JAM_TICKS; tick++) {
        crowd_tick(&stage, NULL);
    }
    assert_int_equal(list_jams(&jams), 4);
    assert_int_equal(jams.group_count, 2);
    for (uint32_t i = 0; i < 4; i++) {
        const fm_jammed *unit = &jams.units[i];
        assert_int_equal(unit->agent.index1, stage.units[i].index1);
        assert_int_equal(unit->blocker.index1, stage.units[i ^ 1].index1);
        assert_int_equal(unit->blocker_cell, crowd_cell(&stage, i ^ 1));
        assert_int_equal(unit->group, i / 2);
        assert_int_equal(unit->why, FM_WHY_OCCUPIED);
        assert_true(unit->kept_ticks > FM_JAM_TICKS && unit->waits_ticks > FM_JAM_TICKS);
    }
    crowd_fini(&stage);
}

#define QUEUE_SIDE 18u

// A room full of units leaves through a door of one cell: most wait for long, but the queue moves,
// so nobody is stuck, and no search holds the queue up.
static void who_waits_in_a_queue_that_moves_is_not_stuck(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(2 * QUEUE_SIDE + 1, QUEUE_SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < QUEUE_SIDE; y++) {
        bool is_wall = y != QUEUE_SIDE / 2;
        fm_grid_set(grid, fm_cell_at(QUEUE_SIDE, y), is_wall ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND,
                    FM_COST_FLOOR);
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < QUEUE_SIDE * QUEUE_SIDE; i++) {
        uint32_t x = QUEUE_SIDE - 1 - i / QUEUE_SIDE, y = i % QUEUE_SIDE;
        crowd_spawn_to(&stage, team, 1, x, y, x + QUEUE_SIDE + 1, y);
    }
    static fm_jams jams;
    for (uint32_t tick = 0; tick < QUEUE_SIDE * QUEUE_SIDE - 2 * QUEUE_SIDE; tick++) {
        crowd_tick(&stage, NULL);
        assert_int_equal(list_jams(&jams), 0);
    }
    all_arrive(200);
}

// More units are sent into a dead end than it has cells: those left over end beside the others.
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
        crowd_spawn_to(&stage, team, 1, 1 + i, 1, 10, 1);
    }
    crowd_run(&stage, 6, 200);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    assert_int_equal(stage.ended[FM_END_CROWDED], 5);
    crowd_fini(&stage);
}

// Two teams meet in a gate of one cell, and wait behind each other on the way to it.
static void meet_in_a_gate(uint32_t each, uint32_t blocked_ticks)
{
    static const char *const rows[] = {"....@@@@@@@@@@@@@@@@@@@@....", //
                                       "............................", //
                                       "....@@@@@@@@@@@@@@@@@@@@...."};
    fm_world_rules rules = crowd_rules();
    rules.blocked_ticks = blocked_ticks;
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t teams[2] = {crowd_team(&stage), crowd_team(&stage)};
    for (uint32_t i = 0; i < 2 * each; i++) {
        uint32_t x = i % each % 4, y = i % each / 4;
        crowd_spawn_at(&stage, teams[i / each], fm_cell_at(i < each ? x : 27 - x, y));
    }
    for (uint32_t i = 0; i < 2 * each; i++) {
        uint32_t x = i % each % 4, y = i % each / 4;
        crowd_order(&stage, i, fm_cell_at(i < each ? 27 - x : x, y), FM_UNREACHABLE_NEAREST);
    }
}

// With the rule neither lets the other through, and all their orders end, those in front first.
// When one team is gone the other's next orders are fulfilled.
static void blocked_orders_end_where_the_rules_say_so(void **state)
{
    (void)state;
    enum {
        EACH = 8
    };
    meet_in_a_gate(EACH, 50);
    crowd_run(&stage, 2 * EACH, 200);
    assert_int_equal(stage.ended[FM_END_CROWDED], 2 * EACH);
    assert_int_equal(stage.ended_count, 2 * EACH);
    fm_command remove = {
        .kind = FM_COMMAND_REMOVE, .agents = &stage.units[EACH], .agent_count = EACH};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &remove, &result);
    assert_int_equal(result.status, FM_OK);
    for (uint32_t i = 0; i < EACH; i++) {
        crowd_order(&stage, i, fm_cell_at(27 - i % 4, i / 4), FM_UNREACHABLE_NEAREST);
    }
    crowd_run(&stage, 3 * EACH, 200);
    assert_int_equal(stage.ended[FM_END_ARRIVED], EACH);
    crowd_fini(&stage);
}

// Without the rule one team makes way for the other. They stood there until they gave up.
static void enemies_in_a_gate_make_way(void **state)
{
    (void)state;
    for (uint32_t each = 1; each <= 3; each++) {
        meet_in_a_gate(each, 0);
        uint32_t ticks = crowd_run(&stage, 2 * each, 400);
        print_message("%u each: %u ticks\n", each, ticks);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * each);
        crowd_fini(&stage);
    }
}

// Who waits for a stream of another team to pass does not give up.
static void a_stream_that_moves_blocks_nobody(void **state)
{
    (void)state;
    static const char *const rows[] = {"@@@@@@@@@@@@@@@@.@@@@@@@@@@@@@@@@", //
                                       ".................................", //
                                       "@@@@@@@@@@@@@@@@.@@@@@@@@@@@@@@@@"};
    fm_world_rules rules = crowd_rules();
    rules.blocked_ticks = 3;
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(16, 0));
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t passer = crowd_spawn_at(&stage, other, fm_cell_at(15 - i, 1));
        crowd_order(&stage, passer, fm_cell_at(32 - i, 1), FM_UNREACHABLE_FAIL);
    }
    crowd_order(&stage, unit, fm_cell_at(16, 2), FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 17, 100);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 17);
    crowd_fini(&stage);
}

// Teams one below the other, each with a file of units in a corridor with a bay, that have to
// change their order: that takes long searches.
static void many_jams(crowd *c, uint32_t teams)
{
    enum {
        WIDTH = 40,
        HEIGHT = 3,
        TEAMS_MAX = 64,
        FILE_LENGTH = 16
    };
    static char rows[HEIGHT * TEAMS_MAX + 1][WIDTH + 1];
    const char *lines[HEIGHT * TEAMS_MAX + 1];
    for (uint32_t y = 0; y < HEIGHT * teams + 1; y++) {
        memset(rows[y], y % HEIGHT == 2 ? '.' : '@', WIDTH);
        rows[y][20] = y % HEIGHT == 1 ? '.' : rows[y][20];
        lines[y] = rows[y];
    }
    fm_world_rules rules = crowd_rules();
    rules.teams_max = TEAMS_MAX;
    crowd_init_rows(c, &rules, lines, HEIGHT * teams + 1);
    for (uint32_t i = 0; i < teams; i++) {
        uint32_t team = crowd_team(c), y = HEIGHT * i + 2;
        for (uint32_t j = 0; j < FILE_LENGTH; j++) {
            uint32_t unit = crowd_spawn_at(c, team, fm_cell_at(1 + j, y));
            crowd_order(c, unit, fm_cell_at(38 - j, y), FM_UNREACHABLE_WAIT);
        }
    }
}

// Joint searches of 32 teams stay within the tick's budget, are part of what it reports and of the
// teams' accounts, and decide the same with any number of workers. Before there was such a bound,
// with 64 teams ticks took up to 200 times of this budget, and reported nothing.
static void many_jams_share_the_budget(void **state)
{
    (void)state;
    enum {
        TEAMS = 32,
        BUDGET = 20000,
        TICKS = 500,
        SPARE = 2000 // what the beginning of one search may take
    };
    static crowd twin;
    fm_workers *workers;
    assert_int_equal(fm_workers_create(3, &workers), FM_OK);
    many_jams(&stage, TEAMS);
    many_jams(&twin, TEAMS);
    uint64_t joint = 0, most = 0;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        fm_tick_report report, same;
        fm_tick_run(stage.world, NULL, BUDGET, NULL, &report);
        fm_tick_run(twin.world, workers, BUDGET, NULL, &same);
        assert_int_equal(report.record.digest, same.record.digest);
        assert_int_equal(report.joint_expansions, same.joint_expansions);
        assert_in_range(report.expansions, report.joint_expansions, BUDGET + BUDGET / 4 + SPARE);
        joint += report.joint_expansions;
        most = report.joint_expansions > most ? report.joint_expansions : most;
    }
    print_message("%u teams, %u ticks of %u expansions: joint searches used %" PRIu64
                  " in all, %" PRIu64 " in a tick at most\n",
                  TEAMS, TICKS, BUDGET, joint, most);
    assert_in_range(joint, (uint64_t)BUDGET * TICKS / 4, (uint64_t)BUDGET * TICKS);
    fm_world_counts counts;
    fm_world_counts_get(stage.world, &counts);
    assert_int_equal(counts.expansions_by_kind[FM_SEARCH_JOINT], joint);
    for (uint32_t team = 1; team <= TEAMS; team++) { // each had its turns
        assert_true(fm_team_of(stage.world, team)->account.used_total > joint / TEAMS / 8);
    }
    crowd_fini(&stage);
    crowd_fini(&twin);
    fm_workers_destroy(workers);
}

// A unit that becomes another team's ends the joint searches of both teams, and of no other.
static void a_change_ends_the_jams_of_its_teams(void **state)
{
    (void)state;
    enum {
        TEAMS = 4
    };
    many_jams(&stage, TEAMS);
    uint32_t busy = 0;
    for (uint32_t tick = 0; tick < 1000 && busy < TEAMS; tick++) {
        crowd_tick(&stage, NULL);
        busy = 0;
        for (uint32_t team = 1; team <= TEAMS; team++) {
            busy += fm_team_of(stage.world, team)->jam_count > 0;
        }
    }
    assert_int_equal(busy, TEAMS);
    fm_command turn = {.kind = FM_COMMAND_SET,
                       .set = FM_SET_TEAM,
                       .agents = &stage.units[0],
                       .agent_count = 1,
                       .new_team = 2};
    fm_command_result result = {.status = FM_OK};
    fm_world_apply(stage.world, &turn, &result);
    assert_int_equal(result.status, FM_OK);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        assert_int_equal(fm_team_of(stage.world, team)->jam_count > 0, team > 2);
    }
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_large_pass_in_a_corridor),
        cmocka_unit_test(who_must_stay_leaves_the_plan),
        cmocka_unit_test(a_knot_far_from_a_crowd_is_solved),
        cmocka_unit_test(the_large_pass_in_the_open),
        cmocka_unit_test(sizes_pass_in_a_corridor),
        cmocka_unit_test(one_side_backs_out),
        cmocka_unit_test(a_full_corridor_is_no_fork),
        cmocka_unit_test(a_maze_is_crossed),
        cmocka_unit_test(a_door_lets_both_sides_through),
        cmocka_unit_test(nobody_stands_still_for_ever),
        cmocka_unit_test(enemies_in_a_corridor_give_up),
        cmocka_unit_test(who_waits_for_whom_is_told),
        cmocka_unit_test(who_is_stuck_is_listed),
        cmocka_unit_test(who_waits_in_a_queue_that_moves_is_not_stuck),
        cmocka_unit_test(more_units_than_cells_are_crowded),
        cmocka_unit_test(blocked_orders_end_where_the_rules_say_so),
        cmocka_unit_test(enemies_in_a_gate_make_way),
        cmocka_unit_test(a_stream_that_moves_blocks_nobody),
        cmocka_unit_test(many_jams_share_the_budget),
        cmocka_unit_test(a_change_ends_the_jams_of_its_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
