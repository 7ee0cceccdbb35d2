// core/orders/orders.h: an order's way from the command to its end.
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

#include "core/world/world_state.h"

/// Checks that every agent of a command lives and belongs to the command's team, and makes room for
/// what the command may note. Ending orders or removing these agents cannot fail after it.
///
/// @param failed_index  receives the agent that was refused
/// @return FM_OK, FM_ERR_NO_AGENT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_orders_check_agents(fm_world *world, const fm_command *command,
                                            uint32_t *failed_index);

/// Does FM_COMMAND_ORDER, whole or not at all.
void fm_orders_command(fm_world *world, const fm_command *command, fm_command_result *result);

/// At the beginning of a tick: an order that is carried out in parts goes to the next agents.
void fm_orders_carry_on(fm_world *world);

/// It goes to all that are left.
void fm_orders_finish(fm_world *world);

/// It ends with the world.
void fm_orders_drop_rest(fm_world *world);

/// Mixes what is left of it into a digest.
uint64_t fm_orders_mix_rest(const fm_world *world, uint64_t digest);

/// Ends the order under way for `reason` and lets the agent's planners go. The queue stays. Nothing
/// happens without an order.
void fm_agent_end_order(fm_world *world, struct fm_agent *agent, fm_order_end reason);

/// Ends the order under way and all queued ones.
void fm_agent_end_all_orders(fm_world *world, struct fm_agent *agent, fm_order_end reason);

/// An agent without an order begins the first of its queue. Returns whether there was one.
bool fm_agent_begin_queued(fm_world *world, struct fm_agent *agent);

/// Releases an agent's queue, for good. Its orders have ended, or the world does.
void fm_agent_release_queue(fm_world *world, struct fm_agent *agent);

/// Mixes all that an agent's orders depend on into a digest.
uint64_t fm_agent_mix_orders(const struct fm_agent *agent, uint64_t digest);

/// Whether the agent must not be moved aside, not even by friends.
static inline bool fm_agent_holds_ground(const struct fm_agent *agent)
{
    return agent->order.id != 0 && agent->order.kind == FM_ORDER_HOLD;
}

// ---- legs.c: what comes after each leg, by kind ----

/// An order's turn has come: sets its first leg.
void fm_order_begin_legs(fm_world *world, struct fm_agent *agent);

/// Once a tick, before planners are dealt out: sets, moves or rests the leg as the kind of order
/// demands. May end the order.
void fm_order_progress(fm_world *world, struct fm_agent *agent);

/// The way to order.goal is over, for one of the reasons that end a move. The order goes on with
/// its next leg, or ends.
void fm_order_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);

/// Leads the leg somewhere else: the agent's planner gets the new goal if it serves this agent
/// alone, and is let go if it is shared.
///
/// @param goal  FM_CELL_NONE: nowhere
void fm_order_set_goal(fm_world *world, struct fm_agent *agent, fm_cell goal);
