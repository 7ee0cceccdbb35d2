// loadtest/lab/statistics.h: means with 95 % confidence intervals, from one number at a time
// (Welford 1962, which does not lose digits when the numbers are large and alike).

#pragma once

#include "core/base/base.h"

typedef struct fm_sample {
    uint64_t count;
    double mean;
    double squares; // sum of squared distances from the mean
} fm_sample;

static inline void fm_sample_add(fm_sample *sample, double value)
{
    double distance = value - sample->mean;
    sample->count += 1;
    sample->mean += distance / (double)sample->count;
    sample->squares += distance * (value - sample->mean);
}

/// Half the width of the 95 % confidence interval of the mean, by Student's t; NAN for fewer than
/// two values.
double fm_sample_ci95(const fm_sample *sample);
