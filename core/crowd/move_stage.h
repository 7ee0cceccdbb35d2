// core/crowd/move_stage.h: the choose and move stages: which cell each agent wants next, and which
// agents get there.

#pragma once

#include "core/world/world.h"

/// The choose stage: sets every agent's next cell. Runs agents in parallel.
void fm_agents_choose(fm_world *world, fm_workers *workers);

/// The move stage: steps everybody who may step, in parallel. What follows from that for orders is
/// serial, in slot order.
///
/// @param work  for joint searches where a cell holds one unit, in expansions; see jam.h
/// @return what these used
uint64_t fm_agents_move(fm_world *world, fm_workers *workers, uint64_t work);
