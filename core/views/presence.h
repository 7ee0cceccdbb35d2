// core/views/presence.h: which teams have agents in which part of the map, so that views look for
// others only where there are any.
//
// For each tile of 32 x 32 cells a bit per team, by number modulo 64. A bit is set as soon as an
// agent comes into the tile, and may stay when the last one has left it, for FM_PRESENCE_TICKS at
// most: then all is gathered again. So what is not marked is not there; and keeping it costs what
// moves, not what exists. No part of the simulation.
//
// Threads: fm_presence_follow() between parallel stages; reading in the observe stage.

#pragma once

#include "core/world/presence_bits.h"
#include "core/world/world.h"

#define FM_PRESENCE_SIDE  32u // cells
#define FM_PRESENCE_TICKS 32u

/// Begins to keep it, or brings it up to what commands have done since the last tick. Without
/// memory nothing is kept, and views look everywhere.
void fm_presence_want(fm_world *world);

/// After the moves of a tick, before FM_MARK_CHANGED is cleared.
void fm_presence_follow(fm_world *world, fm_workers *workers);

/// Notes in `near` (a byte for each tile, row by row) for one team: FM_NEAR_OTHERS, where others
/// may be that it may see; FM_NEAR_LOOK, from where one has to look for them.
///
/// @return the teams, as bits, that may be in sight; 0: nobody is
uint64_t fm_presence_near(const fm_world *world, uint32_t team, uint8_t *near);

#define FM_NEAR_OTHERS 1u
#define FM_NEAR_LOOK   2u

static inline uint32_t fm_presence_tile(const fm_presence *presence, fm_cell cell)
{
    return fm_cell_y(cell) / FM_PRESENCE_SIDE * presence->columns +
           fm_cell_x(cell) / FM_PRESENCE_SIDE;
}
