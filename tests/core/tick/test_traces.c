// test_traces.c: what asks, watches or saves leaves no trace in a simulation.
//
// Ticks depend on commands and records alone. What a query made (a class's view, labels), what a
// view keeps, and whether a world was loaded or has run on must show in no digest; a journal holds
// none of it.
//
// Method: random games (script.h) with large edits. A noisy world is asked, watched and inspected
// at any moment, gets commands that are refused, is saved, and continues from the file or not. A
// quiet one replays the records and the commands that were accepted, and settles where the other
// was saved; every digest must be the same. Small scenes show where it once was not: many cells
// change at once, beside something that only one of two worlds has.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/tick/tick.h"
#include "core/views/explain.h"
#include "core/views/inspect.h"
#include "core/views/jams.h"
#include "core/views/unit_report.h"
#include "core/views/view_delta.h"
#include "core/views/waypoints.h"
#include "core/world/team.h"
#include "core/world/team_labels.h"
#include "core/world/world_classes.h"
#include "tests/support/script.h"
#include "tests/support/support.h"

#define SIDE       256u
#define BUDGET     300000u
#define UNITS      15u
#define UNITS_MOST 1000u
#define RUNS       24u
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

// ---- random games -------------------------------------------------------------------------------

struct game {
    fm_script *script;
    fm_random *random;
    fm_world *noisy, *quiet;
    bool watched[4], sight[4]; // views of the noisy world
};

static uint32_t random_view(struct game *game)
{
    return fm_random_below(game->random, fm_world_team_count(game->noisy) + 1);
}

static void ask(struct game *game)
{
    fm_world *world = game->noisy;
    uint32_t team = random_view(game);
    uint32_t class_index = fm_random_below(game->random, fm_world_rules_get(world)->class_count);
    fm_status status = fm_random_below(game->random, 2) == 0
                           ? fm_world_prepare_class(world, team, class_index)
                           : fm_world_prepare_class_part(world, team, class_index,
                                                         1 + fm_random_below(game->random, 4000));
    assert_int_equal(status, FM_OK);
    const fm_view *view = fm_world_class_view(world, team, class_index);
    if (view == NULL) {
        return; // a part of it is there
    }
    fm_labels *labels = fm_team_labels_for_queries(world, team, class_index);
    uint64_t units = 0, units_max = 1 + fm_random_below(game->random, 20000);
    assert_non_null(labels);
    assert_int_equal(fm_labels_update(labels, units_max, &units), FM_OK);
    if (fm_labels_are_current(labels)) {
        fm_cell cell = fm_cell_at(fm_random_below(game->random, view->width),
                                  fm_random_below(game->random, view->height));
        (void)fm_labels_nearest(labels, cell, 1, &units);
    }
}

static void watch(struct game *game)
{
    uint32_t team = random_view(game);
    if (game->watched[team] && fm_random_below(game->random, 3) == 0) {
        assert_int_equal(fm_world_watch(game->noisy, team, false), FM_OK);
        game->watched[team] = game->sight[team] = false;
        return;
    }
    if (!game->watched[team]) {
        assert_int_equal(fm_world_watch(game->noisy, team, true), FM_OK);
        game->watched[team] = true;
    }
    if (fm_random_below(game->random, 2) == 0) {
        assert_int_equal(fm_world_watch_sight(game->noisy, team), FM_OK);
        game->sight[team] = true;
    }
}

static void look(struct game *game)
{
    static uint64_t words[FM_SIDE_MAX];
    static fm_agent_look looks[2 * FM_SCRIPT_AGENTS_MAX];
    static fm_course courses[2 * FM_SCRIPT_AGENTS_MAX];
    const fm_world *world = game->noisy;
    uint32_t team = random_view(game), count;
    uint32_t look_count = fm_world_agents_in_view(world, team, looks, FM_COUNT_OF(looks));
    (void)fm_world_courses(world, team, looks, look_count, courses, FM_COUNT_OF(courses));
    (void)fm_world_buildings(world, team, &count);
    (void)fm_world_look_up(world, team, fm_cell_at(3, 4));
    if (game->watched[team]) {
        (void)fm_world_changes(world, team);
    }
    if (game->sight[team]) {
        fm_world_sight(world, team, words);
    }
}

static void visit_cell(const fm_inspection *cell, void *context)
{
    *(uint64_t *)context += cell->cell;
}

static void inspect(struct game *game)
{
    static fm_jams jams;
    static fm_cell cells[FM_SIDE_MAX];
    static fm_explanation explanation;
    static fm_unit_report unit;
    const fm_world *world = game->noisy;
    fm_agent_report report;
    fm_waypoint points[8];
    fm_team_counts teams[8];
    fm_top_row rows[16];
    fm_world_counts counts;
    uint64_t sum = 0;
    fm_world_counts_get(world, &counts);
    (void)fm_world_team_counts(world, teams, FM_COUNT_OF(teams));
    (void)fm_world_top(world, (fm_top)fm_random_below(game->random, FM_TOP_EDITS + 1), rows,
                       FM_COUNT_OF(rows));
    fm_world_list_jams(world, &jams);
    if (game->script->agent_count == 0) {
        return;
    }
    fm_agent_id agent =
        game->script->agents[fm_random_below(game->random, game->script->agent_count)];
    if (fm_world_inspect(world, agent, &report) == FM_OK) {
        assert_int_equal(fm_world_explain(world, agent, &explanation), FM_OK);
        assert_int_equal(fm_world_report_unit(world, agent, &unit, cells, FM_COUNT_OF(cells)),
                         FM_OK);
        (void)!fm_world_inspect_search(world, agent, visit_cell, &sum);
        (void)fm_world_agent_path(world, agent, cells, FM_COUNT_OF(cells));
        (void)fm_world_waypoints(world, agent, points, FM_COUNT_OF(points));
    }
}

static void make_noise(struct game *game)
{
    static void (*const kinds[])(struct game *) = {ask, watch, look, inspect};
    while (fm_random_below(game->random, 3) > 0) {
        kinds[fm_random_below(game->random, FM_COUNT_OF(kinds))](game);
    }
}

// The noisy world is saved, and continues from the file in every other case.
static void save_and_go_on(struct game *game)
{
    fm_world *loaded = load_saved(game->noisy);
    fm_world_settle(game->quiet);
    bool goes_on = fm_random_below(game->random, 2) == 0;
    fm_world_destroy(goes_on ? loaded : game->noisy);
    if (!goes_on) {
        game->noisy = loaded;
        memset(game->watched, 0, sizeof game->watched);
        memset(game->sight, 0, sizeof game->sight);
    }
}

// A part of the map, often large, is of another terrain, or a team avoids it.
static void add_storm(struct game *game, uint32_t step)
{
    const fm_grid *grid = fm_world_grid(game->noisy);
    if (step == 0 || fm_random_below(game->random, 4) != 0) {
        return;
    }
    fm_rect *rect = malloc(sizeof *rect);
    rect->x = fm_random_below(game->random, grid->width);
    rect->y = fm_random_below(game->random, grid->height);
    rect->width = 1 + fm_random_below(game->random, grid->width - rect->x);
    rect->height = 1 + fm_random_below(game->random, grid->height - rect->y);
    fm_command command = {.kind = FM_COMMAND_TERRAIN, .rects = rect, .rect_count = 1};
    static const fm_terrain terrains[] = {FM_TERRAIN_GROUND, FM_TERRAIN_GROUND, FM_TERRAIN_SWAMP,
                                          FM_TERRAIN_WATER};
    if (fm_random_below(game->random, 3) == 0) {
        command.kind = FM_COMMAND_COST;
        command.team = 1 + fm_random_below(game->random, game->script->team_count);
        command.cost = (uint8_t)fm_random_below(game->random, 9);
    } else {
        command.terrain = terrains[fm_random_below(game->random, FM_COUNT_OF(terrains))];
    }
    fm_script_add(game->script, step, &command);
}

static void give_commands(struct game *game, uint32_t step)
{
    for (uint32_t n = 0; n < game->script->steps[step].command_count; n++) {
        make_noise(game);
        fm_script_apply_one(game->script, game->noisy, step, n, true);
        if (!game->script->steps[step].refused[n]) {
            fm_script_apply_one(game->script, game->quiet, step, n, false);
        }
    }
    make_noise(game);
}

static void play(struct game *game, fm_workers *workers)
{
    for (uint32_t i = 0; i < FM_SCRIPT_TICKS; i++) {
        if (i > 0 && fm_random_below(game->random, 16) == 0) {
            save_and_go_on(game);
        }
        fm_script_write(game->script, game->noisy, game->random, i);
        add_storm(game, i);
        give_commands(game, i);
        if (fm_random_below(game->random, 16) == 0) {
            save_and_go_on(game);
        }
        fm_script_run(game->script, game->noisy, game->random, i);
        fm_script_replay(game->script, game->quiet, workers, i, "without noise");
    }
}

static void noise_leaves_no_trace(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_workers *workers;
    assert_int_equal(fm_workers_create(2, &workers), FM_OK);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct game game = {.script = fm_script_create(&random), .random = &random};
        game.script->rules.omniscient = run % 2 == 0;
        game.noisy = fm_script_make_world(game.script);
        game.quiet = fm_script_make_world(game.script);
        play(&game, workers);
        fm_world_destroy(game.noisy);
        fm_world_destroy(game.quiet);
        fm_script_destroy(game.script);
    }
    fm_workers_destroy(workers);
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
        cmocka_unit_test(noise_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
