// test_fairness.c: a team that spams orders slows only itself, and an unreachable goal costs no
// more for many units than for one.
//
// Two teams on one map, with a budget that is far too small for the first one's orders: 1,000
// units, each sent to its own far goal in every tick. The second team's orders must fare as if the
// first team stood still: the same tick of each first move and the same number of waiting units
// after each tick. The deadline passes by work done, as a clock would, never by the clock.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/map/view.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "tests/support/support.h"

#include "core/base/random.h"

#include <math.h>
#include <time.h>

#define SIDE         256u
#define SPAMMERS     1000u
#define MODEST       20u
#define TICKS        60u
#define BUDGET       20000u
#define ORDER_TICKS  10u // between two orders of the modest team
#define LOOKS_A_TICK 500u
#define ASKING_TEAMS 100u
#define LONE_TEAMS   400u // of one unit each
#define LONE_TICKS   100u
#define LONE_LOOKS   60u // in a tick: enough for a part of them

static void apply(fm_world *world, fm_command command, fm_command_result *result)
{
    fm_world_apply(world, &command, result);
    assert_int_equal(result->status, FM_OK);
}

static fm_cell free_cell(fm_random *random, const fm_grid *grid)
{
    for (;;) {
        fm_cell cell =
            fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
        if (!fm_grid_is_blocked(grid, cell)) {
            return cell;
        }
    }
}

static fm_world *make_world(uint64_t seed, const fm_planner_ops *ops, bool omniscient)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_RANDOM;
    options.width = options.height = SIDE;
    options.blocked_permille = 100;
    options.seed = seed;
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = ops;
    rules.omniscient = omniscient;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    return world;
}

static void spawn(fm_world *world, uint32_t team, uint32_t count, fm_random *random,
                  fm_agent_id *agents)
{
    fm_command_result result = {0};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    assert_int_equal(result.team, team);
    for (uint32_t i = 0; i < count; i++) {
        fm_cell cell = free_cell(random, fm_world_grid(world));
        result.spawned = &agents[i];
        apply(world,
              (fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = &cell, .cell_count = 1},
              &result);
    }
}

static void send(fm_world *world, const fm_agent_id *agents, uint32_t count, fm_random *random)
{
    static fm_cell goals[SPAMMERS];
    for (uint32_t i = 0; i < count; i++) {
        goals[i] = free_cell(random, fm_world_grid(world));
    }
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = agents,
                       .agent_count = count,
                       .cells = goals,
                       .cell_count = count},
          &result);
}

// A clock that moves at each look at it.
static bool passed(void *context)
{
    uint32_t *looks_left = context;
    *looks_left -= *looks_left > 0;
    return *looks_left == 0;
}

struct course {
    uint32_t waiting[TICKS]; // units of the modest team, after each tick
    fm_cell cells[TICKS];    // of its first unit
    uint64_t spammer_used, modest_used;
};

static void play(uint64_t seed, const fm_planner_ops *ops, bool spam, bool deadline,
                 struct course *course)
{
    static fm_agent_id spammers[SPAMMERS], modest[MODEST];
    fm_world *world = make_world(seed, ops, false);
    fm_random random = fm_random_seed(seed), goals = fm_random_seed(seed + 1);
    spawn(world, 1, SPAMMERS, &random, spammers);
    spawn(world, 2, MODEST, &random, modest);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        if (spam) {
            send(world, spammers, SPAMMERS, &random);
        }
        if (tick % ORDER_TICKS == 0) {
            send(world, modest, MODEST, &goals);
        }
        uint32_t looks_left = LOOKS_A_TICK;
        fm_tick_clock clock = {.deadline = {.passed = passed, .context = &looks_left}};
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, deadline ? &clock : NULL, &report);
        fm_team_counts counts[2];
        assert_int_equal(fm_world_team_counts(world, counts, 2), 2);
        course->waiting[tick] = counts[1].waiting;
        course->spammer_used = counts[0].used_total;
        course->modest_used = counts[1].used_total;
        fm_agent_report agent;
        assert_int_equal(fm_world_inspect(world, modest[0], &agent), FM_OK);
        course->cells[tick] = agent.cell;
    }
    fm_world_destroy(world);
}

static void a_spammer_slows_only_itself(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_repeated_jps, &fm_auto};
    for (uint32_t i = 0; i < 2 * FM_COUNT_OF(planners); i++) {
        struct course alone, beside;
        bool deadline = i % 2 == 1;
        play(fm_test_seed() + i, planners[i / 2], false, deadline, &alone);
        play(fm_test_seed() + i, planners[i / 2], true, deadline, &beside);
        assert_int_equal(alone.spammer_used, 0);
        // The first team gets what is left over, and would need more.
        assert_true(beside.spammer_used > (uint64_t)BUDGET * TICKS / 4 || deadline);
        for (uint32_t tick = 0; tick < TICKS; tick++) {
            assert_int_equal(alone.waiting[tick], beside.waiting[tick]);
        }
        // Jump points find the same paths whatever the grants.
        if (planners[i / 2] == &fm_repeated_jps) {
            assert_memory_equal(alone.cells, beside.cells, sizeof alone.cells);
            assert_int_equal(alone.modest_used, beside.modest_used);
        }
    }
}

// ---- too little for everybody ----

// Two expansions for each unit and tick. Shared evenly they are of little use: no search is ever
// finished, because the units move on meanwhile.
static void few_expansions_go_a_long_way(void **state)
{
    (void)state;
    static fm_agent_id agents[SPAMMERS];
    fm_world *world = make_world(fm_test_seed(), &fm_auto, true);
    fm_random random = fm_random_seed(fm_test_seed());
    spawn(world, 1, SPAMMERS, &random, agents);
    send(world, agents, SPAMMERS, &random);
    for (uint32_t tick = 0; tick < 300; tick++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, 2 * SPAMMERS, NULL, &report);
    }
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    // 640 to 960 of them have arrived; with even shares only 370.
    assert_in_range(counts.orders_ended[FM_END_ARRIVED], SPAMMERS / 2, SPAMMERS);
    fm_world_destroy(world);
}

// ---- looking around ----

static void spawn_together(fm_world *world, uint32_t team, fm_cell cell, uint32_t count,
                           fm_agent_id *agents)
{
    static fm_cell cells[SPAMMERS];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = cell;
    }
    fm_command_result result = {.spawned = agents};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    apply(world,
          (fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = cells, .cell_count = count},
          &result);
}

// Processor time of ticks in which `count` agents flee from as many enemies that none of them sees.
static double time_of_fleeing(uint32_t count)
{
    static fm_agent_id fleers[SPAMMERS], enemies[SPAMMERS];
    fm_world *world = make_world(fm_test_seed(), &fm_auto, false);
    fm_random random = fm_random_seed(fm_test_seed());
    fm_cell home = free_cell(&random, fm_world_grid(world)), there = home;
    uint32_t sight = fm_world_rules_get(world)->sense.radius;
    while (fm_cell_dx(home, there) <= sight || fm_cell_dx(home, there) > sight + 10 ||
           fm_cell_dy(home, there) > 10) {
        there = free_cell(&random, fm_world_grid(world));
    }
    spawn_together(world, 1, home, count, fleers);
    spawn_together(world, 2, there, count, enemies);
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_FLEE,
                       .radius = sight + 20,
                       .agents = fleers,
                       .agent_count = count},
          &result);
    clock_t begin = clock();
    for (uint32_t tick = 0; tick < 8; tick++) {
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
    }
    fm_world_destroy(world);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

// Eight times as many take some ten times as long, not 8 x 8 x 8 times.
static void a_crowd_that_flees_looks_around_once(void **state)
{
    (void)state;
    double few = time_of_fleeing(SPAMMERS / 8), many = time_of_fleeing(SPAMMERS);
    assert_true(many < 64 * fmax(few, 1e-3));
}

// ---- accounts ----

// Many teams with random weights and preferences, over many ticks.
static void accounts_share_by_weight_and_waste_nothing(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 200; run++) {
        fm_account teams[6] = {{0}};
        uint64_t wants[6], weights = 0, budget = 1 + fm_random_below(&random, 100000);
        uint32_t saved_ticks = fm_random_below(&random, FM_SAVED_TICKS_MAX + 1);
        uint32_t count = 2 + fm_random_below(&random, 5);
        for (uint32_t i = 0; i < count; i++) {
            teams[i].weight = 1 + fm_random_below(&random, 10);
            teams[i].agents = 1;
            weights += teams[i].weight;
        }
        // The first team always wants more than there is.
        for (uint32_t tick = 0; tick < 100; tick++) {
            uint64_t left = budget;
            for (uint32_t i = 0; i < count; i++) {
                fm_account_open(&teams[i], budget, weights);
                assert_true(teams[i].share <= budget * teams[i].weight / weights + 1);
                wants[i] = i == 0 ? UINT64_MAX : fm_random_below(&random, (uint32_t)budget * 2);
                teams[i].searching = wants[i] > 0;
            }
            for (uint32_t round = 0; round < 60 && left > count; round++) {
                fm_claims claims = {.budget = left};
                for (uint32_t i = 0; i < count; i++) {
                    fm_account_claim(&teams[i], &claims);
                }
                uint64_t used = 0;
                for (uint32_t i = 0; i < count; i++) {
                    if (teams[i].searching > 0) {
                        uint64_t allowed = fm_account_allowance(&teams[i], &claims);
                        uint64_t spent = wants[i] < allowed ? wants[i] : allowed;
                        wants[i] -= spent;
                        used += spent;
                        fm_account_spend(&teams[i], spent);
                        teams[i].searching = wants[i] > 0;
                    }
                }
                assert_true(used <= left); // never more than there is
                left -= used;
            }
            assert_true(left <= count + budget / 1000); // and hardly anything is left over
            for (uint32_t i = 0; i < count; i++) {
                fm_account_close(&teams[i], saved_ticks);
                assert_true(teams[i].saved <= teams[i].share * saved_ticks);
            }
        }
        // Over time it gets at least its share, except for what others had saved. With only a few
        // expansions rounding hides that.
        uint64_t fair = budget * teams[0].weight / weights;
        assert_true(budget < 1000 || teams[0].used_total + teams[0].saved + budget / 10 >=
                                         fair * (100 - saved_ticks) * 9 / 10);
    }
}

// ---- changes ----

// A wall is built behind the agent, where the search has been. Checking what that means for the
// search is work, which its team pays for.
static void what_a_change_costs_is_charged(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_dstar_lite, &fm_dstar_extra_lite,
                                                     &fm_adaptive_astar, &fm_tbaa_star};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        fm_world *world = make_world(fm_test_seed(), planners[i], true);
        fm_random random = fm_random_seed(fm_test_seed());
        fm_agent_id agent;
        spawn(world, 1, 1, &random, &agent);
        fm_agent_report report;
        assert_int_equal(fm_world_inspect(world, agent, &report), FM_OK);
        fm_cell goal = free_cell(&random, fm_world_grid(world));
        while (fm_cell_dx(goal, report.cell) < 20) {
            goal = free_cell(&random, fm_world_grid(world));
        }
        fm_command_result result = {0};
        apply(world,
              (fm_command){.kind = FM_COMMAND_ORDER,
                           .order = FM_ORDER_MOVE,
                           .agents = &agent,
                           .agent_count = 1,
                           .cells = &goal,
                           .cell_count = 1},
              &result);
        fm_team_counts counts;
        fm_tick_report tick;
        do {
            fm_tick_run(world, NULL, BUDGET, NULL, &tick);
            assert_int_equal(fm_world_team_counts(world, &counts, 1), 1);
        } while (counts.used > 0);
        // The cell that it has just come from was searched by all of them.
        fm_cell before = report.cell;
        while (report.cell == before) {
            fm_tick_run(world, NULL, BUDGET, NULL, &tick);
            assert_int_equal(fm_world_inspect(world, agent, &report), FM_OK);
        }
        fm_cell wall = report.cell;
        for (uint32_t steps = 0; steps < 2; steps++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &tick);
        }
        apply(world,
              (fm_command){.kind = FM_COMMAND_TERRAIN,
                           .cells = &wall,
                           .cell_count = 1,
                           .terrain = FM_TERRAIN_WALL},
              &result);
        fm_tick_run(world, NULL, BUDGET, NULL, &tick);
        assert_int_equal(fm_world_team_counts(world, &counts, 1), 1);
        assert_in_range(counts.used, 1, 40);
        fm_world_destroy(world);
    }
}

// ---- enclosed goals ----

// The cell in the middle, walled in.
static fm_cell enclose(fm_world *world)
{
    fm_cell goal = fm_cell_at(SIDE / 2, SIDE / 2), wall[FM_DIRECTION_COUNT];
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        wall[d] = fm_cell_step(goal, d);
    }
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_TERRAIN,
                       .cells = wall,
                       .cell_count = FM_DIRECTION_COUNT,
                       .terrain = FM_TERRAIN_WALL},
          &result);
    return goal;
}

// Work for `count` units that are ordered to the enclosed cell in each of 20 ticks.
static uint64_t storm_work(uint64_t seed, const fm_planner_ops *ops, uint32_t count,
                           fm_on_unreachable on_unreachable)
{
    static fm_agent_id agents[SPAMMERS];
    fm_world *world = make_world(seed, ops, true);
    fm_random random = fm_random_seed(seed);
    fm_cell goal = enclose(world);
    spawn(world, 1, count, &random, agents);
    uint64_t work = 0;
    for (uint32_t tick = 0; tick < 20; tick++) {
        fm_command_result result = {0};
        apply(world,
              (fm_command){.kind = FM_COMMAND_ORDER,
                           .order = FM_ORDER_MOVE,
                           .on_unreachable = on_unreachable,
                           .agents = agents,
                           .agent_count = count,
                           .cells = &goal,
                           .cell_count = 1},
              &result);
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        work += report.expansions + report.label_units;
        assert_int_equal(report.ended_count, on_unreachable == FM_UNREACHABLE_FAIL ? count : 0);
    }
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    bool fail = on_unreachable == FM_UNREACHABLE_FAIL;
    assert_int_equal(counts.orders_ended[FM_END_UNREACHABLE], fail ? 20 * count : 0);
    fm_world_destroy(world);
    return work;
}

static void an_enclosed_goal_costs_many_no_more_than_one(void **state)
{
    (void)state;
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        const fm_planner_ops *ops = fm_planner_catalogue[p];
        fm_on_unreachable rule = p % 2 == 0 ? FM_UNREACHABLE_FAIL : FM_UNREACHABLE_WAIT;
        uint64_t one = storm_work(fm_test_seed(), ops, 1, rule);
        assert_true(one > 0);
        assert_int_equal(storm_work(fm_test_seed(), ops, 20, rule), one);
    }
}

// Each of many teams asks for the first time whether its goal can be reached, which takes more work
// than the whole budget of the tick. Still, all units set out.
static void questions_of_many_teams_leave_time_to_search(void **state)
{
    (void)state;
    fm_world *world = make_world(fm_test_seed(), &fm_auto, false);
    fm_random random = fm_random_seed(fm_test_seed());
    fm_agent_id agents[ASKING_TEAMS];
    for (uint32_t i = 0; i < ASKING_TEAMS; i++) {
        spawn(world, i + 1, 1, &random, &agents[i]);
    }
    send(world, agents, ASKING_TEAMS, &random);
    fm_tick_report report;
    fm_tick_run(world, NULL, 10 * ASKING_TEAMS, NULL, &report);
    assert_true(report.label_units > 10 * ASKING_TEAMS);
    for (uint32_t i = 0; i < ASKING_TEAMS; i++) {
        fm_agent_report agent;
        assert_int_equal(fm_world_inspect(world, agents[i], &agent), FM_OK);
        assert_true(agent.moves > 0 || !agent.has_order); // some stand on their goals
    }
    fm_world_destroy(world);
}

// The deadline passes before most teams have had a turn. Their turns rotate fast enough that no
// team waits until all the others are done.
static void many_teams_take_turns_under_a_deadline(void **state)
{
    (void)state;
    fm_world *world = make_world(fm_test_seed(), &fm_auto, false);
    fm_random random = fm_random_seed(fm_test_seed());
    static fm_agent_id agents[LONE_TEAMS];
    for (uint32_t i = 0; i < LONE_TEAMS; i++) {
        spawn(world, i + 1, 1, &random, &agents[i]);
    }
    uint32_t cut_count = 0;
    for (uint32_t tick = 0; tick < LONE_TICKS; tick++) {
        if (tick % ORDER_TICKS == 0) {
            send(world, agents, LONE_TEAMS, &random);
        }
        uint32_t looks_left = LONE_LOOKS;
        fm_tick_clock clock = {.deadline = {.passed = passed, .context = &looks_left}};
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, &clock, &report);
        cut_count += report.record.cut_count;
    }
    print_message("%u cuts\n", cut_count);
    assert_true(cut_count > LONE_TEAMS * LONE_TICKS / 4); // those that walk have no turn
    uint32_t never = 0;
    for (uint32_t i = 0; i < LONE_TEAMS; i++) {
        fm_agent_report agent;
        assert_int_equal(fm_world_inspect(world, agents[i], &agent), FM_OK);
        never += agent.moves == 0;
    }
    print_message("%u of %u units have never moved\n", never, LONE_TEAMS);
    assert_in_range(never, 0, LONE_TEAMS / 100); // some are walled in
    fm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_expansions_go_a_long_way),
        cmocka_unit_test(a_crowd_that_flees_looks_around_once),
        cmocka_unit_test(a_spammer_slows_only_itself),
        cmocka_unit_test(accounts_share_by_weight_and_waste_nothing),
        cmocka_unit_test(what_a_change_costs_is_charged),
        cmocka_unit_test(an_enclosed_goal_costs_many_no_more_than_one),
        cmocka_unit_test(questions_of_many_teams_leave_time_to_search),
        cmocka_unit_test(many_teams_take_turns_under_a_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
