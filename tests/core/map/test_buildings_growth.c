// test_buildings_growth.c: what a team has seen of buildings is indexed in one go through the map,
// however many buildings a saved world says that are, and wherever they lie; and a cell that it
// sees costs no walk through them, overlaps elsewhere or not.
//
// A forged file may have millions that lie on each other. Work is counted, not timed; what is
// indexed is compared with a plain model.

#include "core/base/random.h"
#include "core/map/buildings.h"

#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define SIDE        512u
#define GROWTH_MOST 1.5 // with four times as many buildings
#define SMALL_SIDE  70u // two words
#define RUNS        200u

static void add(fm_buildings_seen *seen, fm_rect rect)
{
    assert_true(FM_RESERVE_FROM(&fm_memory_libc, seen->list, seen->capacity, seen->count + 1));
    seen->list[seen->count] = (fm_building_look){.id = seen->count + 1, .rect = rect};
    seen->count += 1;
}

static uint64_t index_columns(uint32_t count)
{
    fm_buildings buildings;
    fm_buildings_seen seen = {0};
    fm_buildings_init(&buildings, SIDE, SIDE, &fm_memory_libc);
    for (uint32_t i = 0; i < count; i++) {
        add(&seen, (fm_rect){.x = i % 4, .width = 1, .height = SIDE});
    }
    uint64_t before = counted_work();
    fm_buildings_seen_index(&seen, &buildings);
    uint64_t spent = counted_work() - before;
    assert_true(seen.overlaps);
    assert_int_equal(fm_bitmap_count(&seen.covered), 4 * SIDE);
    fm_buildings_seen_fini(&seen, &fm_memory_libc);
    fm_buildings_fini(&buildings);
    return spent;
}

static void buildings_on_each_other(void **state)
{
    (void)state;
    uint64_t few = index_columns(1000), many = index_columns(4000);
    print_message("1,000 buildings %llu, 4,000 %llu, x%.2f\n", (unsigned long long)few,
                  (unsigned long long)many, (double)many / (double)few);
    assert_true((double)many <= GROWTH_MOST * (double)few);
    counted_work_or_skip();
}

// @return whether some overlap
static bool check_cells(const fm_buildings_seen *seen, uint32_t side)
{
    bool overlaps = false;
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = 0; x < side; x++) {
            uint32_t count = 0;
            for (uint32_t i = 0; i < seen->count; i++) {
                count += fm_rect_contains(&seen->list[i].rect, fm_cell_at(x, y));
            }
            overlaps = overlaps || count > 1;
            if (seen->shared.words != NULL) {
                assert_int_equal(fm_bitmap_get(&seen->shared, fm_cell_at(x, y)), count > 1);
            }
            assert_int_equal(fm_bitmap_get(&seen->covered, fm_cell_at(x, y)), count > 0);
        }
    }
    return overlaps;
}

// Few and many, with memory and without any for the counts.
static void as_the_model_says(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_test_memory memory;
        fm_test_memory_init(&memory, run % 4 == 0 ? 1 : UINT64_MAX);
        fm_buildings buildings;
        fm_buildings_seen seen = {0};
        fm_buildings_init(&buildings, SMALL_SIDE, SMALL_SIDE, &memory.memory);
        uint32_t count = 1 + fm_random_below(&random, run % 2 ? 200 : 6);
        for (uint32_t i = 0; i < count; i++) {
            fm_rect rect = {fm_random_below(&random, SMALL_SIDE),
                            fm_random_below(&random, SMALL_SIDE), 1, 1};
            uint32_t most = run % 3 == 0 ? 2 : SMALL_SIDE;
            rect.width += fm_random_below(&random, fm_min(SMALL_SIDE - rect.x, most));
            rect.height += fm_random_below(&random, fm_min(SMALL_SIDE - rect.y, most));
            add(&seen, rect);
        }
        fm_buildings_seen_index(&seen, &buildings);
        if (seen.covered.words != NULL) {
            assert_int_equal(check_cells(&seen, SMALL_SIDE), seen.overlaps);
        }
        fm_bitmap_fini(&seen.covered, &memory.memory);
        fm_bitmap_fini(&seen.shared, &memory.memory);
        assert_int_equal(memory.held, 0);
        fm_buildings_seen_fini(&seen, &fm_memory_libc);
        fm_buildings_fini(&buildings);
    }
}

// ---- seeing ------------------------------------------------------------------------------------

static void place(fm_buildings *buildings, fm_rect rect)
{
    uint8_t *under = fm_memory_allocate_zeroed(buildings->memory, (size_t)rect.width * rect.height,
                                               sizeof *under);
    assert_int_equal(fm_buildings_reserve(buildings), FM_OK);
    fm_buildings_add(buildings, 1, rect, under);
}

static void demolish(fm_buildings *buildings, uint32_t id)
{
    fm_building taken = fm_buildings_take(buildings, id);
    fm_memory_release(buildings->memory, taken.under, (size_t)taken.rect.width * taken.rect.height);
}

// A team sees all cells of `count` buildings. With `overlap` it still believes in one where another
// was built, and sees no cell that both have.
static uint64_t look_at(uint32_t count, bool overlap)
{
    fm_buildings buildings;
    fm_buildings_seen seen = {0};
    fm_buildings_init(&buildings, SIDE, SIDE, &fm_memory_libc);
    place(&buildings, (fm_rect){0, SIDE - 2, 2, 2});
    fm_buildings_seen_note(&seen, &buildings, fm_cell_at(0, SIDE - 2));
    if (overlap) {
        demolish(&buildings, 1);
        place(&buildings, (fm_rect){1, SIDE - 2, 2, 2});
        fm_buildings_seen_note(&seen, &buildings, fm_cell_at(2, SIDE - 2));
        assert_true(seen.overlaps && seen.count == 2);
    }
    for (uint32_t i = 0; i < count; i++) {
        place(&buildings, (fm_rect){i % 128 * 4, i / 128 * 4, 3, 3});
        fm_buildings_seen_note(&seen, &buildings, fm_cell_at(i % 128 * 4, i / 128 * 4));
    }
    uint64_t before = counted_work();
    for (uint32_t i = 0; i < count * 9; i++) {
        uint32_t number = i / 9, x = number % 128 * 4 + i % 3, y = number / 128 * 4 + i % 9 / 3;
        fm_buildings_seen_note(&seen, &buildings, fm_cell_at(x, y));
    }
    uint64_t spent = counted_work() - before;
    assert_int_equal(seen.count, count + 1 + overlap);
    fm_buildings_seen_fini(&seen, &fm_memory_libc);
    fm_buildings_fini(&buildings);
    return spent;
}

// Two that overlap make the cells of all others no dearer.
static void an_overlap_elsewhere(void **state)
{
    (void)state;
    uint64_t without = look_at(4000, false), with = look_at(4000, true);
    print_message("36,000 cells of 4,000 buildings: %llu, with an overlap elsewhere %llu, x%.2f\n",
                  (unsigned long long)without, (unsigned long long)with,
                  (double)with / (double)without);
    assert_true((double)with <= GROWTH_MOST * (double)without);
    counted_work_or_skip();
}

// Buildings come and go unseen, and are seen cell by cell: what is covered and shared is what the
// list says.
static void seeing_as_the_model_says(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 1);
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_buildings buildings;
        fm_buildings_seen seen = {0};
        uint32_t side = 12;
        fm_buildings_init(&buildings, side, side, &fm_memory_libc);
        for (uint32_t step = 0; step < 120; step++) {
            fm_cell cell =
                fm_cell_at(fm_random_below(&random, side), fm_random_below(&random, side));
            uint32_t id = fm_buildings_at(&buildings, cell);
            fm_rect rect = {fm_cell_x(cell), fm_cell_y(cell), 1, 1};
            rect.width += fm_random_below(&random, fm_min(side - rect.x, 4));
            rect.height += fm_random_below(&random, fm_min(side - rect.y, 4));
            bool is_free = true;
            for (uint32_t i = 0; i < rect.width * rect.height; i++) {
                is_free = is_free &&
                          fm_buildings_at(&buildings, fm_cell_at(rect.x + i % rect.width,
                                                                 rect.y + i / rect.width)) == 0;
            }
            if (step % 3 == 0 && id != 0) {
                demolish(&buildings, id);
            } else if (step % 3 == 0 && is_free) {
                place(&buildings, rect);
            } else {
                fm_buildings_seen_note(&seen, &buildings, cell);
                for (uint32_t i = 0; i < seen.count; i++) {
                    assert_true(seen.list[i].id == id ||
                                !fm_rect_contains(&seen.list[i].rect, cell));
                }
                if (seen.covered.words != NULL) {
                    check_cells(&seen, side);
                }
            }
        }
        fm_buildings_seen_fini(&seen, &fm_memory_libc);
        fm_buildings_fini(&buildings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buildings_on_each_other),
        cmocka_unit_test(as_the_model_says),
        cmocka_unit_test(an_overlap_elsewhere),
        cmocka_unit_test(seeing_as_the_model_says),
    };
    return cmocka_run_group_tests_name("buildings, growth", tests, NULL, NULL);
}
