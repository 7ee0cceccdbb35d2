// core/commands/create.h: making and ending worlds.
//
// Threads: the tick thread.

#pragma once

#include "core/world/world.h"

/// Makes a world.
///
/// @param grid    becomes the world's own on success
/// @param memory  outlives the world; thread-safe
/// @return FM_OK, FM_ERR_BAD_VALUE (rules contradict each other or the map) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_create(const fm_world_rules *rules, fm_grid *grid,
                                     const fm_memory *memory, fm_world **out);

/// Releases the world, its grid and its agents. NULL is allowed. A world whose fm_memory can be
/// dropped as a whole need not be destroyed at all.
void fm_world_destroy(fm_world *world);
