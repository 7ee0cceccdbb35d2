// core/crowd/known.h: the units that a team knows of, for what is decided for many of them at once:
// its own, and those of others beside them. What it does not know must not change what they do.
//
// Threads: the tick thread.

#pragma once

#include "core/crowd/pibt.h"

/// The unit in a cell of the map, of any team, as slot + 1; 0: none.
static inline uint32_t fm_crowd_unit_in(const fm_occupancy *occupancy, fm_cell cell)
{
    return fm_occupancy_at(occupancy, cell)->now;
}

/// The unit there, as far as the team knows.
static inline uint32_t fm_crowd_known_unit_in(const fm_occupancy *occupancy, const fm_mover *movers,
                                              fm_cell cell, uint32_t team)
{
    uint32_t unit = fm_crowd_unit_in(occupancy, cell);
    bool is_known = unit == 0 || movers[unit - 1].team == team;
    for (uint32_t d = 0; !is_known && d < FM_DIRECTION_COUNT; d++) {
        fm_cell beside = fm_cell_step(cell, d);
        bool is_inside =
            fm_cell_x(beside) < occupancy->width && fm_cell_y(beside) < occupancy->height;
        uint32_t watcher = is_inside ? fm_crowd_unit_in(occupancy, beside) : 0;
        is_known = watcher != 0 && movers[watcher - 1].team == team;
    }
    return is_known ? unit : 0;
}
