// tests/support/counted_work.h: how much work a program has done, counted and not timed.
//
// The measured code is compiled once more with a call in every basic block
// (-fsanitize-coverage=trace-pc), which counts it; memory that is set or copied in bulk counts by
// its size. The same run gives the same count on any machine. Other presets than release count
// nothing: the count is 0, and bounds must be written so that they hold then (work <= most * once).
//
// Threads: one. The program is linked with --wrap=memset,--wrap=memcpy,--wrap=memmove.

#pragma once

#include <stdint.h>

/// Basic blocks and bulk bytes since the program began, as one number.
uint64_t counted_work(void);
