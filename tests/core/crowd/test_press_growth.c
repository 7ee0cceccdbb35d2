// test_press_growth.c: what ways round a press (core/crowd/bypass.h) cost, where many teams stand
// in one at once and on large maps.
//
// Method: teams above each other, each before a wall of its own with a narrow gap and open ground
// beside it. Work is counted, not timed. What looks take is paid from what a tick has for joint
// searches, and all teams have their turns.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/crowd/bypass.h"
#include "core/crowd/press.h"
#include "core/planners/catalogue.h"
#include "core/tick/tick.h"
#include "core/world/crowd_state.h"

#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define WIDTH        90u
#define HEIGHT       44u // of the ground of one team
#define WALL_X       40u
#define OPEN_END     12u // rows beside the wall
#define GAP_Y        26u
#define GAP          2u
#define SIDE         20u // units of a team in a row
#define UNITS        (SIDE * SIDE)
#define TEAMS        12u
#define TICKS_PRESS  40u // after which all teams stand in a press
#define TICKS_MAX    400u
#define TICKS_LOOKED 40u
#define TICKS_PAID   400u
#define SMALL_BUDGET 4000u
#define GROWTH_MOST  1.5
#define LOOK_MORE    3.0 // one look is dearer than another; all in one call are 12 times as dear

// What a look may take, in expansions.
#define LOOK_MOST (2 * FM_PRESS_CELLS + (FM_BYPASS_PATHS + 2 * 256) / 8)

static bool is_wall(uint32_t x, uint32_t y)
{
    bool is_open = y < OPEN_END || (y >= GAP_Y && y < GAP_Y + GAP);
    return x >= WALL_X && x < WALL_X + 2 && !is_open;
}

static void apply(fm_world *world, fm_command command, fm_command_result *result)
{
    fm_world_apply(world, &command, result);
    assert_int_equal(result->status, FM_OK);
}

// The ground of each team ends with a row of walls.
static fm_grid *make_grid(uint32_t teams)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(WIDTH, HEIGHT * teams, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < WIDTH * HEIGHT * teams; i++) {
        uint32_t x = i % WIDTH, y = i / WIDTH % HEIGHT;
        if (is_wall(x, y) || y == HEIGHT - 1) {
            fm_grid_set(grid, fm_cell_at(x, i / WIDTH), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    return grid;
}

// Each team a square of units west of its wall, with goals in the same square east of it.
static fm_world *begin(uint32_t teams)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    assert_int_equal(fm_planner_spec_parse("repeated-jps", &rules.planner, NULL, 0), FM_OK);
    fm_world *world;
    assert_int_equal(fm_world_create(&rules, make_grid(teams), &fm_memory_libc, &world), FM_OK);
    for (uint32_t t = 0; t < teams; t++) {
        fm_agent_id ids[UNITS];
        fm_cell cells[UNITS];
        fm_command_result result = {.spawned = ids};
        apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
        for (uint32_t i = 0; i < UNITS; i++) {
            cells[i] = fm_cell_at(16 + i % SIDE, t * HEIGHT + 20 + i / SIDE);
        }
        apply(world,
              (fm_command){
                  .kind = FM_COMMAND_SPAWN, .team = t + 1, .cells = cells, .cell_count = UNITS},
              &result);
        for (uint32_t i = 0; i < UNITS; i++) {
            fm_cell goal = cells[i] + fm_cell_at(WALL_X, 0);
            apply(world,
                  (fm_command){.kind = FM_COMMAND_ORDER,
                               .agents = &ids[i],
                               .agent_count = 1,
                               .cells = &goal,
                               .cell_count = 1,
                               .order = FM_ORDER_MOVE},
                  &result);
        }
    }
    return world;
}

static fm_tick_report tick(fm_world *world, uint64_t budget)
{
    fm_tick_report report;
    fm_tick_run(world, NULL, budget, NULL, &report);
    return report;
}

static fm_world *begin_press(uint32_t teams)
{
    fm_world *world = begin(teams);
    for (uint32_t i = 0; i < TICKS_PRESS; i++) {
        tick(world, 1u << 30);
    }
    return world;
}

// ---- one look in a tick ------------------------------------------------------------------------

// The dearest call in some ticks. In each tick it is called until all teams have had their turns.
static uint64_t dearest_look(uint32_t teams)
{
    fm_world *world = begin_press(teams);
    uint64_t dearest = 0;
    for (uint32_t i = 0; i < TICKS_LOOKED; i++) {
        for (uint32_t call = 0; call < FM_BYPASS_PERIOD; call++) {
            uint64_t before = counted_work();
            assert_true(fm_bypass_attend(world, UINT64_MAX) <= LOOK_MOST);
            uint64_t spent = counted_work() - before;
            dearest = spent > dearest ? spent : dearest;
        }
        tick(world, 1u << 30);
    }
    fm_world_destroy(world);
    return dearest;
}

static void many_teams_take_no_more_than_one(void **state)
{
    (void)state;
    uint64_t one = dearest_look(1), many = dearest_look(TEAMS);
    print_message("dearest look: one team %llu, %u teams %llu, x%.2f\n", (unsigned long long)one,
                  TEAMS, (unsigned long long)many, (double)many / (double)one);
    assert_true((double)many <= LOOK_MORE * (double)one);
    counted_work_or_skip();
}

// ---- what is owed ------------------------------------------------------------------------------

// A small budget pays over several ticks, and nobody has a turn meanwhile.
static void looks_are_paid(void **state)
{
    (void)state;
    fm_world *world = begin_press(TEAMS);
    const struct fm_bypass_turns *turns = &fm_world_edit_crowd(world)->bypass;
    uint32_t looks = 0, of_team[TEAMS + 1] = {0};
    for (uint32_t i = 0; i < TICKS_PAID; i++) {
        uint64_t owed = turns->owed;
        uint32_t last = turns->next;
        fm_tick_report report = tick(world, SMALL_BUDGET);
        assert_true(turns->owed <= LOOK_MOST);
        if (owed > 0) {
            assert_int_equal(turns->next, last);
            assert_true(turns->owed < owed && report.joint_expansions >= owed - turns->owed);
            assert_in_range(owed - turns->owed, owed < 500 ? owed : 500, SMALL_BUDGET / 2);
        } else if (turns->owed > 0) {
            looks += 1;
            of_team[turns->next] += 1;
        }
    }
    print_message("%u looks in %u ticks\n", looks, TICKS_PAID);
    for (uint32_t team = 1; team <= TEAMS; team++) {
        assert_true(of_team[team] > 0);
    }
    fm_world_destroy(world);
}

// Expansions of a tick, and how many orders have ended, with several teams in presses.
static void a_small_budget_is_kept_to(void **state)
{
    (void)state;
    static const uint64_t budgets[] = {8000, 1u << 20};
    for (uint32_t b = 0; b < FM_COUNT_OF(budgets); b++) {
        fm_world *world = begin(TEAMS);
        uint32_t ended = 0, ticks = 0;
        uint64_t joint = 0, most = 0;
        while (ended < TEAMS * UNITS && ticks < TICKS_MAX) {
            fm_tick_report report = tick(world, budgets[b]);
            ended += report.ended_count;
            joint += report.joint_expansions;
            most = report.joint_expansions > most ? report.joint_expansions : most;
            ticks += 1;
        }
        print_message("budget %llu: %u of %u orders in %u ticks, joint %llu, %llu in a tick\n",
                      (unsigned long long)budgets[b], ended, TEAMS * UNITS, ticks,
                      (unsigned long long)joint, (unsigned long long)most);
        assert_true(joint > 0);
        assert_true(most <= budgets[b]);
        assert_int_equal(ended, TEAMS * UNITS);
        fm_world_destroy(world);
    }
}

// ---- large maps --------------------------------------------------------------------------------

static uint64_t sample(const fm_world *world, uint32_t side)
{
    fm_press *press = fm_press_create(&fm_memory_libc, side, side);
    assert_non_null(press);
    fm_press_sample(press, world, 1);
    uint64_t before = counted_work();
    uint32_t pressed = fm_press_sample(press, world, 1);
    uint64_t spent = counted_work() - before;
    assert_true(pressed >= FM_PRESSED_LEAST);
    fm_press_destroy(press, &fm_memory_libc);
    return spent;
}

static void a_large_map_costs_no_more(void **state)
{
    (void)state;
    fm_world *world = begin_press(1);
    uint64_t small = sample(world, 128), large = sample(world, 4096);
    print_message("sample of %u units: %llu on 128 x 128 cells, %llu on 4096 x 4096\n", UNITS,
                  (unsigned long long)small, (unsigned long long)large);
    assert_true((double)large <= GROWTH_MOST * (double)small);
    fm_world_destroy(world);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_teams_take_no_more_than_one),
        cmocka_unit_test(looks_are_paid),
        cmocka_unit_test(a_small_budget_is_kept_to),
        cmocka_unit_test(a_large_map_costs_no_more),
    };
    return cmocka_run_group_tests_name("presses, growth", tests, NULL, NULL);
}
