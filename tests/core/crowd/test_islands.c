// core/crowd/test_islands.c: units that cannot meet are decided for by different workers, and each
// gets the place that it would get if all were asked one after the other.
//
// Method: islands of units placed at random are compared with what islands.h promises. Games of
// clusters of units of all sizes in two teams, some of them slow, are played with 1, 2, 3 and 8
// workers: every tick must give the same digest, with the checks of crowd.h.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/crowd/islands.h"
#include "core/generate/generate.h"
#include "tests/support/crowd.h"

#define SIDE  200u // cells
#define UNITS 600u
#define TICKS 120u

static uint32_t labels[UNITS], sizes[UNITS];
static fm_cell cells[UNITS];
static uint64_t digests[TICKS];
static crowd stage;

static uint32_t gap(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
    return a + a_size <= b ? b - a - a_size : b + b_size <= a ? a - b - b_size : 0;
}

// Units with fewer than three cells between them may meet.
static bool may_meet(uint32_t a, uint32_t b)
{
    return gap(fm_cell_x(cells[a]), sizes[a], fm_cell_x(cells[b]), sizes[b]) < 3 &&
           gap(fm_cell_y(cells[a]), sizes[a], fm_cell_y(cells[b]), sizes[b]) < 3;
}

static void who_may_meet_is_on_one_island(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_islands *islands;
    assert_int_equal(fm_islands_create(SIDE, SIDE, &fm_memory_libc, &islands), FM_OK);
    assert_true(fm_islands_reserve(islands, UNITS));
    for (uint32_t round = 0; round < 4; round++) { // cleared in between
        uint32_t count, sum = 0;
        for (uint32_t i = 0; i < UNITS; i++) {
            sizes[i] = 1 + fm_random_below(&random, FM_CLASS_SIZE_MAX);
            uint32_t x = fm_random_below(&random, SIDE - sizes[i] + 1);
            cells[i] = fm_cell_at(x, fm_random_below(&random, SIDE - sizes[i] + 1));
            labels[i] = fm_islands_add(islands, cells[i], sizes[i]);
        }
        const fm_island *list = fm_islands_join(islands, &count);
        assert_true(count > 1);
        for (uint32_t i = 0; i < count; i++) {
            sum += list[i].unit_count;
        }
        assert_int_equal(sum, UNITS);
        for (uint32_t a = 0; a < UNITS; a++) {
            assert_true(fm_islands_of(islands, labels[a]) < count);
            for (uint32_t b = 0; b < a; b++) {
                assert_true(!may_meet(a, b) ||
                            fm_islands_of(islands, labels[a]) == fm_islands_of(islands, labels[b]));
            }
        }
        fm_islands_clear(islands);
    }
    fm_islands_destroy(islands);
}

static void far_units_are_on_different_islands(void **state)
{
    (void)state;
    fm_islands *islands;
    assert_int_equal(fm_islands_create(SIDE, SIDE, &fm_memory_libc, &islands), FM_OK);
    assert_true(fm_islands_reserve(islands, 3));
    uint32_t count;
    fm_islands_add(islands, fm_cell_at(0, 0), 1);
    fm_islands_add(islands, fm_cell_at(8, 0), 1);
    fm_islands_add(islands, fm_cell_at(SIDE - 1, SIDE - 1), 1);
    fm_islands_join(islands, &count);
    assert_int_equal(count, 3);
    fm_islands_destroy(islands);
}

static fm_cell draw_near(fm_random *random, fm_cell middle, uint32_t reach)
{
    uint32_t x = fm_cell_x(middle) + fm_random_below(random, 2 * reach + 1);
    uint32_t y = fm_cell_y(middle) + fm_random_below(random, 2 * reach + 1);
    x = x < reach ? 0 : x - reach;
    y = y < reach ? 0 : y - reach;
    return fm_cell_at(fm_min(x, SIDE - 1), fm_min(y, SIDE - 1));
}

static void play(uint32_t worker_count)
{
    static const char *const classes[] = {"one", "two:size=2,ground=1", "three:size=3,ground=1"};
    fm_world_rules rules = crowd_rules();
    rules.class_count = FM_COUNT_OF(classes);
    for (uint32_t i = 0; i < rules.class_count; i++) {
        assert_int_equal(fm_movement_class_parse(classes[i], &rules.classes[i], NULL, 0), FM_OK);
    }
    fm_generate_options generate = fm_generate_options_default();
    generate.width = generate.height = SIDE;
    generate.seed = fm_test_seed();
    fm_grid *grid;
    assert_int_equal(fm_generate(&generate, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    crowd_init(&stage, &rules, grid);
    fm_random random = fm_random_seed(fm_test_seed());
    fm_cell middles[12];
    for (uint32_t i = 0; i < FM_COUNT_OF(middles); i++) {
        middles[i] = draw_near(&random, fm_cell_at(SIDE / 2, SIDE / 2), SIDE / 2);
    }
    uint32_t teams[2] = {crowd_team(&stage), crowd_team(&stage)};
    for (uint32_t i = 0; i < UNITS; i++) {
        fm_cell cell = draw_near(&random, middles[i % FM_COUNT_OF(middles)], 6);
        crowd_spawn(&stage, (fm_command){.team = teams[i / 4 % 2],
                                         .cells = &cell,
                                         .cell_count = 1,
                                         .class_index = i % 10 < 7   ? 0
                                                        : i % 10 < 9 ? 1
                                                                     : 2,
                                         .speed = i % 5 == 0 ? 3000 : 0,
                                         .placing = FM_PLACE_NEAREST});
    }
    fm_workers *workers;
    assert_int_equal(fm_workers_create(worker_count, &workers), FM_OK);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = tick % 8; i < UNITS && tick % 40 < 8; i += 8) {
            uint32_t to = (i + tick / 40) % FM_COUNT_OF(middles);
            crowd_order(&stage, i, draw_near(&random, middles[to], 9), FM_UNREACHABLE_NEAREST);
        }
        crowd_tick(&stage, workers);
        uint64_t digest = fm_world_digest(stage.world);
        assert_true(worker_count == 1 || digest == digests[tick]);
        digests[tick] = digest;
    }
    assert_true(stage.moves > UNITS * TICKS / 8);
    fm_workers_destroy(workers);
    crowd_fini(&stage);
}

static void any_number_of_workers_decides_alike(void **state)
{
    (void)state;
    play(1);
    play(2);
    play(3);
    play(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_meet_is_on_one_island),
        cmocka_unit_test(far_units_are_on_different_islands),
        cmocka_unit_test(any_number_of_workers_decides_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
