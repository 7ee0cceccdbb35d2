// core/world/world_parts.h: how sources reach the parts of a world that have no header of their
// own, without world_state.h.
//
// A source names the parts that it uses: agent.h, agent_marks.h, team.h, planner_table.h,
// true_map.h, given_orders.h, crowd_state.h, interval.h, view_surveys.h. Each of these headers has
// functions that lead to its part: fm_world_X() to read it, fm_world_edit_X() to change it, so a
// text search for the latter finds all code that changes a part. In the few sources that include
// world_state.h (see README.md) all of them are inline.

#pragma once

#include "core/world/history.h"
#include "core/world/world.h"

/// Where all that a world holds comes from.
const fm_memory *fm_world_memory(const fm_world *world);

// Makes room for `wanted` elements in a growing array; true on success.
#define FM_RESERVE(world, array, capacity, wanted)                                                 \
    FM_RESERVE_FROM(fm_world_memory(world), array, capacity, wanted)

/// Allocations that failed so far.
uint32_t fm_world_refusals(const fm_world *world);

/// The world is starved (fm_world_is_starved()) if there were fewer of them before.
void fm_world_note_refusals(fm_world *world, uint32_t before);

/// Something changes between ticks: the world is not settled, and its next tick not a still one.
void fm_world_disturb(fm_world *world);

/// For code that makes the world, or tries it with another planner: else they are fixed.
fm_world_rules *fm_world_edit_rules(fm_world *world);

const fm_history *fm_world_history(const fm_world *world);

/// Adds an entry to the history, which drops the oldest one.
void fm_world_note(fm_world *world, const fm_history_entry *entry);

/// Counters. What is not counted but looked up, such as teams, is 0 in here; see
/// fm_world_counts_get() in core/views/inspect.h.
const fm_world_counts *fm_world_counted(const fm_world *world);
fm_world_counts *fm_world_edit_counts(fm_world *world);

/// Mixes an event that is not visible in the state into the digest.
void fm_world_mix_digest(fm_world *world, uint64_t event);
