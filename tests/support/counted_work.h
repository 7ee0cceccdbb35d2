// tests/support/counted_work.h: how much work a program has done, counted and not timed.
//
// The measured code is compiled once more with a call in every basic block
// (-fsanitize-coverage=trace-pc), which counts it; memory that is set or copied in bulk counts by
// its size. The same run gives the same count on any machine. It is counted where gcc compiles
// without sanitizers and coverage (debug, release, native). Elsewhere the count is 0, bounds must
// be written so that they hold then (work <= most * once), and the test says that it was skipped.
//
// Threads: one. The program is linked with --wrap=memset,--wrap=memcpy,--wrap=memmove.

#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/// Basic blocks and bulk bytes since the program began, as one number.
uint64_t counted_work(void);

/// For the end of a test whose bounds say nothing where nothing is counted: skips it there.
static inline void counted_work_or_skip(void)
{
    if (counted_work() == 0) {
        print_message("[ SKIPPED  ] no work is counted in this build\n");
        skip();
    }
}
