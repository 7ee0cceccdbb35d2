// test_histogram.c: the server's histogram against sorting.
//
// Goal    quantiles lie within 1.6 % above the true ones, and never below; max is exact.
// Method  random values of very different sizes, compared with the sorted list.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "server/base/histogram.h"

#define VALUES 20000u

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void quantiles_are_close(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
    static uint64_t values[VALUES];
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 40; round++) {
        fm_histogram *histogram = calloc(1, sizeof *histogram);
        uint32_t count = 1 + fm_random_below(&random, VALUES);
        uint32_t bits = 1 + fm_random_below(&random, 40);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t shift = 64 - 1 - fm_random_below(&random, bits);
            values[i] = fm_random_next(&random) >> shift;
            fm_histogram_add(histogram, values[i]);
        }
        qsort(values, count, sizeof *values, compare);
        assert_int_equal(histogram->count, count);
        assert_int_equal(histogram->max, values[count - 1]);
        for (uint32_t i = 0; i < FM_COUNT_OF(shares); i++) {
            double rank = shares[i] * count;
            uint32_t index = (uint32_t)rank + (rank > (uint32_t)rank);
            uint64_t truth = values[index == 0 ? 0 : index - 1];
            uint64_t answer = fm_histogram_quantile(histogram, shares[i]);
            assert_true(answer >= truth);
            assert_true((double)answer <= (double)truth * 1.016);
        }
        free(histogram);
    }
}

static void huge_values_are_clamped(void **state)
{
    (void)state;
    fm_histogram *histogram = calloc(1, sizeof *histogram);
    assert_int_equal(fm_histogram_quantile(histogram, 0.5), 0);
    fm_histogram_add(histogram, UINT64_MAX);
    assert_int_equal(histogram->max, FM_HISTOGRAM_VALUE_MAX);
    assert_int_equal(fm_histogram_quantile(histogram, 0.5), FM_HISTOGRAM_VALUE_MAX);
    free(histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_close),
        cmocka_unit_test(huge_values_are_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
