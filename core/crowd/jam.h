// core/crowd/jam.h: detects units that are stuck, and resolves jams by a joint search.
//
//   every FM_JAM_TICKS: who has been under way all the time, is not farther than FM_JAM_REACH from
//   where it was and has not got nearer to its goal for long, is stuck, unless it waits in a queue
//   that moves; one after the other
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
// team stands still; several plans may be followed. Units of one team, of all sizes and movement
// classes; all else is a wall for the search. It uses only what the team knows: its view of the
// terrain, its own units, and those of others beside them. A jam is not part of a saved world:
// settling drops it.
//
// Threads: the tick thread.

#pragma once

#include "core/world/world.h"

#define FM_JAM_TICKS 128u
#define FM_JAM_REACH 4u     // cells
#define FM_JAM_WORK  16000u // units of configurations, in a tick

/// Part of the move stage, before the resolution: decides for the movers of a jam under work.
void fm_jam_attend(fm_world *world);

/// Ends the work on all jams. Nothing happens when there is none.
void fm_jam_drop_all(fm_world *world);
