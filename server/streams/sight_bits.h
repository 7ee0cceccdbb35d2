// server/streams/sight_bits.h: which cells of a rectangle are visible, as bits and as runs.
//
// The rectangle is copied from the map's rows into one long row of bits, so that the rest is bit
// counting. In dense deltas a cell is compared with the one above it: units see squares and discs,
// whose edges then take a few bytes where a run for each of their rows would take many.
//
// Threads: any; nothing is kept between calls.

#pragma once

#include "core/world/world.h"

typedef struct fm_sight_bits {
    uint64_t *words; // owned
    size_t count;    // cells
    uint32_t width;  // of the rectangle
} fm_sight_bits;

/// @param rows  of the map, as fm_world_sight() gives them
/// @return false when out of memory
bool fm_sight_bits_cut(const uint64_t *rows, uint32_t map_width, const fm_rect *rect,
                       fm_sight_bits *bits);

void fm_sight_bits_fini(fm_sight_bits *bits);

/// Finds the next cells in a row of the given value.
///
/// @param begin  in: where to look from; out: the first of them
/// @return how many; 0: there are none left
size_t fm_sight_bits_run(const fm_sight_bits *bits, bool value, size_t *begin);

/// `to` & `mask`, or & ~`mask`; both of the same rectangle.
void fm_sight_bits_and(fm_sight_bits *to, const fm_sight_bits *mask, bool value);

/// Writes the bytes of a dense delta's `sight`; see proto/dense.h.
///
/// @param kind   FM_DENSE_SIGHT_WHOLE or FM_DENSE_SIGHT_FLIPS
/// @param bytes  receives memory that the caller frees
/// @return how many; 0: out of memory
size_t fm_sight_bits_pack(const fm_sight_bits *bits, uint8_t kind, uint8_t **bytes);
