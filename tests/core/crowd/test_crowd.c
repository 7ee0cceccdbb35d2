// test_crowd.c: worlds where a cell holds one unit.
//
// Method: corridors, dead ends, full rooms, crossroads, random and benchmark maps, always with the
// checks of crowd.h, which count units that share a cell, exchange places or cross. Every unit with
// a reachable goal must get there.

#include "core/commands/apply.h"
#include "tests/support/crowd.h"

#include "core/base/random.h"
#include "core/crowd/crowd.h"
#include "core/orders/homecoming.h"
#include "core/map/map_file.h"
#include "core/views/inspect.h"

static crowd stage;

// ---- the MAPF benchmarks ------------------------------------------------------------------------

#define MAPF_UNITS 400u

static fm_grid *read_map(const char *path)
{
    size_t size;
    char *text = fm_test_read_file(path, &size);
    fm_grid *grid;
    fm_text_error error;
    if (fm_map_read(text, size, &fm_memory_libc, &grid, &error) != FM_OK) {
        fail_msg("%s:%u: %s", path, error.line, error.message);
    }
    free(text);
    return grid;
}

// All agents of the problem file at once, for four times as many ticks as the longest path takes.
static void play_mapf(const char *name, const fm_planner_ops *ops)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/mapf/%s-random-1.scen", fm_test_maps(), name);
    char *text = fm_test_read_file(path, &size);
    fm_problem *problems;
    uint32_t count;
    assert_int_equal(fm_scen_read(text, size, &fm_memory_libc, &problems, &count, NULL), FM_OK);
    free(text);
    snprintf(path, sizeof path, "%s/mapf/%s.map", fm_test_maps(), name);
    fm_world_rules rules = crowd_rules();
    rules.planner.ops = ops;
    crowd_init(&stage, &rules, read_map(path));
    uint32_t team = crowd_team(&stage);
    double longest = 0;
    assert_true(count >= MAPF_UNITS);
    for (uint32_t i = 0; i < MAPF_UNITS; i++) {
        crowd_spawn_at(&stage, team, problems[i].start);
        longest = problems[i].optimal_length > longest ? problems[i].optimal_length : longest;
    }
    for (uint32_t i = 0; i < MAPF_UNITS; i++) {
        crowd_order(&stage, i, problems[i].goal, FM_UNREACHABLE_FAIL);
    }
    uint32_t ticks = crowd_run(&stage, MAPF_UNITS, (uint32_t)(4 * longest));
    print_message("%s, %s: %u of %u arrived, %u ticks\n", name, ops->name,
                  stage.ended[FM_END_ARRIVED], MAPF_UNITS, ticks);
    assert_true(stage.ended[FM_END_ARRIVED] * 100 >= MAPF_UNITS * 95);
    fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);
    crowd_fini(&stage);
}

static void benchmark_maps_are_played_to_the_end(void **state)
{
    (void)state;
    play_mapf("random-64-64-20", &fm_dstar_lite);
    play_mapf("random-64-64-20", &fm_auto);
    play_mapf("random-64-64-20", &fm_tbaa_star);
    play_mapf("warehouse-10-20-10-2-1", &fm_dstar_lite);
    play_mapf("warehouse-10-20-10-2-1", &fm_repeated_jps);
}

// ---- small places -------------------------------------------------------------------------------

#define ROWS(...)                                                                                  \
    ((const char *const[]){__VA_ARGS__}),                                                          \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static uint32_t begin(const char *const *rows, uint32_t height)
{
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, rows, height);
    return crowd_team(&stage);
}

// All arrive, each on its goal.
static void all_arrive(uint32_t ticks_max)
{
    crowd_run(&stage, stage.unit_count, ticks_max);
    assert_int_equal(stage.ended[FM_END_ARRIVED], stage.unit_count);
}

static void two_meet_in_a_corridor(void **state)
{
    (void)state;
    uint32_t team = begin(ROWS("...@@@@@@@@...", //
                               "..............", //
                               "...@@@@@@@@..."));
    uint32_t west = crowd_spawn_at(&stage, team, fm_cell_at(1, 1));
    uint32_t east = crowd_spawn_at(&stage, team, fm_cell_at(12, 1));
    crowd_order(&stage, west, fm_cell_at(12, 1), FM_UNREACHABLE_FAIL);
    crowd_order(&stage, east, fm_cell_at(1, 1), FM_UNREACHABLE_FAIL);
    all_arrive(60);
    crowd_fini(&stage);
}

// An idle unit at the mouth of a dead end has to let another one out. It goes back, unless the
// world's rules let it stay where it was pushed.
static void let_out(bool pushed_stay)
{
    static const char *const rows[] = {"...@@@@", //
                                       ".......", //
                                       "...@@@@"};
    fm_world_rules rules = crowd_rules();
    rules.pushed_stay = pushed_stay;
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t team = crowd_team(&stage);
    uint32_t idle = crowd_spawn_at(&stage, team, fm_cell_at(3, 1));
    uint32_t guest = crowd_spawn_at(&stage, team, fm_cell_at(6, 1));
    crowd_order(&stage, guest, fm_cell_at(0, 0), FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 1, 40);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    for (uint32_t i = 0; i < 4 * FM_RETURN_TICKS; i++) {
        crowd_tick(&stage, NULL);
    }
    assert_int_equal(crowd_cell(&stage, idle) == fm_cell_at(3, 1), !pushed_stay);
    crowd_fini(&stage);
}

static void a_dead_end_lets_out(void **state)
{
    (void)state;
    let_out(false);
    let_out(true);
}

static void shuffle(fm_random *random, fm_cell *cells, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = fm_random_below(random, i);
        fm_cell cell = cells[j];
        cells[j] = cells[i - 1];
        cells[i - 1] = cell;
    }
}

// A room with a single free cell, in which all units want to be elsewhere.
static void a_full_room_is_sorted(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t side = 2; side <= 7; side++) {
        fm_world_rules rules = crowd_rules();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        fm_cell cells[49];
        uint32_t count = side * side;
        for (uint32_t i = 0; i < count; i++) {
            cells[i] = fm_cell_at(i % side, i / side);
        }
        for (uint32_t i = 0; i + 1 < count; i++) {
            crowd_spawn_at(&stage, team, cells[i]);
        }
        shuffle(&random, cells, count);
        for (uint32_t i = 0; i + 1 < count; i++) {
            crowd_order(&stage, i, cells[i], FM_UNREACHABLE_FAIL);
        }
        all_arrive(3000);
        crowd_fini(&stage);
    }
}

// Four streams cross.
static void crossroads_are_crossed(void **state)
{
    (void)state;
    uint32_t team = begin(ROWS("@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "...............", //
                               "...............", //
                               "...............", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@", //
                               "@@@@@@...@@@@@@"));
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t along = i / 3, beside = 6 + i % 3;
        const fm_cell ends[4] = {fm_cell_at(along, beside), fm_cell_at(14 - along, beside),
                                 fm_cell_at(beside, along), fm_cell_at(beside, 14 - along)};
        for (uint32_t j = 0; j < 4; j++) {
            uint32_t unit = crowd_spawn_at(&stage, team, ends[j]);
            crowd_order(&stage, unit, ends[j ^ 1], FM_UNREACHABLE_FAIL);
        }
    }
    all_arrive(600);
    crowd_fini(&stage);
}

// Ground with pillars that stand alone: any two neighbours lie on a common circle.
static void nobody_starves_between_pillars(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() ^ 1);
    for (uint32_t run = 0; run < 8; run++) {
        fm_world_rules rules = crowd_rules();
        rules.connectivity = (fm_connectivity)(run % 3);
        rules.steps = rules.connectivity == FM_CONNECT_4 ? FM_STEPS_1 : FM_STEPS_10_14;
        rules.planner.ops = run < 4 ? &fm_dstar_lite : &fm_auto;
        uint32_t side = 9 + 2 * fm_random_below(&random, 8);
        fm_grid *grid;
        assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
        static fm_cell cells[32 * 32];
        uint32_t count = 0;
        for (uint32_t i = 0; i < side * side; i++) {
            fm_cell cell = fm_cell_at(i % side, i / side);
            if (i % side % 2 == 1 && i / side % 2 == 1 && fm_random_below(&random, 2) == 0) {
                fm_grid_set(grid, cell, FM_TERRAIN_WALL, FM_COST_FLOOR);
            } else {
                cells[count++] = cell;
            }
        }
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        uint32_t units = 1 + fm_random_below(&random, count * 3 / 4);
        shuffle(&random, cells, count);
        for (uint32_t i = 0; i < units; i++) {
            crowd_spawn_at(&stage, team, cells[i]);
        }
        shuffle(&random, cells, count);
        for (uint32_t i = 0; i < units; i++) {
            crowd_order(&stage, i, cells[i], FM_UNREACHABLE_FAIL);
        }
        all_arrive(4000);
        crowd_fini(&stage);
    }
}

#define BRIDGE_EACH 200u

// Two crowds change sides over a bridge.
static void get_over_a_bridge(const char *planner, uint32_t bridge_width, uint32_t length,
                              uint32_t ticks_max)
{
    uint32_t bank = 20, height = 21, width = 2 * bank + length;
    uint32_t first = (height - bridge_width) / 2;
    fm_world_rules rules = crowd_rules();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < height; y++) {
        bool is_water = y < first || y >= first + bridge_width;
        for (uint32_t x = bank; x < bank + length && is_water; x++) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WATER, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < 2 * BRIDGE_EACH; i++) {
        uint32_t x = i / 2 / height, y = i / 2 % height;
        fm_cell west = fm_cell_at(bank - 1 - x, y), east = fm_cell_at(width - bank + x, y);
        uint32_t unit = crowd_spawn_at(&stage, team, i % 2 == 0 ? west : east);
        crowd_order(&stage, unit, i % 2 == 0 ? east : west, FM_UNREACHABLE_FAIL);
    }
    uint32_t ticks = crowd_run(&stage, 2 * BRIDGE_EACH, 2000);
    // In each tick so many pass its middle, counting both directions, and the last one must leave
    // it.
    print_message("%s: %u units each way over a bridge of %u x %u cells: %u ticks, at least %u\n",
                  planner, BRIDGE_EACH, bridge_width, length, ticks,
                  (2 * BRIDGE_EACH + bridge_width - 1) / bridge_width + length);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 2 * BRIDGE_EACH);
    assert_true(ticks <= ticks_max);
    crowd_fini(&stage);
}

static void all_get_over_the_bridge(void **state)
{
    (void)state;
    get_over_a_bridge("dstar-lite", 3, 20, 180);
    get_over_a_bridge("auto", 3, 20, 180);
}

// Nobody who stands in the way of a stream is taken for stuck, and no joint search stops it.
static void a_stream_is_not_a_jam(void **state)
{
    (void)state;
    get_over_a_bridge("dstar-lite", 3, 1, 158);
    get_over_a_bridge("dstar-lite", 2, 20, 240);
}

// ---- who is pushed and who is not ---------------------------------------------------------------

static void enemies_are_not_pushed(void **state)
{
    (void)state;
    uint32_t team = begin(ROWS("@@@@@@@@", //
                               "........", //
                               "@@@@@@@@"));
    uint32_t other = crowd_team(&stage);
    uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(0, 1));
    uint32_t enemy = crowd_spawn_at(&stage, other, fm_cell_at(4, 1));
    crowd_order(&stage, unit, fm_cell_at(7, 1), FM_UNREACHABLE_NEAREST);
    assert_int_equal(crowd_run(&stage, 1, 100), 100);
    assert_int_equal(crowd_cell(&stage, unit), fm_cell_at(3, 1));
    assert_int_equal(crowd_cell(&stage, enemy), fm_cell_at(4, 1));
    // Other units do not wait for ever for a unit on its goal.
    crowd_order(&stage, unit, fm_cell_at(4, 1), FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 2, FM_TAKEN_TICKS + 2);
    assert_int_equal(stage.ended[FM_END_UNREACHABLE], 1);
    crowd_order(&stage, unit, fm_cell_at(4, 1), FM_UNREACHABLE_NEAREST);
    crowd_run(&stage, 3, FM_TAKEN_TICKS + 2);
    assert_int_equal(stage.ended[FM_END_CROWDED], 1);
    crowd_fini(&stage);
}

static void who_holds_its_ground_is_not_pushed(void **state)
{
    (void)state;
    uint32_t team = begin(ROWS("@@@@@@@@", //
                               "........", //
                               "@@@@@@@@"));
    uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(0, 1));
    uint32_t post = crowd_spawn_at(&stage, team, fm_cell_at(4, 1));
    fm_command hold = {.kind = FM_COMMAND_ORDER,
                       .agents = &stage.units[post],
                       .agent_count = 1,
                       .order = FM_ORDER_HOLD};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &hold, &result);
    assert_int_equal(result.status, FM_OK);
    crowd_order(&stage, unit, fm_cell_at(7, 1), FM_UNREACHABLE_FAIL);
    assert_int_equal(crowd_run(&stage, 1, 50), 50);
    assert_int_equal(crowd_cell(&stage, post), fm_cell_at(4, 1));
    // After the order to stop it is an idle friend, which makes way for the other unit.
    hold.order = FM_ORDER_STOP;
    fm_world_apply(stage.world, &hold, &result);
    crowd_run(&stage, 1, 50);
    assert_int_not_equal(crowd_cell(&stage, post), fm_cell_at(4, 1));
    crowd_fini(&stage);
}

// All are sent to one cell: one gets it, the others pack around it.
static void a_crowd_packs_around_its_goal(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(64, 64, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    fm_cell goal = fm_cell_at(50, 32);
    for (uint32_t i = 0; i < 100; i++) {
        crowd_spawn_at(&stage, team, fm_cell_at(i % 10, i / 10));
    }
    for (uint32_t i = 0; i < 100; i++) {
        crowd_order(&stage, i, goal, FM_UNREACHABLE_NEAREST);
    }
    crowd_run(&stage, 100, 300);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    assert_int_equal(stage.ended[FM_END_CROWDED], 99);
    uint64_t moves = stage.moves;
    for (uint32_t i = 0; i < 20; i++) {
        crowd_tick(&stage, NULL);
    }
    assert_int_equal(stage.moves, moves); // then no unit moves any more
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(fm_cell_dx(crowd_cell(&stage, i), goal) <= 14 &&
                    fm_cell_dy(crowd_cell(&stage, i), goal) <= 14);
    }
    crowd_fini(&stage);
}

// Of two equally good paths, one is taken and kept.
static void equal_ways_are_not_changed(void **state)
{
    (void)state;
    uint32_t team = begin(ROWS(".........", //
                               ".@@@@@@@.", //
                               ".@@@@@@@.", //
                               ".@@@@@@@.", //
                               "........."));
    uint32_t unit = crowd_spawn_at(&stage, team, fm_cell_at(0, 2));
    crowd_order(&stage, unit, fm_cell_at(8, 2), FM_UNREACHABLE_FAIL);
    assert_int_equal(crowd_run(&stage, 1, 30), 12);
    crowd_fini(&stage);
}

// ---- sizes and speeds ---------------------------------------------------------------------------

static uint32_t spawn_sized(uint32_t team, uint32_t size, fm_cell cell)
{
    return crowd_spawn(&stage, (fm_command){.team = team,
                                            .cells = &cell,
                                            .cell_count = 1,
                                            .class_index = size - 1,
                                            .placing = FM_PLACE_NEAREST});
}

// So many orders end, all of them at their goals.
static void ends_well(uint32_t count, uint32_t ticks_max)
{
    crowd_run(&stage, count, ticks_max);
    assert_int_equal(stage.ended_count, count);
    assert_int_equal(stage.ended[FM_END_ARRIVED], count);
}

// Small friends make way for a large unit, on its whole width.
static void the_large_push_the_small(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    fm_grid *grid;
    assert_int_equal(fm_grid_create(40, 16, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    uint32_t large = spawn_sized(team, 4, fm_cell_at(0, 6));
    for (uint32_t i = 0; i < 80; i++) { // like the fields of one colour on a chessboard
        spawn_sized(team, 1, fm_cell_at(10 + i % 5 * 2 + i / 5 % 2, i / 5));
    }
    crowd_order(&stage, large, fm_cell_at(36, 6), FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 1, 200);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    crowd_fini(&stage);
}

static void wait_for_peace(void)
{
    for (uint32_t i = 0; i < 40 * FM_RETURN_TICKS; i++) {
        crowd_tick(&stage, NULL);
    }
    uint64_t moves = stage.moves;
    for (uint32_t i = 0; i < 3 * FM_RETURN_TICKS; i++) {
        crowd_tick(&stage, NULL);
    }
    assert_int_equal(stage.moves, moves);
}

// A corridor as wide as the larger of two units, with an idle one of any size in it, and one of any
// size that has to get to its other end.
static void pass_in_a_corridor(uint32_t idle_size, uint32_t mover_size)
{
    fm_world_rules rules = crowd_rules_of_sizes();
    uint32_t width = idle_size > mover_size ? idle_size : mover_size;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(36, 12 + width, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < 12 + width; y++) {
        for (uint32_t x = 12; x < 24 && (y < 6 || y >= 6 + width); x++) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    uint32_t idle = spawn_sized(team, idle_size, fm_cell_at(18, 6));
    uint32_t mover = spawn_sized(team, mover_size, fm_cell_at(0, 6 + width - mover_size));
    crowd_order(&stage, mover, fm_cell_at(32, 6), FM_UNREACHABLE_FAIL);
    crowd_run(&stage, 1, 60);
    assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
    wait_for_peace();
    assert_int_equal(crowd_cell(&stage, idle), fm_cell_at(18, 6)); // back where it stood
    assert_int_equal(crowd_cell(&stage, mover), fm_cell_at(32, 6));
    crowd_fini(&stage);
}

static void idle_units_of_any_size_make_way(void **state)
{
    (void)state;
    for (uint32_t idle = 1; idle <= 4; idle++) {
        for (uint32_t mover = 1; mover <= 4; mover++) {
            pass_in_a_corridor(idle, mover);
        }
    }
}

// An idle unit on the goal leaves it, whatever the sizes, stays away while it is taken, and comes
// back when it is free again.
static void the_place_of_an_idle_unit_is_left_to_others(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 4; size++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(24, 24, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        uint32_t idle = spawn_sized(team, size, fm_cell_at(10, 10));
        uint32_t small = spawn_sized(team, 1, fm_cell_at(0, 11));
        fm_cell middle = fm_cell_at(10 + size / 2, 10 + size / 2);
        crowd_order(&stage, small, middle, FM_UNREACHABLE_FAIL);
        ends_well(1, 40);
        wait_for_peace();
        assert_int_equal(crowd_cell(&stage, small), middle);
        assert_int_not_equal(crowd_cell(&stage, idle), fm_cell_at(10, 10));
        crowd_order(&stage, small, fm_cell_at(23, 11), FM_UNREACHABLE_FAIL);
        ends_well(2, 40);
        wait_for_peace();
        assert_int_equal(crowd_cell(&stage, idle), fm_cell_at(10, 10));
        crowd_fini(&stage);
    }
}

// A large unit steps aside where its whole square fits and nowhere else: here that is nowhere.
static void a_large_unit_without_room_stays(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("@@@@@@@@", //
                         "........", //
                         "@@@@@...", //
                         "@@@@@@@@"));
    uint32_t team = crowd_team(&stage);
    uint32_t large = spawn_sized(team, 2, fm_cell_at(6, 1));
    uint32_t idle = spawn_sized(team, 1, fm_cell_at(5, 2));
    uint32_t small = spawn_sized(team, 1, fm_cell_at(0, 1));
    fm_command hold = {.kind = FM_COMMAND_ORDER,
                       .agents = &stage.units[idle],
                       .agent_count = 1,
                       .order = FM_ORDER_HOLD};
    fm_command_result result = {0};
    fm_world_apply(stage.world, &hold, &result);
    assert_int_equal(result.status, FM_OK);
    crowd_order(&stage, small, fm_cell_at(7, 1), FM_UNREACHABLE_NEAREST);
    crowd_run(&stage, 1, 6 + FM_TAKEN_TICKS);
    assert_int_equal(stage.ended[FM_END_CROWDED], 1);
    assert_int_equal(crowd_cell(&stage, large), fm_cell_at(6, 1));
    assert_int_equal(crowd_cell(&stage, small), fm_cell_at(5, 1));
    crowd_fini(&stage);
}

// Two streams of small units along a lane in which idle large ones stand.
static void a_lane_is_not_blocked_by_idle_large_units(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(60, 9, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t x = 15; x < 45; x++) {
            for (uint32_t y = 0; y < 9; y++) {
                bool lane = y >= 2 && y < 2 + size + 1;
                bool bay = y >= 2 && x % 10 < size;
                fm_grid_set(grid, fm_cell_at(x, y),
                            lane || bay ? FM_TERRAIN_GROUND : FM_TERRAIN_WALL, FM_COST_FLOOR);
            }
        }
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        spawn_sized(team, size, fm_cell_at(24, 2));
        spawn_sized(team, size, fm_cell_at(33, 3));
        uint32_t first = stage.unit_count;
        for (uint32_t i = 0; i < 40; i++) {
            spawn_sized(team, 1,
                        i % 2 == 0 ? fm_cell_at(i / 2 / 9, i / 2 % 9)
                                   : fm_cell_at(59 - i / 2 / 9, i / 2 % 9));
        }
        crowd_tick(&stage, NULL); // so that the checks know where they stand
        for (uint32_t i = 0; i < 40; i++) {
            fm_cell at = crowd_cell(&stage, first + i);
            crowd_order(&stage, first + i, fm_cell_at(59 - fm_cell_x(at), fm_cell_y(at)),
                        FM_UNREACHABLE_FAIL);
        }
        ends_well(40, 1500);
        crowd_fini(&stage);
    }
}

// A large unit goes through a crowd of idle ones, up to its own size and larger.
static void the_large_go_through_a_mixed_crowd(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() ^ 3);
    for (uint32_t run = 0; run < 8; run++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(48, 24, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        uint32_t size = 1 + run % 4;
        uint32_t mover = spawn_sized(team, size, fm_cell_at(0, 10));
        for (uint32_t covered = 0; covered < 400;) {
            uint32_t other = 1 + fm_random_below(&random, 4);
            spawn_sized(team, other,
                        fm_cell_at(8 + fm_random_below(&random, 28), fm_random_below(&random, 20)));
            covered += other * other;
        }
        crowd_order(&stage, mover, fm_cell_at(44, 10), FM_UNREACHABLE_FAIL);
        ends_well(1, 300);
        crowd_fini(&stage);
    }
}

// A file to the end of a corridor: when the second stands before the first, nothing gets nearer any
// more. The others ended one after the other in as many ticks. Of two files side by side those in
// the second want into the first: 19 ticks where those behind it to the west are forgotten.
static void a_file_ends_at_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t size, rows, ticks_max;
    } cases[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 15}, {2, 2, 3}};
    enum {
        COLUMNS = 10
    };
    for (uint32_t k = 0; k < FM_COUNT_OF(cases); k++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        uint32_t size = cases[k].size, rows = cases[k].rows, count = COLUMNS * rows;
        assert_int_equal(fm_grid_create(60, size * rows, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        for (uint32_t i = 0; i < count; i++) {
            crowd_spawn_to(&stage, team, size, i / rows * size, i % rows * size, 60 - size, 0);
        }
        crowd_run(&stage, 1, 100);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
        uint32_t ticks = crowd_run(&stage, count, 100);
        print_message("%u files of size %u: %u ticks\n", rows, size, ticks);
        assert_true(ticks <= cases[k].ticks_max);
        assert_int_equal(stage.ended[FM_END_CROWDED], count - 1);
        crowd_fini(&stage);
    }
}

// As with small units: one gets the cell, all others end around it.
static void a_large_crowd_packs_around_its_goal(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= 4; size++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        assert_int_equal(fm_grid_create(80, 80, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        for (uint32_t i = 0; i < 25; i++) {
            spawn_sized(team, size, fm_cell_at(i % 5 * size, i / 5 * size));
        }
        for (uint32_t i = 0; i < 25; i++) {
            crowd_order(&stage, i, fm_cell_at(50, 40), FM_UNREACHABLE_NEAREST);
        }
        crowd_run(&stage, 25, 300);
        assert_int_equal(stage.ended[FM_END_ARRIVED], 1);
        assert_int_equal(stage.ended[FM_END_CROWDED], 24);
        wait_for_peace();
        crowd_fini(&stage);
    }
}

// Random orders, walls and removals among units of all sizes and three teams, with the checks.
static void all_sizes_share_no_cell(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() ^ 2);
    for (uint32_t run = 0; run < 12; run++) {
        fm_world_rules rules = crowd_rules_of_sizes();
        fm_grid *grid;
        uint32_t side = 24 + fm_random_below(&random, 30);
        assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t i = 0; i < side * side / (16u << run % 4); i++) {
            fm_grid_set(grid,
                        fm_cell_at(fm_random_below(&random, side), fm_random_below(&random, side)),
                        FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        crowd_init(&stage, &rules, grid);
        for (uint32_t i = 0; i < 3; i++) {
            crowd_team(&stage);
        }
        // From a few large ones among small ones of three teams to one team of all sizes that
        // covers near half of the ground.
        uint32_t teams = 1 + run % 3, large_each = 8 >> run / 2 % 4;
        for (uint32_t i = 0, covered = 0; covered < side * side * (1 + run % 4) / 12; i++) {
            uint32_t size = i % large_each == 0 ? 2 + fm_random_below(&random, 3) : 1;
            spawn_sized(1 + fm_random_below(&random, teams), size,
                        fm_cell_at(fm_random_below(&random, side), fm_random_below(&random, side)));
            covered += size * size;
        }
        for (uint32_t tick = 0; tick < 150; tick++) {
            for (uint32_t i = 0; i < side / 8; i++) {
                crowd_order(
                    &stage, fm_random_below(&random, stage.unit_count),
                    fm_cell_at(fm_random_below(&random, side), fm_random_below(&random, side)),
                    (fm_on_unreachable)fm_random_below(&random, 3));
            }
            crowd_tick(&stage, NULL);
        }
        assert_true(stage.moves > 0);
        crowd_fini(&stage);
    }
}

static void speeds_are_kept(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules();
    for (uint32_t run = 0; run < 2; run++) {
        rules.occupancy = run == 0 ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
        fm_grid *grid;
        assert_int_equal(fm_grid_create(400, 400, &fm_memory_libc, &grid), FM_OK);
        crowd_init(&stage, &rules, grid);
        uint32_t team = crowd_team(&stage);
        static const uint32_t speeds[] = {0, 10000, 9999, 5000, 3333, 250, 1};
        for (uint32_t i = 0; i < FM_COUNT_OF(speeds); i++) {
            fm_cell cell = fm_cell_at(0, 20 * i);
            crowd_spawn(
                &stage,
                (fm_command){.team = team, .cells = &cell, .cell_count = 1, .speed = speeds[i]});
            crowd_order(&stage, i, fm_cell_at(399, 20 * i), FM_UNREACHABLE_FAIL);
        }
        fm_cell cell = fm_cell_at(0, 150);
        uint32_t slant = crowd_spawn(
            &stage, (fm_command){.team = team, .cells = &cell, .cell_count = 1, .speed = 10000});
        crowd_order(&stage, slant, fm_cell_at(249, 399), FM_UNREACHABLE_FAIL);
        for (uint32_t tick = 0; tick < 300; tick++) {
            crowd_tick(&stage, NULL);
        }
        for (uint32_t i = 0; i < FM_COUNT_OF(speeds); i++) {
            uint32_t wanted = speeds[i] == 0 ? 300 : speeds[i] * 300 / 10000;
            assert_in_range(fm_cell_x(crowd_cell(&stage, i)), wanted, wanted + 1);
        }
        // A speed of ten cells a second is 7.07 diagonal steps.
        assert_in_range(fm_cell_x(crowd_cell(&stage, slant)), 212, 213);
        crowd_fini(&stage);
    }
}

// ---- placing ------------------------------------------------------------------------------------

static fm_command_result spawn_on(const fm_cell *cells, uint32_t count, uint32_t size,
                                  fm_placing placing)
{
    fm_command command = {.kind = FM_COMMAND_SPAWN,
                          .team = 1,
                          .cells = cells,
                          .cell_count = count,
                          .class_index = size - 1,
                          .placing = placing};
    fm_command_result result = {.spawned = &stage.units[stage.unit_count]};
    fm_world_apply(stage.world, &command, &result);
    stage.unit_count += result.changed_count;
    return result;
}

static void taken_cells_are_refused(void **state)
{
    (void)state;
    fm_world_rules rules = crowd_rules_of_sizes();
    crowd_init_rows(&stage, &rules,
                    ROWS("........", //
                         "........", //
                         "........"));
    crowd_team(&stage);
    const fm_cell cells[] = {fm_cell_at(0, 0), fm_cell_at(3, 0), fm_cell_at(1, 1)};
    fm_command_result result = spawn_on(cells, 3, 2, FM_PLACE_EXACT);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL); // the first and the third overlap
    assert_int_equal(result.failed_index, 2);
    assert_int_equal(spawn_on(cells, 2, 2, FM_PLACE_EXACT).status, FM_OK);
    result = spawn_on(&cells[2], 1, 1, FM_PLACE_EXACT);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL);
    assert_int_equal(result.failed_index, 0);
    // 24 cells less 8 hold 16 small ones, and not a 17th.
    fm_cell corner[16];
    for (uint32_t i = 0; i < 16; i++) {
        corner[i] = fm_cell_at(0, 0);
    }
    assert_int_equal(spawn_on(corner, 16, 1, FM_PLACE_NEAREST).status, FM_OK);
    result = spawn_on(corner, 1, 1, FM_PLACE_NEAREST);
    assert_int_equal(result.status, FM_ERR_OCCUPIED_CELL);
    crowd_tick(&stage, NULL);
    crowd_fini(&stage);
}

// Units whose searches have no answer yet are pushed, and push others.
static void pushes_do_not_wait_for_searches(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() ^ 5);
    fm_world_rules rules = crowd_rules();
    rules.planner.ops = &fm_auto;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(32, 32, &fm_memory_libc, &grid), FM_OK);
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    static fm_cell cells[32 * 32];
    for (uint32_t i = 0; i < FM_COUNT_OF(cells); i++) {
        cells[i] = fm_cell_at(i % 32, i / 32);
    }
    shuffle(&random, cells, FM_COUNT_OF(cells));
    uint32_t units = 600;
    for (uint32_t i = 0; i < units; i++) {
        crowd_spawn_at(&stage, team, cells[i]);
    }
    for (uint32_t tick = 0; tick < 60; tick++) {
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t unit = fm_random_below(&random, units);
            crowd_order(&stage, unit, cells[fm_random_below(&random, FM_COUNT_OF(cells))],
                        FM_UNREACHABLE_NEAREST);
        }
        fm_tick_report report;
        fm_tick_run(stage.world, NULL, 40, NULL, &report); // expansions: far too few
    }
    fm_world_counts counts;
    fm_world_counts_get(stage.world, &counts);
    assert_true(counts.conflicts[FM_CONFLICT_PUSHED] > 0);
    crowd_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_meet_in_a_corridor),
        cmocka_unit_test(a_dead_end_lets_out),
        cmocka_unit_test(a_full_room_is_sorted),
        cmocka_unit_test(crossroads_are_crossed),
        cmocka_unit_test(nobody_starves_between_pillars),
        cmocka_unit_test(all_get_over_the_bridge),
        cmocka_unit_test(a_stream_is_not_a_jam),
        cmocka_unit_test(enemies_are_not_pushed),
        cmocka_unit_test(who_holds_its_ground_is_not_pushed),
        cmocka_unit_test(a_crowd_packs_around_its_goal),
        cmocka_unit_test(equal_ways_are_not_changed),
        cmocka_unit_test(the_large_push_the_small),
        cmocka_unit_test(idle_units_of_any_size_make_way),
        cmocka_unit_test(the_place_of_an_idle_unit_is_left_to_others),
        cmocka_unit_test(a_large_unit_without_room_stays),
        cmocka_unit_test(a_lane_is_not_blocked_by_idle_large_units),
        cmocka_unit_test(the_large_go_through_a_mixed_crowd),
        cmocka_unit_test(a_file_ends_at_once),
        cmocka_unit_test(a_large_crowd_packs_around_its_goal),
        cmocka_unit_test(all_sizes_share_no_cell),
        cmocka_unit_test(speeds_are_kept),
        cmocka_unit_test(pushes_do_not_wait_for_searches),
        cmocka_unit_test(taken_cells_are_refused),
        cmocka_unit_test(benchmark_maps_are_played_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
