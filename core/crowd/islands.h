// core/crowd/islands.h: which units cannot meet in a tick, so that several workers can decide where
// units go (pibt.h).
//
// A unit decides by who is within two cells of it, and changes nothing farther away; what it reads
// beyond that does not change meanwhile. So the map is divided into tiles of 4 x 4 cells. Tiles
// where units stand, and that touch each other, belong to one island. Units of two islands are at
// least five cells apart: in whatever order islands are resolved, or at once, each unit gets the
// place that it would get if all were asked one after the other.
//
// Work grows with the units, not with the map.
//
// Threads: the tick thread.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/map/cell.h"

#define FM_ISLAND_TILE 4u // cells to a side

typedef struct fm_islands fm_islands;

typedef struct fm_island {
    uint32_t unit_count;
    uint32_t turn_count, first_turn; // the caller's; 0 after joining
} fm_island;

/// @return FM_OK or FM_ERR_NO_MEMORY; on failure nothing needs undoing
FM_CHECKED fm_status fm_islands_create(uint32_t width, uint32_t height, const fm_memory *memory,
                                       fm_islands **out);

/// NULL is allowed.
void fm_islands_destroy(fm_islands *islands);

/// Makes room for so many units. False when out of memory.
FM_CHECKED bool fm_islands_reserve(fm_islands *islands, uint32_t unit_count);

/// Adds a unit.
///
/// @param size  cells to a side
/// @return the label of its tile, below the number of units times 4
uint32_t fm_islands_add(fm_islands *islands, fm_cell cell, uint32_t size);

/// All units are added: joins their tiles.
///
/// @param count  receives how many islands there are
/// @return the islands; good until the next change
fm_island *fm_islands_join(fm_islands *islands, uint32_t *count);

/// The number of the island of a label, from 0 on; after joining.
uint32_t fm_islands_of(const fm_islands *islands, uint32_t label);

/// Removes all units.
void fm_islands_clear(fm_islands *islands);
