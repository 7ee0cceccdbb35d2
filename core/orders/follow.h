// core/orders/follow.h: orders that keep an agent near something: follow a target, guard a cell or
// a friend.
//
//                    farther than the radius
//   HOLDING (near) ───────────────────────────> going to the post ── near enough ──> HOLDING
//                                                    │
//               target out of sight (follow)         │ no path
//          going where it was seen last              v
//                     │                         stands at the nearest cell until the post moves or
//                     v                         the team learns something
//          ends, target_lost
//
// The post is the target's cell, or the guarded one. A search leads to a goal that is where the
// post was; the goal is moved to the post only when it is off by more than a quarter of the
// distance left. So an agent that follows from afar searches a few times, not in every tick.
//
// With `once` (a chase) the order ends as arrived as soon as it is near enough.
//
// What becomes of a target is in target.h.
//
// Threads: serial stages only.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Sets radius and post of an order whose turn has come.
void fm_follow_begin(fm_world *world, struct fm_agent *agent);

/// Once a tick: looks for the target, and sets, moves or rests the leg. May end the order.
void fm_follow_progress(fm_world *world, struct fm_agent *agent);

/// As fm_order_leg_over().
void fm_follow_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);
