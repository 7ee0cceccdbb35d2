// core/orders/leg.h: the leg under way of an order. A leg is one cell to go to, `goal`, and all
// that planners are ever given; core/orders/order_kinds.h says what comes after it.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Gives the leg another goal: the agent's planner gets it if it serves this agent alone, and is
/// released if it is shared.
///
/// @param goal  FM_CELL_NONE: nowhere
void fm_order_set_goal(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// The same for a leg that begins: where a cell holds one unit, the agent's priority grows from now
/// on (core/crowd/crowd.h).
void fm_order_set_out(fm_world *world, struct fm_agent *agent, fm_cell goal);

/// The agent stays where it is although its leg has a goal. For orders with a post (order.h).
void fm_order_begin_rest(fm_world *world, struct fm_agent *agent);

/// The same, unless the agent rests; then it drops its goal, and with that its planner, when it has
/// rested for some ticks.
void fm_order_rest(fm_world *world, struct fm_agent *agent);
