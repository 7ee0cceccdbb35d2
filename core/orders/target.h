// core/orders/target.h: the agent that an order is about: whom to follow, guard or keep away from.
//
// A target of another team is known while the team sees it; `post` is where it was seen last. Once
// it is out of sight it stays lost, because the team cannot know whether a unit that appears later
// is the same one. A friend is never out of sight, unless it is carried.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/order.h"

struct fm_agent;

/// Whether an agent of `team` may be given an order of this kind with this target: it is there, and
/// one of its own or, except to guard, in sight.
bool fm_target_may_name(fm_world *world, uint32_t team, fm_order_kind kind, fm_agent_id target);

/// Once a tick: moves the post after the order's target, or loses the target (all zero then). Does
/// nothing without one. Ends an order whose target has died, or is a friend to guard that is now
/// carried.
///
/// @return false: the order has ended
bool fm_target_track(fm_world *world, struct fm_agent *agent);

/// Whether the order has no target, or no longer.
bool fm_target_is_lost(const struct fm_order *order);
