// core/views/sight.h: which cells a team sees now, for clients that show three states of fog:
// hidden (unknown), explored (known, not visible) and visible.
//
// A cell is visible while a unit of the team sees it from where it stands; what it looks like is
// learned in the next tick. Agents of others are shown exactly where one of their cells is visible.
// Cells that could not be reported when out of memory are reported in the next tick.
//
// Threads: between ticks on the tick thread, but for fm_sight_note(): one worker per view.

#pragma once

#include "core/world/watched_view.h"

/// Starts reporting; what `visible` has counts as reported.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_sight_begin(const fm_world *world, struct fm_sight *sight,
                                    const fm_bitmap *visible);

/// Releases all. A zeroed fm_sight is allowed.
void fm_sight_fini(struct fm_sight *sight, const fm_memory *memory);

/// Lists cells that have become visible and cells that no longer are. Lists nothing before
/// fm_sight_begin().
///
/// @return false when there was no memory to list it
bool fm_sight_note(const fm_world *world, struct fm_sight *sight, const fm_bitmap *visible);
