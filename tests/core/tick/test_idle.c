// test_idle.c: standing units cost nothing.
//
// Goal    a tick's work grows with the agents that move, not with those that exist.
// Method  1,000 units march through a world of their own, and through one in which 100,000 others
//         stand: half of their own team, half of another one. The work of the same ticks is counted
//         (counted_work.h), with and without views that are watched, and with idle units that stand
//         where they see those of the other team, in views that tell what is visible.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SIDE        1024u
#define MOVERS      1000u
#define IDLERS      100000u
#define TICK_BUDGET 100000u
#define TICKS_FIRST 20u // until all movers are under way
#define TICKS       40u
#define MORE_MOST   1.3

static void apply(fm_world *world, fm_command command, fm_agent_id *spawned)
{
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static void spawn(fm_world *world, uint32_t team, const fm_cell *cells, uint32_t count,
                  fm_agent_id *ids)
{
    apply(world,
          (fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = cells, .cell_count = count},
          ids);
}

typedef enum views_kind {
    VIEWS_NONE,
    VIEWS_FAR,  // the teams do not see each other
    VIEWS_NEAR, // they do, and the views have visible cells
} views_kind;

static const char *const views_names[] = {"not watched", "watched", "watched, in sight of others"};

// The idle ones stand in the middle and in the south, by team, four to a cell; the others march in
// the north.
static fm_world *make_world(uint32_t idle_count, views_kind views)
{
    uint32_t south = views == VIEWS_NEAR ? 514 : 800;
    static fm_cell cells[IDLERS], goals[MOVERS];
    static fm_agent_id ids[IDLERS];
    fm_world_rules rules = fm_world_rules_default();
    char error[160];
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_planner_spec_parse("auto", &rules.planner, error, sizeof error), FM_OK);
    rules.agents_max = IDLERS + MOVERS;
    rules.omniscient = true;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, NULL);
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, NULL);
    for (uint32_t i = 0; i < idle_count; i++) {
        cells[i] = fm_cell_at(10 + i / 4 % 1000, (i < idle_count / 2 ? 500 : south) + i / 4000);
    }
    if (idle_count > 0) {
        spawn(world, 1, cells, idle_count / 2, ids);
        spawn(world, 2, cells + idle_count / 2, idle_count - idle_count / 2, ids);
    }
    for (uint32_t i = 0; i < MOVERS; i++) {
        cells[i] = fm_cell_at(10 + i % 40, 10 + i / 40);
        goals[i] = fm_cell_at(500 + i % 40, 100 + i / 40);
    }
    spawn(world, 1, cells, MOVERS, ids);
    if (views != VIEWS_NONE) {
        assert_int_equal(fm_world_watch(world, 1, true), FM_OK);
        assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    }
    if (views == VIEWS_NEAR) {
        assert_int_equal(fm_world_watch_sight(world, 1), FM_OK);
    }
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = ids,
                       .agent_count = MOVERS,
                       .cells = goals,
                       .cell_count = MOVERS},
          NULL);
    return world;
}

static uint64_t tick(fm_world *world, uint32_t count)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, TICK_BUDGET, NULL, &report);
        moved += report.moved_count;
    }
    return moved;
}

// The work of TICKS ticks in which all of MOVERS step.
static uint64_t work_beside(uint32_t idle_count, views_kind views)
{
    fm_world *world = make_world(idle_count, views);
    tick(world, TICKS_FIRST);
    uint64_t before = counted_work();
    uint64_t moved = tick(world, TICKS);
    uint64_t work = counted_work() - before;
    assert_int_equal(moved, MOVERS * TICKS);
    fm_world_destroy(world);
    return work;
}

static void idle_units_cost_nothing(void **state)
{
    (void)state;
    // Builds with FM_VALIDATE also compute the digest from scratch in every tick.
#if defined(FM_VALIDATE_ENABLED)
    skip();
#endif
    for (views_kind views = VIEWS_NONE; views <= VIEWS_NEAR; views++) {
        double alone = (double)work_beside(0, views);
        double beside = (double)work_beside(IDLERS, views);
        print_message("%s: %.0f a tick alone, %.0f beside %u idle ones: %.2f times\n",
                      views_names[views], alone / TICKS, beside / TICKS, IDLERS, beside / alone);
        assert_true(beside <= MORE_MOST * alone);
    }
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_units_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
