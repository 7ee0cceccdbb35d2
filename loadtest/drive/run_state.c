// loadtest/drive/run_state.c: see run_state.h.

#include "loadtest/drive/run_state.h"

#include <stdarg.h>
#include <time.h>

uint64_t fm_run_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fm_run_fail(fm_run_state *run, const char *format, ...)
{
    if (run->failed) {
        return;
    }
    run->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->error, FM_RUN_ERROR_SIZE, format, arguments);
    va_end(arguments);
}

void fm_run_push(fm_run_state *run, uint64_t due_ns, fm_event_kind kind, uint32_t index)
{
    if (fm_schedule_push(&run->schedule, due_ns, kind, index) != FM_OK) {
        fm_run_fail(run, "out of memory");
    }
}
