// server/base/histogram.c: see histogram.h.

#include "server/base/histogram.h"

#include <math.h>

#define SPLIT_BITS 6u // every power of two has 2^6 buckets

static uint32_t bucket_of(uint64_t value)
{
    if (value < 1u << SPLIT_BITS) {
        return (uint32_t)value;
    }
    uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - SPLIT_BITS;
    return ((shift + 1) << SPLIT_BITS) + (uint32_t)(value >> shift) - (1u << SPLIT_BITS);
}

// Largest value of a bucket.
static uint64_t bucket_end(uint32_t bucket)
{
    uint32_t row = bucket >> SPLIT_BITS, column = bucket & ((1u << SPLIT_BITS) - 1);
    if (row == 0) {
        return column;
    }
    return (((uint64_t)(1u << SPLIT_BITS) + column + 1) << (row - 1)) - 1;
}

void fm_histogram_add(fm_histogram *histogram, uint64_t value)
{
    if (value > FM_HISTOGRAM_VALUE_MAX) {
        value = FM_HISTOGRAM_VALUE_MAX;
    }
    histogram->count++;
    histogram->buckets[bucket_of(value)]++;
    if (value > histogram->max) {
        histogram->max = value;
    }
}

uint64_t fm_histogram_quantile(const fm_histogram *histogram, double share)
{
    FM_ASSERT(share >= 0 && share <= 1);
    uint64_t wanted = (uint64_t)ceil(share * (double)histogram->count);
    uint64_t seen = 0;
    for (uint32_t bucket = 0; bucket < FM_HISTOGRAM_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen >= wanted && seen > 0) {
            uint64_t end = bucket_end(bucket);
            return end < histogram->max ? end : histogram->max;
        }
    }
    return histogram->max;
}

const uint32_t fm_distribution_edges_us[FM_DISTRIBUTION_EDGES] = {
    100,   250,   500,   1000,  2500,   5000,   10000,  20000,
    30000, 40000, 50000, 75000, 100000, 250000, 500000, 1000000,
};

void fm_distribution_add(fm_distribution *distribution, uint64_t us)
{
    distribution->count++;
    distribution->sum_us += us;
    for (uint32_t i = FM_DISTRIBUTION_EDGES; i > 0 && us <= fm_distribution_edges_us[i - 1]; i--) {
        distribution->up_to[i - 1]++;
    }
}

void fm_tally_add(fm_tally *tally, const uint64_t edges[FM_TALLY_EDGES], uint64_t value)
{
    tally->count++;
    tally->sum += value;
    for (uint32_t i = FM_TALLY_EDGES; i > 0 && value <= edges[i - 1]; i--) {
        tally->up_to[i - 1]++;
    }
}
