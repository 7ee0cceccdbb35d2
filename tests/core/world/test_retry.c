// test_retry.c: when refused queries are tried again.

#include "tests/support/support.h"

#include "core/world/retry.h"

static void waits_double_up_to_the_limit(void **state)
{
    (void)state;
    fm_retry retry = {0};
    uint64_t tick = 1000;
    assert_true(fm_retry_is_due(&retry, tick));
    uint32_t wait = 1;
    for (uint32_t i = 0; i < 12; i++) {
        fm_retry_refuse(&retry, tick, 7);
        assert_int_equal(retry.wait, wait);
        for (uint32_t later = 0; later < wait; later++) {
            assert_false(fm_retry_is_due(&retry, tick + later));
            assert_false(fm_retry_is_woken(&retry, 7));
        }
        tick += wait;
        assert_true(fm_retry_is_due(&retry, tick));
        wait = wait * 2 < FM_RETRY_WAIT_MAX ? wait * 2 : FM_RETRY_WAIT_MAX;
    }
}

static void a_change_wakes_and_waits_begin_anew(void **state)
{
    (void)state;
    fm_retry retry = {0};
    assert_true(fm_retry_is_woken(&retry, 0)); // FRESH, whatever the number
    for (uint64_t tick = 0; tick < 5; tick++) {
        fm_retry_refuse(&retry, tick * 100, 3);
    }
    assert_int_equal(retry.wait, 16);
    assert_true(fm_retry_is_woken(&retry, 4));
    fm_retry_refuse(&retry, 401, 4);
    assert_int_equal(retry.wait, 1);
    assert_false(fm_retry_is_woken(&retry, 4));
    assert_true(fm_retry_is_due(&retry, 402));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_up_to_the_limit),
        cmocka_unit_test(a_change_wakes_and_waits_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
