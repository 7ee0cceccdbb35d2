// core/world/interval.h: what happened in a world since the last tick was streamed, for watched
// views.

#pragma once

#include "core/world/world.h"

struct fm_view_delta;

// What happened since the last tick was streamed. Whose: fm_world_begin_interval() resets it;
// commands and orders note what happens, core/views reads it.
struct fm_world_interval {
    bool streamed;          // the lists below have been published; the next change starts new ones
    fm_agent_left *removed; // with reason; by order of removal
    uint32_t removed_count, removed_capacity;
    // Where in `removed` those with FM_LEAVE_REMOVED stand, plus 1, by a hash of their ids.
    uint32_t *removed_table;
    uint32_t removed_table_capacity;
    uint32_t removed_mask;   // of the part of the table that is in use
    uint32_t removed_listed; // so many of `removed` are in the table, or were passed over
    fm_order_ended *ended;
    uint32_t ended_count, ended_capacity;
    fm_order_ended *ended_by_team; // see core/views/endings.h
    uint32_t ended_by_team_count, ended_by_team_capacity;
    fm_alert *alerts; // seen_name is the view's to fill in
    uint32_t alert_count, alert_capacity;
    fm_cell *edited;
    uint32_t edited_count, edited_capacity;
    uint32_t edited_by_teams; // of these, by commands of teams; see core/commands/backlog.h
    bool map_edited;          // some cell changed since the last sense stage
    struct fm_view_delta *delta_all;
};

/// Makes room for so many more endings and agents that leave, in the views that list them as well.
/// False when out of memory.
FM_CHECKED bool fm_interval_reserve(fm_world *world, uint64_t endings, uint32_t leaving);

/// Adds an ending or an agent that has left. There is room (asserted).
void fm_interval_note_ended(fm_world *world, const fm_order_ended *ended);
void fm_interval_note_removed(fm_world *world, const fm_agent_left *left);

/// Adds an alert, and makes room for it in the views that list it. False when out of memory: then,
/// and only then, a world does not run the same whether it is watched or not.
FM_CHECKED bool fm_interval_note_alert(fm_world *world, const fm_alert *alert);

/// An agent that a command has removed since the last tick, by its id; NULL: it was not.
fm_agent_left *fm_interval_find_removed(fm_world *world, fm_agent_id id);

const struct fm_world_interval *fm_world_interval(const fm_world *world);
struct fm_world_interval *fm_world_edit_interval(fm_world *world);

/// Forgets what changed in views in the last tick, before anything new is noted. Lists that have
/// far more room than they needed shrink, but never below the ends of all orders.
void fm_world_begin_interval(fm_world *world);
