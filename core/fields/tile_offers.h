// core/fields/tile_offers.h: what the tiles of a field offer to their neighbours across sides and
// past corners, and the keys that follow for the neighbours. For tile_field.c only.
//
// Threads: like the field.

#pragma once

#include "core/fields/tile_field.h"

// FM_TILE_SIDE times FM_COST_INFINITE: a side of which nothing is known.
extern const uint32_t fm_tile_no_costs[FM_TILE_SIDE];

/// Makes all costs of a border infinite.
void fm_tile_border_clear(fm_tile_border *border);

/// A cell of a tile's side.
fm_cell fm_tile_side_cell(const fm_tile_field *field, uint32_t number, uint32_t side, uint32_t i);

/// The record of the tile beside one, in any of the eight directions, or NULL.
fm_tile *fm_tile_neighbour(const fm_tile_field *field, uint32_t number, uint32_t direction);

/// The step from one direction to examine to the next: 1, or 2 where diagonal steps are not legal.
uint32_t fm_tile_direction_stride(const fm_tile_field *field);

/// Whether a tile holds the goal, and it can be entered.
bool fm_tile_has_goal(const fm_tile_field *field, uint32_t number);

/// The weighted estimate from the cell of a tile that is nearest to the box.
uint32_t fm_tile_estimate_of(const fm_tile_field *field, uint32_t number);

/// What all computed neighbours offer to a tile, cell by cell.
void fm_tile_gather(const fm_tile_field *field, uint32_t number, fm_tile_border *seeds);

/// The least sum of offer and estimate over the cells for which one neighbour offers less than is
/// known; FM_COST_INFINITE: it offers nothing.
///
/// @param from       computed
/// @param number     of the tile that gets the offer
/// @param into       its record, or NULL
/// @param direction  where `from` lies from there
uint32_t fm_tile_key_from(const fm_tile_field *field, const fm_tile *from, uint32_t number,
                          const fm_tile *into, uint32_t direction);

/// The key that a tile ought to have, without km: the least of all its neighbours.
/// FM_COST_INFINITE: no neighbour offers anything better.
uint32_t fm_tile_offered_key(const fm_tile_field *field, const fm_tile *tile);
