// core/commands/exchange.h: an agent changes teams, as by mind control.
//
// It keeps its slot, and with it its id, and what it is: class, speed, planner, tag, sight. For its
// old team it is as if it had died, so all of its orders end. For its new team it is as if it were
// born: it gets an alias of that team and knows what that team knows. Those that it carries come
// along.
//
// A team's slots decide the names of its agents (core/world/names.h), so teams exchange slots: the
// team that the agent leaves gets an empty one, in the agent's place.
//
//     before   A: place 4 ──> slot 17, the agent      B: place 9 ──> slot 30, empty; or a new slot
//     after    A: place 4 ──> slot 30, empty          B: place 9 ──> slot 17, the agent
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Checks that the agents of a command can come to a team, and makes room for it. They live (the
/// caller has checked that, and made room for the end of their orders).
///
/// @param failed_index  receives which agent cannot
/// @return FM_OK, FM_ERR_NO_TEAM, FM_ERR_LIMIT or FM_ERR_NO_MEMORY; nothing has changed
FM_CHECKED fm_status fm_exchange_prepare(fm_world *world, const fm_command *command,
                                         uint32_t *failed_index);

/// Does it, for an agent of another team that nobody carries (asserted).
void fm_exchange_agent(fm_world *world, struct fm_agent *agent, uint32_t new_team);
