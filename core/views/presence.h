// core/views/presence.h: which teams have agents in which part of the map, so that views search for
// others only where there are any.
//
// For each tile of 32 x 32 cells a bit per team, by number modulo 64. A bit is set as soon as an
// agent enters the tile, and may stay for up to FM_PRESENCE_TICKS after the last one has left: then
// all bits are rebuilt. So an unmarked tile is empty; and the cost depends on what moves, not on
// what exists. No part of the simulation.
//
// Threads: fm_presence_follow() between parallel stages; reading in the observe stage.

#pragma once

#include "core/world/presence_bits.h"
#include "core/world/world.h"

struct fm_agent;

#define FM_PRESENCE_SIDE  32u // cells
#define FM_PRESENCE_TICKS 64u

/// Starts keeping it, or adds what commands have done since the last tick. When out of memory
/// nothing is kept, and views search everywhere.
void fm_presence_want(fm_world *world);

/// After the moves of a tick, before FM_MARK_CHANGED is cleared.
void fm_presence_follow(fm_world *world, fm_workers *workers);

/// A command has changed how far an agent sees, or its class.
void fm_presence_note_set(fm_world *world, const struct fm_agent *agent);

/// Releases it. Nothing is kept then.
void fm_presence_fini(fm_world *world);

/// Notes in `near` (a byte for each tile, row by row) for one team: FM_NEAR_OTHERS, where others
/// may be that it may see; FM_NEAR_LOOK, from where one has to look for them.
///
/// @return the teams, as bits, that may be in sight; 0: nobody is
uint64_t fm_presence_near(const fm_world *world, uint32_t team, uint8_t *near);

/// Whether agents of other teams may be where somebody may look who stands in a tile.
bool fm_presence_has_others(const fm_world *world, uint32_t team, uint32_t tile);

#define FM_NEAR_OTHERS 1u
#define FM_NEAR_LOOK   2u

/// Of some of the 64 agents of a word of marks, which must live, those that stand in a tile with
/// one of the above in `near`; both as bits. In the observe stage, with `has_tiles` set.
uint64_t fm_presence_near_in_word(const fm_presence *presence, const uint8_t *near, uint8_t what,
                                  uint32_t word, uint64_t of);

static inline uint32_t fm_presence_tile(const fm_presence *presence, fm_cell cell)
{
    return fm_cell_y(cell) / FM_PRESENCE_SIDE * presence->columns +
           fm_cell_x(cell) / FM_PRESENCE_SIDE;
}
