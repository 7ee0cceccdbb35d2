// test_due.c: the search stage visits exactly the planners to which something has happened.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/map/view.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"
#include "core/views/inspect.h"
#include "core/world/team_labels.h"
#include "core/world/world_state.h"
#include "tests/support/support.h"

#include "core/base/random.h"

#define SIDE   128u
#define UNITS  200u
#define BUDGET 1000000u

#define WORLDS 4u // of one of them a mean over its units and ticks says too little

#define LOOKS_A_STEP 5.5 // stages that look at an agent under way, and some more

#define LOAD_UNITS  200u // whose orders need about the whole budget
#define LOAD_MOST   10u  // times as many
#define LOAD_TICKS  80u
#define LOAD_BUDGET 1500u
#define ORDER_TICKS 10u // between two orders of a unit

static fm_agent_id units[LOAD_UNITS * LOAD_MOST];
static uint32_t unit_count = UNITS;

static fm_cell free_cell(fm_random *random, const fm_world *world)
{
    const fm_grid *grid = fm_world_grid(world);
    for (;;) {
        fm_cell cell = fm_cell_at(fm_random_below(random, SIDE), fm_random_below(random, SIDE));
        if (!fm_grid_is_blocked(grid, cell)) {
            return cell;
        }
    }
}

static void apply(fm_world *world, fm_command command, fm_command_result *result)
{
    fm_world_apply(world, &command, result);
    assert_int_equal(result->status, FM_OK);
}

// `alone`: each unit is a team of its own.
static fm_world *make_world_of(fm_random *random, const fm_planner_ops *ops, bool omniscient,
                               bool alone)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_RANDOM;
    options.width = options.height = SIDE;
    options.blocked_permille = 150;
    options.seed = fm_random_next(random);
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = ops;
    rules.omniscient = omniscient;
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &world), FM_OK);
    fm_command_result result = {0};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    for (uint32_t i = 0; i < unit_count; i++) {
        if (alone && i > 0) {
            apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
        }
        fm_cell cell = free_cell(random, world);
        result.spawned = &units[i];
        apply(world,
              (fm_command){.kind = FM_COMMAND_SPAWN,
                           .team = alone ? i + 1 : 1,
                           .cells = &cell,
                           .cell_count = 1},
              &result);
    }
    return world;
}

static fm_world *make_world(fm_random *random, const fm_planner_ops *ops, bool omniscient)
{
    return make_world_of(random, ops, omniscient, false);
}

static void send(fm_world *world, fm_random *random)
{
    static fm_cell goals[FM_COUNT_OF(units)];
    for (uint32_t i = 0; i < unit_count; i++) {
        goals[i] = free_cell(random, world);
    }
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = units,
                       .agent_count = unit_count,
                       .cells = goals,
                       .cell_count = unit_count},
          &result);
}

// On a known map a walk costs no search: after the first tick no planner is visited.
static void a_walk_costs_nothing(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_auto, &fm_repeated_jps};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        fm_random random = fm_random_seed(fm_test_seed() + i);
        fm_world *world = make_world(&random, planners[i], true);
        send(world, &random);
        fm_tick_report report;
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        assert_true(report.planners_notified > UNITS / 2);
        uint32_t moved = 0;
        for (uint32_t tick = 0; tick < 40; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
            assert_int_equal(report.planners_notified, 0);
            assert_int_equal(report.expansions, 0);
            moved += report.moved_count;
        }
        assert_true(moved > 10 * UNITS);
        fm_world_destroy(world);
    }
}

// Looks of stages at agents, and steps, of the first units of a world in some ticks.
static uint64_t visits_of(uint32_t count, uint64_t *moved)
{
    fm_random random = fm_random_seed(fm_test_seed()), goals = fm_random_seed(fm_test_seed() + 1);
    unit_count = count;
    fm_world *world = make_world(&random, &fm_auto, true);
    unit_count = UNITS;
    fm_tick_report report;
    for (uint32_t tick = 0; tick < 2; tick++) {
        fm_tick_run(world, NULL, BUDGET, NULL, &report); // all units are new and look around
    }
    send(world, &goals);
    uint64_t visits = *moved = 0;
    for (uint32_t tick = 0; tick < 60; tick++) {
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        visits += report.agents_visited;
        *moved += report.moved_count;
    }
    fm_world_destroy(world);
    return visits;
}

// Standing units are not visited, however many there are.
static void the_idle_cost_nothing(void **state)
{
    (void)state;
    uint64_t moved_alone, moved_among;
    uint64_t alone = visits_of(UNITS, &moved_alone);
    uint64_t among = visits_of(UNITS * LOAD_MOST, &moved_among);
    print_message("%llu looks, %llu among those that stand\n", (unsigned long long)alone,
                  (unsigned long long)among);
    assert_int_equal(moved_alone, moved_among);
    assert_in_range(alone, moved_alone, 10 * moved_alone);
    assert_int_equal(among, alone);
}

static void march_in_fog(fm_random *random, uint64_t *visits, uint64_t *moved)
{
    fm_world *world = make_world(random, &fm_auto, false);
    fm_cell goal = free_cell(random, world);
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = units,
                       .agent_count = unit_count,
                       .cells = &goal,
                       .cell_count = 1},
          &result);
    fm_tick_report report;
    for (uint32_t tick = 0; tick < 60; tick++) {
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        assert_int_equal(report.record.digest, fm_world_digest(world));
        *visits += tick < 10 ? 0 : report.agents_visited;
        *moved += tick < 10 ? 0 : report.moved_count;
    }
    fm_world_destroy(world);
}

// A group whose field is not proven to the goal, as always in fog, has steps to go on all the same:
// its orders need no look in every tick, only the stages on the way of each agent do.
static void groups_in_fog_are_not_attended(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint64_t visits = 0, moved = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        march_in_fog(&random, &visits, &moved);
    }
    print_message("%.2f looks a step\n", (double)visits / (double)moved);
    assert_true(moved > 10 * UNITS * WORLDS);
    assert_in_range(visits, moved, (uint64_t)(LOOKS_A_STEP * (double)moved));
}

// A tick skips its stages in a world in which nothing can happen, until a command comes.
static void still_worlds_stand_still(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_world *world = make_world(&random, &fm_auto, false);
    for (uint32_t round = 0; round < 2; round++) {
        send(world, &random);
        fm_tick_report report = {0};
        uint32_t still = 0;
        uint64_t moved = 0;
        for (uint32_t tick = 0; tick < 3 * SIDE; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
            assert_int_equal(report.record.digest, fm_world_digest(world));
            assert_false(report.still && (report.moved_count > 0 || report.agents_visited > 0));
            assert_true(report.still || still == 0); // it stays still without a command
            still += report.still;
            moved += report.moved_count;
        }
        assert_in_range(still, SIDE / 4, 3 * SIDE - 2);
        assert_true(moved > UNITS);
    }
    fm_world_destroy(world);
}

// What a command ended and removed is shown once, also where a tick without anything to do is
// enough for a world to be still.
static void what_a_command_did_is_shown_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() ^ 7);
    for (uint32_t saved_ticks = 0; saved_ticks < 3; saved_ticks++) {
        fm_world *world = make_world(&random, &fm_repeated_jps, true);
        world->rules.saved_ticks = saved_ticks;
        assert_int_equal(fm_world_watch(world, 1, true), FM_OK);
        send(world, &random);
        fm_tick_report report = {0};
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        fm_command_result result = {0};
        apply(world,
              (fm_command){.kind = FM_COMMAND_REMOVE, .agents = units, .agent_count = unit_count},
              &result);
        uint32_t ended = 0, left = 0, still = 0;
        for (uint32_t tick = 0; tick < 6; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
            fm_changes changes = fm_world_changes(world, 1);
            ended += changes.ended_count;
            left += changes.left_count;
            still += report.still;
        }
        assert_in_range(ended, 1, unit_count);
        assert_int_equal(left, unit_count);
        assert_in_range(still, 3, 5);
        fm_world_destroy(world);
    }
}

// When a world becomes still depends on its watched views. Journals do not record these, so the
// result of its ticks must not depend on them, whatever their budgets are.
static void stillness_leaves_no_trace(void **state)
{
    (void)state;
    static uint64_t digests[3 * SIDE];
    for (uint32_t watched = 0; watched < 2; watched++) {
        fm_random random = fm_random_seed(fm_test_seed());
        fm_world *world = make_world(&random, &fm_auto, false);
        send(world, &random);
        fm_tick_report report;
        for (uint32_t tick = 0; tick < 3 * SIDE; tick++) {
            if (watched && tick % 10 == 9) {
                assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, tick % 20 == 9), FM_OK);
            }
            fm_tick_run(world, NULL, BUDGET + tick % 7 * 1000, NULL, &report);
            digests[tick] = watched ? digests[tick] : report.record.digest;
            assert_int_equal(report.record.digest, digests[tick]);
        }
        fm_world_destroy(world);
    }
}

// A cell that gets blocked wakes, in the same tick, the planners whose path it is on; a cell that
// is freed wakes all.
static void edits_wake(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_world *world = make_world(&random, &fm_auto, true);
    send(world, &random);
    fm_tick_report report;
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    fm_cell path[SIDE * SIDE];
    uint32_t length = 0, unit = 0;
    while (length < 30) {
        length = fm_world_agent_path(world, units[unit++], path, SIDE * SIDE);
    }
    fm_rect site = {fm_cell_x(path[20]), fm_cell_y(path[20]), 1, 1};
    fm_command_result result = {0};
    apply(world,
          (fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = &site,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_WALL},
          &result);
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    assert_in_range(report.planners_notified, 1, UNITS / 4);
    assert_int_equal(report.planners_unfinished, 0);
    length = fm_world_agent_path(world, units[unit - 1], path, SIDE * SIDE);
    for (uint32_t i = 0; i < length; i++) {
        assert_true(path[i] != fm_cell_at(site.x, site.y));
    }
    apply(world,
          (fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = &site,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_GROUND},
          &result);
    fm_tick_run(world, NULL, BUDGET, NULL, &report);
    assert_true(report.planners_notified > UNITS / 2);
    fm_world_destroy(world);
}

// In fog most steps show something new. All units arrive, with every planner.
static void everybody_arrives_in_fog(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_auto, &fm_repeated_jps, &fm_dstar_lite,
                                                     &fm_adaptive_astar};
    for (uint32_t i = 0; i < FM_COUNT_OF(planners); i++) {
        fm_random random = fm_random_seed(fm_test_seed() + i);
        fm_world *world = make_world(&random, planners[i], false);
        send(world, &random);
        fm_tick_report report;
        for (uint32_t tick = 0; tick < 3 * SIDE; tick++) {
            fm_tick_run(world, NULL, BUDGET, NULL, &report);
        }
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        assert_int_equal(counts.agents_by_state[FM_AGENT_IDLE], UNITS);
        assert_int_equal(counts.planners, 0);
        assert_int_equal(report.planners_notified, 0);
        fm_world_destroy(world);
    }
}

struct load {
    const fm_planner_ops *ops;
    uint32_t times; // LOAD_UNITS
    bool alone;     // each unit is a team of its own
};

// How many searches were finished for units that get new orders all the time: each order whose unit
// has moved counts.
static uint64_t finished_of(const struct load *load, uint64_t seed, uint64_t *used,
                            uint32_t *short_ticks)
{
    fm_random random = fm_random_seed(seed);
    uint32_t times = load->times;
    unit_count = LOAD_UNITS * times;
    fm_world *world = make_world_of(&random, load->ops, true, load->alone);
    unit_count = UNITS;
    for (uint32_t tick = 0; tick < LOAD_TICKS; tick++) {
        for (uint32_t i = tick % ORDER_TICKS; i < LOAD_UNITS * times; i += ORDER_TICKS) {
            fm_cell goal = free_cell(&random, world);
            fm_command_result result = {0};
            apply(world,
                  (fm_command){.kind = FM_COMMAND_ORDER,
                               .order = FM_ORDER_MOVE,
                               .agents = &units[i],
                               .agent_count = 1,
                               .cells = &goal,
                               .cell_count = 1},
                  &result);
        }
        fm_tick_report report;
        fm_tick_run(world, NULL, LOAD_BUDGET, NULL, &report);
        *used += report.expansions;
        *short_ticks += report.planners_unfinished > 0;
    }
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    fm_world_destroy(world);
    return counts.first_move_count;
}

// The number of finished searches does not fall with more orders or more teams.
static void overload_finishes_as_much(void **state)
{
    (void)state;
    static const fm_planner_ops *const planners[] = {&fm_repeated_jps, &fm_auto};
    for (uint32_t i = 0; i < 2 * FM_COUNT_OF(planners); i++) {
        const fm_planner_ops *ops = planners[i / 2];
        bool alone = i % 2 == 1;
        uint64_t best = 0, last = 0, used = 0;
        uint32_t short_ticks = 0;
        for (uint32_t times = 1; times <= LOAD_MOST; times += 3) {
            struct load load = {ops, times, alone};
            last = used = short_ticks = 0;
            for (uint32_t world = 0; world < WORLDS; world++) {
                last += finished_of(&load, fm_test_seed() + world, &used, &short_ticks);
            }
            best = last > best ? last : best;
            print_message("%s, %s, load %u: %llu finished, %llu expansions\n", ops->name,
                          alone ? "a team each" : "one team", times, (unsigned long long)last,
                          (unsigned long long)used);
            assert_true(used <= (uint64_t)LOAD_BUDGET * LOAD_TICKS * WORLDS * 11 / 10);
        }
        assert_true(last * 100 >= best * 85);
        // There was too little, and it was used.
        assert_true(short_ticks * 10 >= LOAD_TICKS * WORLDS * 9);
        assert_true(used * 100 >= (uint64_t)LOAD_BUDGET * LOAD_TICKS * WORLDS * 85);
    }
}

// Where each of many teams gets its first order in one tick, most search without asking first
// whether the goal can be reached. Labels of all teams would be more work than the budget.
static void first_orders_of_many_teams(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    unit_count = FM_COUNT_OF(units);
    fm_world *world = make_world_of(&random, &fm_auto, false, true);
    send(world, &random);
    fm_tick_report report;
    fm_tick_run(world, NULL, FM_TEAM_LABELS_UNITS_MAX, NULL, &report);
    uint64_t most_of_one_team = 10000; // one may be begun with a unit left
    assert_in_range(report.label_units, 1, FM_TEAM_LABELS_UNITS_MAX + most_of_one_team);
    uint32_t moved = report.moved_count;
    for (uint32_t tick = 0; tick < 20; tick++) {
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        moved += report.moved_count;
    }
    assert_true(moved > 18 * unit_count);
    fm_world_destroy(world);
    unit_count = UNITS;
}

// Work on labels is charged in the tick in which it is done. When the next tick has no memory to
// list who looks around, it is not charged again.
static void labels_are_charged_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_grid *grid;
    fm_test_memory memory;
    fm_test_memory_init(&memory, UINT64_MAX);
    assert_int_equal(fm_grid_create(SIDE, SIDE, &memory.memory, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.omniscient = true;
    fm_world *world;
    assert_int_equal(fm_world_create(&rules, grid, &memory.memory, &world), FM_OK);
    fm_command_result result = {0};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    for (uint32_t i = 0; i < 2; i++) {
        fm_cell cells[40];
        uint32_t count = i == 0 ? 1 : FM_COUNT_OF(cells);
        for (uint32_t k = 0; k < count; k++) {
            cells[k] = fm_cell_at(k, i);
        }
        result.spawned = &units[i];
        apply(
            world,
            (fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = count},
            &result);
        if (i == 0) {
            unit_count = 1;
            send(world, &random);
            unit_count = UNITS;
        }
        fm_tick_report report;
        memory.left = i == 0 ? UINT64_MAX : 0;
        fm_tick_run(world, NULL, BUDGET, NULL, &report);
        assert_int_equal(report.starved, i == 1);
        assert_int_equal(report.label_units > 0, i == 0);
        memory.left = UINT64_MAX;
    }
    fm_world_destroy(world);
    assert_int_equal(memory.held, 0);
}

// The digest after ticks in which an edit of all the map makes every search count its share.
static uint64_t digest_of_records(uint64_t expansions_budget)
{
    fm_random random = fm_random_seed(fm_test_seed());
    fm_world *world = make_world(&random, &fm_auto, true);
    fm_tick_record record = {.expansions_budget = expansions_budget};
    fm_tick_report report;
    fm_command_result result = {0};
    fm_rect all = {0, 0, SIDE, SIDE};
    send(world, &random);
    for (uint32_t tick = 0; tick < 4; tick++) {
        fm_tick_replay(world, NULL, &record, &report);
        assert_int_equal(report.record.expansions_budget, expansions_budget);
        apply(world,
              (fm_command){.kind = FM_COMMAND_TERRAIN,
                           .rects = &all,
                           .rect_count = 1,
                           .cost = (uint8_t)(2 + tick)},
              &result);
    }
    assert_int_equal(fm_world_tick(world), 4);
    uint64_t digest = fm_world_digest(world);
    fm_world_destroy(world);
    return digest;
}

// Only damaged or foreign journals have records without a budget. They are replayed as if it were
// 1, which is the least that a tick has.
static void a_record_without_a_budget(void **state)
{
    (void)state;
    assert_int_equal(digest_of_records(0), digest_of_records(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_costs_nothing),
        cmocka_unit_test(the_idle_cost_nothing),
        cmocka_unit_test(groups_in_fog_are_not_attended),
        cmocka_unit_test(still_worlds_stand_still),
        cmocka_unit_test(what_a_command_did_is_shown_once),
        cmocka_unit_test(stillness_leaves_no_trace),
        cmocka_unit_test(edits_wake),
        cmocka_unit_test(everybody_arrives_in_fog),
        cmocka_unit_test(overload_finishes_as_much),
        cmocka_unit_test(first_orders_of_many_teams),
        cmocka_unit_test(labels_are_charged_once),
        cmocka_unit_test(a_record_without_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
