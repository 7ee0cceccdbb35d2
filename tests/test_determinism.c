// tests/test_determinism.c: a tick depends on the world, the commands and the record, and on
// nothing else.
//
// Method: random worlds with fog, several teams and movement classes, orders of every kind and
// edits all the time. One run is the original: one worker, and a deadline that strikes at random
// moments, as a real clock would. Its records are then replayed with 1, 2, 3 and 8 workers, and
// every tick must give the same digest; one replay is asked about ways all the time. Along the
// way, every order must end exactly once, and nobody may ever stand on a blocked cell.

#include "core/generate.h"
#include "core/team_labels.h"
#include "core/tick.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

#define TICKS        120u
#define COMMANDS_MAX 12u
#define AGENTS_MAX   96u

struct step {
    fm_command commands[COMMANDS_MAX];
    uint32_t command_count;
    fm_tick_record record;
    fm_cut *cuts;
};

struct script {
    fm_world_rules rules;
    fm_generate_options map;
    struct step steps[TICKS];
    fm_agent_id agents[AGENTS_MAX];
    uint32_t agent_count;
    uint32_t team_count;
};

static fm_world *make_world(const struct script *script)
{
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_generate(&script->map, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    assert_int_equal(fm_world_create(&script->rules, grid, &fm_memory_libc, &world), FM_OK);
    return world;
}

// A copy of the numbers that a command points to; released with the script.
static void *keep(const void *numbers, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    void *copy = malloc(size);
    memcpy(copy, numbers, size);
    return copy;
}

static fm_cell random_cell(fm_random *random, const fm_grid *grid)
{
    return fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
}

// Of any kind; some are refused, which must leave no trace.
static fm_command order_command(struct script *script, fm_random *random, const fm_grid *grid)
{
    fm_agent_id agents[16];
    fm_cell cells[16];
    uint32_t count = 1 + fm_random_below(random, 12);
    bool one_goal = fm_random_below(random, 2) == 0;
    fm_cell goal = random_cell(random, grid);
    // Neighbours in the list are mostly of one team, as a group must be.
    bool grouped = one_goal && fm_random_below(random, 2) == 0;
    uint32_t first = fm_random_below(random, script->agent_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pick = grouped ? (first + i) % script->agent_count
                                : fm_random_below(random, script->agent_count);
        agents[i] = script->agents[pick];
        cells[i] = one_goal ? goal : random_cell(random, grid);
    }
    fm_order_kind kind = fm_random_below(random, 2) == 0
                             ? FM_ORDER_MOVE
                             : (fm_order_kind)fm_random_below(random, FM_ORDER_KIND_COUNT);
    fm_agent_id target = script->agents[fm_random_below(random, script->agent_count)];
    bool has_target =
        kind == FM_ORDER_FOLLOW || (kind == FM_ORDER_GUARD && fm_random_below(random, 2) == 0);
    one_goal = one_goal || kind == FM_ORDER_GUARD;
    return (fm_command){
        .kind = FM_COMMAND_ORDER,
        .agents = keep(agents, count * sizeof *agents),
        .agent_count = count,
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = has_target ? 0
                      : one_goal ? 1
                                 : count,
        .order = kind,
        .on_unreachable = (fm_on_unreachable)fm_random_below(random, 3),
        .queue = fm_random_below(random, 3) == 0,
        .loop = fm_random_below(random, 2) == 0,
        .target = has_target ? target : (fm_agent_id){0},
        .radius = fm_random_below(random, 12),
        .spread = grouped && kind == FM_ORDER_MOVE,
        .formation = grouped && kind == FM_ORDER_MOVE ? (fm_formation)fm_random_below(random, 4)
                                                      : FM_FORMATION_NONE,
        .common_speed = grouped && kind == FM_ORDER_MOVE && fm_random_below(random, 2) == 0,
    };
}

static fm_command terrain_command(fm_random *random, const fm_grid *grid, bool weights)
{
    fm_cell cells[6];
    uint32_t count = 1 + fm_random_below(random, 6);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = random_cell(random, grid);
    }
    uint32_t kind = fm_random_below(random, weights ? 3 : 2);
    return (fm_command){
        .kind = FM_COMMAND_TERRAIN,
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = count,
        .terrain = kind == 0   ? (fm_terrain)(FM_TERRAIN_OUT + fm_random_below(random, 5))
                   : kind == 1 ? FM_TERRAIN_GROUND
                               : FM_TERRAIN_UNKNOWN,
        .cost = kind == 2 ? (uint8_t)(1 + fm_random_below(random, 9)) : 0,
    };
}

// Many are refused, which has to be the same in every run, too.
static fm_command building_command(fm_random *random, const fm_grid *grid, uint32_t team_count)
{
    if (fm_random_below(random, 3) == 0) {
        return (fm_command){.kind = FM_COMMAND_DEMOLISH,
                            .building = 1 + fm_random_below(random, 20)};
    }
    fm_cell corner = random_cell(random, grid);
    fm_rect rect = {fm_cell_x(corner), fm_cell_y(corner), 1 + fm_random_below(random, 4),
                    1 + fm_random_below(random, 4)};
    return (fm_command){
        .kind = FM_COMMAND_BUILD,
        .team = fm_random_below(random, team_count + 1),
        .rects = keep(&rect, sizeof rect),
        .rect_count = 1,
        .on_units = (fm_on_units)fm_random_below(random, 2),
    };
}

// The deadline of the original run: passes at a random look.
struct fate {
    uint64_t looks;
    uint64_t every; // 0: never
    bool struck;    // once passed, it stays so until the tick is over
};

static bool strike(void *context)
{
    struct fate *fate = context;
    uint64_t look = fate->looks++;
    fate->struck = fate->struck || (fate->every != 0 && fm_mix64(look) % fate->every == 0);
    return fate->struck;
}

static bool is_exclusive(const fm_world *world)
{
    return fm_world_rules_get(world)->occupancy == FM_OCCUPANCY_EXCLUSIVE;
}

// Half of a team's agents, of one class. Where the class fits almost nowhere they are fewer.
static void spawn_half(struct script *script, fm_world *world, fm_random *random, struct step *step,
                       uint32_t team, uint32_t half)
{
    fm_cell cells[AGENTS_MAX];
    uint32_t wanted = AGENTS_MAX / script->team_count / 2, count = 0;
    uint32_t class_index = (team + half) % fm_world_rules_get(world)->class_count;
    const fm_view *truth = fm_world_class_view(world, FM_ALL_TEAMS, class_index);
    for (uint32_t tries = 0; count < wanted && tries < 4000; tries++) {
        fm_cell cell = random_cell(random, fm_world_grid(world));
        if (!fm_view_is_blocked(truth, cell)) {
            cells[count++] = cell;
        }
    }
    step->commands[step->command_count++] = (fm_command){
        .kind = FM_COMMAND_SPAWN,
        .team = team,
        .class_index = class_index,
        .placing = is_exclusive(world) ? FM_PLACE_NEAREST : FM_PLACE_EXACT,
        .speed = fm_random_below(random, 2) == 0 ? 0 : 500 + fm_random_below(random, 13000),
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = count};
}

static void populate(struct script *script, fm_world *world, fm_random *random, struct step *step)
{
    for (uint32_t i = 0; i < script->team_count; i++) {
        step->commands[step->command_count++] =
            (fm_command){.kind = FM_COMMAND_TEAM, .weight = fm_random_below(random, 10)};
    }
    for (uint32_t team = 1; team <= script->team_count; team++) {
        for (uint32_t half = 0; half < 2; half++) {
            spawn_half(script, world, random, step, team, half);
        }
    }
}

static void apply(struct script *script, fm_world *world, const struct step *step, bool original)
{
    for (uint32_t i = 0; i < step->command_count; i++) {
        fm_agent_id spawned[AGENTS_MAX];
        fm_command_result result = {.spawned = spawned};
        fm_world_apply(world, &step->commands[i], &result);
        if (original && step->commands[i].kind == FM_COMMAND_SPAWN) {
            // A map may be too small for so many large units.
            assert_true(result.status == FM_OK ||
                        (is_exclusive(world) && result.status == FM_ERR_OCCUPIED_CELL));
            memcpy(script->agents + script->agent_count, spawned,
                   result.changed_count * sizeof *spawned);
            script->agent_count += result.changed_count;
        }
    }
}

// Then a unit that is walled in stays where it is.
static bool fits_nowhere(const fm_view *view)
{
    return fm_bitmap_count(view->blocked) == (uint64_t)view->width * view->height;
}

static void check_agents_stand_free(const fm_world *world)
{
    fm_agent_look looks[AGENTS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, AGENTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const fm_view *truth = fm_world_class_view(world, FM_ALL_TEAMS, looks[i].class_index);
        // Where a cell holds one unit, there may be no room to be pushed out to.
        assert_true(!fm_view_is_blocked(truth, looks[i].cell) || fits_nowhere(truth) ||
                    is_exclusive(world));
    }
}

static void check_nobody_shares_a_cell(const fm_world *world)
{
    static uint8_t held[FM_SIDE_MAX * FM_SIDE_MAX];
    fm_agent_look looks[AGENTS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, AGENTS_MAX);
    for (uint32_t clean = 0; is_exclusive(world) && clean < 2; clean++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t size = fm_world_rules_get(world)->classes[looks[i].class_index].size;
            for (uint32_t j = 0; j < size * size; j++) {
                uint8_t *holder = &held[looks[i].cell + fm_cell_at(j % size, j / size)];
                assert_int_equal(*holder, clean);
                *holder = !clean;
            }
        }
    }
}

static void check_endings(const fm_world *world, uint8_t *ended, uint64_t orders_given)
{
    fm_changes changes = fm_world_changes(world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        uint64_t order = changes.ended[i].order;
        assert_true(order >= 1 && order <= orders_given);
        assert_int_equal(ended[order], 0);
        ended[order] = 1;
    }
}

static void record_original(struct script *script, fm_random *random)
{
    fm_world *world = make_world(script);
    static uint8_t ended[1u << 16];
    memset(ended, 0, sizeof ended);
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    bool weights = fm_random_below(random, 3) == 0;
    struct fate fate = {.every =
                            fm_random_below(random, 2) == 0 ? 0 : 2 + fm_random_below(random, 400)};
    fm_tick_clock clock = {.deadline = {.passed = strike, .context = &fate}};
    for (uint32_t i = 0; i < TICKS; i++) {
        struct step *step = &script->steps[i];
        if (i == 0) {
            populate(script, world, random, step);
        } else {
            for (uint32_t n = fm_random_below(random, 3); n > 0 && script->agent_count > 0; n--) {
                step->commands[step->command_count++] =
                    order_command(script, random, fm_world_grid(world));
            }
            if (fm_random_below(random, 3) == 0) {
                step->commands[step->command_count++] =
                    building_command(random, fm_world_grid(world), script->team_count);
            }
            if (fm_random_below(random, 2) == 0) {
                step->commands[step->command_count++] =
                    terrain_command(random, fm_world_grid(world), weights);
            }
        }
        apply(script, world, step, true);
        uint64_t budget = 1 + fm_random_below(random, 4000);
        fm_tick_report report;
        fate.struck = false;
        fm_tick_run(world, NULL, budget, &clock, &report);
        step->record = report.record;
        step->cuts = keep(report.record.cuts, report.record.cut_count * sizeof *step->cuts);
        step->record.cuts = step->cuts;
        check_agents_stand_free(world);
        check_nobody_shares_a_cell(world);
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        check_endings(world, ended, counts.orders_given);
    }
    fm_world_destroy(world);
}

// What players ask, and when, leaves no trace in the simulation.
static void ask_something(const struct script *script, fm_world *world, uint32_t tick)
{
    uint32_t team = tick % (script->team_count + 1);
    if (fm_world_prepare_class(world, team, 0) == FM_OK) {
        fm_labels *labels = fm_team_labels_for_queries(world, team, 0);
        uint64_t units = 0;
        assert_non_null(labels);
        assert_int_equal(fm_labels_update(labels, UINT64_MAX, &units), FM_OK);
        fm_labels_nearest(labels, fm_cell_at(0, 0), 1, &units);
    }
}

static void replay(struct script *script, uint32_t worker_count)
{
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    fm_world *world = make_world(script);
    for (uint32_t i = 0; i < TICKS; i++) {
        apply(script, world, &script->steps[i], false);
        if (worker_count == 3) {
            ask_something(script, world, i);
        }
        fm_tick_report report;
        fm_tick_replay(world, workers, &script->steps[i].record, &report);
        if (report.record.digest != script->steps[i].record.digest) {
            char planner[FM_PLANNER_SPEC_SIZE];
            fm_planner_spec_format(&script->rules.planner, planner, sizeof planner);
            fail_msg("%s: tick %u differs with %u workers", planner, i + 1, worker_count);
        }
        assert_int_equal(report.record.cut_count, script->steps[i].record.cut_count);
        assert_int_equal(report.record.rounds, script->steps[i].record.rounds);
    }
    fm_world_destroy(world);
    fm_workers_destroy(workers);
}

static void release_script(struct script *script)
{
    for (uint32_t i = 0; i < TICKS; i++) {
        for (uint32_t j = 0; j < script->steps[i].command_count; j++) {
            free((void *)script->steps[i].commands[j].agents);
            free((void *)script->steps[i].commands[j].cells);
            free((void *)script->steps[i].commands[j].rects);
        }
        free(script->steps[i].cuts);
    }
    free(script);
}

// Up to three classes, most of them of equal costs, so that all planners get their turn.
static void choose_classes(fm_random *random, fm_world_rules *rules)
{
    static const char *const texts[] = {"ground", "tank:size=2", "hover:ground=1,water=1,swamp=1",
                                        "giant:size=4,ground=1,trees=1,swamp=1",
                                        "legs:size=3,ground=1,swamp=3,trees=2,wall=9"};
    uint32_t count = fm_random_below(random, 4), first = fm_random_below(random, 5);
    for (uint32_t i = 0; i < count; i++) {
        fm_movement_class *movement = &rules->classes[rules->class_count++];
        const char *text = texts[(first + i) % FM_COUNT_OF(texts)];
        assert_int_equal(fm_movement_class_parse(text, movement, NULL, 0), FM_OK);
    }
}

static bool has_costs(const fm_world_rules *rules)
{
    bool costs = false;
    for (uint32_t i = 0; i < rules->class_count; i++) {
        costs = costs || fm_movement_class_is_weighted(&rules->classes[i]);
    }
    return costs;
}

// Any planner of the catalogue that the rules allow.
static fm_planner_spec random_planner(fm_random *random, const fm_world_rules *rules)
{
    uint32_t count = 0;
    while (fm_planner_catalogue[count] != NULL) {
        count += 1;
    }
    fm_planner_spec spec = {0};
    do {
        spec.ops = fm_planner_catalogue[fm_random_below(random, count)];
    } while (spec.ops->uniform_only && (rules->connectivity != FM_CONNECT_8 || has_costs(rules)));
    spec.options.queue = (fm_queue_kind)fm_random_below(random, 2);
    spec.options.lookahead = fm_random_below(random, 2) * 20;
    spec.options.heuristic =
        fm_random_below(random, 3) > 0 ? FM_HEURISTIC_LANDMARKS : FM_HEURISTIC_CLUSTER;
    if (spec.ops->guidance == FM_GUIDED_BY_ITS_OWN ||
        !fm_planner_spec_fits(&spec, rules->connectivity, has_costs(rules))) {
        spec.options.heuristic = FM_HEURISTIC_DEFAULT;
    }
    return spec;
}

static void same_digest_for_any_workers(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 24; run++) {
        struct script *script = calloc(1, sizeof *script);
        script->rules = fm_world_rules_default();
        script->rules.connectivity = (fm_connectivity)fm_random_below(&random, 3);
        bool four = script->rules.connectivity == FM_CONNECT_4;
        script->rules.steps = four                          ? FM_STEPS_1
                              : fm_random_below(&random, 2) ? FM_STEPS_10_14
                                                            : FM_STEPS_70_99;
        script->rules.sense.radius = 1 + fm_random_below(&random, 6);
        script->rules.sense.shape = four ? FM_SENSE_DIAMOND : FM_SENSE_SQUARE;
        script->rules.sense.line_of_sight = fm_random_below(&random, 3) == 0;
        script->rules.occupancy = (fm_occupancy_rule)fm_random_below(&random, 2);
        choose_classes(&random, &script->rules);
        script->rules.planner = random_planner(&random, &script->rules);
        script->rules.saved_ticks = fm_random_below(&random, 20);
        script->rules.omniscient = fm_random_below(&random, 8) == 0;
        script->rules.landmarks =
            (fm_landmark_rules){.count = fm_random_below(&random, 5),
                                .placement = (fm_placement)fm_random_below(&random, 4),
                                .adaptive = fm_random_below(&random, 2) == 0,
                                .allow_stale = fm_random_below(&random, 4) == 0};
        script->map = fm_generate_options_default();
        script->map.generator =
            fm_random_below(&random, 2) ? FM_GENERATOR_RANDOM : FM_GENERATOR_ROOMS;
        script->map.width = 20 + fm_random_below(&random, 80);
        script->map.height = 20 + fm_random_below(&random, 80);
        script->map.room_side = 7;
        script->map.blocked_permille = fm_random_below(&random, 350);
        script->map.seed = fm_random_next(&random);
        script->team_count = 1 + fm_random_below(&random, 3);
        record_original(script, &random);
        static const uint32_t worker_counts[] = {1, 2, 3, 8};
        for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
            replay(script, worker_counts[i]);
        }
        release_script(script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_digest_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
