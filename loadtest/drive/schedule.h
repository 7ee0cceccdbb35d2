// loadtest/drive/schedule.h: events in a heap, ordered by time.
//
// The generator handles events by their due time and measures from it, not from when it handled
// them or from when the server had answered the previous one. A server that stalls for a second is
// thus charged for everything that was due in that second.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

typedef enum fm_event_kind {
    FM_EVENT_ORDER,  // index: group
    FM_EVENT_VOLLEY, // all groups
    FM_EVENT_WALL_UP,
    FM_EVENT_WALL_DOWN, // index: wall
    FM_EVENT_MEASURE,   // the warm-up is over
    FM_EVENT_SAMPLE,    // look at the server's counters
    FM_EVENT_END,       // of the measurement
} fm_event_kind;

typedef struct fm_event {
    uint64_t due_ns; // on the caller's clock
    uint64_t
        serial; // set by push: events of one moment come in the order in which they were pushed
    fm_event_kind kind;
    uint32_t index;
} fm_event;

typedef struct fm_schedule {
    fm_event *events; // a binary heap
    uint32_t count;
    uint32_t capacity;
    uint64_t pushed_count;
} fm_schedule;

/// Releases the events. A zeroed fm_schedule is an empty one.
void fm_schedule_fini(fm_schedule *schedule);

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_schedule_push(fm_schedule *schedule, uint64_t due_ns, fm_event_kind kind,
                                      uint32_t index);

/// The time of the next event; UINT64_MAX when there is none.
uint64_t fm_schedule_next_ns(const fm_schedule *schedule);

/// Takes the next event if it is due. @return false when none is
bool fm_schedule_pop(fm_schedule *schedule, uint64_t now_ns, fm_event *event);
