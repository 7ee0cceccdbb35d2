// core/views/sight.h: which cells a team sees now, for those who show three states of fog: hidden
// (unknown), explored (known, not visible) and visible.
//
// A cell is visible while a unit of the team sees it from where it stands; what it looks like is
// learned in the next tick. Agents of others are shown exactly where one of their cells is visible.
// What was told stays until something else is: a tick without memory for it is made up for by the
// next one.
//
// Threads: between ticks on the tick thread, but for fm_sight_note(): one worker per view.

#pragma once

#include "core/world/watched_view.h"

/// Begins to tell, with what `visible` has.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_sight_begin(const fm_world *world, struct fm_sight *sight,
                                    const fm_bitmap *visible);

/// Releases all. A zeroed fm_sight is allowed.
void fm_sight_fini(struct fm_sight *sight, const fm_memory *memory);

/// Lists what is visible and was not told so, and the other way round. Lists nothing before
/// fm_sight_begin().
void fm_sight_note(const fm_world *world, struct fm_sight *sight, const fm_bitmap *visible);
