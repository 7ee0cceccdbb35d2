// core/crowd/meeting.h: what units do about units of other teams and about queues that they meet
// (passing.h; rule 5 of README.md; bypass.h; around.h), for those who ask.
//
// It is here and not in core/views for the same reason as laned.h.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/world/world.h"

#define FM_MEETINGS_MAX 256u // agents of a kind that are listed

// Of one agent. Where it has no order, or has it since this tick, there is nothing.
typedef struct fm_meeting {
    // It kept to the right of its way in the last tick, and does until this tick has been made,
    // longer if it sees more units that come towards it. 0: it does not.
    uint64_t passes_until;
    uint32_t passes_team; // whose those are that it or a friend before it has seen; 0
    bool concedes;        // units of other teams could push it in the last tick as friends do
    fm_cell via;          // where it goes first, round a press of its team or round units that
                          // stand in its way; FM_CELL_NONE
} fm_meeting;

typedef struct fm_meetings {
    uint32_t passing_count, conceding_count; // listed, by slot
    fm_agent_id passing[FM_MEETINGS_MAX], conceding[FM_MEETINGS_MAX];
} fm_meetings;

/// An agent that does not exist, or is carried, has nothing.
fm_meeting fm_world_meeting_of(const fm_world *world, fm_agent_id agent);

/// Costs a look at each agent.
void fm_world_list_meetings(const fm_world *world, fm_meetings *meetings);
