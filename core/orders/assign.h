// core/orders/assign.h: the assign stage. Each agent with an order gets the planner that leads it
// to its goal, or to where it goes instead.

#pragma once

#include "core/base/workers.h"
#include "core/world/world.h"

/// The assign stage: orders continue, and agents get planners. Serial, except the search for next
/// goals, and the question of those under way whether their goals can still be reached.
///
/// @param budget  expansions of the tick
/// @return how many of them the search for goals took
uint64_t fm_orders_assign(fm_world *world, fm_workers *workers, uint64_t budget);
