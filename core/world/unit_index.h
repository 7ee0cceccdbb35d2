// core/world/unit_index.h: which units stand near a cell: the living agents by tile of 16 x 16
// cells.
//
// Rebuilt when a stage or a command needs it, and good until the next agent moves, is born or dies.
// Within a tile agents are in slot order.
//
// Threads: made on the tick thread; readers may share it.

#pragma once

#include "core/world/world.h"

struct fm_agent;

#define FM_UNIT_INDEX_TILE_SHIFT 4u // at most 4: tiles' marks have 256 bits

typedef struct fm_unit_index {
    uint32_t columns, rows; // tiles
    uint32_t *first;        // columns * rows + 1: where each tile's part of `slots` begins
    uint32_t *slots;        // of agents, by tile
    uint64_t *teams;        // by tile: whose agents stand there, team t as bit t % 64
    uint32_t slot_capacity;
    uint64_t gatherings; // how often it was made, or failed to be
} fm_unit_index;

/// The tiles that cells within some distance of a cell lie in.
typedef struct fm_unit_tiles {
    uint32_t x_first, x_last, y_first, y_last;
} fm_unit_tiles;

fm_unit_tiles fm_unit_index_tiles_around(const fm_unit_index *unit_index, fm_cell cell,
                                         uint32_t radius);

// The tiles around a cell, those near it first. Set by fm_tile_walk_begin().
typedef struct fm_tile_walk {
    const fm_view *view; // by whose steps distances count
    fm_cell from;
    fm_unit_tiles tiles; // all there are
    uint32_t columns;
    int64_t ring, x, y; // tiles from that of `from`
    bool is_ring_near;  // some tile of the ring is within the distance
} fm_tile_walk;

fm_tile_walk fm_tile_walk_begin(const fm_unit_index *unit_index, const fm_view *view, fm_cell cell,
                                uint32_t radius);

/// The next tile that has cells within a distance, which may fall from call to call.
///
/// @return false: all have been given
bool fm_tile_walk_next(fm_tile_walk *walk, uint32_t distance, uint32_t *tile);

/// The tile that a cell lies in.
static inline uint32_t fm_unit_index_tile_of(const fm_unit_index *unit_index, fm_cell cell)
{
    return (fm_cell_y(cell) >> FM_UNIT_INDEX_TILE_SHIFT) * unit_index->columns +
           (fm_cell_x(cell) >> FM_UNIT_INDEX_TILE_SHIFT);
}

/// A cell's place in its tile, row by row: below 256.
static inline uint32_t fm_unit_index_place_of(fm_cell cell)
{
    uint32_t side = 1u << FM_UNIT_INDEX_TILE_SHIFT;
    return fm_cell_y(cell) % side * side + fm_cell_x(cell) % side;
}

// Cells of one tile, so that one which many agents share is looked at once. Begins zeroed.
typedef struct fm_tile_marks {
    uint64_t bits[4]; // by fm_unit_index_place_of()
} fm_tile_marks;

_Static_assert(FM_UNIT_INDEX_TILE_SHIFT <= 4, "a tile has a bit for each cell");

/// Marks a cell of the tile. @return whether it was marked before
static inline bool fm_tile_marks_add(fm_tile_marks *marks, fm_cell cell)
{
    uint32_t place = fm_unit_index_place_of(cell);
    uint64_t bit = (uint64_t)1 << place % 64, before = marks->bits[place / 64];
    marks->bits[place / 64] |= bit;
    return (before & bit) != 0;
}

/// Lists all agents by tile, at most once in a tick, for stages before agents move and for commands
/// between ticks. Empty when out of memory.
void fm_unit_index_refresh(fm_world *world);

/// A command has moved agents, or changed what they see: the next call lists them again.
void fm_unit_index_forget(fm_world *world);

void fm_unit_index_fini(fm_unit_index *unit_index, const fm_memory *memory);
