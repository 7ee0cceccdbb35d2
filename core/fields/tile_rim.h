// core/fields/tile_rim.h: the distances of a tile's border cells, all that is kept of most tiles,
// with 16 bits each where that is enough, as it nearly always is.
//
// Threads: like the field.

#pragma once

#include "core/fields/tile_field.h"

/// All costs of one side of a computed tile.
void fm_tile_rim_read_side(const fm_tile *tile, uint32_t side, uint32_t costs[FM_TILE_SIDE]);

/// All four of them.
void fm_tile_rim_read(const fm_tile *tile, fm_tile_border *border);

/// Keeps those of a body, whose base becomes the tile's least distance. False when out of memory:
/// then nothing is kept.
bool fm_tile_rim_keep(fm_tile_field *field, fm_tile *tile, const fm_tile_body *body, fm_slab *slab);

/// Drops those above a limit. The tile is computed.
void fm_tile_rim_cut(fm_tile *tile, uint32_t limit);

/// Gives the block back, if there is one.
void fm_tile_rim_drop(fm_tile_field *field, fm_tile *tile, fm_slab *slab);

/// Bytes of the rims that a field holds.
size_t fm_tile_rim_bytes(const fm_tile_field *field);
