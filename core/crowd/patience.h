// core/crowd/patience.h: no order lasts for ever because of other units. The order of a unit that
// tries but does not get nearer to its goal for too long ends where the unit is: FM_END_CROWDED
// with on_unreachable = nearest, FM_END_UNREACHABLE with fail; wait continues.
//
//   tick of a unit under way               its account
//   is nearer to its goal than ever        begins at 0 again
//   has made the step that it wanted       1 less
//   has stepped to the right, passing.h,   1 more
//   not before those that come towards it, flow.h,
//   or along its way round others, around.h
//   has waited, or was moved elsewhere     2 more; at 2 * FM_PATIENCE_TICKS the leg is over
//
// So an order ends in bounded time: as long as a team learns nothing new, a step that is wanted
// brings a unit nearer by one, and others can undo no more than that in a tick. Between two ticks
// in which the unit is nearer than ever there are at most 2 * FM_PATIENCE_TICKS others. Who keeps
// to the right, or goes round others, gets away from its goal in some steps and nearer to it in
// others, so among many of another team it may last longer; each such step counts against it, too.
//
// A unit that is shut in by those that stand gives up sooner, see around.h.
//
// Threads: the tick thread where the leg may end (crowd.c says when), else any worker, which writes
// this agent and nothing else.

#pragma once

#include "core/crowd/pibt.h"
#include "core/world/world.h"

struct fm_agent;

#define FM_PATIENCE_TICKS FM_BLOCKED_TICKS_MAX

/// Counts a tick of an agent that has an order, before it moves. Ends its leg, perhaps.
///
/// @return whether the leg is over
bool fm_patience_count(fm_world *world, struct fm_agent *agent, const fm_mover *mover);
