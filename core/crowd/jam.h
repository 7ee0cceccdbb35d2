// core/crowd/jam.h: detects units that are stuck, and resolves jams by a joint search.
//
//   every FM_JAM_TICKS: who is stuck (stuck.h); one after the other
//          │
//          v
//   SEARCHING: the units around it, on the ground around it, wait while a joint search (knot.h) for
//   a plan continues that brings all whose places lie there home. Is none found, and no other unit
//   of the team waits for help, more ground is taken, or less, or only those take part who are not
//   at home, or it is enough that the one gets through. On open ground, where the oldest unit gets
//   through in any case (pibt.h), nothing is searched for; and a long plan, which others who wait
//   would have to stand out, counts as found only now and then.
//          │                                     │
//          v                                     └── none either: as before, until the next time
//   FOLLOWING: they step as the plan says, or wait while somebody else is in the way.
//          │
//          └── at its end, or dropped: somebody has other orders, is gone, or is in the way for
//          long
//
// For one jam of a team at a time a plan is searched for, by FM_JAM_WORK a tick, more where the
// team stands still; several plans may be followed. The searches of all teams share what the tick
// allows: those under way go on, each with a part of it, and teams that wait for one get their
// turns with what these leave, from tick to tick where the last tick ended. While others wait, a
// team whose attempt has failed makes its next one when its turn comes again, and its units move as
// they can until then. What is counted is work, not time: units that are asked in configurations,
// and what it takes to begin. It is charged to the team's account. Units of one team, of all sizes
// and movement classes; all else is a wall for the search. It uses only what the team knows: its
// view of the terrain, its own units, and those of others beside them. A jam is not part of a saved
// world: settling drops it.
//
// Threads: the tick thread; the searches themselves run on workers.

#pragma once

#include "core/base/workers.h"
#include "core/world/world.h"

#define FM_JAM_TICKS 128u
#define FM_JAM_REACH 4u     // cells
#define FM_JAM_WORK  16000u // units of configurations, of a team in a tick

#define FM_JAM_WORK_LEAST 1000u // of all teams in a tick, with ways round a press (bypass.h)

/// Part of the move stage, before the resolution: decides for the movers of a jam under work.
///
/// @param work  that may be done, in expansions; at least half of FM_JAM_WORK_LEAST. Beginning a
///              search may take more; then the next ticks do less.
/// @return the work done
uint64_t fm_jam_attend(fm_world *world, fm_workers *workers, uint64_t work);

/// Ends the work on a team's jams. Nothing happens when there is none.
void fm_jam_drop(fm_world *world, uint32_t team);

/// Ends the work on all jams. Nothing happens when there is none.
void fm_jam_drop_all(fm_world *world);
