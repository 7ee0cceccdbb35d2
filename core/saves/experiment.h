// core/saves/experiment.h: changes that are made to worlds in replays and experiments only, never
// in a game.
//
// Threads: between ticks.

#pragma once

#include "core/world/world.h"

/// Gives the world, its teams and its agents another planner, where it can work for an agent's
/// movement class; the others keep theirs. The world is settled (core/saves/world_file.h), and all
/// searches are dropped, so they restart in the next tick.
///
/// @param spec  of a planner that there is
/// @param kept  receives how many agents keep theirs; may be NULL
/// @return FM_OK, or FM_ERR_BAD_VALUE when it can work for no class on this map; nothing is changed
///         then
FM_CHECKED fm_status fm_world_use_planner(fm_world *world, const fm_planner_spec *spec,
                                          uint32_t *kept);
