// core/crowd/standing.h: units that stand in the way and leave for nobody: those of other teams
// that are not under way, and of its own team those that may not be pushed.
//
// Threads: any. It reads nothing that the choose stage writes.

#pragma once

#include "core/world/world.h"

struct fm_agent;

#define FM_STANDING_TICKS 32u // for which such a unit has not stepped
#define FM_STANDING_AWAY  64u // the same, of one that wants to go back home

/// The first unit of that kind, among those that the agent sees, on the cells that it covers with
/// its north-west corner on `cell`. Outside the map there is nobody: a goal may be where the agent
/// does not fit, as long as that is not proven.
///
/// @return slot + 1; 0: there is none
uint32_t fm_standing_at(const fm_world *world, const struct fm_agent *agent, fm_cell cell);
