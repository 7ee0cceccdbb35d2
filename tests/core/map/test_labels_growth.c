// test_labels_growth.c: where the ground is in many small pieces, the cell of one of them nearest
// to a goal is found in the blocks where the piece is, however large the map.
//
// Units in pockets that are sent elsewhere ask this, each of them with an answer of its own. On a
// chessboard, where each cell is a component, all blocks of the map were gone through for each.
// Work is counted, not timed.

#include "core/map/labels.h"

#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define QUESTIONS 50u

// A map of 16 times the size has a row of 4 times as many blocks, whose rings are passed over.
#define GROWTH_MOST 2.0

static uint64_t ask(uint32_t side)
{
    fm_grid *grid;
    fm_labels *labels;
    assert_int_equal(fm_grid_create(side, side, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = y & 1; x < side; x += 2) {
            fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
    }
    fm_view view = fm_view_of_grid(grid, FM_CONNECT_8, FM_STEPS_10_14);
    assert_int_equal(fm_labels_create(&view, &fm_memory_libc, &labels), FM_OK);
    uint64_t units = 0, before = 0;
    assert_int_equal(fm_labels_update(labels, UINT64_MAX, &units), FM_OK);
    for (uint32_t i = 0; i <= QUESTIONS; i++) {
        fm_cell cell = fm_cell_at(2 * i + 1, 0);
        fm_cell goal = fm_cell_at(side - 1 - i, side - 1);
        assert_int_equal(fm_labels_nearest(labels, goal, fm_labels_of(labels, cell), &units), cell);
        before = i == 0 ? counted_work() : before; // where labels are is found out once
    }
    uint64_t spent = counted_work() - before;
    fm_labels_destroy(labels);
    fm_grid_destroy(grid);
    return spent;
}

static void pockets_on_larger_maps(void **state)
{
    (void)state;
    uint64_t small = ask(256), large = ask(1024);
    print_message("256 x 256 %llu, 1024 x 1024 %llu, x%.2f\n", (unsigned long long)small,
                  (unsigned long long)large, (double)large / (double)small);
    assert_true((double)large <= GROWTH_MOST * (double)small);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pockets_on_larger_maps),
    };
    return cmocka_run_group_tests_name("labels, growth", tests, NULL, NULL);
}
