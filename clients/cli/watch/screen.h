// clients/cli/watch/screen.h: what `watch` draws: a head of numbers, the map, what is known of the
// selected agent, and a foot of teams. Below 40 x 8 characters only the map is left.

#pragma once

#include "clients/cli/watch/state.h"

/// Draws everything again.
void fm_watch_draw(fm_watch *watch);

/// The pixels that the map has: columns, and twice the rows.
void fm_watch_map_size(const fm_watch *watch, uint32_t *width, uint32_t *height);
