// core/views/escorted.h: which units have an escort, and who stands for them
// (core/crowd/escort.h).
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/world/escorts.h"

#define FM_ESCORTED_MAX 32u // escorts that are listed

// An escort. Of those who stood in the last tick the ones that still live are listed; some of them
// may have been pushed aside.
typedef struct fm_escorted {
    fm_agent_id agent; // that has it
    uint32_t team;
    uint32_t size; // cells to a side
    fm_cell cell;  // where it stands
    fm_cell place; // where it wanted to go in the last tick; FM_CELL_NONE: it was not its turn
    uint64_t tick; // in which the escort began
    uint32_t standing_count;
    fm_agent_id standing[FM_ESCORT_STANDING_MAX];
} fm_escorted;

/// The escort that an agent has, or stands for.
///
/// @return false: there is none, and `escorted` is left as it is
bool fm_world_escort_of(const fm_world *world, fm_agent_id agent, fm_escorted *escorted);

/// Lists up to FM_ESCORTED_MAX, by team. @return how many
uint32_t fm_world_list_escorts(const fm_world *world, fm_escorted *list);
