// core/map/tile_map.h: what fields of distances (core/fields) need to know of a view's tiles of 32
// x 32 cells: whether a tile has changed since they read it, and which cells of its sides are free.
//
// There is one for each view, and all fields on the view share it. It counts the changes of each
// tile, so that fields need not be notified: a field compares the version that it has worked with.
// Where a view has no tile map (searches outside a world), each field keeps its own.
//
// Threads: one writer, while nobody reads, like the view.

#pragma once

#include "core/map/view.h"

#define FM_TILE_SIDE  32u
#define FM_TILE_CELLS (FM_TILE_SIDE * FM_TILE_SIDE)
#define FM_TILE_NONE  UINT32_MAX

// The sides of a tile. Side s lies in direction 2 * s, and the opposite one is s ^ 2. Cells of a
// side are counted from west to east, or from north to south.
typedef enum fm_tile_side {
    FM_SIDE_NORTH,
    FM_SIDE_EAST,
    FM_SIDE_SOUTH,
    FM_SIDE_WEST,
    FM_SIDE_COUNT,
} fm_tile_side;

typedef struct fm_tile_look {
    uint32_t version;              // grows when anything changes that steps in it depend on
    uint32_t sides[FM_SIDE_COUNT]; // bits of free cells
} fm_tile_look;

typedef struct fm_tile_map {
    uint32_t columns, rows; // tiles
    uint64_t changes;       // ever noted
    uint64_t freed;         // those by which some step has become cheaper or possible
    fm_tile_look *tiles;    // by tile: row * columns + column; owned
} fm_tile_map;

/// Reads the sides of all tiles.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_tile_map_init(fm_tile_map *map, const fm_view *view,
                                      const fm_memory *memory);

/// A zeroed map is allowed.
void fm_tile_map_fini(fm_tile_map *map, const fm_memory *memory);

/// A cell of the view is not what it was, and the view already says so.
///
/// @param cheaper  whether some step through it may cost less than before
void fm_tile_map_note(fm_tile_map *map, const fm_view *view, fm_cell cell, bool cheaper);

/// The changes of the view cannot be listed: every tile is new.
void fm_tile_map_renew(fm_tile_map *map, const fm_view *view);

/// The free cells of a tile, row by row; what lies outside the map is not free.
void fm_tile_map_read(const fm_tile_map *map, const fm_view *view, uint32_t tile,
                      uint32_t free[FM_TILE_SIDE]);

/// Bytes held, the fm_tile_map itself left out.
static inline size_t fm_tile_map_bytes(const fm_tile_map *map)
{
    return (size_t)map->columns * map->rows * sizeof *map->tiles;
}

static inline uint32_t fm_tile_of(const fm_tile_map *map, fm_cell cell)
{
    return fm_cell_y(cell) / FM_TILE_SIDE * map->columns + fm_cell_x(cell) / FM_TILE_SIDE;
}

/// The north-west cell of a tile.
static inline fm_cell fm_tile_corner(const fm_tile_map *map, uint32_t tile)
{
    return fm_cell_at(tile % map->columns * FM_TILE_SIDE, tile / map->columns * FM_TILE_SIDE);
}

/// The tile beside one, in any of the eight directions; FM_TILE_NONE outside the map.
static inline uint32_t fm_tile_beside(const fm_tile_map *map, uint32_t tile, uint32_t direction)
{
    uint32_t column = tile % map->columns + (uint32_t)fm_direction_dx[direction];
    uint32_t row = tile / map->columns + (uint32_t)fm_direction_dy[direction];
    return column < map->columns && row < map->rows ? row * map->columns + column : FM_TILE_NONE;
}
