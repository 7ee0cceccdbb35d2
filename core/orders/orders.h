// core/orders/orders.h: an order, from its command to its end.
//
//   command ──> queued ──(the one before it ends)──> under way ──(how its last leg went)──> ended
//      │          │                                   ^    │                                  ^
//      │          │     no order before it            │    │                                  │
//      └──────────┼───────────────────────────────────┘    │                                  │
//                 └────────────────────────────────────────┴── replaced, cancelled, died ─────┘
//
// Every order, queued or not, has an id of its own and ends exactly once, with a reason. A command
// that is not queued ends all orders that its agents have. Where an order ends by itself, the next
// one's turn comes in the assign stage, before planners are dealt out, so it moves in that tick.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/agent.h"

#define FM_TURN_NOW UINT32_MAX // in place of a place in the queue: the order under way

/// Gives an agent an order that replaces all that it has.
void fm_agent_give_order(fm_world *world, struct fm_agent *agent, struct fm_order order);

/// Puts an order into an agent's queue, after `at` others or, where there are fewer, after all.
/// Room was made. An agent without any order begins it.
void fm_agent_queue_order(fm_world *world, struct fm_agent *agent, struct fm_order order,
                          uint32_t at);

/// Replaces one of the agent's orders, which ends as replaced.
///
/// @param at  place in the queue, or FM_TURN_NOW
void fm_agent_replace_order(fm_world *world, struct fm_agent *agent, struct fm_order order,
                            uint32_t at);

/// Looks for one of an agent's orders by its id.
///
/// @param at  receives its place in the queue, or FM_TURN_NOW
/// @return false: it has no such order
bool fm_agent_find_order(const struct fm_agent *agent, uint64_t id, uint32_t *at);

/// An agent without an order begins the first of its queue. Returns whether there was one.
bool fm_agent_begin_queued(fm_world *world, struct fm_agent *agent);

/// Mixes all that an agent's orders depend on into a digest.
uint64_t fm_agent_mix_orders(const struct fm_agent *agent, uint64_t digest);

/// Whether the agent must not be moved aside, not even by friends.
static inline bool fm_agent_holds_ground(const struct fm_agent *agent)
{
    return agent->frozen || (agent->order.id != 0 && agent->order.kind == FM_ORDER_HOLD);
}
