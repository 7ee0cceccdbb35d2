// core/orders/scatter.h: one order for many units to spread out: each moves to a cell of its own,
// and they end apart from each other.
//
//   middle: the cell that was named, or the middle of where the units stand; if that is believed
//           blocked or out of reach, the nearest cell that can be reached
//     ──> cells: those within the radius to which steps within the radius lead
//     ──> places: in the order of steps from the middle each cell that is no nearer than some
//         distance to any place before it; the largest distance that gives each unit one. So the
//         least distance between two of them is at least half of what is possible (a greedy
//         packing; Ravi, Rosenkrantz and Tayi, "Heuristic and Special Case Algorithms for
//         Dispersion Problems", 1994)
//     ──> who goes where: deal.h
//
// Where there are too few cells, units take the nearest ones beyond the radius too. Cells are
// believed free: only what the team knows decides, and the units' places in the command. What it
// takes is bounded by the cells within the radius, at most 129 x 129, or by the number of units.
//
// Threads: commands only.

#pragma once

#include "core/world/world.h"

/// Chooses a goal for each agent of a scatter, with a cell or without. Its agents live (asserted)
/// and must be of one team.
///
/// @param goals         receives one cell for each agent of the command
/// @param failed_index  receives the first agent of another team, with FM_ERR_BAD_VALUE
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_NO_MEMORY; nothing has changed then
FM_CHECKED fm_status fm_scatter_place(fm_world *world, const fm_command *command, fm_cell *goals,
                                      uint32_t *failed_index);
