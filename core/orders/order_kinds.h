// core/orders/order_kinds.h: what each kind of order does. An order leads its agent over legs; here
// is what begins them, what moves them, and what comes after each.
//
//   kind    legs                                              ends
//   move    one; in a group, see group.h, two                 when it is over
//   patrol  waypoint after waypoint, there and back or round  when one cannot be reached and
//                                                             on_unreachable is fail
//   hold    none; the agent stays where it is                 never by itself
//   follow  to the target, see follow.h                       when the target is lost or dies
//   explore to frontier after frontier, see goal_search.h     when none can be reached
//   flee    away from dangers, the same                       when none is near, or cornered
//   guard   back to the post, see follow.h                    when the friend it guards dies
//   keep_distance                                             when the target is lost or dies
//           away from what is near, see keep_distance.h
//
// A scatter (scatter.h) is a kind of command only: its orders are moves.
//
// Any order ends when out of memory, and as replaced, cancelled or died. A new kind is a row of the
// table in order_kinds.c and an entry of FM_ORDER_KIND_LIST.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

struct fm_agent;
struct fm_route;

/// Whether a command of an order has as many cells, and a target, as its kind wants.
bool fm_order_kind_accepts(const fm_command *command);

/// Whether the orders of a command keep its cells (struct fm_route).
bool fm_order_kind_has_route(const fm_command *command);

/// Whether a command of an order names a target.
bool fm_order_kind_has_target(const fm_command *command);

/// Whether orders of a kind may stop for enemies (alert.h).
bool fm_order_kind_may_alert(fm_order_kind kind);

/// An order's turn has come: sets its first leg.
void fm_order_begin_legs(fm_world *world, struct fm_agent *agent);

/// Once a tick, before planners are dealt out: sets, moves or rests the leg as the kind of order
/// demands. May end the order.
void fm_order_progress(fm_world *world, struct fm_agent *agent);

/// The path to order.goal is over, for one of the reasons that end a move. The order continues with
/// its next leg, or ends.
void fm_order_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);

/// The goal of the leg cannot be reached now. Ends the leg as on_unreachable says; with wait it
/// continues.
///
/// @param as_nearest  how it ends with nearest: FM_END_NEAREST or FM_END_CROWDED
/// @return whether the leg is over
bool fm_order_give_up_leg(fm_world *world, struct fm_agent *agent, fm_order_end as_nearest);
