// server/base/clock_unix.c: see clock.h. In a file of its own, so that a test can replace either
// clock.

#include "server/base/clock.h"

#include <time.h>

uint64_t fm_clock_unix_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec;
}
