// server/base/clock.c: see clock.h.

#include "server/base/clock.h"

#include <time.h>

uint64_t fm_clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * FM_NS_PER_S + (uint64_t)now.tv_nsec;
}
