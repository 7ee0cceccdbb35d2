// server/base/clock.h: the one place where the server reads the time.
//
// Everything that runs on a schedule takes its time from here, so that a simulation can replace the
// clock.

#pragma once

#include <stdint.h>

#define FM_NS_PER_MS 1000000ull
#define FM_NS_PER_S  1000000000ull

/// Nanoseconds since some moment before the process started; never goes back. Any thread.
uint64_t fm_clock_now_ns(void);

/// Seconds since 1970, by the machine's clock, which may be set. Any thread.
uint64_t fm_clock_unix_s(void);
