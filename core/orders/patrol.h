// core/orders/patrol.h: orders that lead from waypoint to waypoint: there and back, or round.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Sets out for the first waypoint.
void fm_patrol_begin(fm_world *world, struct fm_agent *agent);

/// Rests the leg while the patrol pauses.
void fm_patrol_progress(fm_world *world, struct fm_agent *agent);

/// As fm_order_leg_over().
void fm_patrol_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);
