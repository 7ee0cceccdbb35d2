// test_starved.c: a world that runs out of memory reports where a replay must continue from a file.
//
// Method: random games (script.h) in a world whose memory runs out at random places, in commands,
// ticks and settling. A second world with unlimited memory gets the commands that the first one has
// accepted, and the records. As long as the first is not starved both have the same digest after
// every tick, with 1, 2 or 3 workers; when it is, the second is loaded from a file of the first,
// and from then on they are equal again.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/experiment.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "tests/support/script.h"
#include "tests/support/support.h"

#define RUNS       16u
#define BLOCKS_MAX 6u // for a tick in which memory runs out

struct pair {
    fm_script *script;
    fm_test_memory memory; // of the first
    fm_world *first, *second;
    fm_workers *workers; // of the second
    uint32_t bridged, replayed;
};

static void save(const fm_world *world, fm_writer *bytes)
{
    *bytes = fm_writer_init(&fm_memory_libc);
    assert_int_equal(fm_world_save(world, bytes), FM_OK);
}

static fm_world *load(const fm_writer *bytes, const fm_memory *memory)
{
    fm_world *world = NULL;
    fm_bytes_error error = {0};
    if (fm_world_load(bytes->data, bytes->size, memory, &world, &error) != FM_OK) {
        fail_msg("at %zu: %s", error.offset, error.message);
    }
    return world;
}

// As a journal does for a keyframe: settles the first world, with the memory that is left.
static void settle(struct pair *pair)
{
    fm_writer bytes;
    fm_world_settle(pair->first);
    if (!fm_world_is_starved(pair->first)) {
        fm_world_settle(pair->second);
        return;
    }
    save(pair->first, &bytes);
    fm_world_note_saved(pair->first);
    assert_false(fm_world_is_starved(pair->first));
    fm_world_destroy(pair->second);
    pair->second = load(&bytes, &fm_memory_libc);
    pair->bridged++;
    fm_writer_fini(&bytes);
}

static void note_spawned(fm_script *script, const fm_command_result *result)
{
    for (uint32_t i = 0; i < result->changed_count; i++) {
        if (script->agent_count < FM_SCRIPT_AGENTS_MAX) {
            script->agents[script->agent_count++] = result->spawned[i];
        }
    }
}

static void forget_dead(fm_script *script, const fm_world *world)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < script->agent_count; i++) {
        fm_agent_report report;
        if (fm_world_describe(world, script->agents[i], &report) == FM_OK) {
            script->agents[kept++] = script->agents[i];
        }
    }
    script->agent_count = kept;
}

// A command that the first world refuses has no effect.
static void apply(struct pair *pair, const fm_command *command)
{
    fm_agent_id spawned[2][FM_SCRIPT_AGENTS_MAX];
    fm_command_result results[2] = {{.spawned = spawned[0]}, {.spawned = spawned[1]}};
    fm_world_apply(pair->first, command, &results[0]);
    if (results[0].status != FM_OK) {
        return;
    }
    fm_world_apply(pair->second, command, &results[1]);
    assert_int_equal(results[1].status, FM_OK);
    assert_int_equal(results[0].first_order, results[1].first_order);
    assert_int_equal(results[0].changed_count, results[1].changed_count);
    if (command->kind == FM_COMMAND_SPAWN) {
        assert_memory_equal(spawned[0], spawned[1],
                            results[0].changed_count * sizeof *results[0].spawned);
        note_spawned(pair->script, &results[0]);
    }
}

static void play_tick(struct pair *pair, fm_random *random, uint32_t step)
{
    fm_script *script = pair->script;
    bool is_short = step > 0 && fm_random_below(random, 3) == 0;
    pair->memory.left = is_short ? fm_random_below(random, BLOCKS_MAX) : UINT64_MAX;
    fm_script_write(script, pair->first, random, step);
    for (uint32_t i = 0; i < script->steps[step].command_count; i++) {
        apply(pair, &script->steps[step].commands[i]);
    }
    forget_dead(script, pair->first);
    fm_script_run(script, pair->first, random, step);
    if (!fm_world_is_starved(pair->first)) {
        fm_script_replay(script, pair->second, pair->workers, step, "where memory had not run out");
        pair->replayed++;
    }
    if (fm_world_is_starved(pair->first) || fm_random_below(random, 20) == 0) {
        pair->memory.left = fm_random_below(random, 2) == 0 ? UINT64_MAX : pair->memory.left;
        settle(pair);
    }
}

static void play(struct pair *pair, fm_random *random, uint32_t worker_count)
{
    fm_writer bytes;
    pair->script = fm_script_create(random);
    fm_world *beginning = fm_script_make_world(pair->script);
    save(beginning, &bytes);
    fm_world_destroy(beginning);
    fm_test_memory_init(&pair->memory, UINT64_MAX);
    pair->first = load(&bytes, &pair->memory.memory);
    pair->second = load(&bytes, &fm_memory_libc);
    fm_writer_fini(&bytes);
    assert_int_equal(fm_world_watch(pair->first, FM_ALL_TEAMS, true), FM_OK);
    assert_int_equal(fm_workers_create(worker_count, &pair->workers), FM_OK);
    for (uint32_t step = 0; step < FM_SCRIPT_TICKS; step++) {
        play_tick(pair, random, step);
    }
    fm_workers_destroy(pair->workers);
    fm_world_destroy(pair->first);
    fm_world_destroy(pair->second);
    assert_int_equal(pair->memory.held, 0);
    fm_script_destroy(pair->script);
}

static void starved_worlds_go_on_from_a_file(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct pair pair = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        play(&pair, &random, 1 + run % 3);
    }
    print_message("%u ticks replayed, %u bridged\n", pair.replayed, pair.bridged);
    assert_true(pair.replayed > RUNS * FM_SCRIPT_TICKS / 2);
    assert_true(pair.bridged > RUNS);
}

// Allocations for views do not matter. Those of commands do.
static void only_what_decides_starves(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 1);
    fm_script *script = fm_script_create(&random);
    fm_world *beginning = fm_script_make_world(script);
    fm_writer bytes;
    save(beginning, &bytes);
    fm_test_memory memory;
    fm_test_memory_init(&memory, UINT64_MAX);
    fm_world *world = load(&bytes, &memory.memory);
    memory.left = 0;
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_ERR_NO_MEMORY);
    assert_false(fm_world_is_starved(world));
    fm_command_result result = {.status = FM_OK};
    while (result.status == FM_OK) {
        assert_false(fm_world_is_starved(world));
        fm_world_apply(world, &(fm_command){.kind = FM_COMMAND_TEAM}, &result);
    }
    assert_int_equal(result.status, FM_ERR_NO_MEMORY);
    assert_true(fm_world_is_starved(world));
    fm_world_destroy(world);
    fm_world_destroy(beginning);
    fm_writer_fini(&bytes);
    fm_script_destroy(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starved_worlds_go_on_from_a_file),
        cmocka_unit_test(only_what_decides_starves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
