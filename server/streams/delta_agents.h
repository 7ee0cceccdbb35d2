// server/streams/delta_agents.h: changes of agents since a tick, as entries of a delta.
//
// Threads: the event loop.

#pragma once

#include "server/streams/view_shift.h"

/// Packs `moved` or `steps`, `enter`, `leave`, `classes` and `motion`, those of them that are not
/// empty.
///
/// @param since  the tick that the reader shows
/// @return false when out of memory
bool fm_delta_agents_pack(fm_body_packer *body, fm_scene *scene, const fm_view_shift *shift,
                          uint64_t since);
