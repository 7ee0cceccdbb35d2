// core/world/presence_bits.h: which teams are in which part of the map, for core/views/presence.h.

#pragma once

#include "core/world/world.h"

typedef struct fm_presence {
    uint64_t *teams; // by tile; NULL: not kept
    uint32_t columns, rows;
} fm_presence;

const fm_presence *fm_world_presence(const fm_world *world);
fm_presence *fm_world_edit_presence(fm_world *world);
