// core/crowd/laned.h: which lanes there are (lanes.h), and who keeps to them, for those who ask.
//
// It is here and not in core/views because passages belong to this room.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/world/world.h"

#define FM_LANED_MAX 32u // lanes that are listed

// The lanes of a team in a passage; each of its movement classes has its own.
typedef struct fm_laned {
    uint32_t team;
    fm_rect passage;    // its cells; of large units, where their north-west corners may be
    bool is_vertical;   // leads from north to south
    bool is_open;       // units keep to them
    uint32_t counts[2]; // units that want through in the last tick: to the east or south, back
    uint32_t width;     // lanes
    uint32_t back;      // bit i: lane i, from the north or west, belongs to those who go back
} fm_laned;

/// The open lanes that an agent kept to in the last tick, on its way through a passage or to it.
///
/// @param heading  receives FM_EAST, FM_SOUTH, FM_WEST or FM_NORTH
/// @return false: there are none, and `laned` and `heading` are left as they are
bool fm_world_lanes_of(const fm_world *world, fm_agent_id agent, fm_laned *laned,
                       uint32_t *heading);

/// Lists up to FM_LANED_MAX, by team, those that are not open as well. @return how many
uint32_t fm_world_list_lanes(const fm_world *world, fm_laned *list);
