// core/world/terrain_block.h: how a whole map looks to a view, 64 cells at a time.
//
// A word of a bitmap says of 64 cells whether a team knows them. Where it knows all or none, which
// is nearly everywhere, the answer is copied or blank. A map of 4096 x 4096 cells takes a tenth of
// the time of as many fm_world_look_up().
//
// Threads: as fm_world_look_up().

#pragma once

#include "core/world/world.h"

#define FM_TERRAIN_BLOCK_CELLS 64u // cells

typedef struct fm_terrain_block {
    uint8_t terrain[FM_TERRAIN_BLOCK_CELLS]; // fm_terrain
    uint8_t
        cost[FM_TERRAIN_BLOCK_CELLS]; // where the terrain is FM_TERRAIN_UNKNOWN it means nothing
} fm_terrain_block;

/// How up to FM_TERRAIN_BLOCK_CELLS cells of a row look: what fm_world_look_up() says of each.
///
/// @param team    one that exists (asserted), or FM_ALL_TEAMS for the true map
/// @param x, y    the first of them, inside the map; x is a multiple of FM_TERRAIN_BLOCK_CELLS
/// @param looks   receives them; beyond the end of the row cells are unknown
/// @return how many of them lie on the map
uint32_t fm_world_look_up_block(const fm_world *world, uint32_t team, uint32_t x, uint32_t y,
                                fm_terrain_block *block);
