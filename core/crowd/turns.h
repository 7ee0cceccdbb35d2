// core/crowd/turns.h: the order in which units are asked where they go, and how that is divided
// among workers: into parts that hold whole islands (islands.h).
//
// Threads: the tick thread.

#pragma once

#include "core/crowd/islands.h"
#include "core/world/crowd_state.h"

// Turns that one worker takes at once.
typedef struct fm_turns_part {
    uint32_t begin, end;  // in fm_turns.slots
    uint32_t first_frame; // of fm_world_crowd.frames; they end where those of the next part begin
} fm_turns_part;

typedef struct fm_turns {
    const uint32_t *slots; // in each island the oldest first, ties to the smaller slot
    const fm_turns_part *parts;
    uint32_t part_count;
    bool has_decided; // some have decided beforehand where they go
} fm_turns;

/// Makes room for so many agents.
FM_CHECKED bool fm_turns_reserve(fm_world *world, uint32_t agent_count);

void fm_turns_fini(fm_world *world);

/// The turns of all who want to be somewhere else. Good until the next call.
///
/// @param divides  false: all are one part. Else they may be, where that takes less time
fm_turns fm_turns_list(fm_world *world, bool divides);
