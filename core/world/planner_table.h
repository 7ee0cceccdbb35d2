// core/world/planner_table.h: which planner serves which agent.
//
// Planners that search backward are shared: agents of one team and movement class with the same
// goal and spec find the same planner and count as its users. The others serve one agent. A planner
// without users ends at once and gives its pages back.
//
// auto serves one agent too. Where jump points do not apply, the eighth agent that it leads to a
// goal and those that come after it share one dstar-lite: it costs less than their searches
// together.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world_state.h"

/// Whether an agent that has a planner of its own for some goal would now be given a group's for
/// it.
bool fm_planner_belongs_to_group(const fm_world *world, const struct fm_agent *agent);

/// The planner for a goal of an agent's team, by the agent's spec, or D* Lite for one on the march
/// with its group whose spec is not shared: a shared one that is there
/// already, or a new one. The agent counts as a user of it until fm_planner_release().
///
/// The agent has none yet.
///
/// @return false when out of memory
bool fm_planner_take(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// The same, of D* Lite whatever the agent's spec: for a short path whose distances have to be
/// exact.
bool fm_planner_take_exact(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// Lets go of an agent's planner, which ends when nobody else uses it. Nothing happens when there
/// is none.
void fm_planner_release(fm_world *world, struct fm_agent *agent);

/// Gives a planner that serves one agent a new goal; one that is shared is let go instead, as with
/// FM_CELL_NONE. Nothing happens when the agent has none.
void fm_planner_redirect(fm_world *world, struct fm_agent *agent, fm_cell goal);

#define FM_RECENT_TICKS 16u // over which the cost of a search is smoothed

/// What a planner's searches cost of late, as of a tick: expansions per tick x 256, smoothed.
uint64_t fm_planner_recent(const struct fm_planner *planner, uint64_t tick);

/// Ends the search of every planner of a team without ending the planner.
void fm_planners_forget(fm_world *world, uint32_t team);

/// Between ticks, for saved worlds: ends every planner but those that can be saved, and numbers
/// these from 0 on. Agents that have lost theirs get others in the next tick.
void fm_planners_settle(fm_world *world);

/// Writes a planner that fm_planners_settle() has kept.
void fm_planner_save(const struct fm_planner *planner, fm_writer *writer);

/// Makes the planner that fm_planners_settle() has left to an agent and fm_planner_save() has
/// written. The agent has a goal (asserted) and no planner yet.
///
/// @return FM_OK, FM_ERR_BAD_FORMAT (noted in the reader) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_planner_restore(fm_world *world, struct fm_agent *agent, fm_reader *reader);

/// Ends a planner, whoever uses it. For the end of the world.
void fm_planner_end(fm_world *world, uint32_t slot);
