// core/crowd/passage.h: lets a unit through that is stuck in a press of units of several sizes.
//
// A large unit needs several cells free at once, in a pass perhaps all of them, and where all press
// at once they never are. So in a team with large units some of those that are stuck (jam.h) get a
// passage, one at a time in a neighbourhood, large ones first:
//
//     . . . b . . .      A wants to the right, all others to the left. Where A will be in its next
//     @ @ @ @ b @ @      steps nobody may enter, and who stands there has to leave: to the nearest
//     A A - - d b .      place beside where nobody stands, and where there is none, on ahead of A.
//     A A - - d . c      Those decide before all others, the nearest to their places first, so that
//     @ @ @ @ @ @ @      others let them in; then A, which only goes on or waits.
//
// A passage ends when the unit has got away and nobody is in its way, with its order, when it gets
// no clearer for a while, and after a while in any case. Whose passage failed waits for some time
// until it is its turn again. Others may have one then: where one unit cannot go on, another, for
// whom it has to back out, can.
//
// Only units that the team may push take part, others are walls. Teams without large units have no
// passages. A passage is not part of a saved world: settling drops it.
//
// Threads: the tick thread.

#pragma once

#include "core/world/world.h"

struct fm_team;

/// For one team, before the resolution: changes what movers want that have a passage, are in one or
/// are beside one.
///
/// @param looks  units were just looked at, and who is stuck marked
/// @return how many passages there are, and one more while others wait for one
uint32_t fm_passages_attend(fm_world *world, uint32_t team, bool looks);

/// Ends all passages of a team.
void fm_passages_drop(fm_world *world, struct fm_team *team);
