// core/crowd/step.h: one step of one agent, and what it costs.
//
// Speed is a credit in integers. Every tick adds the agent's speed, a step takes its length, a
// straight one rules.tick_millihertz. An agent may step while its credit is worth a straight step;
// a diagonal one leaves it with a debt. Credit that is not used up does not grow beyond what lets
// an unhindered agent keep its speed. Without a speed an agent steps once a tick, whatever the
// direction: the game time model.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// Adds a tick's worth of credit. Workers; writes this agent and nothing else.
///
/// @return whether the agent may step
bool fm_agent_gain_credit(const fm_world *world, struct fm_agent *agent);

/// Moves an agent one step in direction d, which is legal: its credit and its counts. Writes this
/// agent and its marks, and adds to counts of the world in any order, so workers may call it.
///
/// @return whether it stands on its goal now, having gone there: then its leg is over
bool fm_agent_step(fm_world *world, struct fm_agent *agent, uint32_t d);
