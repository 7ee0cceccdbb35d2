// core/orders/group.h: one order for many units: a goal of its own for each, around the one that
// was named.
//
//                    shared search to the meeting cell                 own, short search
//   unit ── MARCH ─────────────────────────────────────> near its own ───────────────> its own goal
//            │                                           goal                ^
//            └── the meeting cell cannot be reached ─────────────────────────┘
//
// The meeting cell is the cell that was named or, if that is believed blocked or out of reach, the
// nearest one that can be reached. All units of a class march by one backward search to it. A unit
// that is as near to its own goal as the meeting cell is (and FM_MARCH_NEAR cells more, march.h)
// leaves it and finds its own path from there.
//
// Goals are cells that the team believes free and connected with the meeting cell:
//
//   spread   the nearest ones by steps, a patch around the meeting cell
//   keep     where each unit stands relative to the middle of the group
//   line     rows across the direction of march, 16 wide or more
//   box      rows across the direction of march, as wide as deep
//
// A place that is not free is moved to the nearest one that is. Where a unit covers several cells,
// places are as far apart as the largest unit of the group is wide.
//
// Who gets which goal: units and goals are cut into strips along the direction of march, as many as
// there are units in each, and matched from front to back; then pairs exchange their goals as long
// as that makes their paths shorter in sum. Paths that cross are longer than paths that do not, so
// few are left; units in front get goals in front.
//
// Threads: commands only.

#pragma once

#include "core/world/world.h"

/// Chooses a goal for each agent of a move command with one cell and `spread` or a formation. Its
/// agents live (asserted) and must be of one team.
///
/// @param goals    receives one cell for each agent of the command
/// @param meeting  receives the cell that all march to
/// @param failed_index  receives the first agent of another team, with FM_ERR_BAD_VALUE
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_NO_MEMORY; nothing has changed then
FM_CHECKED fm_status fm_group_place(fm_world *world, const fm_command *command, fm_cell *goals,
                                    fm_cell *meeting, uint32_t *failed_index);

/// The slowest speed among a command's agents, in cells per 1000 s, at least 1. Agents without a
/// speed make one step a tick.
uint32_t fm_group_speed(const fm_world *world, const fm_command *command);
