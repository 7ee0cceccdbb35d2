// core/commands/boarding.h: agents that others carry, as in a transport.
//
//                 board: within the radius of the carrier
//   IN THE WORLD ─────────────────────────────────────────> CARRIED ── the carrier is removed ──>
//   dead
//        ^                                                    │ │
//        │   unboard: a free cell within the radius           │ └── removed ──> dead
//        └────────────────────────────────────────────────────┘
//
// A carried agent is out of the world: it has no cell, is not seen and sees nothing, and no tick
// visits it (fm_agent.alive is false; fm_world_find() does not find it). It keeps its slot, and
// with it id and alias, class, speed, planner, tag and sight. Its orders end as FM_END_BOARDED, and
// until it is in the world again it gets none. It may be removed; all other commands refuse it with
// FM_ERR_CARRIED. Where its carrier stood when it boarded, other teams see it leave.
//
// Carrier and passengers are of one team: when the carrier goes to another one, they come along.
// Nobody who carries is carried. How many a carrier takes, and whom, is the game's business, below
// FM_PASSENGERS_MAX.
//
// Those who come out stand around the carrier, the nearest ring first, each ring from its
// north-west cell, row by row; where a cell holds one unit, on free cells. All that a command names
// come out, or none.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_BOARD, whole or not at all: FM_ERR_NO_TARGET when there is no such carrier, or
/// of another team; FM_ERR_CARRIED when it is carried itself, or one of the agents carries others;
/// FM_ERR_TOO_FAR, FM_ERR_LIMIT when there would be too many; FM_ERR_BAD_VALUE for the carrier
/// itself, an agent that is named twice, or a radius that is too large.
void fm_boarding_board(fm_world *world, const fm_command *command, fm_command_result *result);

/// Does FM_COMMAND_UNBOARD, whole or not at all: either the agents, or all that the target carries.
/// FM_ERR_NOT_CARRIED, FM_ERR_NO_TARGET; FM_ERR_OCCUPIED_CELL when there are too few free cells.
void fm_boarding_unboard(fm_world *world, const fm_command *command, fm_command_result *result);
