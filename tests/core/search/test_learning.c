// test_learning.c: what real-time searches learn, and the textbook example of Adaptive A*.
//
//   - In one episode LSS-LRTA* learns at least as much in every cell as RTAA* from the same
//     look-ahead, more in some cells, and never more than the true cost.
//   - RTAA* with unlimited look-ahead is Adaptive A*: the same expansions, the same path, the same
//     estimates afterwards.
//   - In the 5 x 5 example the first search finds a path of 8 steps and raises exactly the
//   estimates
//     of D2, E1, E2 and E3, as far as it has closed them; so the second, which sees C3 blocked,
//     expands fewer cells than that of Repeated Forward A*.

#include "tests/support/support.h"

#include "core/search/forward_search.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"

#define WORLDS 200u

static uint32_t estimate(const fog_planner *planner, fm_cell cell)
{
    const fm_forward *forward = planner->self; // their first member
    return fm_forward_estimate(forward, fm_forward_find(forward, cell), cell);
}

// Two planners with the same start and goal on the same map.
static void make_twins(fog *world, fog_planner *one, const fm_planner_ops *one_ops,
                       fog_planner *two, const fm_planner_ops *two_ops,
                       const fm_planner_options *options)
{
    fog_planner_init(one, world, one_ops, options);
    fog_planner_init(two, world, two_ops, options);
    two->goal = one->goal;
    two_ops->set_goal(two->self, two->goal, &two->slab);
    two->starts[0] = one->starts[0];
    fog_planner_tell(one);
    fog_planner_tell(two);
}

static void test_search_learns_more_than_subtraction(void **state)
{
    (void)state;
    uint32_t more_count = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        fog world;
        fog_planner rtaa, lss;
        fog_init(&world, fm_mix64(fm_mix64(fm_test_seed()) + i), 6, 20, false);
        fm_planner_options options = {.queue = FM_QUEUE_HEAP,
                                      .ties = FM_TIES_LARGER_G,
                                      .lookahead = 2 + fm_random_below(&world.random, 30)};
        make_twins(&world, &rtaa, &fm_rtaa_star, &lss, &fm_lss_lrta_star, &options);
        fm_plan_state state_rtaa = fog_planner_advance(&rtaa, UINT32_MAX, 0);
        fm_plan_state state_lss = fog_planner_advance(&lss, UINT32_MAX, 0);
        assert_int_equal(state_rtaa, state_lss);
        if (state_rtaa == FM_PLAN_PARTIAL) {
            // RTAA* learns a node's value at the next look at it, and reading the estimate is such
            // a look.
            fm_forward_restart(rtaa.self);
            reference costs = reference_measure(&world.view, rtaa.goal);
            for (uint32_t y = 0; y < world.height; y++) {
                for (uint32_t x = 0; x < world.width; x++) {
                    fm_cell cell = fm_cell_at(x, y);
                    assert_true(estimate(&lss, cell) >= estimate(&rtaa, cell));
                    assert_true(estimate(&lss, cell) <= reference_cost(&costs, cell));
                    more_count += estimate(&lss, cell) > estimate(&rtaa, cell);
                }
            }
            reference_fini(&costs);
        }
        fog_planner_fini(&rtaa);
        fog_planner_fini(&lss);
        fog_fini(&world);
    }
    assert_true(more_count > 0);
}

static void test_unlimited_look_ahead_is_adaptive_astar(void **state)
{
    (void)state;
    uint32_t found_count = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        fog world;
        fog_planner adaptive, rtaa;
        fog_init(&world, fm_mix64(fm_mix64(fm_test_seed()) + 1000 + i), 4, 24, false);
        fm_planner_options options = {.queue = (fm_queue_kind)fm_random_below(&world.random, 2)};
        make_twins(&world, &adaptive, &fm_adaptive_astar, &rtaa, &fm_rtaa_star, &options);
        for (uint32_t leg = 0; leg < 3; leg++) {
            fm_plan_state one = fog_planner_advance(&adaptive, UINT32_MAX, 0);
            assert_int_equal(one, fog_planner_advance(&rtaa, UINT32_MAX, 0));
            assert_int_equal(adaptive.work.expansions, rtaa.work.expansions);
            assert_int_equal(adaptive.ops->next_step(adaptive.self, adaptive.starts[0]),
                             rtaa.ops->next_step(rtaa.self, rtaa.starts[0]));
            for (uint32_t y = 0; y < world.height; y++) {
                for (uint32_t x = 0; x < world.width; x++) {
                    assert_int_equal(estimate(&adaptive, fm_cell_at(x, y)),
                                     estimate(&rtaa, fm_cell_at(x, y)));
                }
            }
            found_count += one == FM_PLAN_FOUND;
            adaptive.starts[0] = rtaa.starts[0] = fog_free_cell(&world);
            fog_planner_tell(&adaptive);
            fog_planner_tell(&rtaa);
        }
        fog_planner_fini(&adaptive);
        fog_planner_fini(&rtaa);
        fog_fini(&world);
    }
    assert_true(found_count > WORLDS);
}

// ---- the worked example -------------------------------------------------------------------------

//        1   2   3   4   5
//     A  .   .   .   .   .
//     B  .   .   #   .   .
//     C  .   .   #   .   .
//     D  .   .   #   #   .
//     E  .   .   S   #   G
static const char example[5][6] = {".....", "..#..", "..#..", "..##.", "...#."};

static fm_cell square(const char *name)
{
    return fm_cell_at((uint32_t)(name[1] - '1'), (uint32_t)(name[0] - 'A'));
}

// The agent sees the four cells beside it.
static void look_around(fog *world, fm_cell cell)
{
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
        int32_t x = (int32_t)fm_cell_x(cell) + fm_direction_dx[d];
        int32_t y = (int32_t)fm_cell_y(cell) + fm_direction_dy[d];
        fm_cell seen = fm_cell_at((uint32_t)x, (uint32_t)y);
        if (x >= 0 && y >= 0 && x < 5 && y < 5 && example[y][x] == '#' &&
            !fm_bitmap_get(&world->blocked, seen)) {
            fog_toggle(world, seen);
        }
    }
}

// An empty map of 5 x 5 cells with 4 neighbours, and a planner from E3 to E5.
static void begin_example(fog *world, fog_planner *planner, const fm_planner_ops *ops)
{
    fog_init(world, 1, 5, 5, true);
    for (uint32_t i = 0; i < 25; i++) {
        if (fm_bitmap_get(&world->blocked, fm_cell_at(i % 5, i / 5))) {
            fog_toggle(world, fm_cell_at(i % 5, i / 5));
        }
    }
    world->change_count = 0;
    fm_view_set_rules(&world->view, FM_CONNECT_4, FM_STEPS_1);
    fog_planner_init(planner, world, ops,
                     &(fm_planner_options){.queue = FM_QUEUE_HEAP, .ties = FM_TIES_LARGER_G});
    planner->goal = square("E5");
    ops->set_goal(planner->self, planner->goal, &planner->slab);
    planner->starts[0] = square("E3");
}

// Looks, searches when the path is broken, and continues until the search after that has ended.
// Returns its expansions.
static uint32_t next_search(fog *world, fog_planner *planner)
{
    for (uint32_t move = 0; move < 25; move++) {
        look_around(world, planner->starts[0]);
        fog_settle_changes(world);
        fog_planner_tell(planner);
        world->change_count = 0;
        uint32_t before = planner->work.expansions;
        fm_plan_state state = fog_planner_advance(planner, UINT32_MAX, 0);
        assert_int_equal(state, FM_PLAN_FOUND);
        if (planner->work.expansions > before) {
            return planner->work.expansions - before;
        }
        planner->starts[0] = planner->ops->next_step(planner->self, planner->starts[0]);
    }
    fail_msg("no search in 25 moves");
    return 0;
}

static uint32_t path_length(const fog_planner *planner)
{
    return planner->ops->path(planner->self, planner->starts[0], NULL, 0) - 1;
}

static void test_worked_example(void **state)
{
    (void)state;
    fog worlds[2];
    fog_planner forward, adaptive;
    begin_example(&worlds[0], &forward, &fm_repeated_forward_astar);
    begin_example(&worlds[1], &adaptive, &fm_adaptive_astar);
    uint32_t first = next_search(&worlds[0], &forward);
    assert_int_equal(next_search(&worlds[1], &adaptive), first);
    assert_int_equal(path_length(&forward), 8);
    assert_int_equal(path_length(&adaptive), 8);

    fm_forward *learner = adaptive.self;
    uint32_t raised_count = 0;
    for (uint32_t i = 0; i < 25; i++) {
        fm_cell cell = fm_cell_at(i % 5, i / 5);
        bool expected = cell == square("D2") || cell == square("E1") || cell == square("E2") ||
                        cell == square("E3");
        bool raised =
            estimate(&adaptive, cell) > fm_view_distance(&worlds[1].view, cell, adaptive.goal);
        const fm_forward_node *node = fm_forward_find(learner, cell);
        bool closed = node != NULL && node->closed == FM_FORWARD_CLOSED;
        assert_int_equal(raised, expected && closed);
        raised_count += raised;
    }
    assert_int_equal(estimate(&adaptive, square("E3")), 8);
    assert_int_equal(estimate(&adaptive, square("E2")), 7);
    assert_int_equal(estimate(&adaptive, square("D2")), 6);
    assert_true(raised_count >= 3);

    uint32_t second = next_search(&worlds[0], &forward);
    uint32_t second_adaptive = next_search(&worlds[1], &adaptive);
    assert_int_equal(path_length(&forward), path_length(&adaptive));
    assert_true(second_adaptive < second);
    fog_planner_fini(&forward);
    fog_planner_fini(&adaptive);
    fog_fini(&worlds[0]);
    fog_fini(&worlds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_learns_more_than_subtraction),
        cmocka_unit_test(test_unlimited_look_ahead_is_adaptive_astar),
        cmocka_unit_test(test_worked_example),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
