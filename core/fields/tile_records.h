// core/fields/tile_records.h: the records that a field keeps of tiles, found by the tile's number.
//
// Threads: like the field.

#pragma once

#include "core/base/slab.h"

typedef struct fm_tile fm_tile;
typedef struct fm_tile_field fm_tile_field;

/// The record of a tile, or NULL.
fm_tile *fm_tile_find(const fm_tile_field *field, uint32_t number);

/// The record of a tile, made now if there is none. NULL when out of memory.
fm_tile *fm_tile_get(fm_tile_field *field, uint32_t number, fm_slab *slab);
