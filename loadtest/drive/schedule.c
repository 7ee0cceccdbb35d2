// loadtest/drive/schedule.c: see schedule.h.

#include "loadtest/drive/schedule.h"

#include "core/base/memory.h"

#include <stdlib.h>

static bool is_before(const fm_event *a, const fm_event *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->serial < b->serial;
}

static void swap(fm_event *a, fm_event *b)
{
    fm_event kept = *a;
    *a = *b;
    *b = kept;
}

void fm_schedule_fini(fm_schedule *schedule)
{
    free(schedule->events);
    *schedule = (fm_schedule){0};
}

fm_status fm_schedule_push(fm_schedule *schedule, uint64_t due_ns, fm_event_kind kind,
                           uint32_t index)
{
    if (!FM_RESERVE_FROM(&fm_memory_libc, schedule->events, schedule->capacity,
                         schedule->count + 1)) {
        return FM_ERR_NO_MEMORY;
    }
    uint32_t at = schedule->count++;
    schedule->events[at] = (fm_event){due_ns, schedule->pushed_count++, kind, index};
    while (at > 0 && is_before(&schedule->events[at], &schedule->events[(at - 1) / 2])) {
        swap(&schedule->events[at], &schedule->events[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return FM_OK;
}

uint64_t fm_schedule_next_ns(const fm_schedule *schedule)
{
    return schedule->count == 0 ? UINT64_MAX : schedule->events[0].due_ns;
}

bool fm_schedule_pop(fm_schedule *schedule, uint64_t now_ns, fm_event *event)
{
    if (fm_schedule_next_ns(schedule) > now_ns || schedule->count == 0) {
        return false;
    }
    fm_event *events = schedule->events;
    *event = events[0];
    events[0] = events[--schedule->count];
    for (uint32_t at = 0;;) {
        uint32_t first = at;
        for (uint32_t below = 2 * at + 1; below <= 2 * at + 2 && below < schedule->count; below++) {
            first = is_before(&events[below], &events[first]) ? below : first;
        }
        if (first == at) {
            return true;
        }
        swap(&events[at], &events[first]);
        at = first;
    }
}
