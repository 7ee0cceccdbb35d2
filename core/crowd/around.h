// core/crowd/around.h: ways round units that stand in the way and leave for nobody (standing.h).
//
// Searches never see units. So a unit whose way leads through idle units of another team would wait
// for them until its patience ends, even where the field beside them is empty. One that is blocked
// by such a unit has a look after 4 ticks, and after 20, 52, 116 and so on, twice as long each time
// and 12 more (around_search.h): it goes by the way that it finds, and then on by its planner. Who
// has been blocked for FM_AROUND_SHUT_TICKS and is shut in, or whose goal is, gives up at the next
// look: its order ends as when its patience has ended (patience.h). Who waits behind others has its
// look then, too.
//
// While a unit goes round it keeps to no lane and does not pass on the right, and no step of it
// makes up for ticks in which it was blocked (patience.h), so its order ends in bounded time.
//
// Ways are no part of a world's state: settling ends all.
//
// Cost: a look at who stands on one place for those who were blocked for so many ticks; and what
// their searches take, in expansions, which is paid from what the ticks have for joint searches. No
// search begins before the last one is paid.
//
// Threads: as each function says.

#pragma once

#include "core/crowd/pibt.h"
#include "core/world/world.h"

struct fm_agent;
struct fm_around;

#define FM_AROUND_SHUT_TICKS 100u

/// Part of the choose stage, before an agent asks its planner: sets its next cell if it goes on
/// along a way. Then the planner need not be asked; it finds another path when the way is over.
/// Workers; writes this agent, its marks and its mover.
///
/// @return whether it has set it
bool fm_around_follow(fm_world *world, struct fm_agent *agent, fm_mover *mover);

/// Part of the choose stage, after a planner has said where the agent goes next: marks it for a
/// look, if it is time. Workers.
void fm_around_note(fm_world *world, const struct fm_agent *agent);

/// Before the resolution, after the choose stage: looks for ways of marked agents. Serial.
///
/// @param most  that may be paid in this tick, in expansions; the rest is paid in the next ones
/// @return what was paid
uint64_t fm_around_attend(fm_world *world, uint64_t most);

/// The cell where the way of an agent ends, by its mover; FM_CELL_NONE: it follows none.
fm_cell fm_around_via(const struct fm_around *around, const fm_mover *mover);

/// Ends all.
void fm_around_drop_all(fm_world *world);

/// Releases the memory for it.
void fm_around_fini(fm_world *world);
