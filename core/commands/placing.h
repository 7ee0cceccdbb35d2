// core/commands/placing.h: cells for new agents, for agents that are placed elsewhere, and for
// agents under a new wall.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Chooses a cell for each agent of a spawn command, into world->crowd.placed. With
/// FM_OCCUPANCY_EXCLUSIVE no two agents get the same, and none gets one that is taken.
///
/// @param failed_index  receives which cell of the command was refused
/// @return FM_OK, FM_ERR_OFF_GRID, FM_ERR_BLOCKED_CELL, FM_ERR_OCCUPIED_CELL or FM_ERR_NO_MEMORY;
///         on failure nothing has changed
FM_CHECKED fm_status fm_placing_choose(fm_world *world, const fm_command *command,
                                       uint32_t *failed_index);

/// Puts the agents of a place command where it says, by their classes. Any of them may go where
/// another stood.
///
/// @param command       of agents that live, each named once (the caller has checked that)
/// @param failed_index  receives which agent, and cell, of the command was refused
/// @return as fm_placing_choose()
FM_CHECKED fm_status fm_placing_move(fm_world *world, const fm_command *command,
                                     uint32_t *failed_index);

/// Makes room for fm_placing_push_out(): before anything changes.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_placing_prepare_to_push(fm_world *world);

/// Moves agents that no longer fit where they are to the nearest cell where they do; to a free one
/// if a cell holds one unit. One class after the other, in the order of the rules; of each by slot.
/// Takes time by the agents, and by the ground between them and free cells, once
/// (core/map/free_places.h). There is room (asserted).
void fm_placing_push_out(fm_world *world);

/// Notes that an agent stands, or no longer stands, in its cell, by its team and its class.
void fm_agent_enter(fm_world *world, const struct fm_agent *agent);
void fm_agent_leave(fm_world *world, const struct fm_agent *agent);
