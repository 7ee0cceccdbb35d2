// server/worlds/publication.h: what changed in one watched view in a tick, for the event loop.

#pragma once

#include "core/views/waypoints.h"
#include "server/worlds/event.h"

typedef struct fm_host fm_host;

// The numbers of a delta's `load`.
typedef struct fm_load {
    uint64_t tick_us, search_us, expansions, moved, agents;
} fm_load;

// A game's tag on an agent.
typedef struct fm_tag_look {
    fm_agent_id name; // of the agent, as in its look
    uint8_t size;     // bytes; 0: it has none now
    uint8_t bytes[FM_TAG_SIZE_MAX];
} fm_tag_look;

// What one view is sent after a tick: changes, or a snapshot. Arrays lie in the same block, but for
// `looks` and `sight`.
typedef struct fm_publication {
    fm_event event; // first
    fm_host *host;
    uint32_t team;
    uint64_t serial; // serial of its watch
    uint64_t tick;   // ticks completed
    size_t size;     // bytes, of all of it
    bool is_snapshot;
    bool is_cut;     // a snapshot of another time: readers drop what they know
    bool ended_lost; // a snapshot that lacks ends of orders or alerts: too many were left out
    fm_load load;
    fm_changes changes; // a snapshot has `entered`, `buildings`, and `ended` of what was left out
    uint16_t *looks;    // owned; snapshot: of every cell, row by row
    fm_course *courses; // of own agents that came or changed, where the watch wants them
    uint32_t course_count;
    fm_tag_look *tags; // of the agents whose looks have a new tag
    uint32_t tag_count;
    uint64_t *sight; // owned; fm_world_sight(), in snapshots, and alone when it is wanted late
} fm_publication;

/// Releases a publication that was taken in or is not needed. Either thread.
void fm_publication_destroy(fm_publication *publication);
