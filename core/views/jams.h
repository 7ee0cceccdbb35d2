// core/views/jams.h: who is stuck, and waits for whom, and who is let through, where a cell holds
// one unit.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/views/escorted.h"
#include "core/views/explain.h"

#define FM_JAMMED_MAX 256u // units that are listed

// A unit that wanted to continue and did not get away when jams were looked for last (world.h,
// fm_world_counts.stuck).
typedef struct fm_jammed {
    fm_agent_id agent;
    uint32_t team;
    uint32_t size; // cells to a side
    fm_cell cell;
    fm_cell goal; // FM_CELL_NONE: it has none any more
    fm_why why;
    fm_agent_id blocker;  // who stands where it wants to go; all zero: nobody
    fm_cell blocker_cell; // FM_CELL_NONE
    uint64_t waits_ticks; // as in fm_explanation
    uint32_t kept_ticks;  // the same
    fm_agent_help help;   // the same
    uint32_t group;       // from 0: those who wait for each other, directly or through others
} fm_jammed;

typedef struct fm_jams {
    uint32_t stuck; // units in all
    uint32_t count; // listed
    uint32_t group_count;
    fm_jammed units[FM_JAMMED_MAX]; // by slot
    uint32_t escort_count;
    fm_escorted escorts[FM_ESCORTED_MAX];
} fm_jams;

/// Lists who is stuck, and escorts. Costs a look at each agent, and an explanation of each that is
/// listed.
void fm_world_list_jams(const fm_world *world, fm_jams *jams);
