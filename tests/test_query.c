// tests/test_query.c: a query answers what a plain search on the same map answers.
//
// Random worlds of all rules and weights are asked for ways between random cells, in grants of
// random size, with and without a worker's scratch, some queries detached while the map is torn up
// under them. The reference measures every cell: a way that was found must be legal and as cheap as
// that, and where there is none, the way must lead to the nearest cell that can be reached, by the
// cheapest of the paths to such a cell.

#include "tests/support.h"

#include "core/query.h"
#include "core/scratch.h"
#include "tests/fog.h"
#include "tests/reference.h"

#include <math.h>

#define WORLDS           1200u
#define EDITS_MAX        20u
#define UNLIMITED        UINT64_MAX
#define NO_MEMORY_WORLDS 300u

struct play {
    fog world;
    uint64_t seed;
    fm_scratch scratch;
    fm_cell from, to;
};

#define CHECK(play, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("world %llu: %s", (unsigned long long)(play)->seed, #condition);              \
        }                                                                                          \
    } while (0)

static uint32_t below(struct play *play, uint32_t bound)
{
    return fm_random_below(&play->world.random, bound);
}

static fm_cell any_cell(struct play *play)
{
    return fm_cell_at(below(play, play->world.width), below(play, play->world.height));
}

// ---- running ----

static fm_query *create(struct play *play, uint64_t expansions_max)
{
    fm_query *query;
    fm_status status = fm_query_create(&play->world.view, play->from, play->to, expansions_max,
                                       &play->world.memory.memory, &query);
    CHECK(play, status == FM_OK);
    return query;
}

static fm_query_state advance(struct play *play, fm_query *query, fm_slab *slab, uint32_t grant)
{
    fm_work work = {.slab = slab,
                    .expansions_max = grant,
                    .scratch = play->seed % 3 == 0 ? NULL : &play->scratch};
    fm_query_state state = fm_query_advance(query, &work);
    CHECK(play, work.expansions <= grant);
    CHECK(play, state != FM_QUERY_RUNNING || work.expansions == grant);
    return state;
}

static void toggle_all(struct play *play, const fm_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fog_toggle(&play->world, cells[i]);
    }
    play->world.change_count = 0;
}

// Changes the map, lets a detached query work, and changes it back.
static void advance_under_edits(struct play *play, fm_query *query, fm_slab *slab)
{
    CHECK(play, fm_query_detach(query) == FM_OK);
    fm_cell cells[EDITS_MAX];
    for (uint32_t i = 0; i < EDITS_MAX; i++) {
        cells[i] = any_cell(play);
    }
    toggle_all(play, cells, EDITS_MAX);
    advance(play, query, slab, 1 + below(play, 100));
    toggle_all(play, cells, EDITS_MAX);
}

// Runs a query to its end, in grants of at most grant_max expansions.
static fm_query *ask(struct play *play, uint64_t expansions_max, uint32_t grant_max, bool edits)
{
    fm_slab slab;
    fm_slab_init(&slab, &play->world.memory.memory);
    fm_query *query = create(play, expansions_max);
    fm_query_state state;
    do {
        if (edits && below(play, 4) == 0) {
            advance_under_edits(play, query, &slab);
        }
        state = advance(play, query, &slab, 1 + below(play, grant_max));
    } while (state == FM_QUERY_RUNNING);
    fm_slab_fini(&slab);
    return query;
}

// ---- checking ----

// That the answer's cells are a legal path whose numbers are what the answer says. Returns its
// cost.
static uint32_t check_path(struct play *play, const fm_query_answer *answer)
{
    const fm_view *view = &play->world.view;
    CHECK(play, answer->cell_count >= 1 && answer->cells[0] == play->from);
    uint32_t cost = 0, diagonals = 0;
    for (uint32_t i = 1; i < answer->cell_count; i++) {
        fm_cell from = answer->cells[i - 1], to = answer->cells[i];
        CHECK(play, reference_is_legal(view, from, to));
        cost += reference_step_cost(view, from, to);
        diagonals += fm_cell_direction(from, to) & 1;
    }
    CHECK(play, answer->cost == cost);
    CHECK(play, answer->diagonal_count == diagonals);
    CHECK(play, answer->straight_count == answer->cell_count - 1 - diagonals);
    double length = fm_view_length(view, answer->cells, answer->cell_count);
    CHECK(play, fabs(answer->length - length) < 1e-6 * (1 + length));
    return cost;
}

static void check_answer(struct play *play, const fm_query_answer *answer)
{
    const fm_view *view = &play->world.view;
    reference costs = reference_measure(view, play->from);
    uint32_t cost = check_path(play, answer);
    fm_cell last = answer->cells[answer->cell_count - 1];
    CHECK(play, cost == reference_cost(&costs, last));
    if (answer->state == FM_QUERY_FOUND) {
        CHECK(play, last == play->to);
        reference_fini(&costs);
        return;
    }
    CHECK(play, answer->state == FM_QUERY_UNREACHABLE);
    CHECK(play, reference_cost(&costs, play->to) >= FM_COST_INFINITE);
    uint32_t distance = fm_view_distance(view, last, play->to);
    for (uint32_t y = 0; y < view->height; y++) {
        for (uint32_t x = 0; x < view->width; x++) {
            uint32_t other_cost = reference_cost(&costs, fm_cell_at(x, y));
            uint32_t other = fm_view_distance(view, fm_cell_at(x, y), play->to);
            CHECK(play, other_cost >= FM_COST_INFINITE || other > distance ||
                            (other == distance && other_cost >= cost));
        }
    }
    reference_fini(&costs);
}

// The limit is exact: what a query needs is enough, and one expansion less is not.
static void check_limit(struct play *play, uint64_t expansions)
{
    fm_query *query = ask(play, expansions, 50, false);
    CHECK(play, fm_query_result(query).state != FM_QUERY_LIMIT);
    fm_query_destroy(query);
    if (expansions == 0) {
        return;
    }
    query = ask(play, expansions - 1, 50, false);
    fm_query_answer answer = fm_query_result(query);
    CHECK(play, answer.state == FM_QUERY_LIMIT);
    CHECK(play, answer.cell_count == 0 && answer.expansions == expansions - 1);
    fm_query_destroy(query);
}

static void play_init(struct play *play, uint64_t seed)
{
    play->seed = seed;
    bool large = seed % 8 == 0;
    fog_init(&play->world, seed, large ? 40 : 1, large ? 90 : 20, seed % 2 == 0);
    fm_scratch_init(&play->scratch, &play->world.memory.memory);
}

static void play_fini(struct play *play)
{
    fm_scratch_fini(&play->scratch);
    fog_fini(&play->world);
}

static uint64_t world_seed(uint32_t i)
{
    return fm_mix64(fm_test_seed() + i) / 8 * 8 + i % 8;
}

static void answers_match_a_plain_search(void **state)
{
    (void)state;
    uint32_t found = 0, unreachable = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct play play;
        play_init(&play, world_seed(i));
        for (uint32_t j = 0; j < 6; j++) {
            play.from = any_cell(&play);
            play.to = any_cell(&play);
            if (fm_view_is_blocked(&play.world.view, play.from)) {
                fm_query *none = NULL;
                assert_int_equal(fm_query_create(&play.world.view, play.from, play.to, UNLIMITED,
                                                 &fm_memory_libc, &none),
                                 FM_ERR_BLOCKED_CELL);
                assert_null(none);
                continue;
            }
            fm_query *query = ask(&play, UNLIMITED, below(&play, 2) ? 3 : 1000, j % 2 == 0);
            fm_query_answer answer = fm_query_result(query);
            check_answer(&play, &answer);
            check_limit(&play, answer.expansions);
            found += answer.state == FM_QUERY_FOUND;
            unreachable += answer.state == FM_QUERY_UNREACHABLE;
            fm_query_destroy(query);
        }
        play_fini(&play);
    }
    assert_true(found > WORLDS / 2 && unreachable > WORLDS / 2); // else the worlds are no good
}

// Queries that are dropped at any point, or run out of memory, leave nothing behind (fog_fini()
// checks that).
static void nothing_leaks(void **state)
{
    (void)state;
    uint32_t exhausted = 0;
    for (uint32_t i = 0; i < NO_MEMORY_WORLDS; i++) {
        struct play play;
        play_init(&play, world_seed(10000 + i));
        play.from = fog_free_cell(&play.world);
        play.to = any_cell(&play);
        if (fm_view_is_blocked(&play.world.view, play.from)) {
            play_fini(&play);
            continue;
        }
        play.world.memory.left = below(&play, 2) ? UNLIMITED : below(&play, 16);
        fm_slab slab;
        fm_slab_init(&slab, &play.world.memory.memory);
        fm_query *query;
        if (fm_query_create(&play.world.view, play.from, play.to, UNLIMITED,
                            &play.world.memory.memory, &query) == FM_OK) {
            fm_query_state query_state = FM_QUERY_RUNNING;
            for (uint32_t calls = below(&play, 8); calls > 0; calls--) {
                query_state = advance(&play, query, &slab, 1 + below(&play, 20));
            }
            if (query_state == FM_QUERY_RUNNING && fm_query_detach(query) != FM_OK) {
                query_state = fm_query_result(query).state;
                CHECK(&play, query_state == FM_QUERY_EXHAUSTED);
            }
            exhausted += query_state == FM_QUERY_EXHAUSTED;
            fm_query_destroy(query);
        }
        fm_slab_fini(&slab);
        play_fini(&play);
    }
    assert_true(exhausted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_match_a_plain_search),
        cmocka_unit_test(nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
