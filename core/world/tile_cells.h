// core/world/tile_cells.h: who stands on each cell of a tile (unit_index.h), however many stand
// there.
//
// A tile's units are gone through once, when somebody first asks for it, and what was found is kept
// until the index is made again. Of each cell it keeps two units of different teams: one of them is
// an enemy, whichever team asks. Without it, each unit that has crowds of others near it went
// through all of them.
//
// Threads: serial stages.

#pragma once

#include "core/world/unit_index.h"

// Slots of agents. The first by team, birth and slot; and the first of another team, or
// FM_SLOT_NONE.
typedef struct fm_cell_units {
    uint32_t first, other;
} fm_cell_units;

typedef struct fm_tile_cells {
    uint64_t gathering;   // fm_unit_index.gatherings that it is of
    uint64_t occupied[4]; // by fm_unit_index_place_of()
} fm_tile_cells;

// Begins zeroed.
typedef struct fm_cells_of_tiles {
    fm_tile_cells *tiles; // as many as the index has; NULL: none yet
    uint32_t tile_count;
    fm_cell_units *units; // of occupied cells by place, each tile's from where its units are listed
    uint32_t capacity;
} fm_cells_of_tiles;

/// Makes room for the index as it is.
///
/// @return false when out of memory
bool fm_cells_of_tiles_reserve(fm_world *world);

void fm_cells_of_tiles_fini(fm_cells_of_tiles *cells, const fm_memory *memory);

/// Which cells of a tile are occupied. Wants room.
const fm_tile_cells *fm_tile_cells_know(fm_world *world, uint32_t tile);

/// The slot of the agent of another team on a cell of a tile: the first by team, birth and slot.
/// The tile must be known.
///
/// @return FM_SLOT_NONE: there is none
uint32_t fm_tile_cells_enemy(const fm_world *world, uint32_t tile, uint32_t place, uint32_t team);
