// test_query.c: a query answers what a plain search on the same map answers.
//
// Queries ask for paths between random cells in random worlds of all rules and weights, in grants
// of random size, with and without a worker's scratch; some queries are moved to a copy while the
// map changes. A plain reference knows the cost of every cell: a path must be legal and as cheap,
// and if the goal is unreachable, it must lead to the nearest reachable cell, by the cheapest of
// the paths to such a cell, or to the substitute that was named. The nearest of several goals and
// every cell of a field are compared with the same reference.
// Half of the paths name a planner, and a heuristic for it, possibly landmarks; planners that
// promise less must keep their own promises. In trials every planner that fits is interrupted at
// random, with the same checks; its answer must not depend on the interruptions.

#include "tests/support/support.h"

#include "core/map/view_copy.h"
#include "core/planners/query.h"
#include "core/search/scratch.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"

#include <math.h>

#define WORLDS           1200u
#define EDITS_MAX        20u
#define UNLIMITED        UINT64_MAX
#define NO_MEMORY_WORLDS 300u
#define TRIAL_WORLDS     120u

#define GOALS_MAX 6u

enum kind {
    KIND_PATH,
    KIND_SUBSTITUTE, // a path whose substitute is known
    KIND_NEAREST,
    KIND_FIELD,
};

struct play {
    enum kind kind;
    fm_cell goals[GOALS_MAX];
    uint32_t goal_count;
    fm_box box;
    uint32_t reachable;
    fm_cell substitute;
    fm_view_copy *copy; // that the query reads
    fog world;
    uint64_t seed;
    fm_scratch scratch;
    fm_cell from, to;
    fm_planner_spec spec; // ops NULL: the best one
    bool optimal;
    bool is_kept_short; // of the path no more cells are kept than:
    uint32_t cells_max;
    fm_heuristic_tables tables;
    fog_tables made;
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

static fm_status create_any(struct play *play, uint64_t expansions_max, fm_query **query)
{
    const fm_view *view = &play->world.view;
    const fm_memory *memory = &play->world.memory.memory;
    fm_status status = FM_OK;
    switch (play->kind) {
    case KIND_PATH:
        return fm_query_create(view, play->from, play->to, expansions_max, memory, query);
    case KIND_SUBSTITUTE:
        status = fm_query_create(view, play->from, play->to, expansions_max, memory, query);
        if (status == FM_OK) {
            fm_query_use_substitute(*query, play->substitute);
        }
        return status;
    case KIND_NEAREST:
        return fm_query_create_nearest(view, play->from, play->goals, play->goal_count,
                                       expansions_max, memory, query);
    case KIND_FIELD:
        return fm_query_create_field(view, play->from, play->box, play->reachable, expansions_max,
                                     memory, query);
    }
    return FM_ERR_BAD_VALUE;
}

static fm_query *create(struct play *play, uint64_t expansions_max)
{
    fm_query *query;
    CHECK(play, create_any(play, expansions_max, &query) == FM_OK);
    if (play->spec.ops != NULL && play->kind == KIND_PATH) {
        CHECK(play, fm_query_use_planner(query, &play->spec) == FM_OK);
    }
    if (play->is_kept_short) {
        fm_query_keep_cells(query, play->cells_max);
    }
    return query;
}

// Names a planner, or none.
static void choose_planner(struct play *play)
{
    uint32_t count = 0;
    while (fm_planner_catalogue[count] != NULL) {
        count += 1;
    }
    const fm_view *view = &play->world.view;
    fm_planner_spec spec = {.ops = fm_planner_catalogue[below(play, count)]};
    if (spec.ops->guidance != FM_GUIDED_BY_ITS_OWN) {
        spec.options.heuristic = below(play, 2) == 0
                                     ? FM_HEURISTIC_LANDMARKS
                                     : (fm_heuristic_kind)below(play, FM_HEURISTIC_COUNT);
    }
    fm_query *query;
    fm_status created = fm_query_create(view, play->from, play->to, 1, &fm_memory_libc, &query);
    CHECK(play, created == FM_OK);
    bool taken = fm_query_use_planner(query, &spec) == FM_OK;
    fm_query_destroy(query);
    play->spec = taken && below(play, 4) > 0 ? spec : (fm_planner_spec){0};
    play->optimal = play->spec.ops == NULL || fog_promises_cheapest(&spec, view);
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

static bool move_to_copy(struct play *play, fm_query *query)
{
    fm_view_copy *copy;
    if (fm_view_copy_create(&play->world.view, &play->world.memory.memory, &copy) != FM_OK) {
        fm_query_give_up(query);
        return false;
    }
    fm_query_move(query, &copy->view);
    fm_view_copy_destroy(play->copy);
    play->copy = copy;
    return true;
}

static void drop(struct play *play, fm_query *query)
{
    fm_query_destroy(query);
    fm_view_copy_destroy(play->copy);
    play->copy = NULL;
}

// Changes the map, runs a query on a copy for a while, and restores the map.
static void advance_under_edits(struct play *play, fm_query *query, fm_slab *slab)
{
    CHECK(play, move_to_copy(play, query));
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

// Checks that the answer's cells are a legal path with the length and cost of the answer. Returns
// its cost.
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
    CHECK(play, !play->optimal || cost == reference_cost(&costs, last));
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
                            (other == distance && (other_cost >= cost || !play->optimal)));
        }
    }
    reference_fini(&costs);
}

// A goal of least cost: the first one, or any other of equal cost.
static void check_nearest(struct play *play, const fm_query_answer *answer)
{
    reference costs = reference_measure(&play->world.view, play->from);
    uint32_t least = FM_COST_INFINITE;
    bool named = false;
    for (uint32_t i = 0; i < play->goal_count; i++) {
        uint32_t cost = reference_cost(&costs, play->goals[i]);
        least = cost < least ? cost : least;
        named = named || play->goals[i] == answer->target;
    }
    if (answer->state == FM_QUERY_UNREACHABLE) {
        CHECK(play, least >= FM_COST_INFINITE && answer->cell_count == 0);
    } else {
        CHECK(play, answer->state == FM_QUERY_FOUND && named);
        CHECK(play, check_path(play, answer) == least);
        CHECK(play, answer->cells[answer->cell_count - 1] == answer->target);
    }
    reference_fini(&costs);
}

static void check_field(struct play *play, const fm_query_answer *answer)
{
    CHECK(play, answer->state == FM_QUERY_FOUND);
    reference costs = reference_measure(&play->world.view, play->from);
    const fm_box *box = &play->box;
    const uint32_t *cost = answer->costs;
    for (int32_t y = box->top; y <= box->bottom; y++) {
        for (int32_t x = box->left; x <= box->right; x++) {
            CHECK(play, *cost++ == reference_cost(&costs, fm_cell_at((uint32_t)x, (uint32_t)y)));
        }
    }
    reference_fini(&costs);
}

// With the substitute named beforehand the answer is the one that the query would have found.
static void check_substitute(struct play *play, const fm_query_answer *answer)
{
    play->kind = KIND_SUBSTITUTE;
    play->substitute = answer->cells[answer->cell_count - 1];
    fm_query *query = ask(play, UNLIMITED, 100, true);
    fm_query_answer named = fm_query_result(query);
    CHECK(play, named.state == FM_QUERY_UNREACHABLE && named.cost == answer->cost);
    CHECK(play, named.target == play->substitute);
    check_path(play, &named);
    drop(play, query);
    play->kind = KIND_PATH;
}

// The limit is exact: a query ends with as many expansions as it needs, but not with one less.
static void check_limit(struct play *play, uint64_t expansions)
{
    fm_query *query = ask(play, expansions, 50, false);
    CHECK(play, fm_query_result(query).state != FM_QUERY_LIMIT);
    drop(play, query);
    if (expansions == 0) {
        return;
    }
    query = ask(play, expansions - 1, 50, false);
    fm_query_answer answer = fm_query_result(query);
    CHECK(play, answer.state == FM_QUERY_LIMIT);
    CHECK(play, answer.cell_count == 0 && answer.expansions == expansions - 1);
    drop(play, query);
}

// A path that is too long to be kept has its cost and length, but no cells.
static void check_kept(struct play *play, const fm_query_answer *answer)
{
    play->is_kept_short = true;
    play->cells_max = below(play, 2 * answer->cell_count + 1);
    fm_query *query = ask(play, UNLIMITED, 100, false);
    fm_query_answer kept = fm_query_result(query);
    uint32_t cell_count = kept.straight_count + kept.diagonal_count + 1; // of another path, perhaps
    bool fits = cell_count <= play->cells_max;
    CHECK(play, kept.state == answer->state);
    CHECK(play, kept.cells_dropped == !fits);
    CHECK(play, kept.cell_count == (fits ? cell_count : 0));
    CHECK(play, (kept.cells == NULL) == !fits);
    CHECK(play, kept.cost == answer->cost || !play->optimal);
    CHECK(play, kept.length > 0 || answer->length == 0);
    fm_query_drop_cells(query);
    CHECK(play, fm_query_result(query).cells == NULL && fm_query_result(query).cost == kept.cost);
    drop(play, query);
    play->is_kept_short = false;
}

static void play_init(struct play *play, uint64_t seed)
{
    play->seed = seed;
    bool large = seed % 8 == 0;
    fog_init(&play->world, seed, large ? 40 : 1, large ? 90 : 20, seed % 2 == 0);
    fm_scratch_init(&play->scratch, &play->world.memory.memory);
    play->spec = (fm_planner_spec){0};
    play->optimal = true;
    play->tables = (fm_heuristic_tables){.allow_stale = seed % 3 == 0};
    play->made = (fog_tables){0};
    play->world.view.tables = &play->tables;
    if (!large) {
        fog_tables_make(&play->made, &play->world, FM_HEURISTIC_LANDMARKS, &play->tables);
    }
}

static void play_fini(struct play *play)
{
    fm_scratch_fini(&play->scratch);
    fog_tables_fini(&play->made);
    fog_fini(&play->world);
}

static uint64_t world_seed(uint32_t i)
{
    return fm_mix64(fm_test_seed() + i) / 8 * 8 + i % 8;
}

static void make_question(struct play *play, enum kind kind)
{
    play->kind = kind;
    play->from = any_cell(play);
    play->to = any_cell(play);
    play->goal_count = 1 + below(play, GOALS_MAX);
    for (uint32_t i = 0; i < play->goal_count; i++) {
        play->goals[i] = any_cell(play);
    }
    fm_cell corners[2] = {any_cell(play), any_cell(play)};
    play->box = fm_box_around(corners, 2);
    play->reachable = UINT32_MAX;
    if (kind == KIND_FIELD && below(play, 2) == 0) {
        reference costs = reference_measure(&play->world.view, play->from);
        play->reachable = 0;
        for (int32_t y = play->box.top; y <= play->box.bottom; y++) {
            for (int32_t x = play->box.left; x <= play->box.right; x++) {
                fm_cell cell = fm_cell_at((uint32_t)x, (uint32_t)y);
                play->reachable += reference_cost(&costs, cell) < FM_COST_INFINITE;
            }
        }
        reference_fini(&costs);
    }
}

static fm_query_state ask_and_check(struct play *play, bool edits)
{
    if (fm_view_is_blocked(&play->world.view, play->from)) {
        fm_query *none = NULL;
        assert_int_equal(create_any(play, UNLIMITED, &none), FM_ERR_BLOCKED_CELL);
        assert_null(none);
        return FM_QUERY_RUNNING;
    }
    if (play->kind == KIND_PATH) {
        choose_planner(play);
    }
    fm_query *query = ask(play, UNLIMITED, below(play, 2) ? 3 : 1000, edits);
    fm_query_answer answer = fm_query_result(query);
    switch (play->kind) {
    case KIND_PATH:
        check_answer(play, &answer);
        break;
    case KIND_NEAREST:
        check_nearest(play, &answer);
        break;
    case KIND_FIELD:
        check_field(play, &answer);
        break;
    case KIND_SUBSTITUTE:
        break;
    }
    // A query that uses tables starts over when it is moved away from them.
    if (!edits || play->spec.options.heuristic == FM_HEURISTIC_DEFAULT) {
        check_limit(play, answer.expansions);
    }
    if (answer.cell_count > 0) {
        check_kept(play, &answer);
    }
    if (play->kind == KIND_PATH && play->optimal && answer.state == FM_QUERY_UNREACHABLE) {
        check_substitute(play, &answer);
    }
    drop(play, query);
    return answer.state;
}

static void answers_match_a_plain_search(void **state)
{
    (void)state;
    static const enum kind kinds[] = {KIND_PATH, KIND_PATH,    KIND_PATH,
                                      KIND_PATH, KIND_NEAREST, KIND_FIELD};
    uint32_t counts[FM_QUERY_EXHAUSTED + 1] = {0};
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct play play = {0};
        play_init(&play, world_seed(i));
        for (uint32_t j = 0; j < FM_COUNT_OF(kinds); j++) {
            make_question(&play, kinds[j]);
            counts[ask_and_check(&play, j % 2 == 0)] += 1;
        }
        play_fini(&play);
    }
    // Else the worlds test nothing.
    assert_true(counts[FM_QUERY_FOUND] > WORLDS / 2);
    assert_true(counts[FM_QUERY_UNREACHABLE] > WORLDS / 2);
}

// Queries that are dropped at any point, or run out of memory, do not leak (fog_fini() checks
// that).
static void nothing_leaks(void **state)
{
    (void)state;
    uint32_t exhausted = 0;
    for (uint32_t i = 0; i < NO_MEMORY_WORLDS; i++) {
        struct play play = {0};
        play_init(&play, world_seed(10000 + i));
        static const enum kind kinds[] = {KIND_PATH, KIND_NEAREST, KIND_FIELD};
        make_question(&play, kinds[i % 3]);
        play.from = fog_free_cell(&play.world);
        if (fm_view_is_blocked(&play.world.view, play.from)) {
            play_fini(&play);
            continue;
        }
        play.world.memory.left = below(&play, 2) ? UNLIMITED : below(&play, 16);
        fm_slab slab;
        fm_slab_init(&slab, &play.world.memory.memory);
        fm_query *query;
        if (create_any(&play, UNLIMITED, &query) == FM_OK) {
            fm_query_state query_state = FM_QUERY_RUNNING;
            for (uint32_t calls = below(&play, 8); calls > 0; calls--) {
                query_state = advance(&play, query, &slab, 1 + below(&play, 20));
            }
            if (query_state == FM_QUERY_RUNNING && !move_to_copy(&play, query)) {
                query_state = fm_query_result(query).state;
                CHECK(&play, query_state == FM_QUERY_EXHAUSTED);
            }
            exhausted += query_state == FM_QUERY_EXHAUSTED;
            drop(&play, query);
        }
        fm_slab_fini(&slab);
        play_fini(&play);
    }
    assert_true(exhausted > 0);
}

// ---- trials ----

static bool passes_at_random(void *context)
{
    struct play *play = context;
    return below(play, 6) == 0;
}

// Runs a trial to its end; `random` interrupts it now and then.
static fm_query *try_planner(struct play *play, const fm_planner_spec *spec, bool random)
{
    const fm_query_trial trial = {
        .from = play->from,
        .to = play->to,
        .spec = spec,
        .box = {.right = (int32_t)play->world.width - 1, .bottom = (int32_t)play->world.height / 2},
        .cells_max = 50};
    fm_query *query;
    fm_status status = fm_query_create_trial(&play->world.view, &trial, UNLIMITED,
                                             &play->world.memory.memory, &query);
    if (status == FM_ERR_BAD_VALUE) {
        return NULL;
    }
    CHECK(play, status == FM_OK);
    fm_query_state state;
    do {
        fm_work work = {.expansions_max = UINT32_MAX, .scratch = &play->scratch};
        if (random) {
            work.deadline = (fm_deadline){.passed = passes_at_random, .context = play};
        }
        state = fm_query_advance(query, &work);
    } while (state == FM_QUERY_RUNNING);
    return query;
}

// @return whether the planner fits the world
static bool check_trial(struct play *play, const fm_planner_spec *spec)
{
    fm_query *query = try_planner(play, spec, false);
    if (query == NULL) {
        return false;
    }
    fm_query_answer answer = fm_query_result(query);
    reference costs = reference_measure(&play->world.view, play->from);
    uint32_t least = reference_cost(&costs, play->to);
    reference_fini(&costs);
    CHECK(play, answer.state != FM_QUERY_EXHAUSTED && answer.state != FM_QUERY_LIMIT);
    CHECK(play, answer.state == FM_QUERY_PARTIAL ||
                    (answer.state == FM_QUERY_UNREACHABLE) == (least >= FM_COST_INFINITE));
    if (answer.state == FM_QUERY_FOUND) {
        uint32_t cost = check_path(play, &answer);
        CHECK(play, answer.cells[answer.cell_count - 1] == play->to);
        CHECK(play, cost == least || !fog_promises_cheapest(spec, &play->world.view));
    } else if (answer.state == FM_QUERY_PARTIAL) {
        CHECK(play, spec->ops->real_time);
        check_path(play, &answer);
    }
    CHECK(play, answer.search_count <= 50 &&
                    answer.search_count <= answer.open_count + answer.closed_count + 50);
    for (uint32_t i = 0; i < answer.search_count; i++) {
        CHECK(play, fm_cell_y(answer.search[i].cell) <= play->world.height / 2);
    }
    fm_query *other = try_planner(play, spec, true);
    fm_query_answer same = fm_query_result(other);
    CHECK(play, same.state == answer.state && same.cost == answer.cost);
    drop(play, query);
    drop(play, other);
    return true;
}

static void trials_say_what_planners_say(void **state)
{
    (void)state;
    uint32_t trials = 0;
    for (uint32_t world = 0; world < TRIAL_WORLDS; world++) {
        struct play play = {0};
        play_init(&play, world_seed(20000 + world));
        play.from = any_cell(&play);
        play.to = any_cell(&play);
        for (uint32_t i = 0; fm_planner_catalogue[i] != NULL; i++) {
            fm_planner_spec spec = {.ops = fm_planner_catalogue[i]};
            spec.options.lookahead =
                spec.ops->real_time && below(&play, 2) ? 1 + below(&play, 30) : 0;
            trials += !fm_view_is_blocked(&play.world.view, play.from) && check_trial(&play, &spec);
        }
        play_fini(&play);
    }
    assert_true(trials > TRIAL_WORLDS * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_match_a_plain_search),
        cmocka_unit_test(nothing_leaks),
        cmocka_unit_test(trials_say_what_planners_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
