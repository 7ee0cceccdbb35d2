// test_occupancy.c: the nearest free cells around a cell, one after the other, are those that a new
// search finds each time.
//
// Method: random maps, sizes and units; the heap of fm_nearest_cells against
// fm_occupancy_nearest_free() until the map is full.

#include "core/map/occupancy.h"

#include "core/base/random.h"
#include "tests/support/support.h"

static void fill(fm_random *random, uint32_t width, uint32_t height, uint32_t size)
{
    fm_occupancy *occupancy;
    fm_bitmap blocked;
    assert_int_equal(fm_occupancy_create(width, height, &fm_memory_libc, &occupancy), FM_OK);
    assert_int_equal(fm_bitmap_init(&blocked, width, height, true, &fm_memory_libc), FM_OK);
    for (uint32_t i = 0; i < width * height / 3; i++) {
        fm_cell cell = fm_cell_at(fm_random_below(random, width), fm_random_below(random, height));
        fm_bitmap_set(&blocked, cell);
    }
    fm_nearest_cells cells = {.memory = &fm_memory_libc};
    fm_cell from = fm_cell_at(fm_random_below(random, width), fm_random_below(random, height));
    fm_cell found, wanted;
    uint32_t unit = 0;
    do {
        uint32_t ring = 0;
        wanted = fm_occupancy_nearest_free(occupancy, &blocked, from, size, &ring);
        assert_int_equal(fm_nearest_cells_next(&cells, occupancy, &blocked, from, size, &found),
                         FM_OK);
        assert_int_equal(found, wanted);
        if (found != FM_CELL_NONE) {
            fm_occupancy_enter(occupancy, found, size, ++unit);
        }
    } while (found != FM_CELL_NONE);
    fm_nearest_cells_fini(&cells);
    fm_bitmap_fini(&blocked, &fm_memory_libc);
    fm_occupancy_destroy(occupancy);
}

static void test_cells_come_in_their_order(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 150; i++) {
        fill(&random, 1 + fm_random_below(&random, 24), 1 + fm_random_below(&random, 24),
             1 + fm_random_below(&random, 3));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells_come_in_their_order)};
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
