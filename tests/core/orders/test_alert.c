// test_alert.c: units that stop when an enemy is near, and resume when they are told to.
//
// Method: small open worlds, one tick at a time; checks of the units' cells and of the alerts in
// the views.

#include "core/views/unit_report.h"
#include "core/views/view_delta.h"
#include "core/world/given_orders.h"
#include "core/world/names.h"
#include "core/world/true_map.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

#define SENSE 5u // of the scene's worlds

static fm_command_result resume(struct order_scene *scene, uint32_t team, fm_agent_id agent,
                                uint32_t ticks)
{
    fm_command_result result = {0};
    fm_command command = {.kind = FM_COMMAND_RESUME,
                          .team = team,
                          .agents = &agent,
                          .agent_count = 1,
                          .ticks = ticks};
    fm_world_apply(scene->world, &command, &result);
    return result;
}

// Runs ticks until one has an alert. Returns the alert; order 0: none in so many ticks.
static fm_alert run_to_alert(struct order_scene *scene, uint32_t ticks_max)
{
    for (uint32_t i = 0; i < ticks_max; i++) {
        scene_run(scene, 1);
        fm_changes changes = fm_world_changes(scene->world, FM_ALL_TEAMS);
        if (changes.alert_count > 0) {
            assert_int_equal(changes.alert_count, 1);
            return changes.alerts[0];
        }
    }
    return (fm_alert){0};
}

static uint64_t attack_move(struct order_scene *scene, fm_agent_id unit, fm_cell goal,
                            uint32_t alert)
{
    return scene_order(
        scene, unit,
        (fm_command){.order = FM_ORDER_MOVE, .cells = &goal, .cell_count = 1, .alert = alert});
}

static void a_marching_unit_stops_and_goes_on(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 16, true);
    assert_int_equal(fm_world_watch(scene.world, 1, true), FM_OK);
    fm_agent_id unit = scene_spawn(&scene, 1, 2, 8), enemy = scene_spawn(&scene, 2, 30, 8);
    fm_cell goal = fm_cell_at(60, 8);
    uint64_t order = attack_move(&scene, unit, goal, 4);
    uint64_t then = scene_move_to(&scene, unit, 60, 2, true);
    fm_alert alert = run_to_alert(&scene, 60);
    assert_int_equal(alert.order, order);
    assert_int_equal(alert.agent.index1, unit.index1);
    assert_int_equal(alert.seen.index1, enemy.index1);
    assert_int_equal(alert.cell, fm_cell_at(30, 8));
    // The view of its team has aliases.
    fm_changes changes = fm_world_changes(scene.world, 1);
    assert_int_equal(changes.alert_count, 1);
    assert_int_equal(changes.alerts[0].number, 1);
    fm_agent_id named = fm_world_agent_named(scene.world, 1, changes.alerts[0].seen_name);
    assert_int_equal(named.index1, enemy.index1);
    // It stands, and there is one alert only.
    assert_int_equal(scene_look(&scene, unit).cell, fm_cell_at(26, 8));
    assert_int_equal(scene_look(&scene, unit).state, FM_AGENT_HOLDING);
    assert_int_equal(run_to_alert(&scene, 20).order, 0);
    assert_int_equal(scene_look(&scene, unit).cell, fm_cell_at(26, 8));
    fm_unit_report report;
    fm_cell path[4];
    assert_int_equal(fm_world_report_unit(scene.world, unit, &report, path, 4), FM_OK);
    assert_true(report.is_alerted);
    assert_int_equal(report.why, FM_WHY_ALERTED);
    // Another team cannot let it resume; while the enemy is still there, it stops again.
    assert_int_equal(resume(&scene, 2, unit, 0).status, FM_ERR_NO_AGENT);
    assert_int_equal(resume(&scene, 1, unit, 0).changed_count, 1);
    assert_int_equal(run_to_alert(&scene, 1).order, order);
    // For some ticks it stops for no enemy: it makes so many steps.
    assert_int_equal(resume(&scene, 1, unit, 3).changed_count, 1);
    assert_int_equal(run_to_alert(&scene, 4).order, order);
    assert_int_equal(scene_look(&scene, unit).cell, fm_cell_at(29, 8));
    // The enemy is dead: the unit goes to its goal, and its queue continues.
    scene_remove(&scene, enemy);
    assert_int_equal(resume(&scene, 1, unit, 0).changed_count, 1);
    assert_int_equal(run_to_alert(&scene, 60).order, 0);
    assert_int_equal(scene_ending(&scene, order).reason, FM_END_ARRIVED);
    assert_int_equal(scene_ending(&scene, then).reason, FM_END_ARRIVED);
    assert_int_equal(resume(&scene, 1, unit, 0).changed_count, 0); // it has no such order
    fm_world_destroy(scene.world);
}

// An enemy that the team does not see stops no unit, however near it is.
static void only_what_is_seen_stops(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 16, true);
    fm_agent_id unit = scene_spawn(&scene, 1, 2, 8);
    scene_spawn(&scene, 2, 30, 8);
    attack_move(&scene, unit, fm_cell_at(60, 8), 20);
    run_to_alert(&scene, 60);
    assert_int_equal(cells_apart(scene_look(&scene, unit).cell, fm_cell_at(30, 8)), SENSE);
    // A friend that sees farther stops it earlier.
    fm_agent_id other = scene_spawn(&scene, 1, 2, 2);
    scene_spawn(&scene, 1, 30, 4);
    attack_move(&scene, other, fm_cell_at(60, 2), 20);
    run_to_alert(&scene, 60);
    uint32_t apart = cells_apart(scene_look(&scene, other).cell, fm_cell_at(30, 8));
    assert_true(apart > SENSE && apart <= 20);
    fm_world_destroy(scene.world);
}

// The alert names the nearest of several enemies; of equally near ones the one on the smaller cell.
static void the_nearest_is_told(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 32, 32, true);
    fm_agent_id sentry = scene_spawn(&scene, 1, 16, 16);
    scene_spawn(&scene, 2, 16, 20);
    scene_spawn(&scene, 2, 13, 16);
    fm_agent_id north = scene_spawn(&scene, 2, 16, 13);
    uint64_t order = scene_order(&scene, sentry, (fm_command){.order = FM_ORDER_HOLD, .alert = 5});
    fm_alert alert = run_to_alert(&scene, 2);
    assert_int_equal(alert.order, order);
    assert_int_equal(alert.seen.index1, north.index1);
    assert_int_equal(run_to_alert(&scene, 5).order, 0);
    resume(&scene, 1, sentry, 0);
    assert_int_equal(run_to_alert(&scene, 2).order, order);
    assert_int_equal(scene_look(&scene, sentry).state, FM_AGENT_HOLDING);
    fm_world_destroy(scene.world);
}

static void every_kind_that_may_stops_and_goes_on(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < FM_ORDER_KIND_COUNT; kind++) {
        struct order_scene scene = scene_make(NULL, 48, 16, kind != FM_ORDER_EXPLORE);
        fm_agent_id unit = scene_spawn(&scene, 1, 2, 8), friend = scene_spawn(&scene, 1, 2, 2);
        fm_agent_id enemy = scene_spawn(&scene, 2, 6, 8);
        fm_cell goals[] = {fm_cell_at(40, 8), fm_cell_at(30, 2)};
        bool targets = kind == FM_ORDER_FOLLOW;
        fm_command_result result =
            scene_give(&scene, (fm_command){.order = (fm_order_kind)kind,
                                            .agents = &unit,
                                            .agent_count = 1,
                                            .cells = targets ? NULL : goals,
                                            .cell_count = targets                   ? 0
                                                          : kind == FM_ORDER_PATROL ? 2
                                                                                    : 1,
                                            .target = targets ? friend : (fm_agent_id){0},
                                            .alert = 5});
        bool may = kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL || kind == FM_ORDER_GUARD ||
                   kind == FM_ORDER_EXPLORE || kind == FM_ORDER_HOLD || kind == FM_ORDER_SCATTER;
        assert_int_equal(result.status, may ? FM_OK : FM_ERR_BAD_VALUE);
        if (may) {
            assert_int_equal(run_to_alert(&scene, 1).order, result.first_order);
            scene_run(&scene, 10);
            assert_int_equal(scene_look(&scene, unit).cell, fm_cell_at(2, 8));
            scene_remove(&scene, enemy);
            assert_int_equal(resume(&scene, 1, unit, 0).changed_count, 1);
            scene_run(&scene, 5);
            bool goes = scene_look(&scene, unit).cell != fm_cell_at(2, 8);
            assert_int_equal(goes, kind != FM_ORDER_HOLD);
        }
        fm_world_destroy(scene.world);
    }
}

// The nearest seen enemy of a unit, by looking at all units. Index 0: none
static fm_agent_id nearest_of(const struct order_scene *scene, const fm_agent_id *units,
                              uint32_t count, uint32_t i, uint32_t radius)
{
    const fm_view *view = &fm_world_map(scene->world)->truth;
    fm_agent_report unit = scene_look(scene, units[i]), best = {0};
    uint32_t best_distance = radius * view->step[0];
    fm_agent_id found = {0};
    for (uint32_t k = 0; k < count; k++) { // born in this order
        fm_agent_report other = scene_look(scene, units[k]);
        uint32_t distance = fm_view_distance(view, other.cell, unit.cell);
        bool is_tie = found.index1 != 0 && distance == best_distance;
        bool is_better =
            distance < best_distance ||
            (distance == best_distance && (!is_tie || other.cell < best.cell ||
                                           (other.cell == best.cell && other.team < best.team)));
        if (other.team != unit.team && is_better &&
            fm_lookouts_see(scene->world, unit.team, other.cell)) {
            best = other;
            best_distance = distance;
            found = units[k];
        }
    }
    return found;
}

// Units of both teams, many on one cell, each with an alert: whom it tells is whom a plain search
// finds.
static void whom_it_tells_is_the_nearest_seen(void **state)
{
    (void)state;
    uint32_t told = 0, asked = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        fm_random random = fm_random_seed(seed);
        struct order_scene scene = scene_make(NULL, 96, 96, true);
        fm_agent_id units[60];
        uint32_t count = FM_COUNT_OF(units), before = told;
        uint32_t radius = 4 + fm_random_below(&random, 61);
        for (uint32_t i = 0; i < count; i++) {
            units[i] = scene_spawn(&scene, 1 + fm_random_below(&random, 2),
                                   2 * fm_random_below(&random, 30), fm_random_below(&random, 96));
        }
        scene_give(&scene, (fm_command){.order = FM_ORDER_HOLD,
                                        .agents = units,
                                        .agent_count = count,
                                        .alert = radius});
        scene_run(&scene, 1);
        fm_changes changes = fm_world_changes(scene.world, FM_ALL_TEAMS);
        for (uint32_t i = 0; i < count; i++) {
            fm_agent_id expected = nearest_of(&scene, units, count, i, radius), got = {0};
            for (uint32_t k = 0; k < changes.alert_count; k++) {
                bool is_its = changes.alerts[k].agent.index1 == units[i].index1;
                got = is_its ? changes.alerts[k].seen : got;
            }
            assert_int_equal(got.index1, expected.index1);
            told += got.index1 != 0;
        }
        assert_int_equal(told - before, changes.alert_count);
        asked += count;
        fm_world_destroy(scene.world);
    }
    assert_true(told > asked / 8 && told < asked);
}

// However many units are on the alert, for each cell with enemies it is found out once in a tick
// whether their team sees it.
static void work_grows_with_the_enemies_only(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 64, true);
    fm_agent_id sentries[64];
    for (uint32_t i = 0; i < FM_COUNT_OF(sentries); i++) {
        sentries[i] = scene_spawn(&scene, 1, 20, i);
        scene_spawn(&scene, 2, 20 + SENSE + 1 + i % 2, i); // out of sight
    }
    scene_give(&scene, (fm_command){.order = FM_ORDER_HOLD,
                                    .agents = sentries,
                                    .agent_count = FM_COUNT_OF(sentries),
                                    .alert = 64});
    scene_run(&scene, 3);
    assert_int_equal(fm_world_orders(scene.world)->enemy_tiles.examined, 3 * FM_COUNT_OF(sentries));
    assert_int_equal(fm_world_changes(scene.world, FM_ALL_TEAMS).alert_count, 0);
    fm_world_destroy(scene.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marching_unit_stops_and_goes_on),
        cmocka_unit_test(only_what_is_seen_stops),
        cmocka_unit_test(the_nearest_is_told),
        cmocka_unit_test(every_kind_that_may_stops_and_goes_on),
        cmocka_unit_test(whom_it_tells_is_the_nearest_seen),
        cmocka_unit_test(work_grows_with_the_enemies_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
