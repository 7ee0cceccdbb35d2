// core/crowd/crowd.h: worlds where a cell holds one unit (FM_OCCUPANCY_EXCLUSIVE): which cell each
// unit prefers, which unit decides first, and what happens to pushed units. core/crowd/pibt.h
// resolves conflicts.
//
// Preferred A unit under way wants its planner's next step first, then the other cells around it by
//           their distance to the goal, its own among them. Of equally good ones it prefers to
//           stay, then a cell where nobody stands, then to turn little from its heading, then to
//           the right: so that two streams that meet pass each other.
// Priority  The unit that set out first decides first; ties go to the smaller slot. The time
//           continues when an order replaces another, and ends when the unit arrives; orders that
//           go on then (patrol, follow, guard, explore) set out again with their next leg.
// Pushing   A unit that is not under way (idle, or waiting for its search) steps out of the way
//           of friends of any size that want its cells: to the side first. Then it goes back where
//           it stood, with the lowest priority; core/orders/homecoming.h says when.
// Settling  A unit whose order has ended where it led is not pushed by friends with the same aim.
//           A unit ends its order where it is, as crowded, when such friends hold all neighbouring
//           cells that are nearer to its aim than its own. So a crowd that was sent to one cell
//           packs around it.
// Taken     Where a unit that cannot be pushed, or a larger friend without room to leave, is on the
//           goal for FM_TAKEN_TICKS while the unit waits beside it, the order ends: crowded, or
//           unreachable if that is what it asked for. on_unreachable = wait
//           continues waiting.
//
// Units never count as walls for a search. A friend in the way costs the ticks until it has moved.

#pragma once

#include "core/base/workers.h"
#include "core/crowd/pibt.h"
#include "core/world/world.h"

#define FM_TAKEN_TICKS 20u

/// Makes room for so many agents, so that ticks need no memory. True without
/// FM_OCCUPANCY_EXCLUSIVE.
FM_CHECKED bool fm_crowd_reserve(fm_world *world, uint32_t agent_count);

/// How an agent that had an order in the last tick took part in it, by its slot. Not after a load.
const fm_mover *fm_crowd_mover(const fm_world *world, uint32_t slot);

/// The team whose units an agent passed on the right in the last tick, if it did so (passing.h).
uint32_t fm_crowd_passed_team(const fm_world *world, uint32_t slot);

/// Where an agent goes first, round units that stand in its way (around.h); FM_CELL_NONE: it does
/// not.
fm_cell fm_crowd_via(const fm_world *world, uint32_t slot);

/// Releases what it holds, and the occupancy.
void fm_crowd_fini(fm_world *world);

/// The move stage. What ends orders is serial, in slot order; workers do the rest.
///
/// @param work  for joint searches and ways round a press, in expansions; see jam.h, bypass.h
/// @return what these used
uint64_t fm_crowd_move(fm_world *world, fm_workers *workers, uint64_t work);
