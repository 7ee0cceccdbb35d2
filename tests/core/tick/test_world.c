// test_world.c: how orders end, in worlds with fog.
//
// Method: random maps, one agent a team, random goals. A plain flood of the true map decides
// whether the goal can be reached; the order must end accordingly, by its own rule. Budgets are
// small, so that searches are suspended over many ticks.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/map/view.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "tests/support/reference.h"
#include "tests/support/support.h"

#define TICKS_MAX        20000u
#define TICKS_ASTRAY_MAX 400000u // for any path, searched again after every new sight

struct scene {
    fm_world *world;
    fm_cell start, goal;
    fm_agent_id agent;
    uint32_t ended_count;
    fm_order_ended ended;
};

static fm_cell random_free_cell(fm_random *random, const fm_grid *grid)
{
    for (;;) {
        fm_cell cell =
            fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
        if (!fm_grid_is_blocked(grid, cell)) {
            return cell;
        }
    }
}

static void do_command(struct scene *scene, fm_command command, fm_command_result *result)
{
    fm_world_apply(scene->world, &command, result);
    assert_int_equal(result->status, FM_OK);
}

static struct scene make_scene(fm_random *random, const fm_planner_ops *ops)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_RANDOM;
    options.width = 6 + fm_random_below(random, 40);
    options.height = 6 + fm_random_below(random, 40);
    options.blocked_permille = 200 + fm_random_below(random, 250);
    options.seed = fm_random_next(random);
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    struct scene scene = {.start = random_free_cell(random, grid),
                          .goal = fm_cell_at(fm_random_below(random, grid->width),
                                             fm_random_below(random, grid->height))};
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = ops;
    if (ops->guidance != FM_GUIDED_BY_ITS_OWN && fm_random_below(random, 2) == 0) {
        rules.planner.options.heuristic = FM_HEURISTIC_LANDMARKS;
    }
    rules.sense.radius = 1 + fm_random_below(random, 4);
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    do_command(&scene, (fm_command){.kind = FM_COMMAND_TEAM}, &result);
    result.spawned = &scene.agent;
    do_command(
        &scene,
        (fm_command){
            .kind = FM_COMMAND_SPAWN, .team = result.team, .cells = &scene.start, .cell_count = 1},
        &result);
    return scene;
}

static void give_order(struct scene *scene, fm_on_unreachable on_unreachable)
{
    fm_command_result result = {0};
    do_command(scene,
               (fm_command){.kind = FM_COMMAND_ORDER,
                            .agents = &scene->agent,
                            .agent_count = 1,
                            .cells = &scene->goal,
                            .cell_count = 1,
                            .order = FM_ORDER_MOVE,
                            .on_unreachable = on_unreachable},
               &result);
    assert_int_equal(result.changed_count, 1);
}

static void run_tick(struct scene *scene, fm_random *random)
{
    fm_tick_report report;
    fm_tick_run(scene->world, NULL, 1 + fm_random_below(random, 300), NULL, &report);
    fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        scene->ended = changes.ended[i];
        scene->ended_count += 1;
    }
}

static void run_to_the_end(struct scene *scene, fm_random *random)
{
    fm_finding finding = fm_world_rules_get(scene->world)->planner.ops->finding;
    uint32_t ticks_max = finding == FM_FINDS_ANY ? TICKS_ASTRAY_MAX : TICKS_MAX;
    for (uint32_t i = 0; i < ticks_max && scene->ended_count == 0; i++) {
        run_tick(scene, random);
    }
    assert_int_equal(scene->ended_count, 1);
}

// Smallest fm_view_distance() to the goal among the cells that the start truly reaches.
static uint32_t least_distance(const struct scene *scene, bool *reachable)
{
    const fm_view *truth = fm_world_view(scene->world, FM_ALL_TEAMS);
    reference from_start = reference_measure(truth, scene->start);
    uint32_t least = UINT32_MAX;
    for (uint32_t y = 0; y < truth->height; y++) {
        for (uint32_t x = 0; x < truth->width; x++) {
            if (reference_cost(&from_start, fm_cell_at(x, y)) < FM_COST_INFINITE) {
                uint32_t distance = fm_view_distance(truth, fm_cell_at(x, y), scene->goal);
                least = distance < least ? distance : least;
            }
        }
    }
    *reachable = reference_cost(&from_start, scene->goal) < FM_COST_INFINITE;
    reference_fini(&from_start);
    return least;
}

static void check_end(const struct scene *scene, fm_on_unreachable on_unreachable)
{
    bool reachable;
    uint32_t least = least_distance(scene, &reachable);
    const fm_view *truth = fm_world_view(scene->world, FM_ALL_TEAMS);
    if (reachable) {
        assert_int_equal(scene->ended.reason, FM_END_ARRIVED);
        assert_int_equal(scene->ended.cell, scene->goal);
    } else if (on_unreachable == FM_UNREACHABLE_FAIL) {
        assert_int_equal(scene->ended.reason, FM_END_UNREACHABLE);
    } else {
        assert_int_equal(scene->ended.reason, FM_END_NEAREST);
        assert_int_equal(fm_view_distance(truth, scene->ended.cell, scene->goal), least);
    }
}

static void arrives_iff_reachable(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t p = 0; fm_planner_catalogue[p] != NULL; p++) {
        for (uint32_t run = 0; run < 40; run++) {
            struct scene scene = make_scene(&random, fm_planner_catalogue[p]);
            fm_on_unreachable rule =
                fm_random_below(&random, 2) ? FM_UNREACHABLE_FAIL : FM_UNREACHABLE_NEAREST;
            give_order(&scene, rule);
            run_to_the_end(&scene, &random);
            check_end(&scene, rule);
            fm_world_destroy(scene.world);
        }
    }
}

// With rule `wait` the agent stays blocked until the wall opens, and then arrives.
static void waits_for_the_wall_to_open(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t waited = 0;
    for (uint32_t run = 0; run < 60; run++) {
        struct scene scene = make_scene(&random, &fm_dstar_lite);
        bool reachable;
        least_distance(&scene, &reachable);
        give_order(&scene, FM_UNREACHABLE_WAIT);
        fm_agent_report report = {0};
        for (uint32_t i = 0; !reachable && i < TICKS_MAX && report.state != FM_AGENT_BLOCKED; i++) {
            run_tick(&scene, &random);
            assert_int_equal(fm_world_inspect(scene.world, scene.agent, &report), FM_OK);
        }
        if (!reachable) {
            assert_int_equal(report.state, FM_AGENT_BLOCKED);
            assert_int_equal(scene.ended_count, 0);
            waited += 1;
            const fm_grid *grid = fm_world_grid(scene.world);
            fm_rect all = {0, 0, grid->width, grid->height};
            fm_command_result result = {0};
            do_command(&scene,
                       (fm_command){.kind = FM_COMMAND_TERRAIN,
                                    .rects = &all,
                                    .rect_count = 1,
                                    .terrain = FM_TERRAIN_GROUND},
                       &result);
        }
        run_to_the_end(&scene, &random);
        assert_int_equal(scene.ended.reason, FM_END_ARRIVED);
        fm_world_destroy(scene.world);
    }
    assert_true(waited > 0);
}

// A refused command changes nothing, and says which element was wrong.
static void refused_commands_leave_no_trace(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct scene scene = make_scene(&random, &fm_dstar_lite);
    const fm_grid *grid = fm_world_grid(scene.world);
    fm_cell cells[3] = {scene.start, scene.start, fm_cell_at(grid->width, 0)};
    fm_command commands[] = {
        {.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = 3},
        {.kind = FM_COMMAND_SPAWN, .team = 2, .cells = cells, .cell_count = 1},
        {.kind = FM_COMMAND_TERRAIN, .cells = cells, .cell_count = 3, .terrain = FM_TERRAIN_WALL},
        {.kind = FM_COMMAND_ORDER,
         .agents = (fm_agent_id[]){scene.agent, {.index1 = 2}},
         .agent_count = 2,
         .cells = cells,
         .cell_count = 1},
    };
    static const fm_status wanted[] = {FM_ERR_OFF_GRID, FM_ERR_NO_TEAM, FM_ERR_OFF_GRID,
                                       FM_ERR_NO_AGENT};
    static const uint32_t wanted_index[] = {2, 0, 2, 1};
    for (uint32_t i = 0; i < FM_COUNT_OF(commands); i++) {
        fm_command_result result = {0};
        fm_world_apply(scene.world, &commands[i], &result);
        assert_int_equal(result.status, wanted[i]);
        assert_int_equal(result.failed_index, wanted_index[i]);
        fm_world_counts counts;
        fm_world_counts_get(scene.world, &counts);
        assert_int_equal(counts.agents, 1);
        assert_int_equal(counts.orders_given, 0);
        assert_int_equal(counts.cells_edited, 0);
        assert_false(fm_grid_is_blocked(grid, scene.start));
    }
    fm_world_destroy(scene.world);
}

// An agent whose cell is walled in steps out, and ids of removed agents stay dead.
static void walled_in_and_removed(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct scene scene = make_scene(&random, &fm_dstar_lite);
    fm_command_result result = {0};
    do_command(&scene,
               (fm_command){.kind = FM_COMMAND_TERRAIN,
                            .cells = &scene.start,
                            .cell_count = 1,
                            .terrain = FM_TERRAIN_WALL},
               &result);
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene.world, scene.agent, &report), FM_OK);
    assert_int_not_equal(report.cell, scene.start);
    assert_false(fm_grid_is_blocked(fm_world_grid(scene.world), report.cell));
    give_order(&scene, FM_UNREACHABLE_WAIT);
    do_command(&scene,
               (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &scene.agent, .agent_count = 1},
               &result);
    run_to_the_end(&scene, &random);
    assert_int_equal(scene.ended.reason, FM_END_DIED);
    assert_int_equal(fm_world_inspect(scene.world, scene.agent, &report), FM_ERR_NO_AGENT);
    fm_world_destroy(scene.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_iff_reachable),
        cmocka_unit_test(waits_for_the_wall_to_open),
        cmocka_unit_test(refused_commands_leave_no_trace),
        cmocka_unit_test(walled_in_and_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
