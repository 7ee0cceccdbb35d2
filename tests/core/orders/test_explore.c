// test_explore.c: orders that find their own goals: explore and flee.
//
// Method: exploring in generated maps with fog must leave no reachable cell unknown; fleeing is
// checked tick by tick on open ground and in corners.

#include "core/search/frontier.h"
#include "core/views/view_delta.h"
#include "tests/support/order_scene.h"
#include "tests/support/support.h"

// ---- explore ------------------------------------------------------------------------------------

// Every cell that can be reached from `from` is known to team 1, and so are its neighbours.
static void check_explored(const struct order_scene *scene, fm_cell from)
{
    const fm_view *truth = fm_world_view(scene->world, FM_ALL_TEAMS);
    fm_wave wave = {0};
    assert_int_equal(fm_wave_begin(&wave, truth, from, &fm_memory_libc), FM_OK);
    for (fm_cell cell = fm_wave_take(&wave); cell != FM_CELL_NONE; cell = fm_wave_take(&wave)) {
        assert_int_not_equal(fm_world_look_up(scene->world, 1, cell).terrain, FM_TERRAIN_UNKNOWN);
        fm_wave_spread(&wave, cell, &fm_memory_libc);
    }
    fm_wave_fini(&wave, &fm_memory_libc);
}

static void explores_all_that_can_be_reached(void **state)
{
    (void)state;
    static const fm_generator generators[] = {FM_GENERATOR_MAZE, FM_GENERATOR_ROOMS,
                                              FM_GENERATOR_RANDOM};
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 24; i++) {
        struct order_scene scene = scene_make_fog(&random, generators[i % 3],
                                                  17 + 2 * fm_random_below(&random, 20), false);
        fm_cell start = scene_free_cell(&scene, &random);
        uint32_t count = 1 + fm_random_below(&random, 4);
        for (uint32_t j = 0; j < count; j++) {
            fm_agent_id agent = scene_spawn(&scene, 1, fm_cell_x(start), fm_cell_y(start));
            scene_order(&scene, agent, (fm_command){.order = FM_ORDER_EXPLORE});
        }
        for (uint32_t tick = 0; tick < 20000 && scene.ended_count < count; tick++) {
            scene_run(&scene, 1);
        }
        assert_int_equal(scene.ended_count, count);
        for (uint32_t j = 0; j < count; j++) {
            assert_int_equal(scene.ended[j].reason, FM_END_EXPLORED);
        }
        check_explored(&scene, start);
        fm_world_destroy(scene.world);
    }
}

// From the middle of an open map four explorers go four ways, and finish much sooner than one.
static void explorers_share_the_rim(void **state)
{
    (void)state;
    uint32_t ticks[2] = {0, 0};
    for (uint32_t i = 0; i < 2; i++) {
        struct order_scene scene = scene_make(NULL, 64, 64, false);
        fm_agent_id agents[4];
        uint32_t count = i == 0 ? 1 : 4;
        for (uint32_t j = 0; j < count; j++) {
            agents[j] = scene_spawn(&scene, 1, 32, 32);
            scene_order(&scene, agents[j], (fm_command){.order = FM_ORDER_EXPLORE});
        }
        scene_run(&scene, 1);
        for (uint32_t j = 0; j < count; j++) {
            assert_int_equal(scene_look(&scene, agents[j]).moves, 1); // in the first tick
            for (uint32_t k = 0; k < j; k++) {
                assert_true(cells_apart(scene_look(&scene, agents[j]).goal,
                                        scene_look(&scene, agents[k]).goal) > FM_CLAIM_SIDE);
            }
        }
        while (scene.ended_count < count && ticks[i] < 5000) {
            scene_run(&scene, 1);
            ticks[i] += 1;
        }
        assert_int_equal(scene.ended_count, count);
        fm_world_destroy(scene.world);
    }
    assert_true(ticks[1] * 2 < ticks[0]);
}

// ---- flee ---------------------------------------------------------------------------------------

static void flees_until_it_is_safe(void **state)
{
    (void)state;
    struct order_scene scene = scene_make(NULL, 64, 64, true);
    fm_agent_id agent = scene_spawn(&scene, 1, 30, 30), hunter = scene_spawn(&scene, 2, 34, 30);
    (void)hunter;
    uint64_t id = scene_order(&scene, agent, (fm_command){.order = FM_ORDER_FLEE, .radius = 9});
    uint32_t before = 4;
    for (uint32_t i = 0; i < 20 && scene.ended_count == 0; i++) {
        scene_run(&scene, 1);
        uint32_t now = cells_apart(scene_look(&scene, agent).cell, fm_cell_at(34, 30));
        assert_true(now >= before); // away from the first step on
        before = now;
    }
    // Sight ends at 5 cells: agents do not flee from what they do not see.
    assert_int_equal(scene_ending(&scene, id).reason, FM_END_ARRIVED);
    assert_true(before >= 6);
    fm_cell fire = fm_cell_at(25, 30);
    id = scene_order(
        &scene, agent,
        (fm_command){.order = FM_ORDER_FLEE, .radius = 9, .cells = &fire, .cell_count = 1});
    scene_run(&scene, 20);
    assert_int_equal(scene_ending(&scene, id).reason, FM_END_ARRIVED);
    assert_true(cells_apart(scene_look(&scene, agent).cell, fire) >= 7);
    fm_world_destroy(scene.world);
}

static void cornered_ones_do_as_told(void **state)
{
    (void)state;
    static const char *const rows[] = {"########", "#......#", "########"};
    for (uint32_t rule = 0; rule < 3; rule++) {
        struct order_scene scene = scene_make(rows, 8, 3, true);
        fm_agent_id agent = scene_spawn(&scene, 1, 3, 1), hunter = scene_spawn(&scene, 2, 6, 1);
        uint64_t id = scene_order(
            &scene, agent,
            (fm_command){.order = FM_ORDER_FLEE, .on_unreachable = (fm_on_unreachable)rule});
        scene_run(&scene, 12);
        assert_int_equal(scene_look(&scene, agent).cell, fm_cell_at(1, 1));
        if (rule == FM_UNREACHABLE_WAIT) {
            assert_int_equal(scene.ended_count, 0);
            assert_int_equal(scene_look(&scene, agent).state, FM_AGENT_HOLDING);
            scene_remove(&scene, hunter);
            scene_run(&scene, 10);
            assert_int_equal(scene_ending(&scene, id).reason, FM_END_ARRIVED);
        } else {
            assert_int_equal(scene_ending(&scene, id).reason,
                             rule == FM_UNREACHABLE_FAIL ? FM_END_UNREACHABLE : FM_END_NEAREST);
        }
        fm_world_destroy(scene.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explores_all_that_can_be_reached),
        cmocka_unit_test(explorers_share_the_rim),
        cmocka_unit_test(flees_until_it_is_safe),
        cmocka_unit_test(cornered_ones_do_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
