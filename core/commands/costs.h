// core/commands/costs.h: what a game adds to the cost of cells for one team.
//
// It goes into what that team's searches read (core/map/cost_layer.h) and nowhere else: neither the
// true map nor any other team has to do with it. Searches are told of the cells that changed, and
// mend what depends on those.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_COST, whole or not at all.
///
/// The first one for a team changes the scale of its costs, unless it reckons with costs already:
/// all of its searches start over, once. It is refused (FM_ERR_NOT_READY) where the team, or one of
/// its agents, has a planner that needs equal costs; afterwards such a planner is refused to them.
/// FM_ERR_LIMIT: more than FM_COST_CELLS_MAX cells since the last tick.
void fm_costs_command(fm_world *world, const fm_command *command, fm_command_result *result);
