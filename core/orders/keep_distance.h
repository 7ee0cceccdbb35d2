// core/orders/keep_distance.h: orders that keep an agent away from something: a target, or every
// enemy that its team sees. The mirror of follow.h.
//
//                    nearer than the radius
//   HOLDING (far) ───────────────────────────> going where retreat.h says ── far ──> HOLDING
//                                                   │
//               target out of sight:                │ nowhere is better
//               the same from where it              v
//               was seen last                  stands there, and looks again every few ticks;
//                     │                        with on_unreachable = fail ends, unreachable
//                  far from that
//                     v
//               ends, target_lost
//
// With `once` the order ends as arrived as soon as it is far enough. Without a target it keeps away
// from enemies in sight, and from where it saw the nearest one last until it is far enough from
// there or its team sees that nobody is there. It ends by itself only with `once`, or as above.
//
// Distance is as the crow flies, between the cells of the units. Whether something is too near is
// asked in every tick. An agent for which it is searches in that tick, and every fourth one after
// that; goal_search.h shares out what such searches cost.
//
// Threads: serial stages only.

#pragma once

struct fm_agent;
typedef struct fm_world fm_world;

/// Sets the radius of an order whose turn has come.
void fm_keep_distance_begin(fm_world *world, struct fm_agent *agent);

/// Once a tick: looks what is near, and lists the agent for a search, or lets it rest. May end the
/// order.
void fm_keep_distance_progress(fm_world *world, struct fm_agent *agent);
