// clients/c/now.h: the time, for deadlines.

#pragma once

#include <limits.h>
#include <stdint.h>
#include <time.h>

/// Milliseconds by a clock that nobody sets.
static inline uint64_t fm_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/// How long poll() may wait until a time: 0..INT_MAX, after which the caller looks again.
static inline int fm_left_ms(uint64_t end_ms)
{
    uint64_t now_ms = fm_now_ms();
    if (now_ms >= end_ms) {
        return 0;
    }
    return end_ms - now_ms < INT_MAX ? (int)(end_ms - now_ms) : INT_MAX;
}
