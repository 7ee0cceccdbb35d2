// loadtest/lab/stopwatch.h: measures short times.
//
// A move of an agent takes a few hundred nanoseconds, and reading the system's clock takes a tenth
// of that, so the processor's own counter is read instead where it runs at a fixed rate (x86). Its
// rate is found by watching it beside the system's clock for as long as the process has been
// running.

#pragma once

#include "core/base/base.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// Nanoseconds of the system's steady clock.
uint64_t fm_lab_clock_ns(void);

/// Ticks of a fixed, unnamed length.
static inline uint64_t fm_lab_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return fm_lab_clock_ns();
#endif
}

/// Call once, when the program starts.
void fm_lab_stopwatch_start(void);

/// Nanoseconds for a number of ticks.
double fm_lab_ns(uint64_t ticks);

/// Nanoseconds that this thread has had a processor. A system call: not for small things.
uint64_t fm_lab_processor_ns(void);
