// test_watchdog.c: which checks the watchdog of the event loop counts as misses.
//
// Goal    a loop that runs never has a miss, one that stands still has, and a pause of the whole
//         process counts as one check, however long it was.
// Method  the test calls the check itself; tests/e2e/e2e_faults.py tests the thread and the
// process.

#include "server/process/watchdog.h"
#include "tests/support/support.h"

static void a_loop_that_turns_is_not_blamed(void **state)
{
    (void)state;
    fm_watch watch = {0};
    for (uint64_t beats = 1; beats < 1000; beats += 1 + beats % 3) {
        assert_int_equal(fm_watch_look(&watch, beats), 0);
    }
}

static void a_loop_that_stands_is_counted_by_looks(void **state)
{
    (void)state;
    fm_watch watch = {0};
    assert_int_equal(fm_watch_look(&watch, 7), 0);
    for (uint32_t look = 1; look < 100; look++) {
        assert_int_equal(fm_watch_look(&watch, 7), look);
    }
    assert_int_equal(fm_watch_look(&watch, 8), 0);
    assert_int_equal(fm_watch_look(&watch, 8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_turns_is_not_blamed),
        cmocka_unit_test(a_loop_that_stands_is_counted_by_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
