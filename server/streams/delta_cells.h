// server/streams/delta_cells.h: which cells have changed since a tick, as an entry of a delta.
//
// Threads: the event loop.

#pragma once

#include "server/streams/view_shift.h"

/// Packs `cells` or `runs`, unless it would be empty.
///
/// @param since  the tick that the reader shows
/// @return false when out of memory
bool fm_delta_cells_pack(fm_body_packer *body, const fm_scene *scene, const fm_view_shift *shift,
                         uint64_t since);
