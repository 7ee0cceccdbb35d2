// core/world/enemy_near.h: the nearest enemy that a team sees, for units whose orders have `alert`.
//
// Many units of a team ask for the same part of the map in the same tick. Whether a team sees an
// enemy takes a look from all of its units near that enemy; so where it sees enemies is found out
// once for each tile (unit_index.h) that somebody asks for, and kept until agents move. Then an
// answer takes a look at tiles only, from the unit's own outward, as far as the nearest enemy is.
// Without that, units behind a wall from as many enemies took time by the third power of their
// number, and units among as many enemies by the second.
//
// Threads: serial stages.

#pragma once

#include "core/world/world.h"

struct fm_agent;
struct fm_enemy_tile;

// Tiles that teams have asked for: a hash table by team and tile. Begins zeroed.
typedef struct fm_enemy_tiles {
    struct fm_enemy_tile *tiles;
    uint32_t capacity, count; // a power of two, or 0; entries of this gathering
    uint64_t gathering;       // fm_unit_index.gatherings that the entries are of
    uint64_t examined;        // cells with enemies for which was found out who sees them, so far
} fm_enemy_tiles;

/// The agent of another team that is nearest to a cell, of those within `radius` cells (as the crow
/// flies) that some agent of the team sees now; of equally near ones by cell, team and birth. Wants
/// a refreshed unit index.
///
/// @return NULL: there is none
const struct fm_agent *fm_enemy_near(fm_world *world, uint32_t team, fm_cell cell, uint32_t radius);

void fm_enemy_tiles_fini(fm_enemy_tiles *known, const fm_memory *memory);
