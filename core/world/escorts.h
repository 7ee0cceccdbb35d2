// core/world/escorts.h: units that are let through a press. core/crowd/escort.h gives and ends
// escorts; views show them.
//
// Threads: the tick thread.

#pragma once

#include "core/map/movement.h"
#include "core/world/world.h"

#define FM_ESCORT_REACH        4u // cells around the unit where others stand
#define FM_ESCORT_SIDE_MAX     (2 * FM_ESCORT_REACH + FM_CLASS_SIZE_MAX)
#define FM_ESCORT_STANDING_MAX (FM_ESCORT_SIDE_MAX * FM_ESCORT_SIDE_MAX)

// Belongs to a team. `place`, `standing` and their count are of the last tick, before its moves.
struct fm_escort {
    struct fm_escort *next; // of the team
    fm_agent_id agent;      // that has it
    uint64_t order;
    fm_cell begun_at;
    fm_cell aim; // where the order leads
    uint64_t begun_tick, better_tick;
    uint32_t distance; // least to the goal
    fm_cell place;     // where the unit wanted to go; FM_CELL_NONE: it was not its turn
    uint32_t standing_count;
    fm_agent_id standing[FM_ESCORT_STANDING_MAX]; // those who stood for it
};
