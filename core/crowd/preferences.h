// core/crowd/preferences.h: which cells around it an agent prefers next, the best first. crowd.h
// states the rule.

#pragma once

#include "core/crowd/pibt.h"
#include "core/world/world.h"

struct fm_agent;
struct fm_planner;

/// Part of the choose stage: writes an agent's preferences into its mover. `planner` is the one
/// that its `next` came from, or NULL. Workers; writes this agent's mover and nothing else.
void fm_crowd_prefer(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, fm_mover *mover);

/// The list of an agent under way that has to back out of a corridor: the farthest cell first,
/// equals in an order that changes from tick to tick.
uint64_t fm_crowd_retreat(const fm_world *world, const struct fm_agent *agent,
                          const struct fm_planner *planner);
