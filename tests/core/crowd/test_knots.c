// tests/core/crowd/test_knots.c: small problems that can be solved are solved.
//
// Method: maps of 8 to 20 cells a side with random walls, units on up to two fifths of the
// connected cells. Their goals are the cells where they stand after a long random walk, one unit
// and one step at a time, so that the walk backwards solves each problem. All must stand on their
// goals at the same time, with the checks of crowd.h. `fogmarch-lab mapf --drawn` does the same for
// harder problems.

#include "tests/support/crowd.h"

#include "core/base/random.h"
#include "core/crowd/knot.h"

#define SIDE_MAX   20u
#define PROBLEMS   60u
#define STEPS_EACH 64u // of the walk, for each cell
#define TICKS_EACH 10u // for each cell

static crowd stage;
static fm_cell cells[SIDE_MAX * SIDE_MAX], goals[SIDE_MAX * SIDE_MAX];
static bool taken[SIDE_MAX][SIDE_MAX];

static bool is_open(const fm_grid *grid, int64_t x, int64_t y)
{
    return fm_grid_contains(grid, x, y) &&
           !fm_grid_is_blocked(grid, fm_cell_at((uint32_t)x, (uint32_t)y));
}

// The cells connected with the first open one by straight steps.
static uint32_t list_component(const fm_grid *grid)
{
    bool seen[SIDE_MAX][SIDE_MAX] = {{false}};
    uint32_t count = 0;
    for (uint32_t i = 0; count == 0 && i < grid->width * grid->height; i++) {
        if (is_open(grid, i % grid->width, i / grid->width)) {
            cells[count++] = fm_cell_at(i % grid->width, i / grid->width);
            seen[i / grid->width][i % grid->width] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t x = (int64_t)fm_cell_x(cells[i]) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(cells[i]) + fm_direction_dy[d];
            if (is_open(grid, x, y) && !seen[y][x]) {
                seen[y][x] = true;
                cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
            }
        }
    }
    return count;
}

static void shuffle(fm_random *random, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = fm_random_below(random, i);
        fm_cell cell = cells[i - 1];
        cells[i - 1] = cells[j];
        cells[j] = cell;
    }
}

static void walk(fm_random *random, const fm_grid *grid, uint32_t units, uint32_t steps)
{
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; i < units; i++) {
        goals[i] = cells[i];
        taken[fm_cell_y(cells[i])][fm_cell_x(cells[i])] = true;
    }
    for (; steps > 0; steps--) {
        fm_cell *cell = &goals[fm_random_below(random, units)];
        uint32_t d = 2 * fm_random_below(random, FM_DIRECTION_COUNT / 2);
        int64_t x = (int64_t)fm_cell_x(*cell) + fm_direction_dx[d];
        int64_t y = (int64_t)fm_cell_y(*cell) + fm_direction_dy[d];
        if (is_open(grid, x, y) && !taken[y][x]) {
            taken[fm_cell_y(*cell)][fm_cell_x(*cell)] = false;
            taken[y][x] = true;
            *cell = fm_cell_at((uint32_t)x, (uint32_t)y);
        }
    }
}

static uint32_t count_at_home(uint32_t units)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < units; i++) {
        count += crowd_cell(&stage, i) == goals[i];
    }
    return count;
}

static void play(uint64_t seed, fm_connectivity connectivity)
{
    fm_random random = fm_random_seed(seed);
    uint32_t side = 8 + fm_random_below(&random, SIDE_MAX - 7),
             walls = fm_random_below(&random, 31);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t i = 0; i < side * side; i++) {
        if (fm_random_below(&random, 100) < walls) {
            fm_grid_set(grid, fm_cell_at(i % side, i / side), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    uint32_t count = list_component(grid);
    uint32_t units = 1 + count * fm_random_below(&random, 40) / 100;
    shuffle(&random, count);
    walk(&random, grid, units, STEPS_EACH * count);
    fm_world_rules rules = crowd_rules();
    rules.connectivity = connectivity;
    rules.steps = connectivity == FM_CONNECT_4 ? FM_STEPS_1 : FM_STEPS_10_14;
    crowd_init(&stage, &rules, grid);
    uint32_t team = crowd_team(&stage);
    for (uint32_t i = 0; i < units; i++) {
        crowd_spawn_at(&stage, team, cells[i]);
    }
    for (uint32_t i = 0; i < units; i++) {
        crowd_order(&stage, i, goals[i], FM_UNREACHABLE_FAIL);
    }
    uint32_t ticks = 0;
    do {
        crowd_tick(&stage, NULL);
    } while (count_at_home(units) < units && ++ticks < TICKS_EACH * count + 1000);
    if (count_at_home(units) < units) {
        fail_msg("problem %llu, %u units on %u cells: %u are not on their goals",
                 (unsigned long long)seed, units, count, units - count_at_home(units));
    }
    crowd_fini(&stage);
}

static void small_problems_are_solved(void **state)
{
    (void)state;
    uint64_t seed = fm_test_seed();
    for (uint32_t i = 0; i < PROBLEMS; i++) {
        play(seed + i, i % 2 == 0 ? FM_CONNECT_8 : FM_CONNECT_4);
    }
}

// Ten units in narrow places. Those who are at home have to stay there: where they take part too,
// the last two are not brought home, the room for that is far from their goals.
static void the_last_of_ten_get_home(void **state)
{
    (void)state;
    static const char *const rows[] = {"....@.@.", //
                                       ".....h@.", //
                                       "@.@d@.b@", //
                                       "@.@g.@.@", //
                                       ".c.j@...", //
                                       "@.ei.@@.", //
                                       "....@@a@", //
                                       "......f@"};
    static const fm_cell wanted[] = {5 << 12 | 4, 5 << 12 | 7, 7 << 12 | 5, 4 << 12 | 2,
                                     3 << 12 | 6, 3 << 12 | 4, 2 << 12 | 5, 4 << 12 | 6,
                                     1 << 12 | 0, 4 << 12 | 7};
    fm_world_rules rules = crowd_rules();
    crowd_init_rows(&stage, &rules, rows, FM_COUNT_OF(rows));
    uint32_t team = crowd_team(&stage), count = FM_COUNT_OF(wanted);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t y = 0;
        while (strchr(rows[y], (int)('a' + i)) == NULL) {
            y += 1;
        }
        uint32_t x = (uint32_t)(strchr(rows[y], (int)('a' + i)) - rows[y]);
        crowd_spawn_at(&stage, team, fm_cell_at(x, y));
        goals[i] = wanted[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        crowd_order(&stage, i, goals[i], FM_UNREACHABLE_NEAREST);
    }
    uint32_t ticks = 0;
    do {
        crowd_tick(&stage, NULL);
    } while (count_at_home(count) < count && ++ticks < 600);
    assert_int_equal(count_at_home(count), count);
    crowd_fini(&stage);
}

// ---- the joint search alone ---------------------------------------------------------------------

#define CORRIDOR 6u

// A corridor of six cells with one beside its third: two units in it exchange their places.
static void two_pass_in_a_corridor(void **state)
{
    (void)state;
    fm_knot_cell ground[CORRIDOR + 1];
    memset(ground, 0xff, sizeof ground);
    for (uint16_t i = 0; i + 1u < CORRIDOR; i++) {
        ground[i].next[FM_EAST] = (uint16_t)(i + 1);
        ground[i + 1].next[FM_WEST] = i;
    }
    ground[2].next[FM_NORTH] = CORRIDOR;
    ground[CORRIDOR].next[FM_SOUTH] = 2;
    const fm_knot_unit units[] = {{.start = 0, .goal = 5}, {.start = 5, .goal = 0}};
    fm_knot *knot;
    uint64_t work = 0;
    const fm_knot_kind kind = {.size = 1, .steps = ground};
    const fm_knot_ground all = {
        .cell_count = CORRIDOR + 1, .kind_count = 1, .beside = ground, .kinds = &kind};
    assert_int_equal(fm_knot_create(&all, units, 2, 1000, 1, &fm_memory_libc, &knot), FM_OK);
    while (fm_knot_search(knot, 1, UINT64_MAX, &work) == FM_KNOT_RUNNING) {
    }
    assert_int_equal(fm_knot_search(knot, 1, UINT64_MAX, &work), FM_KNOT_FOUND);
    assert_true(work > 0);
    uint32_t steps = fm_knot_steps(knot);
    for (uint32_t i = 0; i < steps; i++) {
        const uint16_t *from = fm_knot_at(knot, i), *to = fm_knot_at(knot, i + 1);
        assert_int_not_equal(to[0], to[1]);
        assert_false(to[0] == from[1] && to[1] == from[0]);
    }
    assert_int_equal(fm_knot_at(knot, steps)[0], 5);
    assert_int_equal(fm_knot_at(knot, steps)[1], 0);
    fm_knot_destroy(knot);
}

// Without the cell beside it there is no plan, and the search says so.
static void a_corridor_without_a_bay_has_no_plan(void **state)
{
    (void)state;
    fm_knot_cell ground[CORRIDOR];
    memset(ground, 0xff, sizeof ground);
    for (uint16_t i = 0; i + 1u < CORRIDOR; i++) {
        ground[i].next[FM_EAST] = (uint16_t)(i + 1);
        ground[i + 1].next[FM_WEST] = i;
    }
    const fm_knot_unit units[] = {{.start = 0, .goal = 5}, {.start = 5, .goal = 0}};
    fm_knot *knot;
    uint64_t work = 0;
    const fm_knot_kind kind = {.size = 1, .steps = ground};
    const fm_knot_ground all = {
        .cell_count = CORRIDOR, .kind_count = 1, .beside = ground, .kinds = &kind};
    assert_int_equal(fm_knot_create(&all, units, 2, 1000, 1, &fm_memory_libc, &knot), FM_OK);
    assert_int_equal(fm_knot_search(knot, 100000, UINT64_MAX, &work), FM_KNOT_FAILED);
    fm_knot_destroy(knot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_pass_in_a_corridor),
        cmocka_unit_test(a_corridor_without_a_bay_has_no_plan),
        cmocka_unit_test(small_problems_are_solved),
        cmocka_unit_test(the_last_of_ten_get_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
