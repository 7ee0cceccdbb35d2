// test_buildings_growth.c: what a team has seen of buildings is indexed in one go through the map,
// however many buildings a saved world says that are, and wherever they lie.
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

static void check(const fm_buildings_seen *seen, uint32_t side)
{
    bool overlaps = false;
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = 0; x < side; x++) {
            uint32_t count = 0;
            for (uint32_t i = 0; i < seen->count; i++) {
                count += fm_rect_contains(&seen->list[i].rect, fm_cell_at(x, y));
            }
            overlaps = overlaps || count > 1;
            assert_int_equal(fm_bitmap_get(&seen->covered, fm_cell_at(x, y)), count > 0);
        }
    }
    assert_int_equal(seen->overlaps, overlaps);
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
            check(&seen, SMALL_SIDE);
        }
        fm_bitmap_fini(&seen.covered, &memory.memory);
        assert_int_equal(memory.held, 0);
        fm_buildings_seen_fini(&seen, &fm_memory_libc);
        fm_buildings_fini(&buildings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buildings_on_each_other),
        cmocka_unit_test(as_the_model_says),
    };
    return cmocka_run_group_tests_name("buildings, growth", tests, NULL, NULL);
}
