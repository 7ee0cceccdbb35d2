// core/orders/order_end.h: how orders end. Every order, queued or not, ends exactly once, with a
// reason.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/agent.h"
#include "core/world/history.h"

/// Ends the order under way for `reason` and releases the agent's planners. The queue stays.
/// Does nothing without an order.
void fm_agent_end_order(fm_world *world, struct fm_agent *agent, fm_order_end reason);

/// Ends the order under way and all queued ones.
void fm_agent_end_all_orders(fm_world *world, struct fm_agent *agent, fm_order_end reason);

/// Ends a queued order; those after it come earlier.
///
/// @param at  its place in the queue
void fm_agent_end_queued(fm_world *world, struct fm_agent *agent, uint32_t at, fm_order_end reason);

/// Frees an agent's queue. Its orders have ended, or the world ends.
void fm_agent_release_queue(fm_world *world, struct fm_agent *agent);

/// Writes what happened to an order into the world's history.
///
/// @param detail  as the kind of entry means it
void fm_order_note(fm_world *world, const struct fm_agent *agent, const struct fm_order *order,
                   fm_history_kind kind, uint8_t detail);

/// Releases a route, which is freed with its last user. *route becomes NULL.
void fm_route_release(fm_world *world, struct fm_route **route);
