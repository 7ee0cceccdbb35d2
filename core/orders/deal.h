// core/orders/deal.h: which unit of a command goes to which of its goals.
//
// Units and goals are cut into strips along a direction, as many as there are units in each, and
// matched from front to back; then pairs exchange their goals as long as that makes their paths
// shorter in sum. Paths that cross are longer than paths that do not, so few are left; units in
// front get goals in front. Lengths are as the crow flies. Bounded: 2^18 exchanges are tried, or
// four for each unit where that is more.
//
// Threads: commands only.

#pragma once

#include "core/world/world.h"

/// Deals the goals of a command with agents out to them.
///
/// @param dx, dy  direction of march, any length but 0
/// @param goals   one for each agent; receives them in the order of the command's agents
/// @return FM_OK or FM_ERR_NO_MEMORY; nothing has changed then
FM_CHECKED fm_status fm_deal_goals(const fm_world *world, const fm_command *command, int64_t dx,
                                   int64_t dy, fm_cell *goals);

/// The largest integer whose square is not more; 0 for negative ones.
int64_t fm_square_root(int64_t square);
