// test_watchdog.c: which time the watchdog of the event loop holds against it.
//
// Goal    a loop that moves has none; one that stands still has all the time in which it could have
//         moved: not what its thread waited for a processor, and a pause of the whole process as
//         one check, however long it was.
// Method  the test calls the check itself; tests/e2e/e2e_faults.py tests the thread and the
//         process.

#include "server/process/watchdog.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

static const fm_watch_thread asleep = {.is_asleep = true, .ran_ns = 5 * MS};

static void a_loop_that_turns_is_not_blamed(void **state)
{
    (void)state;
    fm_watch watch = {0};
    for (uint64_t beats = 1; beats < 1000; beats += 1 + beats % 3) {
        assert_int_equal(fm_watch_look(&watch, beats, &asleep), 0);
    }
}

static void a_loop_that_stands_is_counted_by_looks(void **state)
{
    (void)state;
    fm_watch watch = {0};
    assert_int_equal(fm_watch_look(&watch, 7, &asleep), 0);
    for (uint32_t look = 1; look < 100; look++) {
        assert_int_equal(fm_watch_look(&watch, 7, &asleep), look * FM_WATCH_LOOK_NS);
    }
    assert_int_equal(fm_watch_look(&watch, 8, &asleep), 0);
    assert_int_equal(fm_watch_look(&watch, 8, &asleep), FM_WATCH_LOOK_NS);
}

static void a_loop_that_spins_is_counted_by_what_it_ran(void **state)
{
    (void)state;
    fm_watch watch = {0};
    fm_watch_thread thread = {.ran_ns = 700 * MS};
    assert_int_equal(fm_watch_look(&watch, 7, &thread), 0);
    thread.ran_ns += 250 * MS;
    assert_int_equal(fm_watch_look(&watch, 7, &thread), 250 * MS);
    thread.ran_ns += 10 * MS; // the others had the processor
    assert_int_equal(fm_watch_look(&watch, 7, &thread), 260 * MS);
    assert_int_equal(fm_watch_look(&watch, 7, &thread), 260 * MS); // for the whole time
    thread.ran_ns += 9000 * MS;                                    // a pause of the watcher alone
    assert_int_equal(fm_watch_look(&watch, 7, &thread), 510 * MS);
}

static void threads_are_read(void **state)
{
    (void)state;
    static const char line[] = "7 (a) R (S b) %c 1 2 3 0 -1 4194560 9 8 7 6 12 30 5 4 20 0 5 0";
    char text[sizeof line];
    fm_watch_thread thread;
    for (const char *letter = "RSDTtZ"; *letter != '\0'; letter++) {
        snprintf(text, sizeof text, line, *letter);
        assert_true(fm_watch_thread_read(text, &thread));
        assert_int_equal(thread.is_asleep, *letter == 'S' || *letter == 'D');
        assert_int_equal(thread.ran_ns, 42 * (1000 * MS / (uint64_t)sysconf(_SC_CLK_TCK)));
    }
    static const char *const wrong[] = {"", "7 (a", "7 (a)", "7 (a) R 1 2",
                                        "7 a R 1 2 3 4 5 6 7 8 9"};
    for (uint32_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        assert_false(fm_watch_thread_read(wrong[i], &thread));
        assert_true(thread.is_asleep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_turns_is_not_blamed),
        cmocka_unit_test(a_loop_that_stands_is_counted_by_looks),
        cmocka_unit_test(a_loop_that_spins_is_counted_by_what_it_ran),
        cmocka_unit_test(threads_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
