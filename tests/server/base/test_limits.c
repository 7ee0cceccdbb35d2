// test_limits.c: meters and addresses.
//
// Method: random requests at random times, checked against the definition: over any stretch of time
// a meter grants at most rate times time plus one burst, and it grants something at the time that
// it has announced. Addresses against a plain list.

#include "server/base/limits.h"

#include "core/base/random.h"
#include "server/base/clock.h"
#include "tests/support/support.h"

#define TAKES      3000u
#define AMOUNT_MAX 5u

static void test_meters_keep_the_rate(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 20; run++) {
        static uint64_t when_ns[TAKES], taken[TAKES];
        fm_meter meter = {0};
        uint64_t per_s = 1 + fm_random_below(&random, 1000);
        uint64_t now_ns = 1 + fm_random_below(&random, 1000000), wait_ns = 0;
        uint32_t count = 0;
        // At a low rate an idle meter gives more than a burst.
        uint64_t burst_ns = FM_METER_BURST_S * FM_NS_PER_S;
        uint64_t largest_ns = AMOUNT_MAX * FM_NS_PER_S / per_s;
        uint64_t longest_ns = largest_ns > burst_ns ? largest_ns : burst_ns;
        for (uint32_t i = 0; i < TAKES; i++) {
            uint64_t amount = 1 + fm_random_below(&random, AMOUNT_MAX);
            if (fm_meter_take(&meter, amount, per_s, now_ns, &wait_ns)) {
                when_ns[count] = now_ns;
                taken[count++] = amount;
            } else {
                assert_true(wait_ns > 0 && wait_ns <= longest_ns);
                fm_meter later = meter;
                assert_true(fm_meter_take(&later, amount, per_s, now_ns + wait_ns, &wait_ns));
            }
            now_ns += fm_random_below(&random, (uint32_t)(3 * FM_NS_PER_S / per_s));
        }
        assert_true(count > TAKES / 20);
        for (uint32_t from = 0; from < count; from += 37) {
            uint64_t sum = 0;
            for (uint32_t to = from; to < count; to++) {
                sum += taken[to];
                uint64_t most = (when_ns[to] - when_ns[from]) * per_s / FM_NS_PER_S +
                                FM_METER_BURST_S * per_s + 5;
                assert_true(sum <= most);
            }
        }
    }
}

static void test_large_takings_wait_for_the_whole_burst(void **state)
{
    (void)state;
    fm_meter meter = {0};
    uint64_t now_ns = 5 * FM_NS_PER_S, wait_ns = 0;
    assert_true(fm_meter_take(&meter, 1000, 10, now_ns, &wait_ns)); // 100 seconds' worth
    assert_false(fm_meter_take(&meter, 1, 10, now_ns + 97 * FM_NS_PER_S, &wait_ns));
    assert_true(fm_meter_take(&meter, 1, 10, now_ns + 99 * FM_NS_PER_S, &wait_ns));
    assert_true(fm_meter_take(&meter, UINT32_MAX, 0, now_ns, &wait_ns)); // no limit
}

static void test_addresses_are_told_apart(void **state)
{
    (void)state;
    static fm_quotas quotas;
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
        {"::1", "127.0.0.1", false},
        {"", "", true},
    };
    for (size_t i = 0; i < FM_COUNT_OF(pairs); i++) {
        fm_quota *a = fm_quotas_hold_address(&quotas, pairs[i].a);
        fm_quota *b = fm_quotas_hold_address(&quotas, pairs[i].b);
        assert_int_equal(a == b, pairs[i].same);
        assert_int_equal(a->connections, pairs[i].same ? 2 : 1);
        fm_quotas_release(&quotas, a, 0);
        fm_quotas_release(&quotas, b, 0);
    }
    for (uint32_t i = 0; i < FM_QUOTA_TABLE_SIZE; i++) {
        assert_null(quotas.heads[i]);
    }
}

static void test_wrong_tokens_lock_an_address_out_for_a_while(void **state)
{
    (void)state;
    static fm_quotas quotas;
    uint64_t now_ns = 1000 * FM_NS_PER_S, wait_ns = 0;
    fm_quota *quota = fm_quotas_hold_address(&quotas, "10.0.0.1");
    for (uint32_t i = 0; i < 20; i++) {
        assert_true(fm_quota_may_try(quota, now_ns, &wait_ns));
        fm_quota_failed(quota, 20, now_ns);
    }
    fm_quota_failed(quota, 20, now_ns);
    assert_false(fm_quota_may_try(quota, now_ns, &wait_ns));
    // Disconnecting does not help.
    fm_quotas_release(&quotas, quota, now_ns);
    quota = fm_quotas_hold_address(&quotas, "10.0.0.1");
    assert_false(fm_quota_may_try(quota, now_ns, &wait_ns));
    assert_true(fm_quota_may_try(quota, now_ns + wait_ns, &wait_ns));
    fm_quotas_release(&quotas, quota, now_ns + 200 * FM_NS_PER_S);
    assert_int_equal(quotas.idle_count, 0);
    fm_quotas_fini(&quotas);
}

static void test_connections_come_at_the_rate(void **state)
{
    (void)state;
    static fm_quotas quotas;
    uint64_t now_ns = FM_NS_PER_S;
    uint32_t opened = 0;
    for (uint32_t i = 0; i < 1000; i++) { // for ten seconds, one after the other
        fm_quota *quota = fm_quotas_hold_address(&quotas, "10.0.0.1");
        opened += fm_quota_may_open(quota, 5, now_ns);
        fm_quotas_release(&quotas, quota, now_ns); // disconnecting does not help
        now_ns += FM_NS_PER_S / 100;
    }
    assert_in_range(opened, 5 * 10, 5 * (10 + FM_METER_BURST_S));
    fm_quota *other = fm_quotas_hold_address(&quotas, "10.0.0.2");
    assert_true(fm_quota_may_open(other, 5, now_ns));
    assert_true(fm_quota_may_open(other, 0, now_ns)); // no limit
    fm_quotas_release(&quotas, other, now_ns + FM_NS_PER_S);
    assert_int_equal(quotas.idle_count, 1); // the first one, which is ahead of the clock
    fm_quotas_fini(&quotas);
}

// Many addresses that guess tokens do not make the table grow without limit.
static void test_idle_addresses_are_bounded(void **state)
{
    (void)state;
    static fm_quotas quotas;
    uint64_t now_ns = FM_NS_PER_S;
    for (uint32_t i = 0; i < 3 * FM_QUOTAS_IDLE_MAX; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        fm_quota *quota = fm_quotas_hold_address(&quotas, peer);
        fm_quota_failed(quota, 20, now_ns);
        fm_quotas_release(&quotas, quota, now_ns);
        assert_true(quotas.idle_count <= FM_QUOTAS_IDLE_MAX);
    }
    assert_int_equal(quotas.idle_count, FM_QUOTAS_IDLE_MAX);
    // Once their failures have expired there is room again.
    now_ns += 100 * FM_NS_PER_S;
    fm_quota *quota = fm_quotas_hold_address(&quotas, "11.0.0.1");
    fm_quota_failed(quota, 20, now_ns);
    fm_quotas_release(&quotas, quota, now_ns);
    assert_int_equal(quotas.idle_count, 1);
    fm_quotas_fini(&quotas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meters_keep_the_rate),
        cmocka_unit_test(test_large_takings_wait_for_the_whole_burst),
        cmocka_unit_test(test_addresses_are_told_apart),
        cmocka_unit_test(test_wrong_tokens_lock_an_address_out_for_a_while),
        cmocka_unit_test(test_connections_come_at_the_rate),
        cmocka_unit_test(test_idle_addresses_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
