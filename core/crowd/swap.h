// core/crowd/swap.h: two units that cannot pass each other where they are, and have to back out of
// a corridor together.
//
//     . . . . . .        b wants to the right, a to the left: who is pushed ends in the dead
//     @ @ . @ @ @        end or beyond where it has to go. So a goes back, away from its goal,
//     @ . a b . @        and pulls b after it, until there is a cell beside the corridor.
//     @ @ @ @ @ @
//
// Swap is required when the pusher drives the other one along a corridor, without a cell beside
// it, past the other's goal or from where the other has to come back, until it stands at its own
// goal or the corridor ends. It is possible when behind the pusher there is a fork. Then the pusher
// takes its preferences backwards, and whom it pulls takes its cell. A corridor without a way out
// that is full of units that want to be there is no way of a fork.
//
// A corridor leaves no choice: who enters it goes to its end, so that nothing but the
// first step has to be asked of a search, and the goals of both be compared with its cells.
//
// Source: K. Okumura, "Improving LaCAM for Scalable Eventually Optimal Multi-Agent Pathfinding",
// IJCAI 2023, section on swap. Corridors in place of distances are this file's own.
//
// Threads: workers, for units of different islands (islands.h) at once. Units of one cell only.

#pragma once

#include "core/crowd/pibt.h"

#define FM_SWAP_STEPS_MAX 256u // cells of a corridor that are examined

/// The unit that a unit has to pull after it, as slot + 1; 0: none.
///
/// @param slot  of one cell, whose first preference is a step
uint32_t fm_swap_partner(const fm_pibt_ground *ground, const fm_occupancy *occupancy,
                         const fm_mover *movers, uint32_t slot);
