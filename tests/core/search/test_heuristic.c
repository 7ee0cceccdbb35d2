// test_heuristic.c: what core/search/heuristic.h promises of each kind, on random maps that
// change.
//
//   - Where a kind is said to be never too high, no estimate exceeds the true cost, and where it is
//     said to be consistent, h(u) <= c(u, v) + h(v) on every step; h(target) is 0. That stays so
//     through random edits in both directions: tables that have become wrong are not used.
//   - Where a kind is said not to be consistent, or not to be admissible, there is a map that
//     proves it: the mark is not just caution.
//   - Names lead to kinds and back, and planners refuse the heuristics that they cannot take.

#include "tests/support/support.h"

#include "core/planners/catalogue.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"

#define WORLDS 150u
#define EDITS  8u

// How often a kind proved its negative marks: not consistent, not admissible.
struct offences {
    uint32_t too_high, inconsistent;
};

static void check_cell(const fm_heuristic *h, const reference *costs, fm_cell cell, uint64_t seed,
                       struct offences *offences)
{
    const fm_view *view = h->view;
    uint32_t here = fm_heuristic_estimate(h, cell);
    bool too_high = here > reference_cost(costs, cell);
    offences->too_high += too_high;
    if (too_high && h->admissible) {
        fail_msg("%s, world %llu: too high", fm_heuristic_name(h->wanted),
                 (unsigned long long)seed);
    }
    for (uint32_t moves = fm_view_moves(view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell to = fm_cell_step(cell, d);
        bool falls = here > fm_view_cost(view, cell, d, to) + fm_heuristic_estimate(h, to);
        offences->inconsistent += falls;
        if (falls && h->consistent) {
            fail_msg("%s, world %llu: not consistent", fm_heuristic_name(h->wanted),
                     (unsigned long long)seed);
        }
    }
}

static void check_all_cells(const fm_heuristic *h, uint64_t seed, struct offences *offences)
{
    const fm_view *view = h->view;
    reference costs = reference_measure(view, h->target);
    if (h->consistent) {
        assert_int_equal(fm_heuristic_estimate(h, h->target), 0);
    }
    assert_true(fm_heuristic_is_current(h));
    for (uint32_t y = 0; y < view->height; y++) {
        for (uint32_t x = 0; x < view->width; x++) {
            check_cell(h, &costs, fm_cell_at(x, y), seed, offences);
        }
    }
    reference_fini(&costs);
}

static void play(fm_heuristic_kind kind, uint64_t seed, struct offences *offences)
{
    fog world;
    fog_tables made = {0};
    fm_heuristic_tables tables = {.allow_stale = seed % 3 == 0};
    fog_init(&world, seed, 3, 14, false);
    world.view.tables = &tables;
    fog_tables_make(&made, &world, kind, &tables);
    for (uint32_t i = 0; i < EDITS; i++) {
        for (uint32_t strict = 0; strict < 2; strict++) {
            fm_heuristic h =
                fm_heuristic_towards(&world.view, kind, fog_free_cell(&world), strict == 1);
            assert_true(h.consistent || strict == 0);
            check_all_cells(&h, seed, offences);
        }
        fog_edit(&world, FM_CELL_NONE);
        fog_settle_changes(&world);
        fog_tables_follow(&world, &tables);
        world.change_count = 0;
    }
    fog_tables_fini(&made);
    fog_fini(&world);
}

static void test_estimates_keep_their_promises(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < FM_HEURISTIC_COUNT; kind++) {
        struct offences offences = {0};
        for (uint32_t i = 0; i < WORLDS; i++) {
            play((fm_heuristic_kind)kind, fm_mix64(fm_mix64(fm_test_seed()) + i), &offences);
        }
        bool may_be_stale = kind == FM_HEURISTIC_LANDMARKS || kind == FM_HEURISTIC_CLUSTER;
        bool manhattan = kind == FM_HEURISTIC_MANHATTAN;
        assert_int_equal(offences.too_high > 0, manhattan || may_be_stale);
        assert_int_equal(offences.inconsistent > 0, manhattan || may_be_stale);
    }
}

// On an open map octile distance and new landmarks are exact along a row; the others fall short.
static void test_the_stronger_the_more(void **state)
{
    (void)state;
    fog world;
    fog_init(&world, 5, 12, 14, true);
    fm_cell from = fm_cell_at(1, 2), to = fm_cell_at(8, 6); // dx 7, dy 4
    world.view.tables = NULL;
    fm_view_set_rules(&world.view, FM_CONNECT_8, FM_STEPS_10_14);
    static const struct {
        fm_heuristic_kind kind;
        uint32_t estimate;
    } expected[] = {{FM_HEURISTIC_DEFAULT, 86},   {FM_HEURISTIC_ZERO, 0},
                    {FM_HEURISTIC_OCTILE, 86},    {FM_HEURISTIC_MANHATTAN, 110},
                    {FM_HEURISTIC_CHEBYSHEV, 70}, {FM_HEURISTIC_EUCLIDEAN, 79},
                    {FM_HEURISTIC_CLUSTER, 86},   {FM_HEURISTIC_LANDMARKS, 86}};
    for (size_t i = 0; i < FM_COUNT_OF(expected); i++) {
        fm_heuristic h = fm_heuristic_towards(&world.view, expected[i].kind, to, false);
        assert_int_equal(fm_heuristic_estimate(&h, from), expected[i].estimate);
    }
    fog_fini(&world);
}

static fm_status parse(const char *text, fm_planner_spec *spec)
{
    char error[128];
    return fm_planner_spec_parse(text, spec, error, sizeof error);
}

static void test_planners_take_what_they_can(void **state)
{
    (void)state;
    fm_planner_spec spec;
    assert_int_equal(parse("astar:heuristic=landmarks", &spec), FM_OK);
    assert_int_equal(spec.options.heuristic, FM_HEURISTIC_LANDMARKS);
    char text[FM_PLANNER_SPEC_SIZE];
    fm_planner_spec_format(&spec, text, sizeof text);
    assert_string_equal(text, "astar:heuristic=landmarks");
    assert_int_equal(parse("astar:heuristic=crow", &spec), FM_ERR_BAD_VALUE);
    static const char *const with_empty[] = {"astar:", "astar:,heuristic=landmarks",
                                             "astar:heuristic=landmarks,",
                                             "astar:heuristic=landmarks,,ties=larger-g"};
    for (uint32_t i = 0; i < FM_COUNT_OF(with_empty); i++) {
        char error[128] = "", expected[128];
        snprintf(expected, sizeof expected, "an option of planner '%s' is empty", with_empty[i]);
        assert_int_equal(fm_planner_spec_parse(with_empty[i], &spec, error, sizeof error),
                         FM_ERR_BAD_VALUE);
        assert_string_equal(error, expected);
    }
    assert_int_equal(parse("dstar-lite:heuristic=landmarks", &spec), FM_ERR_BAD_VALUE);
    assert_int_equal(parse("adaptive-astar:heuristic=cluster", &spec), FM_ERR_BAD_VALUE);
    assert_int_equal(parse("astar:heuristic=cluster", &spec), FM_OK);
    // That Manhattan distances are consistent is a matter of the world.
    assert_int_equal(parse("adaptive-astar:heuristic=manhattan", &spec), FM_OK);
    assert_true(fm_planner_spec_fits(&spec, FM_CONNECT_4, false));
    assert_false(fm_planner_spec_fits(&spec, FM_CONNECT_8, false));
    for (uint32_t i = 0; i < FM_HEURISTIC_COUNT; i++) {
        fm_heuristic_kind kind;
        assert_true(fm_heuristic_by_name(fm_heuristic_name((fm_heuristic_kind)i), &kind));
        assert_int_equal(kind, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates_keep_their_promises),
        cmocka_unit_test(test_the_stronger_the_more),
        cmocka_unit_test(test_planners_take_what_they_can),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
