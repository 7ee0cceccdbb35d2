// core/orders/march.h: moves: to one cell or, for one of a group (group.h), first by the group's
// shared search to the meeting cell and from near there by a search of its own.
//
// Threads: serial stages and commands only.

#pragma once

#include "core/world/world.h"

struct fm_agent;

#define FM_MARCH_NEAR 4u // cells

/// A unit on the march leaves for its own goal when it is near.
void fm_march_progress(fm_world *world, struct fm_agent *agent);

/// As fm_order_leg_over(): from the meeting cell on to its own goal.
void fm_march_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how);
