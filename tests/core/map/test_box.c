// test_box.c: the distance to a box, by which searches for many agents order what they expand, is
// that to its nearest cell, at the edges of the largest map too.

#include "core/map/box.h"

#include "core/base/random.h"
#include "tests/support/support.h"

static void test_distance_to_a_box_is_that_to_its_nearest_cell(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_view view = {.width = FM_SIDE_MAX, .height = FM_SIDE_MAX};
    for (uint32_t i = 0; i < 3000; i++) {
        bool four = i % 2 == 0;
        fm_view_set_rules(&view, four ? FM_CONNECT_4 : FM_CONNECT_8,
                          four ? FM_STEPS_1 : FM_STEPS_10_14);
        uint32_t side = 1 + fm_random_below(&random, 9);
        uint32_t left = i % 3 == 0 ? FM_SIDE_MAX - side : fm_random_below(&random, 40);
        uint32_t top = i % 5 == 0 ? FM_SIDE_MAX - side : fm_random_below(&random, 40);
        const fm_cell corners[2] = {
            fm_cell_at(left, top),
            fm_cell_at(left + side - 1, top + fm_random_below(&random, side))};
        fm_box box = fm_box_around(corners, 2);
        fm_cell cell = i % 7 == 0
                           ? fm_cell_at(fm_random_below(&random, FM_SIDE_MAX),
                                        fm_random_below(&random, FM_SIDE_MAX))
                           : fm_cell_at(fm_random_below(&random, 60), fm_random_below(&random, 60));
        uint32_t least = UINT32_MAX;
        for (int32_t y = box.top; y <= box.bottom; y++) {
            for (int32_t x = box.left; x <= box.right; x++) {
                uint32_t distance =
                    fm_view_distance(&view, cell, fm_cell_at((uint32_t)x, (uint32_t)y));
                least = distance < least ? distance : least;
            }
        }
        assert_int_equal(fm_box_distance(&view, four, &box, cell), least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_to_a_box_is_that_to_its_nearest_cell)};
    return cmocka_run_group_tests_name("box", tests, NULL, NULL);
}
