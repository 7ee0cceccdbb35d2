// core/world/interval.h: what happened in a world since the last tick was streamed, for those who
// watch.

#pragma once

#include "core/world/world.h"

struct fm_view_delta;

// What happened since the last tick was streamed. Whose: fm_world_begin_interval() resets it;
// commands and orders note what happens, core/views reads it.
struct fm_world_interval {
    bool streamed;          // the lists below have been published; the next change begins new ones
    fm_agent_left *removed; // with reason; by order of removal
    uint32_t removed_count, removed_capacity;
    fm_order_ended *ended;
    uint32_t ended_count, ended_capacity;
    fm_cell *edited;
    uint32_t edited_count, edited_capacity;
    bool map_edited; // some cell changed since the last sense stage
    struct fm_view_delta *delta_all;
};

/// Forgets what changed in views in the last tick, before anything new is noted.
void fm_world_begin_interval(fm_world *world);
