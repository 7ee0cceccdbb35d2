// core/crowd/passing.h: units of two teams that meet in the open pass each other on the right.
//
// They do not push each other before they have been blocked for some ticks (pibt.h: who concedes).
// Where two crowds walk into each other all would wait for those before them: in a gate with rough
// walls, where roads cross, in a field. So who is blocked, and has one of another team before it
// that wants against its way, keeps to the right for some ticks: a step to the right of its way
// counts as shorter, one to the left as longer. Friends who wait behind it, and want the same way,
// do as it does. So the crowds shear: each moves to its right-hand wall, and along that past the
// other. Where that wall has a pocket, units wait in it: so of those that have been blocked for
// long half keep to the right, in turns (preferences.c).
//
//   > > > < < <        > > > . . .      . . . < < <
//   > > > < < <   ->   > > < < < <  ->  > < < < < .  ...   > leaves below, < above
//   > > > < < <        . . > < < <      > > > > < <
//
// A count of ticks by unit, part of its mover: it begins at FM_PASSING_TICKS, and one who waits
// behind a friend has at most one tick less than the friend. No part of a world's state: settling
// ends all.
//
// Not for units larger than one cell, and not where lanes are open (lanes.h): passages up to six
// cells wide are left to these.
//
// Source: that streams which keep to one side form lanes of themselves is D. Helbing and P. Molnar,
// "Social force model for pedestrian dynamics", Physical Review E 51, 1995.
//
// Threads: as each function says.

#pragma once

#include "core/base/workers.h"
#include "core/world/world.h"

#define FM_PASSING_TICKS    16u
#define FM_PASSING_HINDERED 2u  // see patience.h: a tick
#define FM_PASSING_BIAS     18u // by how much a step to the right counts as shorter; straight: 10

/// Between the choose stage and the resolution: counts for all units who keeps to the right in the
/// next tick. Does nothing in worlds with one team. On several workers.
void fm_passing_attend(fm_world *world, fm_workers *workers);

/// Ends all. Serial stages.
void fm_passing_drop_all(fm_world *world);
