// test_traces.c: what asks, watches or saves leaves no trace in a simulation.
//
// Ticks depend on commands and records alone. What a query made (a class's view, labels), what a
// view keeps, and whether a world was loaded or has run on must show in no digest; a journal holds
// none of it. Small scenes show where it once did: many cells change at once, beside something that
// only one of two worlds has.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/tick/tick.h"
#include "core/world/world_classes.h"
#include "tests/support/support.h"

#define SIDE       256u
#define BUDGET     300000u
#define UNITS      15u
#define UNITS_MOST 1000u
#define SMALL      300u // a budget that is too small for so many

// ---- worlds -------------------------------------------------------------------------------------

// An open map.
static fm_world *make_world(const fm_world_rules *rules)
{
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_world_create(rules, grid, &fm_memory_libc, &world), FM_OK);
    return world;
}

static fm_world_rules rules_with(const char *planner, const char *const *classes)
{
    fm_world_rules rules = fm_world_rules_default();
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, NULL, 0), FM_OK);
    for (; *classes != NULL; classes++) {
        fm_movement_class *movement = &rules.classes[rules.class_count++];
        assert_int_equal(fm_movement_class_parse(*classes, movement, NULL, 0), FM_OK);
    }
    return rules;
}

static void apply(fm_world *world, fm_command command)
{
    fm_agent_id spawned[UNITS_MOST];
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static fm_world *load_saved(fm_world *world)
{
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_world *loaded = NULL;
    fm_bytes_error error = {0};
    fm_world_settle(world);
    assert_int_equal(fm_world_save(world, &bytes), FM_OK);
    fm_status status = fm_world_load(bytes.data, bytes.size, &fm_memory_libc, &loaded, &error);
    if (status != FM_OK) {
        fail_msg("at %zu: %s", error.offset, error.message);
    }
    fm_writer_fini(&bytes);
    return loaded;
}

static uint64_t tick_with(fm_world *world, uint64_t budget)
{
    fm_tick_report report;
    fm_tick_run(world, NULL, budget, NULL, &report);
    return report.record.digest;
}

static uint64_t tick(fm_world *world)
{
    return tick_with(world, BUDGET);
}

// Ends both.
static void check_that_they_run_alike(fm_world *one, fm_world *other, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        assert_int_equal(tick(one), tick(other));
    }
    fm_world_destroy(one);
    fm_world_destroy(other);
}

static void spawn(fm_world *world, uint32_t class_index, uint32_t count, fm_cell first)
{
    fm_cell cells[UNITS_MOST];
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = first + fm_cell_at(3 * (i / 80), 3 * (i % 80));
    }
    apply(world, (fm_command){.kind = FM_COMMAND_SPAWN,
                              .team = 1,
                              .class_index = class_index,
                              .cells = cells,
                              .cell_count = count});
}

// Each to a cell of its own.
static void send(fm_world *world, uint32_t first, uint32_t count)
{
    fm_agent_id agents[UNITS_MOST];
    fm_cell goals[UNITS_MOST];
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = (fm_agent_id){.index1 = first + i + 1};
        goals[i] = fm_cell_at(250 - i / 80, 250 - 3 * (i % 80));
    }
    apply(world, (fm_command){.kind = FM_COMMAND_ORDER,
                              .agents = agents,
                              .agent_count = count,
                              .cells = goals,
                              .cell_count = count,
                              .order = FM_ORDER_MOVE});
}

// Every third cell of every third row: each covers four corners of a unit of size 2.
static uint32_t list_dots(fm_cell *cells)
{
    uint32_t count = 0;
    for (uint32_t y = 2; y < SIDE; y += 3) {
        for (uint32_t x = 5; x < SIDE - 9; x += 3) {
            cells[count++] = fm_cell_at(x, y);
        }
    }
    return count;
}

// ---- how many changes all searches are told of --------------------------------------------------

static const char *const ground_and_tank[] = {"ground", "tank:size=2", NULL};

static fm_world *searches_on_ground(void)
{
    fm_world_rules rules = rules_with("dstar-lite", ground_and_tank);
    rules.omniscient = true;
    fm_world *world = make_world(&rules);
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
    spawn(world, 0, UNITS, fm_cell_at(1, 1));
    send(world, 0, UNITS);
    tick(world);
    tick(world);
    return world;
}

static void a_query_for_another_class(void **state)
{
    (void)state;
    static fm_cell dots[SIDE * SIDE];
    uint32_t dot_count = list_dots(dots);
    fm_world *worlds[2];
    for (uint32_t i = 0; i < 2; i++) {
        worlds[i] = searches_on_ground();
        if (i == 1) {
            assert_int_equal(fm_world_prepare_class(worlds[i], 1, 1), FM_OK);
        }
        apply(worlds[i], (fm_command){.kind = FM_COMMAND_TERRAIN,
                                      .cells = dots,
                                      .cell_count = dot_count,
                                      .terrain = FM_TERRAIN_WALL});
    }
    check_that_they_run_alike(worlds[0], worlds[1], 20);
}

// The loaded world has no view of the class.
static void a_class_whose_units_have_died(void **state)
{
    (void)state;
    static fm_cell dots[SIDE * SIDE];
    uint32_t dot_count = list_dots(dots);
    fm_world *worlds[2];
    worlds[0] = searches_on_ground();
    fm_agent_id dead = {.index1 = UNITS + 1};
    spawn(worlds[0], 1, 1, fm_cell_at(1, 100));
    apply(worlds[0], (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &dead, .agent_count = 1});
    worlds[1] = load_saved(worlds[0]);
    for (uint32_t i = 0; i < 2; i++) {
        tick(worlds[i]);
        apply(worlds[i], (fm_command){.kind = FM_COMMAND_TERRAIN,
                                      .cells = dots,
                                      .cell_count = dot_count,
                                      .terrain = FM_TERRAIN_WALL});
    }
    check_that_they_run_alike(worlds[0], worlds[1], 20);
}

static const char *const ground_and_boat[] = {"ground", "boat:water=1", NULL};

// Boats keep their paths when a world is settled, in which land was changed before.
static void an_edit_before_saving(void **state)
{
    (void)state;
    fm_world_rules rules = rules_with("auto", ground_and_boat);
    rules.omniscient = true;
    fm_world *world = make_world(&rules);
    fm_rect sea = {0, 0, 50, SIDE}, land = {50, 0, SIDE - 50, SIDE};
    fm_rect channel = {50, SIDE - 50, SIDE - 50, 50};
    fm_rect seas[] = {sea, channel};
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
    apply(world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                              .rects = seas,
                              .rect_count = 2,
                              .terrain = FM_TERRAIN_WATER});
    spawn(world, 1, UNITS, fm_cell_at(1, 1));
    spawn(world, 0, 1, fm_cell_at(100, 100));
    send(world, 0, UNITS);
    for (uint32_t i = 0; i < 5; i++) {
        tick(world);
    }
    land.height -= 50;
    apply(world, (fm_command){.kind = FM_COMMAND_TERRAIN,
                              .rects = &land,
                              .rect_count = 1,
                              .terrain = FM_TERRAIN_SWAMP});
    fm_world *loaded = load_saved(world);
    check_that_they_run_alike(world, loaded, 20);
}

// ---- how long a log has been there --------------------------------------------------------------

static void set_terrain(fm_world *world, const fm_cell *cells, uint32_t count, fm_terrain terrain)
{
    apply(world,
          (fm_command){
              .kind = FM_COMMAND_TERRAIN, .cells = cells, .cell_count = count, .terrain = terrain});
}

// Many searches wait for their turns longer than changes are kept, while cells change.
static void a_query_before_the_first_unit(void **state)
{
    (void)state;
    static fm_cell dots[SIDE * SIDE];
    (void)list_dots(dots);
    fm_world *worlds[2];
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_rules rules = rules_with("dstar-lite", ground_and_tank);
        rules.omniscient = true;
        fm_world *world = worlds[i] = make_world(&rules);
        apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
        if (i == 1) {
            assert_int_equal(fm_world_prepare_class(world, 1, 1), FM_OK);
        }
        set_terrain(world, dots, 4, FM_TERRAIN_WALL);
        set_terrain(world, dots, 4, FM_TERRAIN_GROUND);
        spawn(world, 1, UNITS_MOST, fm_cell_at(1, 1));
        send(world, 0, UNITS_MOST);
    }
    for (uint32_t n = 0; n < 120; n++) {
        for (uint32_t i = 0; i < 2; i++) {
            set_terrain(worlds[i], dots + n, 1, FM_TERRAIN_WALL);
        }
        assert_int_equal(tick_with(worlds[0], SMALL), tick_with(worlds[1], SMALL));
    }
    fm_world_destroy(worlds[0]);
    fm_world_destroy(worlds[1]);
}

// ---- classes that share a view ------------------------------------------------------------------

static const char *const two_on_ground[] = {"ground", "infantry:ground=1", NULL};

static void a_query_for_a_class_that_moves_alike(void **state)
{
    (void)state;
    fm_world *worlds[2];
    for (uint32_t i = 0; i < 2; i++) {
        fm_world_rules rules =
            rules_with("repeated-forward-astar:heuristic=landmarks", two_on_ground);
        fm_world *world = worlds[i] = make_world(&rules);
        apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
        spawn(world, 1, UNITS, fm_cell_at(1, 1));
        send(world, 0, 1);
        tick(world);
        if (i == 1) {
            assert_int_equal(fm_world_prepare_class(world, 1, 0), FM_OK);
        }
        send(world, 1, UNITS - 1);
    }
    check_that_they_run_alike(worlds[0], worlds[1], 20);
}

// ---- agents removed before saving ---------------------------------------------------------------

static fm_agent_id spawn_one(fm_world *world, uint32_t team, uint32_t x, uint32_t y)
{
    fm_agent_id agent;
    fm_cell cell = fm_cell_at(x, y);
    fm_command_result result = {.spawned = &agent};
    fm_world_apply(
        world,
        &(fm_command){.kind = FM_COMMAND_SPAWN, .team = team, .cells = &cell, .cell_count = 1},
        &result);
    assert_int_equal(result.status, FM_OK);
    return agent;
}

// What its first team saw of it last is that it turned, not that it died.
static void one_that_turned_and_died(void **state)
{
    (void)state;
    fm_world_rules rules = rules_with("auto", ground_and_tank);
    fm_world *world = make_world(&rules);
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
    fm_agent_id follower = spawn_one(world, 1, 10, 10), target = spawn_one(world, 1, 12, 10);
    fm_cell away = fm_cell_at(200, 200);
    apply(world, (fm_command){.kind = FM_COMMAND_ORDER,
                              .order = FM_ORDER_FOLLOW,
                              .agents = &follower,
                              .agent_count = 1,
                              .target = target});
    tick(world);
    fm_command turn = {.kind = FM_COMMAND_SET,
                       .set = FM_SET_TEAM,
                       .new_team = 2,
                       .agents = &target,
                       .agent_count = 1};
    fm_command place = {.kind = FM_COMMAND_PLACE,
                        .cells = &away,
                        .cell_count = 1,
                        .agents = &target,
                        .agent_count = 1};
    apply(world, turn);
    apply(world, place);
    apply(world, (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &target, .agent_count = 1});
    fm_world *loaded = load_saved(world);
    check_that_they_run_alike(world, loaded, 20);
}

// Between two ticks any number may come and go; who is followed is known all the same.
static void more_removed_than_may_live(void **state)
{
    (void)state;
    fm_world_rules rules = rules_with("auto", ground_and_tank);
    fm_world *world = make_world(&rules);
    uint32_t count = rules.agents_max - 3;
    fm_agent_id *agents = malloc(count * sizeof *agents);
    fm_cell *cells = calloc(count, sizeof *cells);
    apply(world, (fm_command){.kind = FM_COMMAND_TEAM});
    fm_agent_id followers[2] = {spawn_one(world, 1, 10, 10), spawn_one(world, 1, 10, 11)};
    fm_agent_id target = spawn_one(world, 1, 12, 10);
    apply(world, (fm_command){.kind = FM_COMMAND_ORDER,
                              .order = FM_ORDER_FOLLOW,
                              .agents = followers,
                              .agent_count = 2,
                              .target = target});
    tick(world);
    for (uint64_t removed = 0; removed <= FM_AGENTS_MAX; removed += count) {
        fm_command_result result = {.spawned = agents};
        fm_world_apply(
            world,
            &(fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .cells = cells, .cell_count = count},
            &result);
        assert_int_equal(result.status, FM_OK);
        apply(world,
              (fm_command){.kind = FM_COMMAND_REMOVE, .agents = agents, .agent_count = count});
    }
    apply(world, (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &target, .agent_count = 1});
    fm_world *loaded = load_saved(world);
    check_that_they_run_alike(world, loaded, 3);
    free(agents);
    free(cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_for_another_class),
        cmocka_unit_test(a_class_whose_units_have_died),
        cmocka_unit_test(an_edit_before_saving),
        cmocka_unit_test(a_query_before_the_first_unit),
        cmocka_unit_test(a_query_for_a_class_that_moves_alike),
        cmocka_unit_test(one_that_turned_and_died),
        cmocka_unit_test(more_removed_than_may_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
