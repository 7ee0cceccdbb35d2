// loadtest/lab/statistics.c: see statistics.h.

#include "loadtest/lab/statistics.h"

#include <math.h>

// The 97.5 % point of Student's t. From three degrees of freedom on a series in 1 / freedom around
// the normal distribution's is right to one part in a hundred (Fisher and Cornish 1960).
static double student_t(uint64_t freedom)
{
    static const double exact[] = {12.706, 4.303};
    if (freedom <= FM_COUNT_OF(exact)) {
        return exact[freedom - 1];
    }
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    double n = (double)freedom;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double fm_sample_ci95(const fm_sample *sample)
{
    if (sample->count < 2) {
        return (double)NAN;
    }
    double variance = sample->squares / (double)(sample->count - 1);
    return student_t(sample->count - 1) * sqrt(variance / (double)sample->count);
}
