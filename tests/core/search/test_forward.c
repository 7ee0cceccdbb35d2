// test_forward.c: what must hold inside the planners that share core/search/forward_search.h,
// besides the right answers, which test_planners.c checks for all planners.
//
//   - After any event, in any order, suspended anywhere, the estimates are consistent on every
//     usable edge and never above the true distance, whatever was learned, lowered or shifted, and
//     whatever became of the tables that the first estimates came from.
//   - This also holds when the numbers of searches wrap around, after thousands of searches.
//   - A second search in a world that did not change needs no more expansions when it may learn,
//     or keep paths, than when it may not.
//   - Time-bounded searches pay for tracing their path as for expanding, also when the goal has
//     been reached. Whatever gets blocked while they trace, only the agent's path and the trace are
//     marked, and every step of both is possible at its cost.
//   - The open lists, buckets and heap, return what was pushed in the order of the keys.

#include "tests/support/support.h"

#include "core/search/forward_search.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"

static const fm_planner_ops *const learners[] = {
    &fm_adaptive_astar, &fm_mpgaa_star,    &fm_tbaa_star,      &fm_rtaa_star,      &fm_artaa_star,
    &fm_dartaa_star,    &fm_lss_lrta_star, &fm_alss_lrta_star, &fm_dalss_lrta_star};

// Heuristics that learners can use in every world; half of the time landmarks.
static const fm_heuristic_kind kinds[] = {
    FM_HEURISTIC_DEFAULT,   FM_HEURISTIC_ZERO,      FM_HEURISTIC_OCTILE,    FM_HEURISTIC_CHEBYSHEV,
    FM_HEURISTIC_EUCLIDEAN, FM_HEURISTIC_LANDMARKS, FM_HEURISTIC_LANDMARKS, FM_HEURISTIC_LANDMARKS};

// ---- estimates ----

static uint32_t estimate(const fm_forward *forward, fm_cell cell)
{
    return fm_forward_estimate(forward, fm_forward_find(forward, cell), cell);
}

static void check_estimates(const fog_planner *planner, const char *name, uint64_t seed)
{
    const fm_forward *forward = planner->self; // their first member
    if (!fm_heuristic_is_current(&forward->heuristic)) {
        return; // the next search looks at the tables first
    }
    const fm_view *view = &planner->world->view;
    if (forward->repairs.count > 0) {
        return; // in the middle of lowering or learning
    }
    reference costs = reference_measure(view, planner->goal);
    if (estimate(forward, planner->goal) != 0) {
        fail_msg("%s, world %llu: h(goal) > 0", name, (unsigned long long)seed);
    }
    for (uint32_t y = 0; y < view->height; y++) {
        for (uint32_t x = 0; x < view->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            uint32_t h = estimate(forward, cell);
            if (h > reference_cost(&costs, cell)) {
                fail_msg("%s, world %llu: h(%u, %u) is too high", name, (unsigned long long)seed, x,
                         y);
            }
            for (uint32_t moves = fm_view_moves(view, cell); moves != 0; moves &= moves - 1) {
                uint32_t d = (uint32_t)__builtin_ctz(moves);
                fm_cell to = fm_cell_step(cell, d);
                if (h > fm_view_cost(view, cell, d, to) + estimate(forward, to)) {
                    fail_msg("%s, world %llu: h is not consistent from (%u, %u) in direction %u",
                             name, (unsigned long long)seed, x, y, d);
                }
            }
        }
    }
    reference_fini(&costs);
}

static void walk(fog_planner *planner)
{
    fm_cell next = planner->ops->next_step(planner->self, planner->starts[0]);
    if (next != FM_CELL_NONE && next != planner->goal) {
        planner->starts[0] = next;
    } else if (next == planner->goal || fm_random_below(&planner->world->random, 8) == 0) {
        planner->starts[0] = fog_free_cell(planner->world);
    }
}

static void live(const fm_planner_ops *ops, uint64_t seed, uint32_t ticks, uint32_t check_every)
{
    fog world;
    fog_planner planner;
    fog_init(&world, seed, 3, 14, false);
    fm_random *random = &world.random;
    fm_planner_options options = {.queue = (fm_queue_kind)fm_random_below(random, 2),
                                  .lookahead = fm_random_below(random, 8),
                                  .heuristic = kinds[fm_random_below(random, FM_COUNT_OF(kinds))]};
    fog_tables made = {0};
    fm_heuristic_tables tables = {.allow_stale = seed % 3 == 0};
    world.view.tables = &tables;
    fog_planner_init(&planner, &world, ops, &options);
    for (uint32_t tick = 0; tick < ticks; tick++) {
        if (fm_random_below(random, 4) == 0) {
            fog_edit(&world, planner.starts[0]);
        }
        if (fm_random_below(random, 20) == 0) {
            planner.goal = fog_free_cell(&world);
            ops->set_goal(planner.self, planner.goal, &planner.slab);
        }
        fog_settle_changes(&world);
        fog_tables_follow(&world, &tables);
        if (fm_random_below(random, 30) == 0) {
            fog_tables_make(&made, &world, options.heuristic, &tables);
        }
        fog_planner_tell(&planner);
        world.change_count = 0;
        fog_planner_advance(&planner, 1 + fm_random_below(random, seed % 2 == 0 ? 3 : 40), 0);
        if (tick % check_every == 0) {
            check_estimates(&planner, ops->name, seed);
        }
        walk(&planner);
    }
    fog_planner_fini(&planner);
    fog_tables_fini(&made);
    fog_fini(&world);
}

static void test_estimates_stay_consistent(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(learners); i++) {
        for (uint32_t world = 0; world < 120; world++) {
            live(learners[i], fm_mix64(fm_mix64(fm_test_seed()) + world), 60, 1);
        }
    }
}

static void test_estimates_outlive_the_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(learners); i++) {
        for (uint32_t world = 0; world < 2; world++) {
            live(learners[i], fm_mix64(fm_mix64(fm_test_seed()) + 1000 + world),
                 4 * FM_FORWARD_SEARCHES_MAX, 97);
        }
    }
}

// ---- learning pays ----

// Expansions of the next search after the agent was set back to its start.
static uint32_t expansions_of_second_search(const fm_planner_ops *ops, uint64_t seed)
{
    fog world;
    fog_planner planner;
    fog_init(&world, seed, 20, 30, true);
    // An exact tie-break, so that learning does not change which cells come first.
    fog_planner_init(&planner, &world, ops,
                     &(fm_planner_options){.queue = FM_QUEUE_HEAP, .ties = FM_TIES_LARGER_G});
    fm_cell first = planner.starts[0];
    fog_planner_tell(&planner);
    fog_planner_advance(&planner, UINT32_MAX, 0);
    planner.starts[0] = fog_free_cell(&world);
    fog_planner_tell(&planner);
    fog_planner_advance(&planner, UINT32_MAX, 0);
    planner.starts[0] = first;
    uint32_t before = planner.work.expansions;
    fog_planner_tell(&planner);
    fog_planner_advance(&planner, UINT32_MAX, 0);
    uint32_t expansions = planner.work.expansions - before;
    fog_planner_fini(&planner);
    fog_fini(&world);
    return expansions;
}

static void test_learning_saves_expansions(void **state)
{
    (void)state;
    uint64_t plain = 0, learning = 0, paths = 0;
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t seed = fm_mix64(fm_mix64(fm_test_seed()) + 2000 + i);
        plain += expansions_of_second_search(&fm_repeated_forward_astar, seed);
        learning += expansions_of_second_search(&fm_adaptive_astar, seed);
        paths += expansions_of_second_search(&fm_mpgaa_star, seed);
    }
    assert_true(learning < plain);
    assert_true(paths < learning);
}

// ---- traces ----

#define CELLS_PER_UNIT 10u // in core/planners/time_bounded.c

// An open world, and an agent in its west that wants to go to its east.
static void cross(fog *world, fog_planner *planner, const fm_planner_ops *ops)
{
    fog_init(world, fm_test_seed(), 60, 60, true);
    for (uint32_t y = 0; y < world->height; y++) {
        for (uint32_t x = 0; x < world->width; x++) {
            if (fm_view_is_blocked(&world->view, fm_cell_at(x, y))) {
                fog_toggle(world, fm_cell_at(x, y));
                world->change_count = 0; // no planner exists yet
            }
        }
    }
    fog_planner_init(planner, world, ops, &(fm_planner_options){0});
    planner->starts[0] = fm_cell_at(2, 30);
    planner->goal = fm_cell_at(55, 30);
    ops->set_goal(planner->self, planner->goal, &planner->slab);
    fog_planner_tell(planner);
}

static const fm_planner_ops *const traced[] = {&fm_tba_star, &fm_rtba_star, &fm_tbaa_star};

static void test_traces_are_charged(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(traced); i++) {
        fog world;
        fog_planner planner;
        cross(&world, &planner, traced[i]);
        fm_plan_state answer = FM_PLAN_RUNNING;
        uint32_t units = 0;
        for (; answer != FM_PLAN_FOUND; units++) {
            answer = fog_planner_advance(&planner, 1, 0);
            assert_int_equal(planner.work.expansions, units + 1); // none exceeds its grant
        }
        uint32_t steps = traced[i]->path(planner.self, planner.starts[0], NULL, 0) - 1;
        assert_int_equal(steps, 53);
        assert_in_range(planner.work.secondary, steps / CELLS_PER_UNIT, units / 2);
        fog_planner_fini(&planner);
        fog_fini(&world);
    }
}

struct frontier {
    fm_cell best; // the open cell that would be expanded next
    uint64_t key;
    uint32_t g;
};

static void look_at_open(const fm_inspection *cell, void *context)
{
    struct frontier *frontier = context;
    bool better =
        cell->key < frontier->key || (cell->key == frontier->key && cell->g > frontier->g);
    if (cell->open && better) {
        *frontier = (struct frontier){cell->cell, cell->key, cell->g};
    }
}

// Blocks the cell that the trace has just reached, or will reach.
static void block_best(fog *world, fog_planner *planner)
{
    struct frontier frontier = {.best = FM_CELL_NONE, .key = UINT64_MAX};
    planner->ops->inspect(planner->self, look_at_open, &frontier);
    if (frontier.best != FM_CELL_NONE && frontier.best != planner->starts[0] &&
        frontier.best != planner->goal && !fm_view_is_blocked(&world->view, frontier.best)) {
        fog_toggle(world, frontier.best);
    }
}

static fm_forward_node *marked_node(const fm_forward *forward, fm_cell cell)
{
    fm_forward_node *node = fm_forward_find(forward, cell);
    return node != NULL && node->next != FM_NO_DIRECTION ? node : NULL;
}

// An inner step has its known cost; the last cell of a path is open and may have become cheaper.
static void check_mark(const fog *world, const fm_forward *forward, fm_cell cell, fm_cell to)
{
    const fm_forward_node *node = fm_forward_find(forward, cell);
    assert_true(reference_is_legal(&world->view, cell, to));
    if (marked_node(forward, to) != NULL) {
        uint32_t cost = fm_view_cost(&world->view, cell, node->next, to);
        assert_int_equal(fm_forward_find(forward, to)->g, node->g + cost);
    }
}

// Every marked step is possible, and the marks form at most a path and a trace: only the ends of
// these two are cells that a mark leads to and that have no mark.
static void check_marks(const fog *world, const fog_planner *planner)
{
    const fm_forward *forward = planner->self; // their first member
    fm_cell ends[2] = {FM_CELL_NONE, FM_CELL_NONE};
    for (uint32_t i = 0; i < world->width * world->height; i++) {
        fm_cell cell = fm_cell_at(i % world->width, i / world->width);
        const fm_forward_node *node = marked_node(forward, cell);
        if (node == NULL) {
            continue;
        }
        fm_cell to = fm_cell_step(cell, node->next);
        check_mark(world, forward, cell, to);
        if (marked_node(forward, to) == NULL && to != ends[0] && to != ends[1]) {
            assert_true(ends[1] == FM_CELL_NONE);
            ends[ends[0] != FM_CELL_NONE] = to;
        }
    }
}

enum where {
    AT_AN_END,
    ON_A_WAY,
    IN_THE_TREE,
    BEHIND_THE_AGENT,
    WHERE_COUNT,
};

static bool lies_there(const fm_forward *forward, fm_cell cell, enum where where)
{
    const fm_forward_node *node = fm_forward_find(forward, cell);
    if (!fm_forward_is_reached(forward, node)) {
        return false;
    }
    bool is_closed = node->closed != FM_FORWARD_REACHED, is_marked = marked_node(forward, cell);
    bool follows_mark = false;
    if (node->parent != FM_NO_DIRECTION) {
        const fm_forward_node *parent = marked_node(forward, fm_cell_step(cell, node->parent));
        follows_mark = parent != NULL && (parent->next ^ 4) == node->parent;
    }
    switch (where) {
    case AT_AN_END:
        return follows_mark && !is_marked;
    case ON_A_WAY:
        return is_marked;
    case IN_THE_TREE:
        return is_closed && !is_marked;
    case BEHIND_THE_AGENT: {
        const fm_forward_node *start = fm_forward_find(forward, forward->start);
        return start->parent != FM_NO_DIRECTION &&
               fm_cell_step(forward->start, start->parent) == cell;
    }
    case WHERE_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

// A wall, or costlier ground, in one of these cells.
static void block_one(fog *world, fog_planner *planner, enum where where)
{
    fm_cell chosen = FM_CELL_NONE;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->width * world->height; i++) {
        fm_cell cell = fm_cell_at(i % world->width, i / world->width);
        bool may_be = cell != planner->starts[0] && cell != planner->goal &&
                      !fm_view_is_blocked(&world->view, cell);
        if (may_be && lies_there(planner->self, cell, where) &&
            fm_random_below(&world->random, ++count) == 0) {
            chosen = cell;
        }
    }
    if (chosen == FM_CELL_NONE) {
        return;
    }
    if (world->weights != NULL && fm_random_below(&world->random, 2) == 0) {
        fog_weigh(world, chosen, 9);
    } else {
        fog_toggle(world, chosen);
    }
}

// Most grants are so small that the agent follows one path while the next one is traced.
static void test_a_way_ends_before_a_cell_that_got_blocked(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t marked_ticks = 0;
    for (uint32_t run = 0; run < 300; run++) {
        fog world;
        fog_planner planner;
        const fm_planner_ops *ops = traced[run % FM_COUNT_OF(traced)];
        fm_planner_options options = {.ties = (fm_ties)fm_random_below(&random, 3)};
        fog_init(&world, fm_random_next(&random), 20, run % 4 == 0 ? 60 : 40, run % 2 == 0);
        fog_planner_init(&planner, &world, ops, &options);
        for (uint32_t tick = 0; tick < 100; tick++) {
            switch (fm_random_below(&random, 8)) {
            case 0:
                block_best(&world, &planner);
                break;
            case 1:
                block_one(&world, &planner, (enum where)fm_random_below(&random, WHERE_COUNT));
                break;
            }
            fog_settle_changes(&world);
            fog_planner_tell(&planner);
            world.change_count = 0;
            uint32_t granted =
                fm_random_below(&random, 6) == 0 ? 30 : 1 + fm_random_below(&random, 3);
            fm_plan_state answer = fog_planner_advance(&planner, granted, 0);
            if (answer == FM_PLAN_PARTIAL || answer == FM_PLAN_RUNNING || answer == FM_PLAN_FOUND) {
                check_marks(&world, &planner);
                marked_ticks += marked_node(planner.self, planner.starts[0]) != NULL;
            }
            fm_cell next = ops->next_step(planner.self, planner.starts[0]);
            if (next != FM_CELL_NONE && next != planner.starts[0]) {
                assert_true(reference_is_legal(&world.view, planner.starts[0], next));
                planner.starts[0] = next;
            }
        }
        fog_planner_fini(&planner);
        fog_fini(&world);
    }
    assert_true(marked_ticks > 1000);
}

// ---- open lists ----

// Keys rise and fall within the span of the smallest, as those of A* do.
static void play_open_list(fm_queue_kind kind, fm_random *random)
{
    fog_memory memory;
    fog_memory_init(&memory);
    fm_open_list list;
    fm_open_init(&list, &memory.memory);
    uint32_t span = 1 + fm_random_below(random, 2000);
    static uint32_t queued[1 << 16]; // how many, by key
    memset(queued, 0, sizeof queued);
    assert_true(fm_open_clear(&list, kind, span));
    uint32_t least = fm_random_below(random, 1000), count = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        if (count == 0 || fm_random_below(random, 5) < 3) {
            uint32_t key = least + fm_random_below(random, span + 1);
            assert_true(fm_open_reserve(&list, kind, 1));
            fm_open_push(&list, kind, key, key);
            queued[key] += 1;
            count += 1;
            continue;
        }
        uint64_t key = fm_open_top_key(&list, kind);
        while (queued[least] == 0) {
            least += 1;
        }
        assert_int_equal(key, least);
        assert_int_equal(fm_open_top(&list, kind), key);
        fm_open_drop(&list, kind);
        queued[key] -= 1;
        count -= 1;
        assert_int_equal(list.count, count);
    }
    fm_open_fini(&list);
    assert_int_equal(memory.held, 0);
}

static void test_open_lists_keep_order(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 200; i++) {
        play_open_list(i % 2 == 0 ? FM_QUEUE_BUCKET : FM_QUEUE_HEAP, &random);
    }
}

static void test_bucket_takes_the_latest_first(void **state)
{
    (void)state;
    fm_open_list list;
    fm_open_init(&list, &fm_memory_libc);
    assert_true(fm_open_clear(&list, FM_QUEUE_BUCKET, 28));
    assert_true(fm_open_reserve(&list, FM_QUEUE_BUCKET, 3));
    fm_open_push(&list, FM_QUEUE_BUCKET, 1, 100);
    fm_open_push(&list, FM_QUEUE_BUCKET, 2, 100);
    fm_open_push(&list, FM_QUEUE_BUCKET, 3, 128);
    assert_int_equal(fm_open_top(&list, FM_QUEUE_BUCKET), 2);
    fm_open_drop(&list, FM_QUEUE_BUCKET);
    assert_int_equal(fm_open_top(&list, FM_QUEUE_BUCKET), 1);
    fm_open_drop(&list, FM_QUEUE_BUCKET);
    assert_int_equal(fm_open_top(&list, FM_QUEUE_BUCKET), 3);
    assert_int_equal(fm_open_top_key(&list, FM_QUEUE_BUCKET), 128);
    fm_open_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates_stay_consistent),
        cmocka_unit_test(test_estimates_outlive_the_numbers),
        cmocka_unit_test(test_learning_saves_expansions),
        cmocka_unit_test(test_traces_are_charged),
        cmocka_unit_test(test_a_way_ends_before_a_cell_that_got_blocked),
        cmocka_unit_test(test_open_lists_keep_order),
        cmocka_unit_test(test_bucket_takes_the_latest_first),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
