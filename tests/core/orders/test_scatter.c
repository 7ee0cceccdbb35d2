// test_scatter.c: one order for many units to spread out.
//
// Method: on open ground and on random maps in fog, places must be different free cells within the
// radius, apart from each other by at least half of what a bound on packings allows, and dealt out
// so that exchanging two never shortens the way by much. Two worlds that differ only in what the
// team does not know must give the same places.

#include "core/map/labels.h"
#include "core/planners/auto.h"
#include "tests/support/order_scene.h"
#include "tests/support/reference.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

#define UNITS_MAX 400u

struct party {
    fm_agent_id units[UNITS_MAX];
    uint32_t count;
};

static struct party spawn_block(struct order_scene *scene, uint32_t x, uint32_t y, uint32_t count)
{
    struct party party = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        party.units[i] = scene_spawn(scene, 1, x + i % 10, y + i / 10);
    }
    return party;
}

static uint64_t scatter(struct order_scene *scene, const struct party *party, const fm_cell *middle,
                        uint32_t radius)
{
    fm_command_result result = scene_give(scene, (fm_command){.order = FM_ORDER_SCATTER,
                                                              .agents = party->units,
                                                              .agent_count = party->count,
                                                              .cells = middle,
                                                              .cell_count = middle != NULL,
                                                              .radius = radius});
    assert_int_equal(result.status, FM_OK);
    assert_int_equal(result.changed_count, party->count);
    return result.first_order;
}

// Where the units go, or stand if they have arrived.
static void read_goals(const struct order_scene *scene, const struct party *party, fm_cell *goals)
{
    for (uint32_t i = 0; i < party->count; i++) {
        fm_agent_report report = scene_look(scene, party->units[i]);
        goals[i] = report.order == 0 ? report.cell : report.goal;
    }
}

static double apart(fm_cell a, fm_cell b)
{
    return hypot(fm_cell_dx(a, b), fm_cell_dy(a, b));
}

static double least_apart(fm_cell cell, const fm_cell *cells, uint32_t count)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double distance = apart(cell, cells[i]);
        least = distance < least ? distance : least;
    }
    return least;
}

static double least_distance(const fm_cell *cells, uint32_t count)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double distance = least_apart(cells[i], cells, i);
        least = distance < least ? distance : least;
    }
    return least;
}

// ---- open ground --------------------------------------------------------------------------------

// No packing of `count` points in a region of `area` cells (and its rim) has a larger least
// distance than 2 / sqrt(3) * the triangular one by more than the rim; half of that is wanted.
static void they_end_apart_from_each_other(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 5, 12, 40, 150, 250};
    for (uint32_t i = 0; i < FM_COUNT_OF(counts); i++) {
        for (uint32_t radius = 4; radius <= 36; radius *= 3) {
            struct order_scene scene = scene_make(NULL, 128, 128, true);
            struct party party = spawn_block(&scene, 60, 40, counts[i]);
            fm_cell middle = fm_cell_at(64, 64), goals[UNITS_MAX];
            uint64_t first = scatter(&scene, &party, &middle, radius);
            read_goals(&scene, &party, goals);
            // An octagon: cells that are at most `radius` straight steps' cost away.
            double area = 3.3 * radius * radius;
            double least = least_distance(goals, party.count);
            bool fits = party.count * 2 <= area;
            for (uint32_t j = 0; j < party.count && fits; j++) {
                assert_true(fm_view_distance(fm_world_view(scene.world, FM_ALL_TEAMS), middle,
                                             goals[j]) <= radius * 10);
            }
            if (party.count > 1) {
                assert_true(least >= 1);
                assert_true(!fits || least >= 0.5 * sqrt(1.1547 * area / party.count) - 0.5);
            }
            scene_run(&scene, 200);
            assert_int_equal(scene.ended_count, party.count);
            for (uint32_t j = 0; j < party.count; j++) {
                assert_int_equal(scene_look(&scene, party.units[j]).cell, goals[j]);
                assert_int_equal(scene_ending(&scene, first + j).reason, FM_END_ARRIVED);
            }
            fm_world_destroy(scene.world);
        }
    }
}

// Nobody would gain from exchanging places: less than one pair in a hundred.
static void ways_hardly_cross(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 128, 128, true);
    struct party party = spawn_block(&scene, 50, 50, 200);
    fm_cell goals[UNITS_MAX], starts[UNITS_MAX];
    for (uint32_t i = 0; i < party.count; i++) {
        starts[i] = scene_look(&scene, party.units[i]).cell;
    }
    scatter(&scene, &party, NULL, 30);
    read_goals(&scene, &party, goals);
    uint32_t better = 0, pairs = 0;
    for (uint32_t i = 0; i < party.count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            double now = apart(starts[i], goals[i]) + apart(starts[j], goals[j]);
            double then = apart(starts[i], goals[j]) + apart(starts[j], goals[i]);
            better += then < now - 1e-6;
            pairs += 1;
        }
    }
    assert_true(better * 100 < pairs);
    fm_world_destroy(scene.world);
}

// Without a middle they spread from where they stand, each with about nine cells.
static void without_a_middle_they_stay_where_they_are(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 128, 128, true);
    struct party party = spawn_block(&scene, 60, 60, 50);
    fm_cell goals[UNITS_MAX];
    scatter(&scene, &party, NULL, 0);
    read_goals(&scene, &party, goals);
    assert_true(least_distance(goals, party.count) >= 2);
    for (uint32_t i = 0; i < party.count; i++) {
        assert_true(apart(goals[i], fm_cell_at(64, 62)) <= 15);
    }
    fm_world_destroy(scene.world);
}

static void commands_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id units[2] = {scene_spawn(&scene, 1, 3, 3), scene_spawn(&scene, 2, 5, 5)};
    fm_cell cells[2] = {fm_cell_at(4, 4), fm_cell_at(8, 8)};
    fm_command command = {.order = FM_ORDER_SCATTER, .agents = units, .agent_count = 1};
    fm_command two_teams = command, two_cells = command, spread = command, once = command;
    two_teams.agent_count = 2;
    two_cells.cells = cells;
    two_cells.cell_count = 2;
    spread.spread = true;
    once.once = true;
    fm_command_result result = scene_give(&scene, two_teams);
    assert_int_equal(result.status, FM_ERR_BAD_VALUE);
    assert_int_equal(result.failed_index, 1);
    assert_int_equal(scene_give(&scene, two_cells).status, FM_ERR_BAD_VALUE);
    assert_int_equal(scene_give(&scene, spread).status, FM_ERR_BAD_VALUE);
    assert_int_equal(scene_give(&scene, once).status, FM_ERR_BAD_VALUE);
    assert_int_equal(scene_give(&scene, command).status, FM_OK);
    fm_world_destroy(scene.world);
}

// ---- maps ---------------------------------------------------------------------------------------

static uint32_t count_reached(const reference *costs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < costs->width * costs->height; i++) {
        count += costs->cost[i] != FM_COST_INFINITE;
    }
    return count;
}

static uint32_t count_different(const fm_cell *cells, uint32_t count)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < count; i++) {
        different += i == 0 || least_apart(cells[i], cells, i) > 0;
    }
    return different;
}

// Goals are believed free and connected with where the units are. They are different, or all such
// cells where these are fewer than the units.
static void goals_are_free_as_far_as_known(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 40; i++) {
        struct order_scene scene =
            scene_make_fog(&random, i % 2 ? FM_GENERATOR_RANDOM : FM_GENERATOR_ROOMS,
                           40 + fm_random_below(&random, 40), false);
        struct party party = {.count = 1 + fm_random_below(&random, 60)};
        fm_cell start = scene_free_cell(&scene, &random), goals[UNITS_MAX];
        for (uint32_t j = 0; j < party.count; j++) {
            party.units[j] = scene_spawn(&scene, 1, fm_cell_x(start), fm_cell_y(start));
        }
        scene_run(&scene, 3);
        fm_cell middle = scene_free_cell(&scene, &random);
        bool named = fm_random_below(&random, 2) == 0;
        scatter(&scene, &party, named ? &middle : NULL, fm_random_below(&random, 20));
        read_goals(&scene, &party, goals);
        const fm_view *view = fm_world_view(scene.world, 1);
        reference costs = reference_measure(view, start);
        uint32_t reached = count_reached(&costs);
        assert_int_equal(count_different(goals, party.count),
                         reached < party.count ? reached : party.count);
        for (uint32_t j = 0; j < party.count; j++) {
            assert_false(fm_view_is_blocked(view, goals[j]));
            assert_int_not_equal(reference_cost(&costs, goals[j]), FM_COST_INFINITE);
        }
        reference_fini(&costs);
        fm_world_destroy(scene.world);
    }
}

// A wall that nobody has seen changes nothing; one that was seen does.
static void only_what_is_known_decides(void **state)
{
    (void)state;
    fm_cell goals[3][UNITS_MAX];
    for (uint32_t i = 0; i < 3; i++) {
        struct order_scene scene = scene_make(NULL, 64, 64, false);
        struct party party = spawn_block(&scene, 28, 28, 40);
        scene_run(&scene, 1);
        if (i > 0) {
            scene_wall(&scene, i == 1 ? (fm_rect){28, 46, 12, 3} : (fm_rect){28, 34, 12, 3});
            scene_run(&scene, 1);
        }
        scatter(&scene, &party, NULL, 24);
        read_goals(&scene, &party, goals[i]);
        fm_world_destroy(scene.world);
    }
    assert_memory_equal(goals[0], goals[1], 40 * sizeof(fm_cell));
    assert_memory_not_equal(goals[0], goals[2], 40 * sizeof(fm_cell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_end_apart_from_each_other),
        cmocka_unit_test(ways_hardly_cross),
        cmocka_unit_test(without_a_middle_they_stay_where_they_are),
        cmocka_unit_test(commands_that_do_not_fit_are_refused),
        cmocka_unit_test(goals_are_free_as_far_as_known),
        cmocka_unit_test(only_what_is_known_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
