// core/crowd/sight.h: how far a unit sees those of other teams, for rules between teams.

#pragma once

#include "core/world/agent.h"
#include "core/world/world_parts.h"

/// Cells from an agent up to which it sees others. Any thread.
///
/// @param all  the answer in a world whose teams see everything
static inline uint32_t fm_crowd_sight(const fm_world *world, const struct fm_agent *agent,
                                      uint32_t all)
{
    const fm_world_rules *rules = fm_world_rules_get(world);
    return rules->omniscient ? all : agent->sight != 0 ? agent->sight : rules->sense.radius;
}
