// loadtest/lab/stopwatch.c: see stopwatch.h.

#include "loadtest/lab/stopwatch.h"

#include <time.h>

#define WATCH_NS_MIN 5000000u // long enough to know the rate to one part in ten thousand

static uint64_t start_ns, start_ticks;

uint64_t fm_lab_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fm_lab_stopwatch_start(void)
{
    start_ns = fm_lab_clock_ns();
    start_ticks = fm_lab_ticks();
}

double fm_lab_ns(uint64_t ticks)
{
    uint64_t elapsed_ns;
    do {
        elapsed_ns = fm_lab_clock_ns() - start_ns;
    } while (elapsed_ns < WATCH_NS_MIN);
    return (double)ticks * ((double)elapsed_ns / (double)(fm_lab_ticks() - start_ticks));
}

uint64_t fm_lab_processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
