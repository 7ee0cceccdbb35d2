// core/world/looks.h: how a whole map looks to a view, 64 cells at a time.
//
// A word of a bitmap says of 64 cells whether a team knows them. Where it knows all or none, which
// is nearly everywhere, the answer is copied or blank. A map of 4096 x 4096 cells takes a tenth of
// the time of as many fm_world_look_up().
//
// Threads: as fm_world_look_up().

#pragma once

#include "core/world/world.h"

#define FM_LOOKS_BLOCK 64u // cells

typedef struct fm_looks {
    uint8_t terrain[FM_LOOKS_BLOCK]; // fm_terrain
    uint8_t cost[FM_LOOKS_BLOCK];    // where the terrain is FM_TERRAIN_UNKNOWN it means nothing
} fm_looks;

/// How up to FM_LOOKS_BLOCK cells of a row look: what fm_world_look_up() says of each.
///
/// @param team    one that exists (asserted), or FM_ALL_TEAMS for the true map
/// @param x, y    the first of them, inside the map; x is a multiple of FM_LOOKS_BLOCK
/// @param looks   receives them; beyond the end of the row cells are unknown
/// @return how many of them lie on the map
uint32_t fm_world_look_up_block(const fm_world *world, uint32_t team, uint32_t x, uint32_t y,
                                fm_looks *looks);
