// server/base/histogram.h: counts values in buckets whose width grows with the value, so that any
// quantile is known within 1.6 % from a fixed amount of memory.
//
// Values below 64 have a bucket each. Above, every power of two is split into 64 buckets of equal
// width. Values from 2^40 up (18 minutes in nanoseconds) count as 2^40 - 1.
//
// Threads: one at a time.

#pragma once

#include "core/base/base.h"

#define FM_HISTOGRAM_VALUE_MAX (((uint64_t)1 << 40) - 1)
#define FM_HISTOGRAM_BUCKETS   (64u * 35u)

typedef struct fm_histogram {
    uint64_t count;
    uint64_t max; // exact
    uint32_t buckets[FM_HISTOGRAM_BUCKETS];
} fm_histogram;

void fm_histogram_add(fm_histogram *histogram, uint64_t value);

/// The smallest value that at least `share` of all values do not exceed, rounded up to the end of
/// its bucket, but never above the largest value. 0 when there are none.
///
/// @param share  0..1 (asserted); 0.99 for p99
uint64_t fm_histogram_quantile(const fm_histogram *histogram, double share);

// Times counted by fixed upper edges, for metrics. Zeroed is empty.
#define FM_DISTRIBUTION_EDGES 16u

/// Upper edges in microseconds, rising.
extern const uint32_t fm_distribution_edges_us[FM_DISTRIBUTION_EDGES];

typedef struct fm_distribution {
    uint64_t count;
    uint64_t sum_us;
    uint64_t up_to[FM_DISTRIBUTION_EDGES]; // how many did not exceed each edge
} fm_distribution;

void fm_distribution_add(fm_distribution *distribution, uint64_t us);

// The same for other values than times; its owner knows its edges. Zeroed is empty.
#define FM_TALLY_EDGES 8u

typedef struct fm_tally {
    uint64_t count, sum;
    uint64_t up_to[FM_TALLY_EDGES];
} fm_tally;

/// @param edges  rising; the same ones at every call
void fm_tally_add(fm_tally *tally, const uint64_t edges[FM_TALLY_EDGES], uint64_t value);
