// core/commands/permit.h: what players may build and tear down, and how they give orders.
//
// A world may let players build (fm_world_rules.players_build). What a player builds stands, all of
// it, on cells that its team sees now and knows to be free, and so does what it tears down; so
// neither a permit nor a refusal shows anything that the team does not see. Its buildings are
// small, and a team has a bounded number of them. The command itself is the ordinary one, with
// FM_UNITS_REFUSE: pushing units away would show where there is room for them.
//
// An order names each unit once, so that it costs what the player's units cost.
//
// Threads: between ticks. Nothing here changes the world, but for what agents note during a
// command.

#pragma once

#include "core/world/world.h"

#define FM_PERMIT_CELLS_MAX 64u   // of a building that a player places
#define FM_PERMIT_COUNT_MAX 1024u // largest fm_world_rules.players_build

/// Whether a player of a team may place a building there.
///
/// @param team  of the world, and not FM_ALL_TEAMS (both asserted)
/// @return FM_OK; FM_ERR_DENIED: players do not build here; FM_ERR_BAD_VALUE or FM_ERR_OFF_GRID;
///         FM_ERR_LIMIT: the rectangle is too large, or the team has as many buildings as it may;
///         FM_ERR_BLOCKED_CELL: not all of it is free and in sight; or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_permit_build(const fm_world *world, uint32_t team, const fm_rect *rect);

/// Whether a player may tear down the building that its team knows by a name.
///
/// @param id  receives its id
/// @return FM_OK, FM_ERR_DENIED, FM_ERR_NO_BUILDING: the team has no such building;
///         FM_ERR_NOT_READY: the team does not see all of it now; or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_permit_demolish(const fm_world *world, uint32_t team, uint32_t name,
                                        uint32_t *id);

/// Whether an order that a player gives names each agent once: an order to one agent named 65,536
/// times costs as much as one to an army. What names orders, too, may name an agent once for each.
///
/// Names of agents that are not there do not count: the command itself refuses them.
///
/// @param failed_index  receives the first agent that is named again
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_permit_order(fm_world *world, const fm_command *command,
                                     uint32_t *failed_index);

/// The name by which a team knows a building; 0 when it has not seen it.
uint32_t fm_permit_name(const fm_world *world, uint32_t team, uint32_t id);
