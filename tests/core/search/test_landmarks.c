// test_landmarks.c: the tables that core/search/heuristic_survey.h makes, compared with plain
// searches.
//
//   - On a map at rest each landmark's costs are the true ones, landmarks differ and are free
//     cells, and the distance of two tiles is that of their nearest cells, wherever the work was
//     suspended.
//   - While walls are built during the work, estimates from the tables are consistent and never too
//     high. Once a step has become cheaper no table is used, unless stale ones are allowed, until
//     new ones are ready; on a map that comes to rest they get ready.
//   - farthest and avoid give better estimates than random; landmarks past the goal of an order are
//     behind it; with the adaptive rule the least used landmark moves to the goal of recent orders.
//   - Memory may run out anywhere: then there are no tables, and nothing leaks.

#include "tests/support/support.h"

#include "core/search/heuristic_survey.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"

#define TICKS_MAX 100000u

struct play {
    fog world;
    fm_slab slab;
    fm_heuristic_survey *survey;
    fm_landmark_rules rules;
};

// In a world of any costs, or a uniform one.
static void play_in(struct play *play, uint64_t seed, uint32_t side_max, bool uniform,
                    fm_landmark_rules rules)
{
    *play = (struct play){.rules = rules};
    fog_init(&play->world, seed, 6, side_max, uniform);
    const fm_memory *memory = &play->world.memory.memory;
    fm_slab_init(&play->slab, memory);
    assert_int_equal(
        fm_heuristic_survey_create(&play->world.view, rules, seed, memory, &play->survey), FM_OK);
    play->world.view.tables = &play->survey->tables;
}

static void play_init(struct play *play, uint64_t seed, uint32_t side_max, fm_landmark_rules rules)
{
    play_in(play, seed, side_max, false, rules);
}

static void play_fini(struct play *play)
{
    fm_heuristic_survey_destroy(play->survey);
    fm_slab_fini(&play->slab);
    fog_fini(&play->world);
}

static void tick(struct play *play, uint32_t grant)
{
    fog_settle_changes(&play->world);
    fm_heuristic_survey_follow(play->survey, play->world.changes, play->world.change_count, true);
    play->world.change_count = 0;
    while (grant > 0 && fm_heuristic_survey_is_busy(play->survey)) {
        fm_work work = {.slab = &play->slab, .expansions_max = grant};
        fm_heuristic_survey_advance(play->survey, &work);
        assert_true(work.expansions <= grant);
        grant -= work.expansions > 0 ? work.expansions : grant;
    }
}

// Works until nothing is left to do on the current map.
static void come_to_rest(struct play *play)
{
    uint32_t idle_ticks = 0;
    for (uint32_t i = 0; i < TICKS_MAX && idle_ticks < 20; i++) {
        tick(play, 1 + fm_random_below(&play->world.random, 500));
        idle_ticks = fm_heuristic_survey_is_busy(play->survey) ? 0 : idle_ticks + 1;
    }
    assert_int_equal(idle_ticks, 20);
}

static void want(struct play *play, fm_heuristic_kind kind)
{
    fm_heuristic_survey_want(play->survey, kind, fog_free_cell(&play->world),
                             fog_free_cell(&play->world));
}

static fm_landmark_rules random_rules(fm_random *random)
{
    return (fm_landmark_rules){.count = 1 + fm_random_below(random, 6),
                               .placement = (fm_placement)fm_random_below(random, 4),
                               .adaptive = fm_random_below(random, 2) == 0,
                               .allow_stale = fm_random_below(random, 2) == 0};
}

// ---- at rest ------------------------------------------------------------------------------------

static void check_landmarks(struct play *play)
{
    const fm_landmark_table *table = &play->survey->tables.landmarks;
    const fm_view *view = &play->world.view;
    assert_int_equal(table->count, play->rules.count);
    assert_false(table->stale);
    for (uint32_t i = 0; i < table->count; i++) {
        fm_cell cell = play->survey->landmarks.live[i].cell;
        assert_false(fm_view_is_blocked(view, cell));
        reference costs = reference_measure(view, cell);
        assert_memory_equal(costs.cost, table->costs[i], fm_distance_field_costs_size(view));
        reference_fini(&costs);
    }
}

static void check_clusters(struct play *play)
{
    fog_tables made = {0};
    fm_heuristic_tables plain = {.clusters = play->survey->tables.clusters};
    fm_cluster_table *table = &play->survey->tables.clusters;
    fog_tables_measure_clusters(&made, &play->world, &plain.clusters);
    assert_memory_equal(made.clusters, table->costs,
                        table->count * table->count * sizeof *table->costs);
    fog_tables_fini(&made);
}

static void test_tables_are_exact_at_rest(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 150; i++) {
        struct play play;
        play_init(&play, fm_random_next(&random), 24, random_rules(&random));
        want(&play, FM_HEURISTIC_LANDMARKS);
        if (i % 10 == 0) {
            want(&play, FM_HEURISTIC_CLUSTER);
        }
        come_to_rest(&play);
        check_landmarks(&play);
        if (i % 10 == 0) {
            check_clusters(&play);
        }
        play_fini(&play);
    }
}

// ---- while the map changes ----------------------------------------------------------------------

static void check_estimates(struct play *play, fm_heuristic_kind kind)
{
    const fm_view *view = &play->world.view;
    fm_heuristic h = fm_heuristic_towards(view, kind, fog_free_cell(&play->world), false);
    assert_true(h.admissible || play->rules.allow_stale);
    if (!h.admissible) {
        return;
    }
    reference costs = reference_measure(view, h.target);
    for (uint32_t y = 0; y < view->height; y++) {
        for (uint32_t x = 0; x < view->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            uint32_t here = fm_heuristic_estimate(&h, cell);
            assert_true(here <= reference_cost(&costs, cell));
            for (uint32_t moves = h.consistent ? fm_view_moves(view, cell) : 0; moves != 0;
                 moves &= moves - 1) {
                uint32_t d = (uint32_t)__builtin_ctz(moves);
                fm_cell to = fm_cell_step(cell, d);
                assert_true(here <=
                            fm_view_cost(view, cell, d, to) + fm_heuristic_estimate(&h, to));
            }
        }
    }
    reference_fini(&costs);
}

// Blocks a free cell, or makes it costlier.
static void make_dearer(fog *world)
{
    fm_cell cell = fog_free_cell(world);
    if (!fm_bitmap_get(&world->blocked, cell)) {
        fog_toggle(world, cell);
    }
}

static void test_tables_never_mislead(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t used = 0;
    for (uint32_t i = 0; i < 100; i++) {
        struct play play;
        fm_heuristic_kind kind = i % 4 == 0 ? FM_HEURISTIC_CLUSTER : FM_HEURISTIC_LANDMARKS;
        play_init(&play, fm_random_next(&random), 16, random_rules(&random));
        want(&play, kind);
        for (uint32_t t = 0; t < 200; t++) {
            if (fm_random_below(&random, 6) == 0) {
                make_dearer(&play.world);
            }
            if (fm_random_below(&random, 60) == 0) {
                fog_edit(&play.world, FM_CELL_NONE);
            }
            if (fm_random_below(&random, 5) == 0) {
                want(&play, kind);
            }
            tick(&play, 1 + fm_random_below(&random, 400));
            check_estimates(&play, kind);
            used += fm_heuristic_towards(&play.world.view, kind, 0, false).kind == kind;
        }
        come_to_rest(&play);
        check_estimates(&play, kind);
        play_fini(&play);
    }
    assert_true(used > 1000); // else nothing was tested
}

static void test_cheaper_steps_make_tables_stale(void **state)
{
    (void)state;
    for (uint32_t allow = 0; allow < 2; allow++) {
        struct play play;
        play_init(&play, fm_test_seed(), 20,
                  (fm_landmark_rules){.count = 3, .allow_stale = allow == 1});
        want(&play, FM_HEURISTIC_LANDMARKS);
        come_to_rest(&play);
        const fm_view *view = &play.world.view;
        fm_heuristic before = fm_heuristic_towards(view, FM_HEURISTIC_LANDMARKS, 0, false);
        assert_true(before.admissible);
        fm_cell cell = fog_free_cell(&play.world);
        fog_toggle(&play.world, cell);
        tick(&play, 0);
        assert_true(fm_heuristic_is_current(&before)); // a wall changes nothing
        fog_toggle(&play.world, cell);
        tick(&play, 0);
        assert_false(fm_heuristic_is_current(&before));
        fm_heuristic lax = fm_heuristic_towards(view, FM_HEURISTIC_LANDMARKS, 0, false);
        fm_heuristic strict = fm_heuristic_towards(view, FM_HEURISTIC_LANDMARKS, 0, true);
        assert_int_equal(strict.kind, FM_HEURISTIC_DEFAULT);
        assert_int_equal(lax.kind, allow == 1 ? FM_HEURISTIC_LANDMARKS : FM_HEURISTIC_DEFAULT);
        assert_int_equal(lax.admissible, allow == 0);
        come_to_rest(&play);
        assert_true(fm_heuristic_towards(view, FM_HEURISTIC_LANDMARKS, 0, true).admissible);
        assert_false(play.survey->tables.landmarks.stale);
        play_fini(&play);
    }
}

// ---- placement ----------------------------------------------------------------------------------

// The share of the true costs between random cells that landmarks give, in 1/1000.
static uint64_t strength(uint64_t seed, fm_placement placement)
{
    struct play play;
    play_init(&play, seed, 40, (fm_landmark_rules){.count = 3, .placement = placement});
    want(&play, FM_HEURISTIC_LANDMARKS);
    come_to_rest(&play);
    uint64_t estimated = 0, true_costs = 0;
    fm_random random = fm_random_seed(seed); // the same cells for all placements
    for (uint32_t i = 0; i < 40; i++) {
        fm_cell goal = fm_cell_at(fm_random_below(&random, play.world.width),
                                  fm_random_below(&random, play.world.height));
        fm_heuristic h =
            fm_heuristic_towards(&play.world.view, FM_HEURISTIC_LANDMARKS, goal, false);
        reference costs = reference_measure(&play.world.view, goal);
        for (uint32_t j = 0; j < 20; j++) {
            fm_cell cell = fm_cell_at(fm_random_below(&random, play.world.width),
                                      fm_random_below(&random, play.world.height));
            if (reference_cost(&costs, cell) < FM_COST_INFINITE) {
                true_costs += reference_cost(&costs, cell);
                estimated += fm_heuristic_estimate(&h, cell);
            }
        }
        reference_fini(&costs);
    }
    play_fini(&play);
    return true_costs == 0 ? 1000 : estimated * 1000 / true_costs;
}

static void test_placements_differ_in_strength(void **state)
{
    (void)state;
    uint64_t sums[4] = {0};
    for (uint32_t i = 0; i < 60; i++) {
        for (uint32_t placement = 0; placement < 4; placement++) {
            sums[placement] += strength(fm_mix64(fm_test_seed() + i), (fm_placement)placement);
        }
    }
    assert_true(sums[FM_PLACE_FARTHEST] > sums[FM_PLACE_RANDOM]);
    assert_true(sums[FM_PLACE_AVOID] > sums[FM_PLACE_RANDOM]);
}

// On dear ground a way round the goal may cost less than one over it.
static fm_landmarks *open_ground(struct play *play, fm_landmark_rules rules)
{
    play_in(play, 3, 24, true, rules);
    for (uint32_t y = 0; y < play->world.height; y++) {
        for (uint32_t x = 0; x < play->world.width; x++) {
            if (fm_bitmap_get(&play->world.blocked, fm_cell_at(x, y))) {
                fog_toggle(&play->world, fm_cell_at(x, y));
                play->world.change_count = 0;
            }
        }
    }
    return &play->survey->landmarks;
}

static void test_past_the_goal_is_behind_it(void **state)
{
    (void)state;
    struct play play;
    fm_landmarks *landmarks =
        open_ground(&play, (fm_landmark_rules){.count = 1, .placement = FM_PLACE_PAST_THE_GOAL});
    fm_cell start = fm_cell_at(0, 1), goal = fm_cell_at(2, 1);
    fm_heuristic_survey_want(play.survey, FM_HEURISTIC_LANDMARKS, start, goal);
    come_to_rest(&play);
    fm_cell behind = landmarks->live[0].cell;
    reference from_start = reference_measure(&play.world.view, start);
    reference from_goal = reference_measure(&play.world.view, goal);
    assert_true(behind != goal);
    assert_int_equal(reference_cost(&from_start, behind),
                     reference_cost(&from_start, goal) + reference_cost(&from_goal, behind));
    // So the estimate is exact.
    fm_heuristic h = fm_heuristic_towards(&play.world.view, FM_HEURISTIC_LANDMARKS, goal, true);
    assert_int_equal(fm_heuristic_estimate(&h, start), reference_cost(&from_start, goal));
    reference_fini(&from_start);
    reference_fini(&from_goal);
    play_fini(&play);
}

static void test_the_least_used_landmark_moves(void **state)
{
    (void)state;
    struct play play;
    fm_landmarks *landmarks = open_ground(&play, (fm_landmark_rules){.count = 3, .adaptive = true});
    fm_cell start = fm_cell_at(0, 0), goal = fm_cell_at(3, 2);
    fm_heuristic_survey_want(play.survey, FM_HEURISTIC_LANDMARKS, start, goal);
    come_to_rest(&play);
    fm_landmark before[3];
    memcpy(before, landmarks->live, sizeof before);
    for (uint32_t i = 0; i < FM_LANDMARK_ERRANDS_MAX; i++) {
        fm_heuristic_survey_want(play.survey, FM_HEURISTIC_LANDMARKS, start, goal);
    }
    uint32_t least = 0, at_goal = 0, moved = 0;
    for (uint32_t i = 0; i < 3; i++) {
        least = landmarks->live[i].used < landmarks->live[least].used ? i : least;
    }
    come_to_rest(&play);
    for (uint32_t i = 0; i < 3; i++) {
        at_goal += landmarks->live[i].cell == goal;
        moved += landmarks->live[i].cell != before[i].cell;
    }
    assert_int_equal(at_goal, 1);
    assert_int_equal(moved, 1);
    assert_int_equal(landmarks->live[least].cell, goal);
    check_landmarks(&play);
    play_fini(&play);
}

// ---- memory -------------------------------------------------------------------------------------

static void test_memory_may_run_out(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 150; i++) {
        struct play play;
        play_init(&play, fm_random_next(&random), 24, random_rules(&random));
        play.rules.allow_stale = true; // tables are not read here
        want(&play, FM_HEURISTIC_LANDMARKS);
        want(&play, FM_HEURISTIC_CLUSTER);
        play.world.memory.left = fm_random_below(&random, 60);
        for (uint32_t t = 0; t < 60; t++) {
            if (fm_random_below(&random, 10) == 0) {
                fog_edit(&play.world, FM_CELL_NONE);
            }
            tick(&play, 1 + fm_random_below(&random, 2000));
            check_estimates(&play, FM_HEURISTIC_LANDMARKS);
        }
        play_fini(&play);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_are_exact_at_rest),
        cmocka_unit_test(test_tables_never_mislead),
        cmocka_unit_test(test_cheaper_steps_make_tables_stale),
        cmocka_unit_test(test_placements_differ_in_strength),
        cmocka_unit_test(test_past_the_goal_is_behind_it),
        cmocka_unit_test(test_the_least_used_landmark_moves),
        cmocka_unit_test(test_memory_may_run_out),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
