// core/commands/order_command.h: the commands that give orders and take them back.
//
// Threads: the tick thread, between ticks.

#pragma once

#include "core/world/world.h"

/// Does FM_COMMAND_ORDER, whole or not at all.
void fm_orders_command(fm_world *world, const fm_command *command, fm_command_result *result);

/// Does FM_COMMAND_CANCEL, whole or not at all. Where the order under way ends, the next one's turn
/// comes in the next tick.
void fm_orders_cancel(fm_world *world, const fm_command *command, fm_command_result *result);

/// The id of an agent's order by its number among the team's orders; 0: it has none.
uint64_t fm_world_order_numbered(const fm_world *world, fm_agent_id id, uint64_t number);

/// At the beginning of a tick: gives an order that is given in parts to the next agents.
void fm_orders_carry_on(fm_world *world);

/// Gives it to all agents that are left.
void fm_orders_finish(fm_world *world);

/// Drops it when the world ends.
void fm_orders_drop_rest(fm_world *world);

/// Mixes what is left of it into a digest.
uint64_t fm_orders_mix_rest(const fm_world *world, uint64_t digest);

/// Agents that the last order has not reached yet, because it goes to agents_a_tick of them at a
/// time. It cannot fail: it was checked for all of them.
uint32_t fm_world_left_to_do(const fm_world *world);
