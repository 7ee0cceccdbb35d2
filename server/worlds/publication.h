// server/worlds/publication.h: what changed in one watched view in a tick, for the event loop.

#pragma once

#include "core/views/waypoints.h"
#include "server/worlds/event.h"

typedef struct fm_host fm_host;

// The numbers of a delta's `load`.
typedef struct fm_load {
    uint64_t tick_us, search_us, expansions, moved, agents;
} fm_load;

// What a game has written on an agent.
typedef struct fm_tag_look {
    fm_agent_id name; // of the agent, as in its look
    uint8_t size;     // bytes; 0: it has none any more
    uint8_t bytes[FM_TAG_SIZE_MAX];
} fm_tag_look;

// What one view has to be sent after a tick, or all that it shows. Arrays lie in the same block,
// but for `looks` and `sight`.
typedef struct fm_publication {
    fm_event event; // first
    fm_host *host;
    uint32_t team;
    uint64_t serial; // of the watch that it answers to
    uint64_t tick;   // ticks completed
    size_t size;     // bytes, of all of it
    bool is_snapshot;
    bool is_cut; // a snapshot from elsewhere in time: what readers know is of no use
    fm_load load;
    fm_changes changes; // a snapshot has `entered`, `buildings`, and `ended` of what was left out
    uint16_t *looks;    // owned; snapshot: of every cell, row by row
    fm_course *courses; // of own agents that came or changed, where the watch wants them
    uint32_t course_count;
    fm_tag_look *tags; // of the agents whose looks tell them
    uint32_t tag_count;
    uint64_t *sight; // owned; fm_world_sight(), in snapshots, and alone when it is wanted late
} fm_publication;

/// Ends a publication that has been taken in, or that nobody is to be sent. Either thread.
void fm_publication_destroy(fm_publication *publication);
