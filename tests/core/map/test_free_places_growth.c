// test_free_places_growth.c: the free places for the units under one wall cost in proportion to
// their number.
//
// Four times as many units stand on four times the ground that a wall covers, so each has twice as
// far to the nearest free cell, with a rim that is twice as long: with a look along the rim for
// each they cost 6 to 7 times as much. From 4,096 to 65,536 units; work is counted, not timed.

#include "core/map/free_places.h"

#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SIDE 512u

// Four times as many may cost a little more than 4 times as much: the levels above the tiles.
#define GROWTH_MOST 5.0

static uint64_t put_elsewhere(uint32_t side)
{
    fm_occupancy *occupancy;
    fm_bitmap blocked;
    fm_free_places *places;
    assert_int_equal(fm_occupancy_create(SIDE, SIDE, &fm_memory_libc, &occupancy), FM_OK);
    assert_int_equal(fm_bitmap_init(&blocked, SIDE, SIDE, true, &fm_memory_libc), FM_OK);
    assert_int_equal(fm_free_places_create(SIDE, SIDE, &fm_memory_libc, &places), FM_OK);
    uint32_t begin = (SIDE - side) / 2;
    for (uint32_t i = 0; i < side * side; i++) {
        fm_bitmap_set(&blocked, fm_cell_at(begin + i % side, begin + i / side));
    }
    uint64_t before = counted_work();
    fm_free_places_begin(places, occupancy, &blocked, 1);
    for (uint32_t i = 0; i < side * side; i++) {
        fm_cell cell =
            fm_free_places_nearest(places, fm_cell_at(begin + i % side, begin + i / side));
        assert_int_not_equal(cell, FM_CELL_NONE);
        fm_occupancy_enter(occupancy, cell, 1, i + 1);
        fm_free_places_note(places, cell, 1);
    }
    uint64_t spent = counted_work() - before;
    fm_free_places_destroy(places);
    fm_bitmap_fini(&blocked, &fm_memory_libc);
    fm_occupancy_destroy(occupancy);
    return spent;
}

static void units_under_a_wall(void **state)
{
    (void)state;
    uint64_t before = put_elsewhere(64);
    for (uint32_t side = 128; side <= 256; side *= 2) {
        uint64_t work = put_elsewhere(side);
        print_message("%6u units %10llu  x%.2f\n", side * side, (unsigned long long)work,
                      (double)work / (double)before);
        assert_true((double)work <= GROWTH_MOST * (double)before);
        before = work;
    }
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_under_a_wall),
    };
    return cmocka_run_group_tests_name("free places, growth", tests, NULL, NULL);
}
