// server/worlds/event.h: the entries of the queues between the event loop and a conductor.
//
// Jobs (job.h) and publications (publication.h) begin with an fm_event, so one queue carries both
// to the loop in the order in which they happened.

#pragma once

#include <stddef.h>

typedef enum fm_event_kind {
    FM_EVENT_JOB,
    FM_EVENT_PUBLICATION,
    FM_EVENT_STOPPED, // the conductor's last event
} fm_event_kind;

typedef struct fm_event {
    struct fm_event *next;
    fm_event_kind kind;
} fm_event;

// A queue. Its holder owns its events.
typedef struct fm_events {
    fm_event *first, *last; // `last` counts only while there is a first
} fm_events;

static inline void fm_events_append(fm_events *events, fm_event *event)
{
    event->next = NULL;
    if (events->first == NULL) {
        events->first = event;
    } else {
        events->last->next = event;
    }
    events->last = event;
}

/// Appends all of `more`, which is empty afterwards.
static inline void fm_events_append_all(fm_events *events, fm_events *more)
{
    if (more->first == NULL) {
        return;
    }
    if (events->first == NULL) {
        events->first = more->first;
    } else {
        events->last->next = more->first;
    }
    events->last = more->last;
    *more = (fm_events){0};
}

/// Takes the first one out. The queue must not be empty.
static inline fm_event *fm_events_pop(fm_events *events)
{
    fm_event *event = events->first;
    events->first = event->next;
    return event;
}
