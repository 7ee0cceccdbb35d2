// core/map/free_places.h: the free place nearest to any cell, for many units that all need one.
//
// One bit a cell says whether a unit of one class and size can stand there, in tiles of 8 x 8; a
// bit of each level above says whether there may be a 1 in one of the 64 words below it, and with
// each word goes what is needed to tell how near its cells may be, nearly exactly. A search goes
// down from the top, the nearest first, and looks into no tile that cannot have the answer: about
// two for each unit, however far away they are. Tiles are read from the map when a search first
// comes to them, so one unit costs what is near it, and no ground is gone over twice.
//
// What comes out is fm_occupancy_nearest_free()'s answer, always.
//
// Threads: the tick thread.

#pragma once

#include "core/map/occupancy.h"

typedef struct fm_free_places fm_free_places;

/// Five eighths of a byte per cell, and a sixtieth of that. It knows no map yet.
///
/// @return FM_OK or FM_ERR_NO_MEMORY; on failure nothing needs undoing
FM_CHECKED fm_status fm_free_places_create(uint32_t width, uint32_t height, const fm_memory *memory,
                                           fm_free_places **out);

/// NULL is allowed.
void fm_free_places_destroy(fm_free_places *places);

/// Begins with one map and one size, and forgets what it knew. Takes time by 1/512 of the cells.
///
/// @param occupancy  NULL: everybody may stand everywhere
/// @param blocked    the blocked cells of the class and size; both stay valid until the last search
void fm_free_places_begin(fm_free_places *places, const fm_occupancy *occupancy,
                          const fm_bitmap *blocked, uint32_t size);

/// As fm_occupancy_nearest_free() finds it.
fm_cell fm_free_places_nearest(fm_free_places *places, fm_cell from);

/// Units have entered or left the square of this size since fm_free_places_begin(): of every such
/// change it must be told before the next search.
void fm_free_places_note(fm_free_places *places, fm_cell cell, uint32_t size);
