// core/crowd/test_flow.c: units that are held up step behind those that want the same way
// (core/crowd/flow.h).
//
// Method: friends face to face in a field, and a press before a gate, each in a world where a unit
// of another team stands in a corner, and in one where it does not: there the rule does not apply.

#include "tests/support/crowd.h"

#include "core/commands/create.h"
#include "core/crowd/crowd.h"
#include "core/saves/settle.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/world_parts.h"

static crowd stage;

#define ACROSS 24u
#define ALONG  100u
#define EACH   240u
#define GATE   6u

static void begin(uint32_t team_count, bool has_gate, const char *planner)
{
    fm_world_rules rules = crowd_rules();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(ALONG, ACROSS, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; has_gate && y < ACROSS; y++) {
        if (y < (ACROSS - GATE) / 2 || y >= (ACROSS + GATE) / 2) {
            fm_grid_set(grid, fm_cell_at(ALONG / 2, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        bool is_first = has_gate || i % 2 == 0; // before a gate all want the same way
        uint32_t nth = has_gate ? i : i / 2, y = 2 + nth % 20, x = 5 + nth / 20;
        uint32_t from = is_first ? x : ALONG - 1 - x, to = is_first ? ALONG - 30 + x : 30 - x;
        uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(from, y));
        crowd_order(&stage, unit, fm_cell_at(to, y), FM_UNREACHABLE_NEAREST);
    }
    if (team_count > 1) {
        crowd_spawn_at(&stage, crowd_team(&stage), fm_cell_at(0, 0));
    }
}

// Of those with an order, in per cent, those that step in a tick, until half of the orders have
// ended. `ticks` is set to how long all took.
static double share_that_moves(bool has_gate, uint32_t team_count, uint32_t *ticks)
{
    uint64_t under_way = 0, moved = 0;
    begin(team_count, has_gate, "auto");
    while (stage.ended_count < EACH && fm_world_tick(stage.world) < 1000) {
        crowd_tick(&stage, NULL);
        for (uint32_t i = 0; i < 2 * EACH; i++) {
            const fm_mover *mover = fm_crowd_mover(stage.world, i);
            bool has_order = fm_agent_at(stage.world, i)->order.id != 0;
            under_way += has_order;
            moved += has_order && mover->next != mover->cell;
        }
    }
    uint32_t half = (uint32_t)fm_world_tick(stage.world);
    *ticks = half + crowd_run(&stage, 2 * EACH, 2000);
    double share = 100.0 * (double)moved / (double)under_way;
    print_message("%s, %u teams: %.1f %% move, half are over after %u ticks, all after %u\n",
                  has_gate ? "a gate" : "a field", team_count, share, half, *ticks);
    assert_int_equal(stage.ended_count, 2 * EACH);
    crowd_fini(&stage);
    return share;
}

static void more_move(bool has_gate)
{
    uint32_t ticks[2];
    double without = share_that_moves(has_gate, 1, &ticks[0]);
    double with = share_that_moves(has_gate, 2, &ticks[1]);
    assert_true(with > without);
    assert_true(4 * ticks[1] <= 5 * ticks[0]); // what it may cost the last ones
}

static void friends_meet_in_a_field(void **state)
{
    (void)state;
    more_move(false);
}

static void a_press_before_a_gate(void **state)
{
    (void)state;
    more_move(true);
}

// In a corridor the way of each leads away from its goal, by the estimates of a search that does
// not learn. They come towards each other: whatever they would rather do than wait, their patience
// ends. They stood for ever.
static void estimates_that_mislead_end(void **state)
{
    (void)state;
    enum {
        MIDDLE = 110,
        HEIGHT = 61
    };
    fm_world_rules rules = crowd_rules();
    assert_int_equal(fm_planner_spec_parse("repeated-forward-astar", &rules.planner, NULL, 0),
                     FM_OK);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(2 * MIDDLE, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        if (y <= 50) {
            fm_grid_set(grid, fm_cell_at(MIDDLE - 1, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        if (y >= 10) {
            fm_grid_set(grid, fm_cell_at(MIDDLE + 1, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t north = crowd_spawn_at(&stage, crowd_team(&stage), fm_cell_at(MIDDLE, 31));
    uint32_t south = crowd_spawn_at(&stage, crowd_team(&stage), fm_cell_at(MIDDLE, 28));
    crowd_order(&stage, north, fm_cell_at(2 * MIDDLE - 5, 30), FM_UNREACHABLE_FAIL);
    crowd_order(&stage, south, fm_cell_at(5, 29), FM_UNREACHABLE_FAIL);
    print_message("%u ticks\n", crowd_run(&stage, 2, 5000));
    assert_int_equal(stage.ended_count, 2);
    crowd_fini(&stage);
}

static void begin_in_a_field(void)
{
    begin(2, false, "auto");
}

static void workers_decide_the_same(void **state)
{
    (void)state;
    assert_true(crowd_play_on_workers(&stage, begin_in_a_field, 2 * EACH, 200) > EACH);
}

// Settling forgets what units wanted: a world that goes on and one that was loaded from its file
// decide alike.
static void a_saved_world_goes_on_alike(void **state)
{
    (void)state;
    begin(2, false, "auto");
    for (uint32_t tick = 0; tick < 40; tick++) { // they are about to meet then
        crowd_tick(&stage, NULL);
    }
    fm_world_settle(stage.world);
    fm_world *copy = crowd_copy(&stage);
    for (uint32_t tick = 0; tick < 100; tick++) {
        crowd_tick_both(&stage, copy);
    }
    fm_world_destroy(copy);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friends_meet_in_a_field),     cmocka_unit_test(a_press_before_a_gate),
        cmocka_unit_test(estimates_that_mislead_end),  cmocka_unit_test(workers_decide_the_same),
        cmocka_unit_test(a_saved_world_goes_on_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
