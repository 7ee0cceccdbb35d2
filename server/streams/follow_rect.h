// server/streams/follow_rect.h: the rectangle of a view that follows an agent.

#pragma once

#include "core/map/cell.h"

/// The first coordinate of a side that has `at` in its middle, and lies on the map.
static inline uint32_t fm_follow_centered(uint32_t at, uint32_t side, uint32_t map_side)
{
    uint32_t first = at < side / 2 ? 0 : at - side / 2;
    return first < map_side - side ? first : map_side - side;
}

/// Whether a coordinate lies in the inner half of a side.
static inline bool fm_follow_is_near_middle(uint32_t at, uint32_t first, uint32_t side)
{
    uint32_t offset = at - first; // wraps round below `first`
    return offset >= side / 4 && offset < side - side / 4;
}
