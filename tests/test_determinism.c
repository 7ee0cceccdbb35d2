// tests/test_determinism.c: a tick depends on the world, the commands and the record, and on
// nothing else.
//
// Method: random worlds with fog, several teams, orders of every kind and edits all the time. One
// run is the original: one worker, and a deadline that strikes at random moments, as a real clock
// would. Its records are then replayed with 1, 2, 3 and 8 workers, and every tick must give the
// same digest. Along the way, every order must end exactly once, and nobody may ever stand on a
// blocked cell.

#include "core/generate.h"
#include "core/tick.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

#define TICKS        120u
#define COMMANDS_MAX 8u
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

static fm_command order_command(struct script *script, fm_random *random, const fm_grid *grid)
{
    fm_agent_id agents[16];
    fm_cell cells[16];
    uint32_t count = 1 + fm_random_below(random, 12);
    bool one_goal = fm_random_below(random, 2) == 0;
    fm_cell goal = random_cell(random, grid);
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = script->agents[fm_random_below(random, script->agent_count)];
        cells[i] = one_goal ? goal : random_cell(random, grid);
    }
    return (fm_command){
        .kind = FM_COMMAND_ORDER,
        .agents = keep(agents, count * sizeof *agents),
        .agent_count = count,
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = one_goal ? 1 : count,
        .order = fm_random_below(random, 10) == 0 ? FM_ORDER_STOP : FM_ORDER_MOVE,
        .on_unreachable = (fm_on_unreachable)fm_random_below(random, 3),
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
        .terrain = kind == 0   ? FM_TERRAIN_WALL
                   : kind == 1 ? FM_TERRAIN_GROUND
                               : FM_TERRAIN_UNKNOWN,
        .cost = kind == 2 ? (uint8_t)(1 + fm_random_below(random, 9)) : 0,
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

static void populate(struct script *script, fm_world *world, fm_random *random, struct step *step)
{
    for (uint32_t i = 0; i < script->team_count; i++) {
        step->commands[step->command_count++] = (fm_command){.kind = FM_COMMAND_TEAM};
    }
    const fm_grid *grid = fm_world_grid(world);
    for (uint32_t team = 1; team <= script->team_count; team++) {
        fm_cell cells[AGENTS_MAX];
        uint32_t count = 0;
        while (count < AGENTS_MAX / script->team_count) {
            fm_cell cell = random_cell(random, grid);
            if (!fm_grid_is_blocked(grid, cell)) {
                cells[count++] = cell;
            }
        }
        step->commands[step->command_count++] = (fm_command){.kind = FM_COMMAND_SPAWN,
                                                             .team = team,
                                                             .cells = keep(cells, sizeof cells),
                                                             .cell_count = count};
    }
}

static void apply(struct script *script, fm_world *world, const struct step *step, bool original)
{
    for (uint32_t i = 0; i < step->command_count; i++) {
        fm_agent_id spawned[AGENTS_MAX];
        fm_command_result result = {.spawned = spawned};
        fm_world_apply(world, &step->commands[i], &result);
        if (original && step->commands[i].kind == FM_COMMAND_SPAWN) {
            assert_int_equal(result.status, FM_OK);
            memcpy(script->agents + script->agent_count, spawned,
                   result.changed_count * sizeof *spawned);
            script->agent_count += result.changed_count;
        }
    }
}

static void check_agents_stand_free(const fm_world *world)
{
    fm_agent_look looks[AGENTS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, AGENTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        assert_false(fm_grid_is_blocked(fm_world_grid(world), looks[i].cell));
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
            for (uint32_t n = fm_random_below(random, 3); n > 0; n--) {
                step->commands[step->command_count++] =
                    order_command(script, random, fm_world_grid(world));
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
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        check_endings(world, ended, counts.orders_given);
    }
    fm_world_destroy(world);
}

static void replay(struct script *script, uint32_t worker_count)
{
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    fm_world *world = make_world(script);
    for (uint32_t i = 0; i < TICKS; i++) {
        apply(script, world, &script->steps[i], false);
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
        }
        free(script->steps[i].cuts);
    }
    free(script);
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
    } while (spec.ops->uniform_only && rules->connectivity != FM_CONNECT_8);
    spec.options.queue = (fm_queue_kind)fm_random_below(random, 2);
    spec.options.lookahead = fm_random_below(random, 2) * 20;
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
        script->rules.planner = random_planner(&random, &script->rules);
        script->rules.omniscient = fm_random_below(&random, 8) == 0;
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
