// core/crowd/test_lanes.c: passages (core/crowd/passage.h), and the lanes that two streams get in
// them (core/crowd/lanes.h).
//
// Method: passages drawn as rows of letters; two crowds change sides over a bridge. The checks of
// crowd.h after every tick.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/lanes.h"
#include "core/planners/catalogue.h"
#include "core/saves/settle.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

static crowd stage;
static const char *planner; // NULL: the rules' own

#define EACH      60u // units on either side
#define BANK      12u // cells before a bridge
#define ACROSS    13u // cells along a bank
#define LENGTH    14u
#define TICKS_MAX 400u

#define HEIGHT 9u

static const char *const rows[HEIGHT] = {
    "..........@...@....", //
    "..@@@@@@..@...@....", //
    "..............@....", //
    "..........@...@....", //
    "..@@@@@@..@@@.@@@@@", //
    "..............@....", //
    "..@@@@@@..@@@.@....", //
    "...................", //
    "..@@@@@@...........", //
};

static const fm_view *begin_rows(void)
{
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, rows, HEIGHT);
    return fm_world_truth(stage.world, 0);
}

static void passages_are_found(void **state)
{
    (void)state;
    const fm_view *view = begin_rows();
    fm_passage passage;
    assert_true(fm_passage_find(view, fm_cell_at(4, 3), &passage));
    assert_int_equal(passage.origin, fm_cell_at(2, 2));
    assert_int_equal(passage.length, 6);
    assert_int_equal(passage.width, 2);
    assert_false(passage.is_vertical);
    assert_true(fm_passage_find(view, fm_cell_at(7, 2), &passage));
    assert_int_equal(passage.origin, fm_cell_at(2, 2));
    assert_false(fm_passage_find(view, fm_cell_at(4, 5), &passage));  // one cell wide
    assert_false(fm_passage_find(view, fm_cell_at(11, 0), &passage)); // a dead end
    assert_false(fm_passage_find(view, fm_cell_at(1, 2), &passage));  // no wall beside it
    assert_false(fm_passage_find(view, fm_cell_at(18, 2), &passage)); // nothing leads out of it
    crowd_fini(&stage);
}

// A gate of one cell in a wall, and the same between obstacles.
static void gates_are_found(void **state)
{
    (void)state;
    static const char *const gates[] = {
        ".....@...........", //
        ".....@...........", //
        ".....@.....@@@@..", //
        ".....@...........", //
        ".................", //
        "...........@@@...", //
        ".....@...........", //
        ".....@...........", //
        ".....@...........", //
        ".....@...........", //
    };
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, gates, FM_COUNT_OF(gates));
    const fm_view *view = fm_world_truth(stage.world, 0);
    fm_passage passage;
    assert_true(fm_passage_find(view, fm_cell_at(5, 4), &passage));
    assert_int_equal(passage.origin, fm_cell_at(5, 4));
    assert_int_equal(passage.length, 1);
    assert_int_equal(passage.width, 2);
    assert_true(fm_passage_find(view, fm_cell_at(11, 3), &passage)); // three cells long
    assert_int_equal(passage.length, 3);
    crowd_fini(&stage);
    static const char *const obstacles[] = {
        "...........", //
        ".....@.....", //
        ".....@.....", //
        "...........", //
        "...........", //
        ".....@.....", //
        ".....@.....", //
        "...........", //
    };
    crowd_init_rows(&stage, &rules, obstacles, FM_COUNT_OF(obstacles));
    view = fm_world_truth(stage.world, 0);
    assert_false(fm_passage_find(view, fm_cell_at(5, 3), &passage));
    crowd_fini(&stage);
}

// Lane i from the north or west belongs to a direction: "01" one each.
static void check_lanes(const fm_passage *passage, const char *directions)
{
    for (uint32_t i = 0; i < passage->width; i++) {
        uint32_t direction = (uint32_t)(directions[i] - '0');
        assert_int_equal(fm_passage_lanes(passage, direction, true) >> i & 1, 1);
        assert_int_equal(fm_passage_lanes(passage, 1 - direction, true) >> i & 1, 0);
        bool is_closing = passage->closing >> i & 1;
        assert_int_equal(fm_passage_lanes(passage, direction, false) >> i & 1, !is_closing);
    }
}

// The half on the right; of three the outer ones; then one after the other changes hands.
static void lanes_change_hands(void **state)
{
    (void)state;
    fm_passage passage = {.origin = fm_cell_at(20, 20), .length = 5, .width = 2};
    fm_passage_divide(&passage, 0);
    check_lanes(&passage, "10");
    passage.is_vertical = true;
    fm_passage_divide(&passage, 1);
    check_lanes(&passage, "01");
    passage.width = 4;
    fm_passage_divide(&passage, 1);
    check_lanes(&passage, "0011");
    passage.is_vertical = false;
    passage.width = 3;
    fm_passage_divide(&passage, 1);
    check_lanes(&passage, "101");
    fm_passage_divide(&passage, 0);
    check_lanes(&passage, "010");
    fm_passage_close_for(&passage, 1);
    assert_int_equal(passage.closing, 1);
    check_lanes(&passage, "010");
    assert_true(fm_passage_is_left(&passage, 0, fm_cell_at(22, 20)));
    assert_false(fm_passage_is_left(&passage, 1, fm_cell_at(22, 20)));
    assert_false(fm_passage_is_left(&passage, 0, fm_cell_at(22, 22))); // in another lane
    assert_false(fm_passage_is_left(&passage, 0, fm_cell_at(19, 20))); // not in it yet
    fm_passage_hand_over(&passage);
    check_lanes(&passage, "110");
    fm_passage_close_for(&passage, 0);
    fm_passage_hand_over(&passage);
    check_lanes(&passage, "100");
}

static void lanes_lead_through(void **state)
{
    (void)state;
    const fm_view *view = begin_rows();
    fm_passage passage;
    assert_true(fm_passage_find(view, fm_cell_at(4, 3), &passage));
    uint16_t *distances = malloc(fm_passage_bytes(&passage));
    assert_non_null(distances);
    passage.distances = distances;
    fm_passage_divide(&passage, 0);
    fm_passage_measure(&passage, view);
    uint32_t lanes[2] = {fm_passage_lanes(&passage, 0, false),
                         fm_passage_lanes(&passage, 1, false)};
    // To the east on the southern lane, to the west on the northern one.
    for (uint32_t x = 2; x < 8; x++) {
        fm_cell north = fm_cell_at(x, 2), south = fm_cell_at(x, 3);
        assert_int_equal(fm_passage_distance(&passage, 0, false, south), 10 * (9 - x));
        assert_int_equal(fm_passage_distance(&passage, 1, false, north), 10 * x);
        assert_true(fm_passage_is_closed(&passage, 0, lanes[0], north));
        assert_false(fm_passage_is_closed(&passage, 0, lanes[0], south));
        assert_true(fm_passage_is_closed(&passage, 1, lanes[1], south));
    }
    assert_false(passage.is_wide[0] || passage.is_wide[1]); // walls stand around it
    // From before the wrong lane past it.
    assert_int_equal(fm_passage_distance(&passage, 0, false, fm_cell_at(1, 2)), 84);
    assert_int_equal(fm_passage_distance(&passage, 0, false, fm_cell_at(0, 0)),
                     FM_PASSAGE_WRONG + 108); // over the way of the others
    assert_true(fm_passage_is_closed(&passage, 0, lanes[0], fm_cell_at(1, 2)));
    assert_false(fm_passage_is_closed(&passage, 0, lanes[0], fm_cell_at(0, 2)));
    assert_false(fm_passage_is_closed(&passage, 0, lanes[0], fm_cell_at(8, 2)));
    // The southern lane closes: who is in it goes on, the others find no way.
    fm_passage_close_for(&passage, 1);
    fm_passage_measure(&passage, view);
    assert_int_equal(fm_passage_distance(&passage, 0, true, fm_cell_at(4, 3)), 50);
    assert_int_equal(fm_passage_distance(&passage, 0, false, fm_cell_at(0, 3)), FM_PASSAGE_FAR);
    assert_true(
        fm_passage_is_closed(&passage, 0, fm_passage_lanes(&passage, 0, false), fm_cell_at(4, 3)));
    free(distances);
    crowd_fini(&stage);
}

// Who comes out of one lane and whose goal is behind another, before which others wait.
static void who_comes_out_goes_round(void **state)
{
    (void)state;
    fm_passage passage = {.origin = fm_cell_at(20, 20), .length = 5, .width = 3};
    passage.is_wide[0] = passage.is_wide[1] = true;
    fm_passage_divide(&passage, 0); // the outer lanes lead to the east
    uint32_t round = 25 + FM_PASSAGE_WAY_IN;
    fm_cell south = fm_cell_at(25, 28), north = fm_cell_at(25, 12);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(25, 20), south),
                     fm_cell_at(round, 21));
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(26, 23), north),
                     fm_cell_at(round, 21));
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(25, 20), north), FM_CELL_NONE);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(24, 20), south), FM_CELL_NONE);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(round, 20), south), FM_CELL_NONE);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(25, 21), south), FM_CELL_NONE);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(25, 17), south), FM_CELL_NONE);
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(19, 21), fm_cell_at(19, 28)),
                     fm_cell_at(19 - FM_PASSAGE_WAY_IN, 22));
    assert_true(fm_passage_is_way_in(&passage, fm_cell_at(24, 20))); // inside
    assert_true(fm_passage_is_way_in(&passage, fm_cell_at(25, 21)));
    assert_false(fm_passage_is_way_in(&passage, fm_cell_at(25, 20)));
    assert_false(fm_passage_is_way_in(&passage, fm_cell_at(round, 21)));
    assert_true(fm_passage_is_way_in(&passage, fm_cell_at(19, 22)));
    passage.is_wide[0] = false;
    assert_int_equal(fm_passage_way_round(&passage, fm_cell_at(25, 20), south), FM_CELL_NONE);
}

// Two crowds and a bridge between them, from west to east or from north to south, in a world
// without fog or where units see `sight` cells. One team: each unit's goal is where one of the
// others began. Two: behind them, for those who have arrived make no way for others. Returns the
// first team.
static uint32_t begin_crowds(uint32_t width, bool is_vertical, uint32_t team_count, uint32_t sight)
{
    uint32_t along = 2 * BANK + LENGTH, first = (ACROSS - width) / 2;
    fm_world_rules rules = crowd_rules();
    if (planner != NULL) {
        assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    }
    rules.omniscient = sight == 0;
    rules.sense.radius = sight == 0 ? rules.sense.radius : sight;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(is_vertical ? ACROSS : along, is_vertical ? along : ACROSS,
                                    &fm_memory_libc, &grid),
                     FM_OK);
    for (uint32_t i = 0; i < LENGTH * ACROSS; i++) {
        uint32_t a = BANK + i / ACROSS, b = i % ACROSS;
        if (b < first || b >= first + width) {
            fm_grid_set(grid, is_vertical ? fm_cell_at(b, a) : fm_cell_at(a, b), FM_TERRAIN_WATER,
                        FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t teams[2] = {crowd_team(&stage)};
    teams[1] = team_count > 1 ? crowd_team(&stage) : teams[0];
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        uint32_t a = i / 2 / ACROSS, b = i / 2 % ACROSS, from = BANK - 1 - a;
        uint32_t to = team_count > 1 ? a : from;
        uint32_t starts[2] = {from, along - 1 - from}, goals[2] = {along - 1 - to, to};
        uint32_t x = starts[i % 2], goal_x = goals[i % 2];
        uint32_t unit =
            crowd_spawn_at(&stage, teams[i % 2], is_vertical ? fm_cell_at(b, x) : fm_cell_at(x, b));
        crowd_order(&stage, unit, is_vertical ? fm_cell_at(b, goal_x) : fm_cell_at(goal_x, b),
                    FM_UNREACHABLE_FAIL);
    }
    return teams[0];
}

static uint32_t begin_bridge(uint32_t width, bool is_vertical)
{
    return begin_crowds(width, is_vertical, 1, 0);
}

static bool are_open(uint32_t team)
{
    const struct fm_team *own = fm_team_of(stage.world, team);
    return own->lane_count == 1 && own->lanes[0].is_open;
}

// Runs until the lanes are open.
static void run_until_open(uint32_t team)
{
    for (uint32_t tick = 0; tick < TICKS_MAX && !are_open(team); tick++) {
        crowd_tick(&stage, NULL);
    }
    assert_true(are_open(team));
}

// Without lanes it takes 126 and 124 ticks.
static void streams_pass_each_other(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t team = begin_bridge(2, i != 0);
        run_until_open(team);
        uint32_t ticks = (uint32_t)fm_world_tick(stage.world);
        ticks += crowd_run(&stage, 2 * EACH, TICKS_MAX);
        print_message("%u units each way over 2 x %u cells: %u ticks, at least %u\n", EACH, LENGTH,
                      ticks, EACH + LENGTH);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        assert_true(ticks <= 92);
        for (uint32_t tick = 0; tick < 80; tick++) {
            crowd_tick(&stage, NULL);
        }
        assert_int_equal(fm_team_of(stage.world, team)->lane_count, 0); // nobody passes any more
        crowd_fini(&stage);
    }
}

// Three lanes: the outer ones belong to one direction; later one of these changes hands, and while
// it does none of those who pass enters it.
static void a_lane_changes_hands_in_time(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(3, false);
    run_until_open(team);
    const fm_lanes *lanes = &fm_team_of(stage.world, team)->lanes[0];
    uint32_t owners = lanes->passage.owners, changes = 0, entered = 0;
    assert_true(owners == 2 || owners == 5);
    assert_true(lanes->passage.is_wide[0] && lanes->passage.is_wide[1]);
    for (uint32_t tick = 0; tick < TICKS_MAX && are_open(team); tick++) {
        uint32_t closing = lanes->passage.closing;
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 3 && closing != 0 && closing == lanes->passage.closing; i++) {
            uint32_t x = owners >> i & 1 ? BANK + LENGTH - 1 : BANK;
            fm_cell first = fm_cell_at(x, (ACROSS - 3) / 2 + i);
            uint32_t unit = stage.holders[first];
            // holders tells who stands there after the tick; it came from outside the bridge.
            const fm_mover *mover =
                unit == 0 ? NULL : &fm_world_edit_crowd(stage.world)->movers[unit - 1];
            bool is_new = mover != NULL && mover->lane != 0 &&
                          !fm_passage_contains(&lanes->passage, mover->cell);
            entered += closing >> i & 1 && is_new && mover->next == first;
        }
        changes += owners != lanes->passage.owners;
        owners = lanes->passage.owners;
    }
    assert_int_equal(entered, 0);
    assert_true(changes >= 1);
    crowd_run(&stage, 2 * EACH, TICKS_MAX);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    crowd_fini(&stage);
}

// Those who wait before a bridge: who goes on farther behind it decides first, whatever their order
// of ids. Those inside come before all.
static void who_goes_on_farther_decides_first(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(3, false), waiting = 0;
    run_until_open(team);
    const fm_lanes *lanes = &fm_team_of(stage.world, team)->lanes[0];
    const struct fm_world_agents *agents = fm_world_agents(stage.world);
    crowd_tick(&stage, NULL);
    uint32_t ticks = (uint32_t)fm_world_tick(stage.world);
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        const fm_mover *mover = &fm_world_edit_crowd(stage.world)->movers[i];
        if (mover->lane == 0 || !mover->bold) {
            continue;
        }
        uint32_t direction = (mover->lane - 1u) % 2;
        int32_t along = fm_passage_along(&lanes->passage, mover->cell);
        bool waits = direction == 0 ? along < 0 : along >= (int32_t)LENGTH;
        uint32_t end = direction == 0 ? BANK + LENGTH - 1 : BANK;
        fm_cell last = fm_cell_at(end, ACROSS / 2), goal = agents->slots[i].order.goal;
        uint32_t behind = fm_view_distance(fm_world_truth(stage.world, 0), last, goal) / 10;
        uint32_t more = mover->age & FM_MOVER_AGE_MAX;
        if (waits) {
            assert_int_equal(more, ticks + behind);
            waiting += 1;
        } else if (fm_passage_contains(&lanes->passage, mover->cell)) {
            assert_int_equal(mover->age, UINT16_MAX);
        }
    }
    assert_true(waiting > EACH);
    crowd_fini(&stage);
}

// Who was pushed off its goal stays where it is for 16 ticks: before a bridge it would be pushed
// off again, and hold up those who come out.
static void who_was_pushed_waits_before_lanes(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(3, false), longest = 0;
    run_until_open(team);
    const fm_lanes *lanes = &fm_team_of(stage.world, team)->lanes[0];
    const struct fm_world_agents *agents = fm_world_agents(stage.world);
    for (uint32_t tick = 0; tick < TICKS_MAX && are_open(team); tick++) {
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 2 * EACH && are_open(team); i++) {
            const fm_mover *mover = &fm_world_edit_crowd(stage.world)->movers[i];
            const struct fm_agent *agent = &agents->slots[i];
            uint32_t ticks = (uint32_t)(fm_world_tick(stage.world) - agent->pushed_tick);
            if (mover->returns && ticks > 0 && ticks < 16 &&
                fm_rect_contains(&lanes->passage.box, mover->cell)) {
                assert_true(mover->aside);
                longest = ticks > longest ? ticks : longest;
            }
        }
    }
    assert_int_equal(longest, 15);
    crowd_fini(&stage);
}

// Planners whose distances are estimates: by these some who went east counted as going west.
static void paths_name_lanes(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "repeated-jps", "adaptive-astar", "lss-lrta-star"};
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        planner = names[i];
        begin_bridge(2 + i % 2, i / 2 != 0);
        uint32_t ticks = crowd_run(&stage, 2 * EACH, TICKS_MAX);
        print_message("%s: %u units each way over %u x %u cells: %u ticks\n", planner, EACH,
                      2 + i % 2, LENGTH, ticks);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        assert_true(ticks <= 94);
        crowd_fini(&stage);
    }
    planner = NULL;
}

// Units of two teams cannot push each other: without lanes some stand on the bridge until they give
// up, after 1,800 ticks.
static void teams_pass_each_other(void **state)
{
    (void)state;
    static const uint32_t widths[] = {3, 4, 7};
    for (uint32_t i = 0; i < 4 * FM_COUNT_OF(widths); i++) {
        uint32_t width = widths[i / 4], sight = i % 2 != 0 ? 5 : 0;
        begin_crowds(width, i / 2 % 2 != 0, 2, sight);
        uint32_t ticks = crowd_run(&stage, 2 * EACH, TICKS_MAX);
        print_message("two teams of %u units over %u x %u cells%s: %u ticks\n", EACH, width, LENGTH,
                      sight == 0 ? "" : ", seeing 5 cells", ticks);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        crowd_fini(&stage);
    }
}

// Sixty units of 2 x 2 cells each way, on a bridge whose lanes are two and three cells wide for
// them. Without lanes for large units some stood there until they gave up, after 3,700 ticks.
static void large_teams_pass_each_other(void **state)
{
    (void)state;
    enum {
        SIZE = 2,
        LARGE_BANK = 24,
        LARGE_ACROSS = 26,
        ALONG = 2 * LARGE_BANK + LENGTH,
        LARGE_TICKS = 900
    };
    for (uint32_t width = 5; width <= 7; width += 2) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(ALONG, LARGE_ACROSS, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t i = 0; i < LENGTH * LARGE_ACROSS; i++) {
            uint32_t y = i % LARGE_ACROSS, first = (LARGE_ACROSS - width) / 2;
            if (y < first || y >= first + width) {
                fm_grid_set(grid, fm_cell_at(LARGE_BANK + i / LARGE_ACROSS, y), FM_TERRAIN_WATER,
                            FM_COST_FLOOR);
            }
        }
        crowd_init(&stage, &rules, grid);
        uint32_t teams[2] = {crowd_team(&stage)};
        teams[1] = crowd_team(&stage);
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            uint32_t a = i / 2 / (LARGE_ACROSS / SIZE), y = i / 2 % (LARGE_ACROSS / SIZE) * SIZE;
            uint32_t from = LARGE_BANK - SIZE - SIZE * a, to = ALONG - SIZE - SIZE * a;
            bool is_back = i % 2 != 0;
            crowd_spawn_to(&stage, teams[i % 2], SIZE, is_back ? ALONG - SIZE - from : from, y,
                           is_back ? ALONG - SIZE - to : to, y);
        }
        uint32_t ticks = crowd_run(&stage, 2 * EACH, LARGE_TICKS);
        print_message("two teams of %u units of 2 x 2 cells over %u x %u cells: %u ticks\n", EACH,
                      width, LENGTH, ticks);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        crowd_fini(&stage);
    }
}

// Real-time planners have no path before their goal comes into view: their units pass by what they
// have learned. Without that those who waited stood in the others' way: 0 to 5 of 120 got through.
static void teams_that_learn_pass_each_other(void **state)
{
    (void)state;
    static const char *const names[] = {"lss-lrta-star:lookahead=2", "lss-lrta-star:lookahead=6",
                                        "dalss-lrta-star:lookahead=4"};
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        planner = names[i];
        begin_crowds(3, i % 2 != 0, 2, 0);
        uint32_t ticks = crowd_run(&stage, 2 * EACH, TICKS_MAX);
        print_message("%s: two teams of %u units over 3 x %u cells: %u ticks\n", planner, EACH,
                      LENGTH, ticks);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
        crowd_fini(&stage);
    }
    planner = NULL;
}

// Where teams meet those who wait keep off the first six cells of the others' way, not one.
static void teams_leave_each_other_a_way(void **state)
{
    (void)state;
    fm_passage passage = {.origin = fm_cell_at(20, 20), .length = 5, .width = 3};
    fm_passage_halve(&passage);
    check_lanes(&passage, "100");
    uint32_t lanes = fm_passage_lanes(&passage, 0, false);
    for (uint32_t meet = 0; meet < 2; meet++) {
        passage.teams_meet = meet != 0;
        uint32_t closed = meet != 0 ? 6 : 1;
        assert_true(fm_passage_is_closed(&passage, 0, lanes, fm_cell_at(20 - closed, 20)));
        assert_false(fm_passage_is_closed(&passage, 0, lanes, fm_cell_at(19 - closed, 20)));
        assert_false(fm_passage_is_closed(&passage, 0, lanes, fm_cell_at(19, 21)));
        assert_true(fm_passage_is_closed(&passage, 1, 1, fm_cell_at(24 + closed, 21)));
        assert_false(fm_passage_is_closed(&passage, 1, 1, fm_cell_at(25 + closed, 21)));
    }
}

// Who stands on a lane of another team's would rather be anywhere else: the others cannot push it.
static void nobody_waits_in_the_way_of_others(void **state)
{
    (void)state;
    uint32_t team = begin_crowds(3, false, 2, 0), checked = 0;
    run_until_open(team);
    const fm_lanes *lanes = &fm_team_of(stage.world, team)->lanes[0];
    for (uint32_t tick = 0; tick < TICKS_MAX && are_open(team); tick++) {
        bool met = lanes->passage.teams_meet;
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 2 * EACH && met && are_open(team); i += 2) { // the first team's
            const fm_mover *mover = &fm_world_edit_crowd(stage.world)->movers[i];
            if (mover->lane == 0 || !fm_passage_contains(&lanes->passage, mover->cell)) {
                continue;
            }
            uint32_t direction = (mover->lane - 1u) % 2;
            uint32_t own = fm_passage_lanes(&lanes->passage, direction, false);
            if (fm_passage_is_closed(&lanes->passage, direction, own, mover->cell)) {
                uint64_t last = mover->preferences;
                while ((last >> 4 & 15) != FM_PREFERENCE_NONE) {
                    last >>= 4;
                }
                assert_int_equal(last & 15, FM_PREFERENCE_STAY);
                checked += 1;
            }
        }
    }
    assert_true(checked > 0);
    crowd_fini(&stage);
}

// A few of another team open no lanes, however long they are in the way.
static void a_few_open_no_lanes(void **state)
{
    (void)state;
    uint32_t team = begin_crowds(2, false, 2, 0), kept = 0;
    for (uint32_t i = 1; i < 2 * EACH; i += 2) {
        if (kept++ < 4) {
            continue;
        }
        fm_command command = {
            .kind = FM_COMMAND_REMOVE, .agents = &stage.units[i], .agent_count = 1};
        fm_command_result result = {0};
        fm_world_apply(stage.world, &command, &result);
        assert_int_equal(result.status, FM_OK);
        stage.cells[stage.units[i].index1 - 1] = FM_CELL_NONE;
    }
    for (uint32_t tick = 0; tick < 60; tick++) {
        crowd_tick(&stage, NULL);
        assert_false(are_open(team));
    }
    crowd_fini(&stage);
}

// The foremost unit of each team is so far from the other's.
static uint32_t gap(void)
{
    int32_t west = 0, east = INT32_MAX;
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        int32_t x = (int32_t)fm_cell_x(crowd_cell(&stage, i));
        west = i % 2 == 0 && x > west ? x : west;
        east = i % 2 != 0 && x < east ? x : east;
    }
    return (uint32_t)(east - west);
}

// A team knows of another's units when it sees them.
static void others_are_met_when_seen(void **state)
{
    (void)state;
    static const uint32_t sights[] = {0, 3, 5};
    uint32_t gaps[FM_COUNT_OF(sights)];
    for (uint32_t i = 0; i < FM_COUNT_OF(sights); i++) {
        uint32_t team = begin_crowds(3, false, 2, sights[i]);
        for (uint32_t tick = 0; fm_team_of(stage.world, team)->lane_count == 0; tick++) {
            gaps[i] = gap(); // before the tick in which they are met
            crowd_tick(&stage, NULL);
            assert_true(tick < 60);
        }
        crowd_fini(&stage);
    }
    assert_true(gaps[0] > 8); // no fog
    assert_true(gaps[1] <= 3);
    assert_true(gaps[2] <= 5);
}

// Any number of workers decides alike.
static void begin_with_a_team(void)
{
    begin_crowds(3, false, 1, 5);
}

static void begin_with_two_teams(void)
{
    begin_crowds(3, false, 2, 5);
}

static void workers_keep_to_lanes(void **state)
{
    (void)state;
    uint32_t arrived = crowd_play_on_workers(&stage, begin_with_a_team, 2 * EACH, TICKS_MAX);
    assert_int_equal(arrived, 2 * EACH);
    arrived = crowd_play_on_workers(&stage, begin_with_two_teams, 2 * EACH, TICKS_MAX);
    assert_int_equal(arrived, 2 * EACH);
}

// Settling ends lanes: a world that goes on and one that was loaded from its file decide alike.
static void a_saved_world_has_no_lanes(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(2, false);
    assert_int_equal(fm_world_counted(stage.world)->lanes, 0);
    run_until_open(team);
    assert_int_equal(fm_world_counted(stage.world)->lanes, 1);
    fm_world_settle(stage.world);
    assert_int_equal(fm_team_of(stage.world, team)->lane_count, 0);
    assert_int_equal(fm_world_counted(stage.world)->lanes, 0);
    fm_world *copy = crowd_copy(&stage);
    uint32_t open_ticks = 0;
    for (uint32_t tick = 0; tick < TICKS_MAX && stage.ended_count < 2 * EACH; tick++) {
        crowd_tick_both(&stage, copy);
        open_ticks += are_open(team);
    }
    assert_true(open_ticks > 0); // they are found again
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

// A bridge gets narrower while units are on it.
static void lanes_end_with_the_passage(void **state)
{
    (void)state;
    uint32_t team = begin_bridge(3, false);
    run_until_open(team);
    bool is_set = false;
    for (uint32_t tick = 0; tick < TICKS_MAX && !is_set; tick++) {
        crowd_tick(&stage, NULL);
        fm_cell cell = fm_cell_at(BANK + LENGTH / 2, (ACROSS - 3) / 2);
        if (stage.holders[cell] == 0) {
            crowd_set_terrain(&stage, cell, FM_TERRAIN_WATER);
            is_set = true;
        }
    }
    assert_true(is_set);
    uint32_t ticks = 0;
    while (fm_team_of(stage.world, team)->lane_count > 0 &&
           fm_team_of(stage.world, team)->lanes[0].passage.length == LENGTH) {
        crowd_tick(&stage, NULL);
        assert_true(ticks++ < 40);
    }
    crowd_run(&stage, 2 * EACH, 2 * TICKS_MAX);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * EACH);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passages_are_found),
        cmocka_unit_test(gates_are_found),
        cmocka_unit_test(lanes_change_hands),
        cmocka_unit_test(a_lane_changes_hands_in_time),
        cmocka_unit_test(who_goes_on_farther_decides_first),
        cmocka_unit_test(who_was_pushed_waits_before_lanes),
        cmocka_unit_test(paths_name_lanes),
        cmocka_unit_test(teams_pass_each_other),
        cmocka_unit_test(large_teams_pass_each_other),
        cmocka_unit_test(teams_that_learn_pass_each_other),
        cmocka_unit_test(teams_leave_each_other_a_way),
        cmocka_unit_test(nobody_waits_in_the_way_of_others),
        cmocka_unit_test(a_few_open_no_lanes),
        cmocka_unit_test(others_are_met_when_seen),

        cmocka_unit_test(who_comes_out_goes_round),
        cmocka_unit_test(lanes_lead_through),
        cmocka_unit_test(streams_pass_each_other),
        cmocka_unit_test(workers_keep_to_lanes),
        cmocka_unit_test(a_saved_world_has_no_lanes),
        cmocka_unit_test(lanes_end_with_the_passage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
