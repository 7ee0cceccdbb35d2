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
// Who gets which goal is in deal.h.
//
// Threads: commands only.

#pragma once

#include "core/map/labels.h"
#include "core/world/world.h"

// What a team knows of where a group goes.
typedef struct fm_group_ground {
    uint32_t team;
    uint32_t spacing;    // cells from one place to the next: the size of the largest unit
    fm_cell from;        // where the first unit stands
    const fm_view *view; // of the first unit's class
    fm_labels *labels;   // NULL: not available now
} fm_group_ground;

/// Looks at a command with at least one agent. They live (asserted) and must be of one team.
///
/// @param failed_index  receives the first agent of another team, with FM_ERR_BAD_VALUE
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_group_survey(fm_world *world, const fm_command *command,
                                     fm_group_ground *ground, uint32_t *failed_index);

/// The cell that was named or, if that is believed blocked or out of reach, the nearest one that
/// can be reached; the one that was named also where that is not known.
fm_cell fm_group_reachable(fm_world *world, const fm_group_ground *ground, fm_cell named);

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
