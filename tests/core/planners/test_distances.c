// core/planners/test_distances.c: a planner that keeps only a path says of the steps around its
// agent which ones bring it nearer to the goal, as one with exact distances does.
//
// Method: a wall with a corner in open ground, agents on all cells before the corner, and one that
// is all jags; repeated-jps and D* Lite are asked about all steps from each of them.

#include "tests/support/fog.h"
#include "tests/support/support.h"

#include "core/search/bend.h"

#define SIDE   60u
#define LEFT   28u // of the wall, which leads from TOP to the south
#define RIGHT  32u
#define TOP    24u
#define BEFORE 8u // cells before the corner
#define ABOVE  9u // and above it

#define SLOPE_TOP   8u
#define SLOPE_START 5u // cells from side to side
#define SLOPE_GOAL  fm_cell_at(50, SLOPE_TOP + 25)

static bool is_corner(uint32_t x, uint32_t y)
{
    return x >= LEFT && x < RIGHT && y >= TOP;
}

// Its edge goes down by one row every two columns.
static bool is_slope(uint32_t x, uint32_t y)
{
    return y > SLOPE_TOP + x / 2;
}

static void begin(fog *world, bool (*is_wall)(uint32_t x, uint32_t y))
{
    fog_init(world, fm_test_seed(), SIDE, SIDE, true);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint32_t x = i % SIDE, y = i / SIDE;
        if (fm_bitmap_get(&world->blocked, fm_cell_at(x, y)) != is_wall(x, y)) {
            fog_toggle(world, fm_cell_at(x, y));
        }
        world->change_count = 0;
    }
}

// Its distances from a cell, as far as the goal.
static void ask(fog *world, const fm_planner_ops *ops, fm_cell start, fm_cell goal,
                uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const fm_planner_options options = {.rejoin = true};
    fog_planner planner;
    fog_planner_init(&planner, world, ops, &options);
    ops->set_goal(planner.self, goal, &planner.slab);
    planner.goal = goal;
    planner.starts[0] = start;
    planner.start_count = 1;
    fog_planner_tell(&planner);
    assert_int_equal(fog_planner_advance(&planner, UINT32_MAX, 0), FM_PLAN_FOUND);
    fm_planner_distances(ops, planner.self, &world->view, goal, start,
                         fm_view_moves(&world->view, start), distances);
    fog_planner_fini(&planner);
}

struct steps {
    uint32_t nearer, named, wrong; // nearer: exactly; named: of these, by a path; wrong: only by it
};

static void compare(fog *world, fm_cell start, fm_cell goal, struct steps *steps)
{
    uint32_t exact[FM_DIRECTION_COUNT + 1], kept[FM_DIRECTION_COUNT + 1];
    ask(world, &fm_dstar_lite, start, goal, exact);
    ask(world, &fm_repeated_jps, start, goal, kept);
    for (uint32_t moves = fm_view_moves(&world->view, start); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        bool is_nearer = exact[d] < exact[FM_DIRECTION_COUNT];
        bool is_named = kept[d] < kept[FM_DIRECTION_COUNT];
        steps->nearer += is_nearer;
        steps->named += is_nearer && is_named;
        steps->wrong += !is_nearer && is_named;
    }
}

static void print_steps(const struct steps *steps)
{
    print_message("%u steps lead nearer, %u of them are named, and %u others\n", steps->nearer,
                  steps->named, steps->wrong);
}

// When only agents within two steps of a corner looked past it, 89 of 100 were named.
static void steps_round_a_corner_are_known(void **state)
{
    (void)state;
    fog world;
    begin(&world, is_corner);
    struct steps steps = {0};
    for (uint32_t i = 0; i < 3 * BEFORE * ABOVE; i++) {
        fm_cell start = fm_cell_at(LEFT - 1 - i % BEFORE, TOP - 1 - i / BEFORE % ABOVE);
        fm_cell goal = fm_cell_at(SIDE - 5, TOP + 6 + i / (BEFORE * ABOVE) * 8);
        compare(&world, start, goal, &steps);
    }
    print_steps(&steps);
    assert_true(100 * steps.named >= 95 * steps.nearer);
    assert_true(100 * steps.wrong <= 35 * steps.nearer); // towards the turn of the path, or past it
    fog_fini(&world);
}

// A path along a rough wall turns at each jag. When agents more than eight steps before it aimed
// for the first of these turns, 50 of 70 were named.
static void a_rough_wall_is_no_corner(void **state)
{
    (void)state;
    fog world;
    begin(&world, is_slope);
    struct steps steps = {0};
    for (uint32_t i = 0; i < SLOPE_START * SLOPE_START; i++) {
        fm_cell start = fm_cell_at(2 + i % SLOPE_START, i / SLOPE_START);
        compare(&world, start, SLOPE_GOAL, &steps);
    }
    print_steps(&steps);
    assert_int_equal(steps.named, steps.nearer);
    assert_true(100 * steps.wrong <= 40 * steps.nearer);
    fog_fini(&world);
}

// A cell is seen from where a path of two lines leads to it, whatever was asked before.
static void sight_is_a_path_of_two_lines(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t seen = 0, hidden = 0;
    for (uint32_t run = 0; run < 200; run++) {
        fog world;
        fog_init(&world, fm_random_next(&random), 10, 50, true);
        fm_cell to = fog_free_cell(&world);
        uint32_t steps_max = 1 + fm_random_below(&random, 30);
        fm_sight sight = fm_sight_of(&world.view, to, steps_max);
        for (uint32_t i = 0; i < 40; i++) {
            fm_cell from = fog_free_cell(&world), bend;
            bool is_path = fm_bend_find(&world.view, from, to, steps_max, &bend);
            assert_int_equal(fm_sight_reaches(&sight, from), is_path);
            seen += is_path;
            hidden += !is_path;
            if (is_path) {
                uint32_t there = fm_view_distance(&world.view, from, bend);
                uint32_t on = fm_view_distance(&world.view, bend, to);
                assert_int_equal(there + on, fm_view_distance(&world.view, from, to));
            }
        }
        fog_fini(&world);
    }
    assert_true(seen > 100 && hidden > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_round_a_corner_are_known),
        cmocka_unit_test(a_rough_wall_is_no_corner),
        cmocka_unit_test(sight_is_a_path_of_two_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
