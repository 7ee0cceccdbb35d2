// core/world/presence_bits.h: which teams are in which part of the map, for core/views/presence.h.

#pragma once

#include "core/world/world.h"

typedef struct fm_presence {
    uint64_t *teams; // by tile; NULL: not kept
    uint32_t columns, rows;
    uint32_t *tiles; // by slot: where agents stand, good for those that live
    fm_cell *cells;  // the same: their cells, of units of one cell that see as the rules
                     // say; FM_CELL_NONE: ask the agent
    uint32_t tile_capacity, cell_capacity; // whole words of marks
    bool has_tiles; // and cells, of all that live; without, agents are asked one by one
} fm_presence;

const fm_presence *fm_world_presence(const fm_world *world);
fm_presence *fm_world_edit_presence(fm_world *world);
