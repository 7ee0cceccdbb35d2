// test_determinism.c: a tick depends on the world, the commands and the record, and on
// nothing else.
//
// Method: random worlds with fog, several teams and movement classes, orders of every kind,
// births, deaths and edits all the time. One run is the original: one worker, and a deadline that
// passes at random moments, as a real clock would. Its records are then replayed with 1, 2, 3 and 8
// workers, and every tick must give the same digest; one replay answers path queries all the time.
// The digest that ticks update must equal the one computed from scratch. Also, every order must end
// exactly once, and no unit may ever stand on a blocked cell.

#include "core/commands/create.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/team_labels.h"
#include "core/world/world_classes.h"
#include "tests/support/script.h"
#include "tests/support/support.h"

#ifdef __SANITIZE_THREAD__
#define RUNS 10u // ThreadSanitizer takes eight times as long
#else
#define RUNS 24u
#endif

// Then a unit that is walled in stays where it is.
static bool fits_nowhere(const fm_view *view)
{
    return fm_bitmap_count(view->blocked) == (uint64_t)view->width * view->height;
}

static void check_agents_stand_free(const fm_world *world)
{
    fm_agent_look looks[FM_SCRIPT_LOOKS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, FM_SCRIPT_LOOKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const fm_view *truth = fm_world_class_view(world, FM_ALL_TEAMS, looks[i].class_index);
        // Where a cell holds one unit, there may be no room to be pushed out to.
        assert_true(!fm_view_is_blocked(truth, looks[i].cell) || fits_nowhere(truth) ||
                    fm_script_is_exclusive(world));
    }
}

static void check_nobody_shares_a_cell(const fm_world *world)
{
    static uint8_t held[FM_SIDE_MAX * FM_SIDE_MAX];
    fm_agent_look looks[FM_SCRIPT_LOOKS_MAX];
    uint32_t count = fm_world_agents_in_view(world, FM_ALL_TEAMS, looks, FM_SCRIPT_LOOKS_MAX);
    for (uint32_t clean = 0; fm_script_is_exclusive(world) && clean < 2; clean++) {
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

// Counters that are not part of the state are deterministic, too.
static void check_counts(const fm_world *world, const fm_world_counts *wanted)
{
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    assert_memory_equal(counts.expansions_by_kind, wanted->expansions_by_kind,
                        sizeof counts.expansions_by_kind);
    assert_memory_equal(counts.replans, wanted->replans, sizeof counts.replans);
    assert_memory_equal(counts.conflicts, wanted->conflicts, sizeof counts.conflicts);
    assert_int_equal(counts.known_cells, wanted->known_cells);
    uint64_t expansions = 0;
    for (uint32_t i = 0; i < FM_SEARCH_KINDS; i++) {
        expansions += counts.expansions_by_kind[i];
    }
    assert_int_equal(expansions, counts.expansions);
}

static void record_original(fm_script *script, fm_random *random, fm_world_counts *counts_at_end)
{
    fm_world *world = fm_script_make_world(script);
    static uint8_t ended[1u << 16];
    memset(ended, 0, sizeof ended);
    assert_int_equal(fm_world_watch(world, FM_ALL_TEAMS, true), FM_OK);
    for (uint32_t i = 0; i < FM_SCRIPT_TICKS; i++) {
        fm_script_write(script, world, random, i);
        fm_script_apply(script, world, i, true);
        fm_script_run(script, world, random, i);
        check_agents_stand_free(world);
        check_nobody_shares_a_cell(world);
        fm_world_counts counts;
        fm_world_counts_get(world, &counts);
        check_endings(world, ended, counts.orders_given);
    }
    fm_world_counts_get(world, counts_at_end);
    fm_world_destroy(world);
}

// Queries of players, at any time, do not change the simulation.
static void ask_something(const fm_script *script, fm_world *world, uint32_t tick)
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

static void replay(fm_script *script, uint32_t worker_count, const fm_world_counts *counts_at_end)
{
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    fm_world *world = fm_script_make_world(script);
    for (uint32_t i = 0; i < FM_SCRIPT_TICKS; i++) {
        fm_script_apply(script, world, i, false);
        if (worker_count == 3) {
            ask_something(script, world, i);
        }
        fm_script_replay(script, world, workers, i, "from the beginning");
    }
    check_counts(world, counts_at_end);
    fm_world_destroy(world);
    fm_workers_destroy(workers);
}

static void same_digest_for_any_workers(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_script *script = fm_script_create(&random);
        fm_world_counts counts;
        record_original(script, &random, &counts);
        static const uint32_t worker_counts[] = {1, 2, 3, 8};
        for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
            replay(script, worker_counts[i], &counts);
        }
        fm_script_destroy(script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_digest_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
