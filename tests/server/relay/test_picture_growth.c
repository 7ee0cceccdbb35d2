// test_picture_growth.c: the work that a delta with tags and classes is to a relay, counted and not
// timed, grows with the entries of its lists, not with their product.

#include "tests/server/relay/picture_scene.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define AGENTS      1000u // of each kind, at scale 1
#define SCALE_MOST  4u
#define GROWTH_MOST 5.0

_Static_assert(3 * AGENTS * SCALE_MOST <= PICTURE_AGENTS_MAX, "the scene has room");

static uint64_t work(uint32_t scale)
{
    fm_publication *out;
    uint32_t count = AGENTS * scale;
    picture_show(2 * count);
    uint64_t before = counted_work();
    assert_int_equal(picture_read(count, count, count + 1, count, &out), FM_OK);
    uint64_t spent = counted_work() - before;
    fm_publication_destroy(out);
    return spent;
}

static void work_grows_with_the_entries(void **state)
{
    (void)state;
    uint64_t once = work(1), twice = work(2), four_times = work(SCALE_MOST);
    print_message("%llu %llu %llu\n", (unsigned long long)once, (unsigned long long)twice,
                  (unsigned long long)four_times);
    assert_true((double)four_times <= GROWTH_MOST * (double)once);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_grows_with_the_entries),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    picture_end();
    return failures;
}
