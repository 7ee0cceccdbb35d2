// test_groups.c: one order for many units.
//
// Method: random maps and groups of several sizes. Each unit must get its own goal, a free cell
// connected with the others; paths must hardly cross (a few pairs in a thousand; with random goals
// every fourth pair does); the whole must cost one backward search. Formations are checked on open
// ground, where their shape is known.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

#define UNITS_MAX 1000u

struct scene {
    fm_world *world;
    fm_agent_id units[UNITS_MAX];
    fm_cell starts[UNITS_MAX];
    uint32_t count;
    uint32_t ended[FM_END_COUNT];
    uint32_t ended_count;
    uint64_t expansions, first_tick_moves;
};

static struct scene make_scene(fm_grid *grid, fm_occupancy_rule occupancy, bool omniscient)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.planner.ops = &fm_auto;
    rules.omniscient = omniscient;
    rules.occupancy = occupancy;
    struct scene scene = {.count = 0};
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    fm_command_result result = {0};
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    assert_int_equal(result.status, FM_OK);
    return scene;
}

static struct scene make_open_scene(uint32_t side)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    return make_scene(grid, FM_OCCUPANCY_NONE, true);
}

static void spawn(struct scene *scene, const fm_cell *cells, uint32_t count, uint32_t speed)
{
    fm_command_result result = {.spawned = scene->units + scene->count};
    memcpy(scene->starts + scene->count, cells, count * sizeof *cells);
    fm_world_apply(scene->world,
                   &(fm_command){.kind = FM_COMMAND_SPAWN,
                                 .team = 1,
                                 .cells = cells,
                                 .cell_count = count,
                                 .speed = speed},
                   &result);
    assert_int_equal(result.status, FM_OK);
    scene->count += count;
}

// A block of units, `width` wide.
static void spawn_block(struct scene *scene, uint32_t x, uint32_t y, uint32_t width, uint32_t count)
{
    fm_cell cells[UNITS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = fm_cell_at(x + i % width, y + i / width);
    }
    spawn(scene, cells, count, 0);
}

static void send(struct scene *scene, fm_cell goal, fm_command command)
{
    command.kind = FM_COMMAND_ORDER;
    command.order = FM_ORDER_MOVE;
    command.agents = scene->units;
    command.agent_count = scene->count;
    command.cells = &goal;
    command.cell_count = 1;
    fm_command_result result = {0};
    fm_world_apply(scene->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_agent_report look(const struct scene *scene, uint32_t unit)
{
    fm_agent_report report;
    assert_int_equal(fm_world_inspect(scene->world, scene->units[unit], &report), FM_OK);
    return report;
}

static void run(struct scene *scene, uint32_t ticks, uint64_t budget)
{
    for (uint32_t i = 0; i < ticks && scene->ended_count < scene->count; i++) {
        fm_tick_report report;
        fm_tick_run(scene->world, NULL, budget, NULL, &report);
        fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
        for (uint32_t j = 0; j < changes.ended_count; j++) {
            scene->ended[changes.ended[j].reason] += 1;
        }
        scene->ended_count += changes.ended_count;
        scene->expansions += report.expansions;
        scene->first_tick_moves += i == 0 ? report.moved_count : 0;
    }
}

static int compare_cells(const void *a, const void *b)
{
    fm_cell first = *(const fm_cell *)a, second = *(const fm_cell *)b;
    return (first > second) - (first < second);
}

static void read_goals(const struct scene *scene, fm_cell *goals)
{
    for (uint32_t i = 0; i < scene->count; i++) {
        goals[i] = look(scene, i).goal;
    }
}

static void check_all_differ(const fm_cell *goals, uint32_t count)
{
    fm_cell sorted[UNITS_MAX];
    memcpy(sorted, goals, count * sizeof *goals);
    qsort(sorted, count, sizeof *sorted, compare_cells);
    for (uint32_t i = 1; i < count; i++) {
        assert_int_not_equal(sorted[i], sorted[i - 1]);
    }
}

// ---- where the goals lie ------------------------------------------------------------------------

static void each_unit_gets_a_free_goal_near_the_click(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 40; i++) {
        fm_generate_options options = fm_generate_options_default();
        options.generator = i % 2 ? FM_GENERATOR_ROOMS : FM_GENERATOR_RANDOM;
        options.width = 40 + fm_random_below(&random, 60);
        options.height = 40 + fm_random_below(&random, 60);
        options.room_side = 9;
        options.blocked_permille = fm_random_below(&random, 350);
        options.seed = fm_random_next(&random);
        fm_grid *grid;
        assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
        struct scene scene = make_scene(grid, FM_OCCUPANCY_NONE, true);
        fm_cell start;
        do {
            start = fm_cell_at(fm_random_below(&random, grid->width),
                               fm_random_below(&random, grid->height));
        } while (fm_grid_is_blocked(grid, start));
        uint32_t count = 1 + fm_random_below(&random, 30);
        for (uint32_t j = 0; j < count; j++) {
            spawn(&scene, &start, 1, 0);
        }
        fm_cell click = fm_cell_at(fm_random_below(&random, grid->width),
                                   fm_random_below(&random, grid->height));
        // The first tick brings the labels up to date.
        run(&scene, 1, 1000);
        send(&scene, click,
             (fm_command){.spread = true, .formation = (fm_formation)fm_random_below(&random, 4)});
        fm_cell goals[UNITS_MAX];
        read_goals(&scene, goals);
        for (uint32_t j = 0; j < count; j++) {
            assert_false(fm_grid_is_blocked(grid, goals[j]));
        }
        run(&scene, 3000, 5000);
        // If there is room for all, all get there. Else the others stand on the meeting cell.
        assert_int_equal(scene.ended_count, count);
        assert_int_equal(scene.ended[FM_END_ARRIVED], count);
        fm_world_destroy(scene.world);
    }
}

static void formations_have_their_shapes(void **state)
{
    (void)state;
    fm_cell goals[UNITS_MAX];
    for (uint32_t formation = 0; formation < 4; formation++) {
        struct scene scene = make_open_scene(128);
        spawn_block(&scene, 60, 100, 10, 60);
        send(&scene, fm_cell_at(64, 30),
             (fm_command){.spread = true, .formation = (fm_formation)formation});
        read_goals(&scene, goals);
        check_all_differ(goals, scene.count);
        uint32_t left = 4096, right = 0, top = 4096, bottom = 0;
        for (uint32_t i = 0; i < scene.count; i++) {
            left = fm_cell_x(goals[i]) < left ? fm_cell_x(goals[i]) : left;
            right = fm_cell_x(goals[i]) > right ? fm_cell_x(goals[i]) : right;
            top = fm_cell_y(goals[i]) < top ? fm_cell_y(goals[i]) : top;
            bottom = fm_cell_y(goals[i]) > bottom ? fm_cell_y(goals[i]) : bottom;
        }
        static const uint32_t wanted[4][2] = {
            [FM_FORMATION_NONE] = {8, 8},  // as square as possible
            [FM_FORMATION_KEEP] = {10, 6}, // as they stand
            [FM_FORMATION_LINE] = {16, 4}, // three rows of 16, one of 12
            [FM_FORMATION_BOX] = {8, 8},
        };
        // They march north, within a cell of rounding.
        assert_in_range(right - left + 1, wanted[formation][0] - 1, wanted[formation][0] + 2);
        assert_in_range(bottom - top + 1, wanted[formation][1] - 1, wanted[formation][1] + 2);
        for (uint32_t i = 0; formation == FM_FORMATION_KEEP && i < scene.count; i++) {
            assert_int_equal(goals[i] - goals[0], scene.starts[i] - scene.starts[0]);
        }
        fm_world_destroy(scene.world);
    }
}

// ---- which unit gets which goal -----------------------------------------------------------------

static int64_t side_of(fm_cell a, fm_cell b, fm_cell c)
{
    int64_t ax = fm_cell_x(a), ay = fm_cell_y(a);
    return ((int64_t)fm_cell_x(b) - ax) * ((int64_t)fm_cell_y(c) - ay) -
           ((int64_t)fm_cell_y(b) - ay) * ((int64_t)fm_cell_x(c) - ax);
}

static uint32_t count_crossings(const fm_cell *from, const fm_cell *to, uint32_t count)
{
    uint32_t crossings = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            crossings += side_of(from[i], to[i], from[j]) * side_of(from[i], to[i], to[j]) < 0 &&
                         side_of(from[j], to[j], from[i]) * side_of(from[j], to[j], to[i]) < 0;
        }
    }
    return crossings;
}

static void ways_hardly_cross(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 12; i++) {
        struct scene scene = make_open_scene(256);
        uint32_t count = 10 + fm_random_below(&random, 290);
        for (uint32_t j = 0; j < count; j++) {
            fm_cell cell =
                fm_cell_at(20 + fm_random_below(&random, 40), 20 + fm_random_below(&random, 40));
            spawn(&scene, &cell, 1, 0);
        }
        fm_cell click =
            fm_cell_at(120 + fm_random_below(&random, 100), 20 + fm_random_below(&random, 200));
        send(&scene, click,
             (fm_command){.spread = true,
                          .formation = i % 2 ? FM_FORMATION_LINE : FM_FORMATION_NONE});
        fm_cell goals[UNITS_MAX];
        read_goals(&scene, goals);
        check_all_differ(goals, count);
        uint32_t pairs = count * (count - 1) / 2;
        uint32_t crossings = count_crossings(scene.starts, goals, count);
        print_message("%u units, %u of %u pairs cross\n", count, crossings, pairs);
        assert_true(crossings * 200 <= pairs + 400);
        fm_world_destroy(scene.world);
    }
}

// ---- what it costs ------------------------------------------------------------------------------

static fm_grid *make_rooms(void)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_ROOMS;
    options.width = options.height = 256;
    options.seed = 5;
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    return grid;
}

static uint64_t cost_of(uint32_t count, bool spread, const fm_planner_ops *ops, struct scene *out)
{
    struct scene scene = make_scene(make_rooms(), FM_OCCUPANCY_NONE, true);
    fm_cell cells[UNITS_MAX];
    const fm_grid *grid = fm_world_grid(scene.world);
    uint32_t found = 0;
    for (uint32_t i = 0; found < count; i++) {
        fm_cell cell = fm_cell_at(200 + i % 40, 200 + i / 40);
        if (!fm_grid_is_blocked(grid, cell)) {
            cells[found++] = cell;
        }
    }
    fm_command_result result = {.spawned = scene.units};
    fm_world_apply(scene.world,
                   &(fm_command){.kind = FM_COMMAND_SPAWN,
                                 .team = 1,
                                 .cells = cells,
                                 .cell_count = count,
                                 .planner = {.ops = ops}},
                   &result);
    scene.count = count;
    run(&scene, 1, 1);
    scene.expansions = scene.first_tick_moves = 0;
    send(&scene, fm_cell_at(30, 30), (fm_command){.spread = spread});
    run(&scene, 1, UINT32_MAX);
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.planners, 1);
    uint64_t first_tick_moves = scene.first_tick_moves;
    run(&scene, 2000, UINT32_MAX);
    scene.first_tick_moves = first_tick_moves;
    assert_int_equal(scene.ended_count, count);
    *out = scene;
    fm_world_destroy(scene.world);
    return scene.expansions;
}

// The group's one search, and for each unit a short one at the end.
static void a_thousand_units_cost_one_search(void **state)
{
    (void)state;
    struct scene scene;
    uint64_t alone = cost_of(1, false, &fm_dstar_lite, &scene);
    uint64_t together = cost_of(1000, true, &fm_auto, &scene);
    assert_int_equal(scene.ended[FM_END_ARRIVED], 1000);
    assert_int_equal(scene.first_tick_moves, 1000);
    print_message("expansions: one unit alone %llu, a thousand together %llu\n",
                  (unsigned long long)alone, (unsigned long long)together);
    assert_true(together < 5 * alone);
}

// No unit waits for a search that takes many ticks.
static void everybody_moves_in_the_next_tick(void **state)
{
    (void)state;
    struct scene scene = make_open_scene(256);
    spawn_block(&scene, 200, 200, 20, 400);
    run(&scene, 1, 1);
    send(&scene, fm_cell_at(20, 30), (fm_command){.spread = true});
    scene.first_tick_moves = 0;
    run(&scene, 1, 50);
    assert_int_equal(scene.first_tick_moves, 400);
    fm_world_destroy(scene.world);
}

// ---- speed, refusals, others in the way ---------------------------------------------------------

static void the_slowest_sets_the_pace(void **state)
{
    (void)state;
    struct scene scene = make_open_scene(128);
    fm_cell cells[3] = {fm_cell_at(10, 10), fm_cell_at(10, 12), fm_cell_at(10, 14)};
    spawn(&scene, cells, 1, 0);        // a step a tick: 10 cells a second at 10 Hz
    spawn(&scene, cells + 1, 1, 5000); // 5 cells a second
    spawn(&scene, cells + 2, 1, 8000);
    send(&scene, fm_cell_at(110, 12),
         (fm_command){.formation = FM_FORMATION_KEEP, .common_speed = true});
    run(&scene, 40, 100000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_in_range(fm_cell_x(look(&scene, i).cell), 29, 31); // 40 ticks at 5 cells a second
    }
    fm_world_destroy(scene.world);
}

static void what_is_no_group_order_is_refused(void **state)
{
    (void)state;
    struct scene scene = make_open_scene(32);
    spawn_block(&scene, 4, 4, 2, 2);
    fm_command_result result = {0};
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    fm_cell cells[2] = {fm_cell_at(9, 9), fm_cell_at(9, 10)};
    fm_agent_id stranger;
    result.spawned = &stranger;
    fm_world_apply(
        scene.world,
        &(fm_command){.kind = FM_COMMAND_SPAWN, .team = 2, .cells = cells, .cell_count = 1},
        &result);
    fm_agent_id mixed[2] = {scene.units[0], stranger};
    fm_command commands[] = {
        {.order = FM_ORDER_HOLD, .spread = true},
        {.order = FM_ORDER_EXPLORE, .common_speed = true},
        {.order = FM_ORDER_MOVE, .cells = cells, .cell_count = 2, .spread = true},
        {.order = FM_ORDER_MOVE, .cells = cells, .cell_count = 1, .formation = FM_FORMATION_BOX},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(commands); i++) {
        commands[i].kind = FM_COMMAND_ORDER;
        commands[i].agents = i == 3 ? mixed : scene.units;
        commands[i].agent_count = 2;
        fm_world_apply(scene.world, &commands[i], &result);
        assert_int_equal(result.status, FM_ERR_BAD_VALUE);
        assert_int_equal(result.failed_index, i == 3 ? 1 : 0);
    }
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    assert_int_equal(counts.orders_given, 0);
    fm_world_destroy(scene.world);
}

static void all_find_their_places_where_a_cell_holds_one(void **state)
{
    (void)state;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(96, 96, &fm_memory_libc, &grid), FM_OK);
    struct scene scene = make_scene(grid, FM_OCCUPANCY_EXCLUSIVE, true);
    spawn_block(&scene, 10, 10, 16, 256);
    run(&scene, 1, 1);
    send(&scene, fm_cell_at(70, 60), (fm_command){.spread = true});
    run(&scene, 600, 100000);
    print_message("%u of %u arrived\n", scene.ended[FM_END_ARRIVED], scene.count);
    assert_int_equal(scene.ended_count, scene.count);
    assert_int_equal(scene.ended[FM_END_ARRIVED], scene.count);
    fm_world_destroy(scene.world);
}

// Memory that refuses blocks of some sizes.
struct refusing {
    fm_test_memory memory;
    size_t least, end; // bytes
};

static void *allocate_unless_refused(void *context, size_t size)
{
    struct refusing *refusing = context;
    bool is_refused = size >= refusing->least && size < refusing->end;
    return is_refused ? NULL : fm_test_memory_allocate(&refusing->memory, size);
}

static void release_given(void *context, void *block, size_t size)
{
    struct refusing *refusing = context;
    fm_test_memory_release(&refusing->memory, block, size);
}

static void have_own_goals(const struct scene *scene, uint64_t orders_given)
{
    fm_world_counts counts;
    fm_world_counts_get(scene->world, &counts);
    assert_int_equal(counts.orders_given, orders_given);
    bool taken[64][64] = {{false}};
    for (uint32_t i = 0; i < scene->count; i++) {
        fm_agent_report report = look(scene, i);
        if (report.has_order) {
            assert_false(taken[fm_cell_y(report.goal)][fm_cell_x(report.goal)]);
            taken[fm_cell_y(report.goal)][fm_cell_x(report.goal)] = true;
        }
    }
}

// A group that gets its order has all its goals, and one that does not has none.
static void goals_need_memory(void **state)
{
    (void)state;
    struct refusing refusing = {.end = 0};
    fm_test_memory_init(&refusing.memory, UINT64_MAX);
    const fm_memory memory = {allocate_unless_refused, release_given, &refusing};
    fm_grid *grid;
    assert_int_equal(fm_grid_create(64, 64, &memory, &grid), FM_OK);
    fm_world_rules rules = fm_world_rules_default();
    rules.omniscient = true;
    struct scene scene = {.count = 0};
    assert_int_equal(fm_world_create(&rules, grid, &memory, &scene.world), FM_OK);
    fm_command_result result = {0};
    fm_world_apply(scene.world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    spawn_block(&scene, 2, 2, 20, 400);
    fm_cell goal = fm_cell_at(40, 40);
    fm_command command = {.kind = FM_COMMAND_ORDER,
                          .agents = scene.units,
                          .agent_count = scene.count,
                          .cells = &goal,
                          .cell_count = 1,
                          .spread = true};
    uint64_t given = 0;
    for (size_t least = 64; least < 65536; least *= 2) {
        refusing.least = least;
        refusing.end = 2 * least;
        fm_world_apply(scene.world, &command, &result);
        assert_true(result.status == FM_OK || result.status == FM_ERR_NO_MEMORY);
        given += result.status == FM_OK ? scene.count : 0;
        have_own_goals(&scene, given);
    }
    refusing.end = 0;
    fm_world_destroy(scene.world);
    assert_int_equal(refusing.memory.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_unit_gets_a_free_goal_near_the_click),
        cmocka_unit_test(formations_have_their_shapes),
        cmocka_unit_test(ways_hardly_cross),
        cmocka_unit_test(a_thousand_units_cost_one_search),
        cmocka_unit_test(everybody_moves_in_the_next_tick),
        cmocka_unit_test(the_slowest_sets_the_pace),
        cmocka_unit_test(what_is_no_group_order_is_refused),
        cmocka_unit_test(all_find_their_places_where_a_cell_holds_one),
        cmocka_unit_test(goals_need_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
