// core/crowd/escort.h: lets a unit through a press of units of several sizes that has held it for
// long.
//
// A large unit needs several cells free at once. In a press all push at once, and what one gains
// another takes back in the next tick; no joint search begins there (stuck.h). So in a team with
// large units a unit that has stayed in one place for long while it wanted to go on gets an escort,
// the largest first, and before these those that nothing has helped for longer, the longest first:
// in each tick it decides before all others and only goes on or waits, and those around it stand
// unless they are pushed, and then step aside. Where all others stand, each push leads to a free
// cell if one is within reach of it, and nobody comes back.
//
// How long a unit has been in one place is counted in every tick, from the one in which it came
// more than FM_JAM_REACH cells away from the place before. A press pushes a unit to and fro, so one
// that is looked at now and then may be farther than that from where it was, and still in the place
// that it has not got out of. Those who were passed over for that stayed longest of all.
//
//   rests for 256 ticks         ──> has an escort ──> is out: ──> is away, has another order, gets
//              ^                    others stand    others go     no nearer for a while,
//              │                         │              on        or had one for long
//              └── in vain ──────────────┴──────────────┴───────────────┘
//
// Once it is out the others go on as before, and it goes on deciding first for some cells. If they
// stood for longer, fewer would get through; if it had no priority any more, the press would push
// it back to where it was.
//
// Where units want into a hollow and one wants out of it, those before it have often waited for
// longer, and for each of them it only stands. So when an escort has got its unit no nearer, the
// next one is for whom the unit waits for, if that one wants to go on itself and has had none since
// the last look around, or whom that one waits for, and so on.
//
// An escort holds up those around it. So it is for the few that nothing else has helped, is small,
// and ends soon. Others of the team that are stuck behind the unit have no need of one then.
//
// Only units of the team stand. A unit of a joint search (jam.h), of one that is under way, too,
// gets no escort and does not stand for one. An escort is not part of a saved world: settling drops
// it.
//
// What views show of escorts is in core/world/escorts.h.
//
// Their work is not charged to the team's account: in a game of 500 units of all sizes (hour of
// fogmarch-lab) it is one in 10,000 of a tick's instructions.
//
// Threads: the tick thread.

#pragma once

#include "core/crowd/pibt.h"
#include "core/world/world.h"

struct fm_agent;
struct fm_team;

/// After a unit with an order has moved or stayed: counts how long it has been in one place, since
/// it has set out at most. Any units on several workers at once.
void fm_escort_count(const fm_world *world, struct fm_agent *agent, const fm_mover *mover);

/// Now and then, each team in a tick of its own: counts who may get one.
void fm_escorts_look(fm_world *world);

/// For one team, before the resolution, after units were told what plans want of them: changes what
/// movers prefer that have an escort or belong to one.
void fm_escorts_attend(fm_world *world, uint32_t team);

/// How many units of a team may get one. 0 also while all that might are in joint searches or near
/// another escort: they are looked through again after the next look around, or when one of these
/// ends.
uint32_t fm_escorts_wanted(const struct fm_team *team);

/// Ends all of a team.
void fm_escorts_drop(fm_world *world, struct fm_team *team);
