// test_occupancy.c: the nearest free cells around a cell, one after the other, are those that a new
// search finds each time; and so are those that units from many cells get in turn.
//
// Method: random maps, sizes and units; the heap of fm_nearest_cells, and the tiles of
// fm_free_places, against fm_occupancy_nearest_free() until the map is full.

#include "core/map/free_places.h"

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

// ---- units from many cells ----------------------------------------------------------------------

#define UNITS_MOST 400u

struct ground {
    uint32_t width, height, size;
    fm_occupancy *occupancy; // NULL: units share cells
    fm_bitmap blocked;
    fm_free_places *places;
    fm_cell units[UNITS_MOST]; // where each stands
    uint32_t count;
};

static fm_cell any_cell(fm_random *random, const struct ground *ground)
{
    return fm_cell_at(fm_random_below(random, ground->width),
                      fm_random_below(random, ground->height));
}

// Walls here and there, and one block of them.
static void make_ground(fm_random *random, struct ground *ground, uint32_t width, uint32_t height,
                        bool shares_cells)
{
    *ground =
        (struct ground){.width = width, .height = height, .size = 1 + fm_random_below(random, 4)};
    if (!shares_cells) {
        assert_int_equal(fm_occupancy_create(width, height, &fm_memory_libc, &ground->occupancy),
                         FM_OK);
    }
    assert_int_equal(fm_bitmap_init(&ground->blocked, width, height, true, &fm_memory_libc), FM_OK);
    for (uint32_t i = 0; i < width * height / 4; i++) {
        fm_bitmap_set(&ground->blocked, any_cell(random, ground));
    }
    for (uint32_t y = height / 4; y < height - height / 4; y++) {
        for (uint32_t x = width / 4; x < width - width / 8; x++) {
            fm_bitmap_set(&ground->blocked, fm_cell_at(x, y));
        }
    }
    assert_int_equal(fm_free_places_create(width, height, &fm_memory_libc, &ground->places), FM_OK);
    fm_free_places_begin(ground->places, ground->occupancy, &ground->blocked, ground->size);
}

static void destroy_ground(struct ground *ground)
{
    fm_free_places_destroy(ground->places);
    fm_bitmap_fini(&ground->blocked, &fm_memory_libc);
    fm_occupancy_destroy(ground->occupancy);
}

static void settle_one(fm_random *random, struct ground *ground)
{
    fm_cell from = any_cell(random, ground);
    uint32_t ring = 0;
    fm_cell wanted =
        fm_occupancy_nearest_free(ground->occupancy, &ground->blocked, from, ground->size, &ring);
    assert_int_equal(fm_free_places_nearest(ground->places, from), wanted);
    if (wanted != FM_CELL_NONE && ground->occupancy != NULL) {
        fm_occupancy_enter(ground->occupancy, wanted, ground->size, ground->count + 1);
        fm_free_places_note(ground->places, wanted, ground->size);
        ground->units[ground->count++] = wanted;
    }
}

static void let_the_last_leave(struct ground *ground)
{
    fm_cell cell = ground->units[ground->count - 1];
    fm_occupancy_leave(ground->occupancy, cell, ground->size, ground->count);
    fm_free_places_note(ground->places, cell, ground->size);
    ground->count--;
}

static void settle_many(fm_random *random, uint32_t width, uint32_t height, bool shares_cells)
{
    struct ground ground;
    make_ground(random, &ground, width, height, shares_cells);
    for (uint32_t i = 0; i < UNITS_MOST; i++) {
        settle_one(random, &ground);
        if (ground.count > 0 && fm_random_below(random, 4) == 0) {
            let_the_last_leave(&ground);
        }
    }
    destroy_ground(&ground);
}

static void test_units_from_many_cells(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t i = 0; i < 60; i++) {
        settle_many(&random, 1 + fm_random_below(&random, 100), 1 + fm_random_below(&random, 100),
                    i % 4 == 0);
    }
    settle_many(&random, 700, 20, false); // four levels of tiles
    settle_many(&random, 17, 520, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_come_in_their_order),
        cmocka_unit_test(test_units_from_many_cells),
    };
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
