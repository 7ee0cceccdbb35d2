// Goal: the images of a map are what symmetry.h says: turns and mirrors that form a group, that map
// cells onto cells where they claim to be exact, and that keep all distances.
// Method: every number of players on square and oblong maps; matrices and points compared.

#include "core/generate/symmetry.h"
#include "tests/support/support.h"

static const uint32_t sides[][2] = {{64, 64}, {65, 65}, {64, 96}, {97, 64}, {4096, 4096}};

static bool cell_of(fm_point point, const uint32_t side[2], fm_cell *cell)
{
    int64_t x = fm_point_column(point.x, side[0]), y = fm_point_column(point.y, side[1]);
    if (x < 0 || y < 0 || x >= side[0] || y >= side[1]) {
        return false;
    }
    *cell = fm_cell_at((uint32_t)x, (uint32_t)y);
    return true;
}

static void cells_and_points_agree(void **state)
{
    (void)state;
    const uint32_t side[2] = {97, 64};
    for (uint32_t y = 0; y < side[1]; y++) {
        for (uint32_t x = 0; x < side[0]; x++) {
            fm_cell cell;
            assert_true(cell_of(fm_point_of_cell(x, y, side[0], side[1]), side, &cell));
            assert_int_equal(cell, fm_cell_at(x, y));
        }
    }
    assert_int_equal(fm_point_column(-FM_POINT_UNIT / 2 * 97 - 1, 97), -1);
    for (int64_t at = -5000; at <= 5000; at++) {
        assert_int_equal(fm_point_column(at, 97) + fm_point_column(-at, 97), 96);
    }
    assert_int_equal(fm_point_column(FM_POINT_UNIT / 2 * 97, 97), 97);
}

static void images_form_a_group(void **state)
{
    (void)state;
    for (size_t i = 0; i < FM_COUNT_OF(sides); i++) {
        for (uint32_t players = 2; players <= FM_SYMMETRY_IMAGES_MAX; players++) {
            fm_symmetry symmetry = fm_symmetry_for(players, sides[i][0], sides[i][1]);
            assert_int_equal(symmetry.count, players);
            for (uint32_t a = 0; a < players; a++) {
                uint32_t seen = 0;
                assert_int_equal(symmetry.product[0][a], a);
                assert_int_equal(symmetry.product[a][0], a);
                for (uint32_t b = 0; b < players; b++) {
                    seen |= 1u << symmetry.product[a][b];
                }
                assert_int_equal(seen, (1u << players) - 1);
            }
        }
    }
}

static void assert_near(fm_point a, fm_point b, int64_t tolerance)
{
    assert_true(llabs(a.x - b.x) <= tolerance && llabs(a.y - b.y) <= tolerance);
}

static void images_move_points_as_they_should(void **state)
{
    (void)state;
    const fm_point point = {6400 * 7 + 32, -6400 * 3 - 32};
    const int64_t length_squared = point.x * point.x + point.y * point.y;
    for (size_t i = 0; i < FM_COUNT_OF(sides); i++) {
        for (uint32_t players = 2; players <= FM_SYMMETRY_IMAGES_MAX; players++) {
            fm_symmetry symmetry = fm_symmetry_for(players, sides[i][0], sides[i][1]);
            int64_t tolerance = symmetry.exact ? 0 : 2;
            for (uint32_t a = 0; a < players; a++) {
                fm_point image = fm_matrix_apply(&symmetry.image[a], point);
                assert_near(fm_matrix_undo(&symmetry.image[a], image), point, tolerance);
                int64_t image_squared = image.x * image.x + image.y * image.y;
                assert_true(llabs(image_squared - length_squared) <= tolerance * 100000);
                for (uint32_t b = 0; b < players; b++) {
                    fm_point twice = fm_matrix_apply(&symmetry.image[b], image);
                    uint32_t product = symmetry.product[b][a];
                    assert_near(twice, fm_matrix_apply(&symmetry.image[product], point), tolerance);
                }
            }
        }
    }
}

static void exact_images_permute_the_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < FM_COUNT_OF(sides); i++) {
        const uint32_t *side = sides[i];
        for (uint32_t players = 2; players <= FM_SYMMETRY_IMAGES_MAX; players++) {
            fm_symmetry symmetry = fm_symmetry_for(players, side[0], side[1]);
            bool square = side[0] == side[1];
            assert_int_equal(symmetry.exact,
                             players == 2 || players == 4 || (players == 8 && square));
            for (uint32_t k = 0; k < players && symmetry.exact; k++) {
                for (uint32_t y = 0; y < side[1]; y++) {
                    fm_point point = fm_point_of_cell(y % side[0], y, side[0], side[1]);
                    fm_point image = fm_matrix_apply(&symmetry.image[k], point);
                    fm_cell cell;
                    assert_true(cell_of(image, side, &cell));
                    fm_point centre =
                        fm_point_of_cell(fm_cell_x(cell), fm_cell_y(cell), side[0], side[1]);
                    assert_near(image, centre, 0);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_and_points_agree),
        cmocka_unit_test(images_form_a_group),
        cmocka_unit_test(images_move_points_as_they_should),
        cmocka_unit_test(exact_images_permute_the_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
