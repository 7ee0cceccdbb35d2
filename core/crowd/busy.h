// core/crowd/busy.h: the teams that have jams, escorts, lanes or units that wait for help. Most
// have none, and with thousands of teams a tick must not look at each of them.
//
// A bit for each team, so they are visited in the order of their numbers. The bits follow from the
// teams and are no part of a world's state.
//
// Threads: the tick thread.

#pragma once

#include "core/world/world.h"

/// Makes room for so many teams. True without FM_OCCUPANCY_EXCLUSIVE.
FM_CHECKED bool fm_busy_reserve(fm_world *world, uint32_t team_count);

/// Releases the bits.
void fm_busy_fini(fm_world *world);

/// A team, by its id from 1, has or may have something of that.
void fm_busy_note(fm_world *world, uint32_t team);

/// A team has perhaps nothing of that any more: looks.
void fm_busy_check(fm_world *world, uint32_t team);

/// The first index, from `index` on, of a team that has something of that; the count of teams if
/// there is none.
uint32_t fm_busy_next(fm_world *world, uint32_t index);
