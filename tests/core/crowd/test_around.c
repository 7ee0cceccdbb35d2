// core/crowd/test_around.c: units go round those that stand in their way and leave for nobody, and
// give up soon where there is no way round.
//
// Method: small fields with idle units of another team, or friends that hold their ground, as an
// obstacle, for units of all sizes and planners of each kind. With the checks of crowd.h.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/standing.h"
#include "core/planners/catalogue.h"
#include "core/saves/settle.h"

static crowd stage;

static const char *const planners[] = {"auto", "dstar-lite", "goal-field", "lss-lrta-star"};
static const uint32_t sizes[] = {1, 2, 4};

static fm_world_rules rules_with(const char *planner)
{
    fm_world_rules rules = crowd_rules_of_sizes();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    return rules;
}

static void begin(const fm_world_rules *rules, uint32_t width, uint32_t height)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, rules, grid);
}

// An idle unit.
static void put(uint32_t team, uint32_t size, uint32_t x, uint32_t y)
{
    fm_cell cell = fm_cell_at(x, y);
    crowd_spawn(
        &stage,
        (fm_command){.team = team, .cells = &cell, .cell_count = 1, .class_index = size - 1});
}

// All have stood for long enough then to be in the way.
static void stand(void)
{
    for (uint32_t tick = 0; tick < FM_STANDING_TICKS; tick++) {
        crowd_tick(&stage, NULL);
    }
}

// The last unit holds its ground from now on.
static void hold(void)
{
    fm_command command = {.kind = FM_COMMAND_ORDER,
                          .agents = &stage.units[stage.unit_count - 1],
                          .agent_count = 1,
                          .order = FM_ORDER_HOLD};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static void first_arrives(uint32_t ticks_max, const char *planner)
{
    uint32_t ticks = crowd_run(&stage, 1, 4 * ticks_max);
    if (stage.ended[FM_END_ARRIVED] != 1 || ticks > ticks_max) {
        fail_msg("%s: %u arrived in %u ticks", planner, stage.ended[FM_END_ARRIVED], ticks);
    }
    crowd_fini(&stage);
}

// One idle unit on a straight way. Beside it there is room.
static void one_is_passed(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(planners) * FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX; i++) {
        const char *planner = planners[i % FM_COUNT_OF(planners)];
        uint32_t size = 1 + i / FM_COUNT_OF(planners) % FM_CLASS_SIZE_MAX;
        fm_world_rules rules = rules_with(planner);
        begin(&rules, 40, 30);
        uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
        put(other, 1 + i / FM_COUNT_OF(planners) / FM_CLASS_SIZE_MAX, 18, 12);
        stand();
        crowd_spawn_to(&stage, team, size, 2, 12, 34, 12);
        first_arrives(45, planner);
    }
}

// A row of them across the way, and one that is bent towards the unit, so that it is in a dead end.
static void rows_are_passed(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, bent, ticks_max;
    } rows[] = {{3, 0, 65}, {9, 0, 65}, {15, 0, 65}, {13, 6, 80}};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners) * FM_COUNT_OF(sizes) * FM_COUNT_OF(rows); i++) {
        const char *planner = planners[i % FM_COUNT_OF(planners)];
        uint32_t size = sizes[i / FM_COUNT_OF(planners) % FM_COUNT_OF(sizes)];
        uint32_t row = i / FM_COUNT_OF(planners) / FM_COUNT_OF(sizes), count = rows[row].count;
        fm_world_rules rules = rules_with(planner);
        begin(&rules, 60, 40);
        uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
        for (uint32_t j = 0; j < count; j++) {
            put(other, 1, 25, 20 - count / 2 + j);
        }
        for (uint32_t j = 1; j <= rows[row].bent; j++) {
            put(other, 1, 25 - j, 20 - count / 2);
            put(other, 1, 25 - j, 20 - count / 2 + count - 1);
        }
        stand();
        crowd_spawn_to(&stage, team, size, 2, 20, 50, 20);
        first_arrives(rows[row].ticks_max, planner);
    }
}

// A team sees others only nearby, so a unit finds out how long a row is while it goes along it.
static void a_row_in_fog_is_passed(void **state)
{
    (void)state;
    fm_world_rules rules = rules_with("auto");
    rules.omniscient = false;
    rules.sense.radius = 4;
    begin(&rules, 60, 60);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    for (uint32_t i = 0; i < 30; i++) {
        put(other, 1, 25, 15 + i);
    }
    stand();
    crowd_spawn_to(&stage, team, 2, 2, 30, 50, 30);
    first_arrives(200, "in fog");
}

enum ring {
    RING_OTHERS,
    RING_FRIENDS,
    RING_HOLDING, // friends
};

// A unit and its goal; a ring of units around one of the two.
static void make_ring(const char *planner, uint32_t size, enum ring ring, bool around_goal,
                      fm_on_unreachable on_unreachable)
{
    enum {
        SIDE = 12
    };
    fm_world_rules rules = rules_with(planner);
    begin(&rules, 60, 40);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    put(team, size, 8, 20);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint32_t x = i % SIDE, y = i / SIDE;
        if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) {
            put(ring == RING_OTHERS ? other : team, 1, (around_goal ? 42 : 4) + x, 15 + y);
            if (ring == RING_HOLDING) {
                hold();
            }
        }
    }
    stand();
    crowd_order(&stage, 0, fm_cell_at(46, 20), on_unreachable);
}

// Friends leave, others do not: then the order ends long before its patience does.
static void the_shut_in_give_up(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(planners) * FM_COUNT_OF(sizes) * 6; i++) {
        const char *planner = planners[i % FM_COUNT_OF(planners)];
        uint32_t size = sizes[i / FM_COUNT_OF(planners) % FM_COUNT_OF(sizes)];
        uint32_t kind = i / FM_COUNT_OF(planners) / FM_COUNT_OF(sizes);
        make_ring(planner, size, (enum ring)(kind % 3), kind >= 3, FM_UNREACHABLE_NEAREST);
        uint32_t ticks = crowd_run(&stage, 1, 200);
        assert_int_equal(stage.ended[kind % 3 == RING_FRIENDS ? FM_END_ARRIVED : FM_END_CROWDED],
                         1);
        assert_in_range(ticks, 1, kind % 3 == RING_FRIENDS ? 40 : 160);
        crowd_fini(&stage);
    }
}

// As on_unreachable says.
static void they_give_up_as_they_were_told(void **state)
{
    (void)state;
    make_ring("auto", 1, RING_OTHERS, false, FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 1, 200);
    assert_int_equal(stage.ended[FM_END_UNREACHABLE], 1);
    crowd_fini(&stage);

    make_ring("auto", 1, RING_OTHERS, true, FM_UNREACHABLE_WAIT);
    crowd_run(&stage, 1, 1000);
    assert_int_equal(stage.ended_count, 0);
    crowd_fini(&stage);
}

// A wall with two gates, three cells wide, forty apart; others stand in one, or in both.
static void make_gates(uint32_t closed, uint32_t size, uint32_t count)
{
    enum {
        SIDE = 64,
        WALL = 30,
        GATE = 3
    };
    fm_world_rules rules = rules_with("auto");
    begin(&rules, SIDE, SIDE);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    for (uint32_t y = 0; y < SIDE; y++) {
        bool in_first = y >= 10 && y < 10 + GATE, in_second = y >= 50 && y < 50 + GATE;
        if (!in_first && !in_second) {
            crowd_set_terrain(&stage, fm_cell_at(WALL, y), FM_TERRAIN_WALL);
        }
    }
    for (uint32_t i = 0; i < closed * GATE; i++) {
        put(other, 1, WALL, (i < GATE ? 10 : 50) + i % GATE);
    }
    stand();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = 8 + i % 4 * size, y = 4 + i / 4 * size;
        crowd_spawn_to(&stage, team, size, x, y, x + 40, y);
    }
}

// Twelve units of each size before gates: all orders end for a reason, within so many ticks.
static void all_end(uint32_t closed, fm_order_end reason, uint32_t ticks_max)
{
    for (uint32_t size = 1; size <= 3; size++) {
        make_gates(closed, size, 12);
        uint32_t ticks = crowd_run(&stage, 12, 1000);
        print_message("size %u: %u ticks\n", size, ticks);
        assert_int_equal(stage.ended[reason], 12);
        assert_in_range(ticks, 60, ticks_max);
        crowd_fini(&stage);
    }
}

// Those before the closed gate go through the other.
static void a_closed_gate_is_left(void **state)
{
    (void)state;
    all_end(1, FM_END_ARRIVED, 300);
}

// Where both are closed those in front give up, and those behind them at once or soon.
static void two_closed_gates_end_orders(void **state)
{
    (void)state;
    all_end(2, FM_END_CROWDED, 400);
}

// One that waits for ever looks for a way from time to time: the second gate opens when its count
// of blocked ticks has long been at its end.
static void who_waits_for_ever_finds_a_gate(void **state)
{
    (void)state;
    make_gates(2, 1, 0);
    uint32_t unit = crowd_spawn_at(&stage, 1, fm_cell_at(8, 11));
    crowd_order(&stage, unit, fm_cell_at(48, 11), FM_UNREACHABLE_WAIT);
    crowd_run(&stage, 1, 2200);
    assert_int_equal(stage.ended_count, 0);
    for (uint32_t i = 3; i < 6; i++) { // those in the second gate go
        crowd_order(&stage, i, fm_cell_at(60, 60), FM_UNREACHABLE_NEAREST);
    }
    crowd_run(&stage, 4, 1400);
    assert_int_equal(crowd_cell(&stage, unit), fm_cell_at(48, 11));
    crowd_fini(&stage);
}

// Opens the cells from one to another, in a row or column.
static void dig(uint32_t from_x, uint32_t from_y, uint32_t to_x, uint32_t to_y)
{
    for (uint32_t x = fm_min(from_x, to_x); x <= from_x || x <= to_x; x++) {
        for (uint32_t y = fm_min(from_y, to_y); y <= from_y || y <= to_y; y++) {
            crowd_set_terrain(&stage, fm_cell_at(x, y), FM_TERRAIN_GROUND);
        }
    }
}

// A winding corridor of 150 cells in which two stand, the second beyond the 128 cells of the path
// that are looked at, and a longer one that is free: what can be reached of the path proves
// nothing.
static void the_goal_itself_is_reached(void **state)
{
    (void)state;
    enum {
        WIDTH = 52,
        HEIGHT = 14
    };
    fm_world_rules rules = rules_with("auto");
    begin(&rules, WIDTH, HEIGHT);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        crowd_set_terrain(&stage, fm_cell_at(i % WIDTH, i / WIDTH), FM_TERRAIN_WALL);
    }
    dig(3, 1, 50, 1);
    dig(50, 1, 50, 3);
    dig(3, 3, 50, 3);
    dig(3, 3, 3, 5);
    dig(3, 5, 50, 5);
    dig(0, 1, 3, 1); // the other
    dig(0, 1, 0, 8);
    dig(0, 8, 49, 8);
    dig(49, 8, 49, 10);
    dig(2, 10, 49, 10);
    dig(2, 10, 2, 12);
    dig(2, 12, 51, 12);
    dig(51, 5, 51, 12);
    put(other, 1, 8, 1);
    put(other, 1, 38, 5);
    stand();
    crowd_spawn_to(&stage, team, 1, 3, 1, 50, 5);
    first_arrives(400, "auto");
}

// Fields with a row each, far from each other.
#define FIELDS 6u
#define EACH   8u

static void make_fields(void)
{
    enum {
        HEIGHT = 24,
        WIDTH = 60
    };
    fm_world_rules rules = rules_with("auto");
    begin(&rules, WIDTH, FIELDS * HEIGHT);
    uint32_t team = crowd_team(&stage), other = crowd_team(&stage);
    for (uint32_t i = 0; i < FIELDS * (HEIGHT - 8); i++) {
        uint32_t field = i / (HEIGHT - 8);
        put(other, 1, 20 + field, field * HEIGHT + 4 + i % (HEIGHT - 8));
    }
    stand();
    for (uint32_t field = 0; field < FIELDS; field++) {
        uint32_t top = field * HEIGHT;
        for (uint32_t x = 0; x < WIDTH; x++) {
            crowd_set_terrain(&stage, fm_cell_at(x, top), FM_TERRAIN_WALL);
        }
        for (uint32_t i = 0; i < EACH; i++) {
            uint32_t y = top + 4 + 2 * i;
            crowd_spawn_to(&stage, team, 1 + i % 2, 2, y, 54, y);
        }
    }
}

// Any number of workers decides alike.
static void all_workers_decide_alike(void **state)
{
    (void)state;
    uint32_t arrived = crowd_play_on_workers(&stage, make_fields, FIELDS * EACH, 120);
    assert_int_equal(arrived, FIELDS * EACH);
}

// Settling ends all ways; the world goes on as the one that comes from its file.
static void a_saved_world_goes_on_alike(void **state)
{
    (void)state;
    make_fields();
    crowd_run(&stage, FIELDS * EACH, 30); // they are on their ways round
    fm_world_settle(stage.world);
    fm_world *copy = crowd_copy(&stage);
    for (uint32_t tick = 0; tick < 200 && stage.ended_count < FIELDS * EACH; tick++) {
        crowd_tick_both(&stage, copy);
    }
    assert_int_equal(stage.ended[FM_END_ARRIVED], FIELDS * EACH);
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_passed),
        cmocka_unit_test(rows_are_passed),
        cmocka_unit_test(a_row_in_fog_is_passed),
        cmocka_unit_test(the_shut_in_give_up),
        cmocka_unit_test(they_give_up_as_they_were_told),
        cmocka_unit_test(a_closed_gate_is_left),
        cmocka_unit_test(two_closed_gates_end_orders),
        cmocka_unit_test(who_waits_for_ever_finds_a_gate),
        cmocka_unit_test(the_goal_itself_is_reached),
        cmocka_unit_test(all_workers_decide_alike),
        cmocka_unit_test(a_saved_world_goes_on_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
