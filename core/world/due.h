// core/world/due.h: which planners the next search stage visits.
//
// A planner is touched only when something has happened to it. The code where it happens sets the
// planner's bit; the search stage takes all set bits, in slot order, and leaves all other planners
// alone:
//
//   it was made, has a new goal, or another agent     planner_table.c
//   its agent moved, and it has to be notified of steps   move_stage.c
//   its agent was pushed, or put elsewhere            move_stage.c, placing.c
//   it has no answer for its agent, or a step is not  move_stage.c
//     legal now by what the team knows
//   what it goes by has changed                       notice.c
//   it was not finished, or cut                       search_stage.c
//
// One that walks (fm_planner_ops.walk) keeps a path that its agent follows by itself. All others
// are eager: they are notified of every step, and of what changed at least every FM_LOG_TICKS
// ticks, which is how long change logs are kept.
//
// Threads: bits may be set from several workers at once; all else in serial stages only.

#pragma once

#include "core/world/world.h"

/// Makes room for one more planner. False when out of memory.
bool fm_due_reserve(fm_world *world, uint32_t planner_slots);

// Expansions that a planner gets to begin with; nine repairs in ten take no more.
#define FM_FIRST_GRANT 64u

/// Marks the planner for the next search stage.
void fm_planner_wake(fm_world *world, uint32_t slot);

/// Whether the planner keeps a path that its agent follows.
bool fm_planner_walks(const fm_world *world, uint32_t slot);

/// Sets whether it walks or is eager. Also to be called after the planner got another goal.
void fm_planner_set_walking(fm_world *world, uint32_t slot, bool walks);

/// The planner has ended: its slot is free.
void fm_due_strike(fm_world *world, uint32_t slot);

/// Wakes the eager planners whose agents stood still and whose turn it is to be notified of
/// changes.
void fm_due_wake_stale(fm_world *world);

/// Takes all planners that are due, in slot order, and clears their bits.
///
/// @return false when out of memory; then they stay due
bool fm_due_take(fm_world *world);

/// Sorts the taken planners into the order in which they are notified: first those that have an
/// answer, then the others, longest waiting first. When a team's part of the budget is too small to
/// begin all of its searches, the last ones are postponed: they stay due and are not touched. So
/// whatever is asked for, searches are finished one after the other.
///
/// Where so many teams ask that an equal part is too small for a search (lists.teams_in_turns), the
/// same holds for teams: those come first that have waited longest since they asked, or since one
/// of their searches was finished, and the others are postponed.
///
/// @return false when out of memory; nothing has changed then
bool fm_due_admit(fm_world *world, uint64_t budget);

/// Notes the cost of the searches that were finished in one tick. It decides how many can be begun
/// where teams take turns.
void fm_due_learn_cost(fm_world *world, uint32_t finished, uint64_t expansions);

/// Makes all planners eager and due, and forgets what searches cost.
void fm_due_reset(fm_world *world);

void fm_due_fini(fm_world *world);
