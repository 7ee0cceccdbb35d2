// Goal: auto makes the agent wait only where core/planners/auto.c says so, however small the
// grants; and groups of eight or more agents share a search where jump points do not apply. It
// switches from jump points to an incremental search when they cost too much in total, not for one
// costly stretch. Method: planners on made-up maps get a few expansions a tick, and ticks without a
// move are counted; worlds with groups of agents report how many planners they keep; an agent is
// placed where searches are cheap, then where they are costly, and compared with one that uses only
// jump points.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "tests/support/fog.h"
#include "tests/support/support.h"

#define WAIT_MAX  4u // JUMPS_WAIT in auto.c; then the guide's own path may break once
#define GROUP_MIN 8u // in planner_table.c

// In auto.c, in jump points.
#define JUMPS_WORTH      128
#define JUMPS_EXCESS_MAX 65536
#define JUMPS_SAVED_MAX  131072

static void moves_from_the_first_tick_on(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 60; run++) {
        fog world;
        fog_planner planner;
        const fm_planner_options options = {0};
        fog_init(&world, fm_random_next(&random), 30, 70, run % 2 == 0);
        fog_planner_init(&planner, &world, &fm_auto, &options);
        uint32_t grant = 40 + fm_random_below(&random, 100), passed = 0;
        bool has_moved = false;
        for (uint32_t tick = 0; tick < 300 && planner.starts[0] != planner.goal; tick++) {
            world.change_count = 0;
            if (fm_random_below(&random, 3) == 0) {
                fm_cell cell =
                    fog_free_cell(&world); // cheaper steps need repairs, which take ticks
                if (cell != planner.starts[0] && cell != planner.goal) {
                    fog_toggle(&world, cell);
                }
            }
            fog_settle_changes(&world);
            fog_planner_tell(&planner);
            fm_plan_state answer = fog_planner_advance(&planner, grant, 0);
            if (answer == FM_PLAN_UNREACHABLE) {
                break;
            }
            fm_cell next = fm_auto.next_step(planner.self, planner.starts[0]);
            passed = next == FM_CELL_NONE ? passed + 1 : 0;
            assert_true(passed <= (has_moved ? WAIT_MAX + 1 : 0));
            has_moved |= next != FM_CELL_NONE;
            planner.starts[0] = next == FM_CELL_NONE ? planner.starts[0] : next;
        }
        fog_planner_fini(&planner);
        fog_fini(&world);
    }
}

// A world with agents of one team, all sent to one goal.
static fm_world *world_with_group(uint64_t seed, fm_connectivity connectivity, uint32_t count)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_OPEN;
    options.width = options.height = 40;
    options.seed = seed;
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.connectivity = connectivity;
    rules.steps = connectivity == FM_CONNECT_4 ? FM_STEPS_1 : FM_STEPS_10_14;
    rules.planner.ops = &fm_auto;
    fm_world *world;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_command_result result = {0};
    fm_command team = {.kind = FM_COMMAND_TEAM};
    fm_world_apply(world, &team, &result);
    fm_agent_id agents[32];
    fm_cell cells[32];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = fm_cell_at(2 + i % 8, 2 + i / 8);
    }
    result.spawned = agents;
    fm_command spawn = {
        .kind = FM_COMMAND_SPAWN, .team = result.team, .cells = cells, .cell_count = count};
    fm_world_apply(world, &spawn, &result);
    assert_int_equal(result.status, FM_OK);
    fm_cell goal = fm_cell_at(35, 30);
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .agents = agents,
                        .agent_count = count,
                        .cells = &goal,
                        .cell_count = 1,
                        .order = FM_ORDER_MOVE};
    fm_world_apply(world, &order, &result);
    assert_int_equal(result.status, FM_OK);
    return world;
}

static fm_world_counts counts_after(fm_world *world, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, 100000, NULL, &report);
    }
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    return counts;
}

static void a_group_shares_a_search_where_jump_points_do_not_apply(void **state)
{
    (void)state;
    static const struct {
        fm_connectivity connectivity;
        uint32_t agents, planners;
    } cases[] = {{FM_CONNECT_4, GROUP_MIN - 1, GROUP_MIN - 1},
                 {FM_CONNECT_4, GROUP_MIN, 1},
                 {FM_CONNECT_4, 30, 1},
                 {FM_CONNECT_8, 30, 30}};
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        fm_world *world = world_with_group(fm_test_seed(), cases[i].connectivity, cases[i].agents);
        assert_int_equal(counts_after(world, 2).planners, cases[i].planners);
        fm_world_counts counts = counts_after(world, 100);
        assert_int_equal(counts.planners, 0);
        assert_int_equal(counts.orders_ended[FM_END_ARRIVED], cases[i].agents);
        fm_world_destroy(world);
    }
}

// An agent does not wait for a shared search either: here it takes dozens of ticks.
static void a_group_moves_before_its_search_is_over(void **state)
{
    (void)state;
    fm_world *world = world_with_group(fm_test_seed(), FM_CONNECT_4, 30);
    for (uint32_t tick = 0; tick < 10; tick++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, 10, NULL, &report);
        assert_int_equal(report.moved_count, 30);
        assert_int_equal(report.planners_unfinished, 1);
    }
    fm_world_destroy(world);
}

// One search for many may use as much of a tick as many searches for one each.
static void a_search_for_many_gets_the_share_of_many(void **state)
{
    (void)state;
    fm_world *world = world_with_group(fm_test_seed(), FM_CONNECT_4, 30);
    fm_command_result result = {0};
    fm_agent_id single;
    fm_cell cell = fm_cell_at(30, 2), goal = fm_cell_at(2, 37);
    result.spawned = &single;
    fm_command spawn = {.kind = FM_COMMAND_SPAWN, .team = 1, .cells = &cell, .cell_count = 1};
    fm_world_apply(world, &spawn, &result);
    assert_int_equal(result.status, FM_OK);
    fm_command order = {.kind = FM_COMMAND_ORDER,
                        .agents = &single,
                        .agent_count = 1,
                        .cells = &goal,
                        .cell_count = 1,
                        .order = FM_ORDER_MOVE};
    fm_world_apply(world, &order, &result);
    assert_int_equal(result.status, FM_OK);
    // A field would need less than the grant of the first round.
    fm_agent_id members[30];
    for (uint32_t i = 0; i < 30; i++) {
        members[i] = (fm_agent_id){i + 1, single.generation};
    }
    fm_command planner = {.kind = FM_COMMAND_PLANNER,
                          .agents = members,
                          .agent_count = 30,
                          .planner = {.ops = &fm_dstar_lite}};
    fm_world_apply(world, &planner, &result);
    assert_int_equal(result.status, FM_OK);
    fm_tick_report report;
    fm_tick_run(world, NULL, 2 * 64 + 310, NULL, &report); // 64 each in the first round
    fm_agent_report one, many;
    assert_int_equal(fm_world_inspect(world, single, &one), FM_OK);
    assert_int_equal(fm_world_inspect(world, (fm_agent_id){1, single.generation}, &many), FM_OK);
    assert_int_equal(many.planner_agents, 30);
    assert_in_range(one.planner_expansions, 64, 64 + 15); // all that it needs
    assert_in_range(many.planner_expansions, 64 + 290, 64 + 310);
    fm_world_destroy(world);
}

static void set_blocked(fog *world, uint32_t x, uint32_t y, bool blocked)
{
    void (*set)(fm_bitmap *, fm_cell) = blocked ? fm_bitmap_set : fm_bitmap_reset;
    set(&world->blocked, fm_cell_at(x, y));
    set(&world->blocked_transposed, fm_cell_at(y, x));
}

// Pillars, each with jump points around it, and a goal at the east side of a pocket that opens to
// the east, so that agents from the west look at most of them.
static void draw_pillars_and_pocket(fog *world)
{
    for (uint32_t y = 0; y < world->height; y++) {
        for (uint32_t x = 0; x < world->width; x++) {
            bool pocket = x >= 60 && x <= 70 && y >= 20 && y <= 76;
            bool wall = x == 60 || y == 20 || y == 76;
            set_blocked(world, x, y, pocket ? wall : x % 3 == 0 && y % 3 == 0);
        }
    }
}

static uint32_t search_cost_from(fog_planner *planner, fm_cell start)
{
    uint32_t expansions_at_start = planner->work.expansions;
    planner->starts[0] = start;
    fog_planner_tell(planner);
    assert_int_equal(fog_planner_advance(planner, 1u << 30, 0), FM_PLAN_FOUND);
    return planner->work.expansions - expansions_at_start;
}

// Searches from these two cells in turn, neither of which is on the path from the other. Returns
// how often `chooser` did the same work as `jumps`, up to `count`; adds up what that cost beyond
// JUMPS_WORTH for each search.
static uint32_t search_alike(fog_planner *chooser, fog_planner *jumps, const fm_cell starts[2],
                             uint32_t count, int64_t *excess)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cost = search_cost_from(jumps, starts[i % 2]);
        if (search_cost_from(chooser, starts[i % 2]) != cost) {
            return i;
        }
        *excess += (int64_t)cost - JUMPS_WORTH;
    }
    return count;
}

static void leaves_jump_points_when_they_cost_too_much_on_the_whole(void **state)
{
    (void)state;
    static const uint32_t cheap_counts[] = {0, 400, 3000};
    const fm_cell goal = fm_cell_at(62, 48);
    const fm_cell near_goal[] = {fm_cell_at(63, 47), fm_cell_at(63, 49)};
    const fm_cell far[] = {fm_cell_at(2, 47), fm_cell_at(2, 49)};
    for (size_t i = 0; i < FM_COUNT_OF(cheap_counts); i++) {
        fog world;
        fog_planner chooser, jumps;
        const fm_planner_options options = {0};
        fog_init(&world, fm_test_seed(), 96, 96, true);
        draw_pillars_and_pocket(&world);
        fog_planner_init(&chooser, &world, &fm_auto, &options);
        fog_planner_init(&jumps, &world, &fm_repeated_jps, &options);
        chooser.ops->set_goal(chooser.self, goal, &chooser.slab);
        jumps.ops->set_goal(jumps.self, goal, &jumps.slab);

        int64_t saved = 0, excess = 0;
        uint32_t cheap = search_alike(&chooser, &jumps, near_goal, cheap_counts[i], &saved);
        assert_int_equal(cheap, cheap_counts[i]);
        uint32_t dear = search_alike(&chooser, &jumps, far, 5000, &excess);
        assert_in_range(dear, 1, 4999);
        int64_t each = excess / dear;
        assert_true(each > JUMPS_WORTH);
        saved = saved < -JUMPS_SAVED_MAX ? -JUMPS_SAVED_MAX : saved;
        assert_in_range(excess + saved, JUMPS_EXCESS_MAX, JUMPS_EXCESS_MAX + 2 * each);

        fog_planner_fini(&chooser);
        fog_planner_fini(&jumps);
        fog_fini(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_from_the_first_tick_on),
        cmocka_unit_test(a_group_shares_a_search_where_jump_points_do_not_apply),
        cmocka_unit_test(a_group_moves_before_its_search_is_over),
        cmocka_unit_test(a_search_for_many_gets_the_share_of_many),
        cmocka_unit_test(leaves_jump_points_when_they_cost_too_much_on_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
