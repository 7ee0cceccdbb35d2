// core/views/view_delta.h: what changes in a watched view with each tick.
//
// Threads: between ticks on the tick thread, but for fm_view_delta_observe(): one worker per view.

#pragma once

#include "core/world/world.h"

struct fm_view_delta;

/// The observe stage, for one view.
void fm_view_delta_observe(const fm_world *world, uint32_t team, struct fm_view_delta *delta);
void fm_view_delta_destroy(fm_world *world, struct fm_view_delta *delta);

/// Turns fm_world_changes() on or off for a team (or FM_ALL_TEAMS). Has no effect on the simulation
/// or its digest. A view starts with what fm_world_snapshot_*() say at this moment.
///
/// @return FM_OK, FM_ERR_NO_TEAM or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_watch(fm_world *world, uint32_t team, bool wanted);

/// Makes fm_world_changes() of a watched view (asserted) report visible cells as well (sight.h),
/// until the view is no longer watched. Has no effect on the simulation or its digest.
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_watch_sight(fm_world *world, uint32_t team);

/// Words of a row in fm_world_sight().
static inline uint32_t fm_sight_pitch(uint32_t width)
{
    return (width + 63) / 64;
}

/// Which cells are visible as of the last tick or watch, of a view whose sight is watched
/// (asserted). To FM_ALL_TEAMS all are.
///
/// @param words  receives fm_sight_pitch() words for each row: cell x is bit x % 64 of word x / 64
void fm_world_sight(const fm_world *world, uint32_t team, uint64_t *words);

/// The changes that the last tick brought to a watched view.
fm_changes fm_world_changes(const fm_world *world, uint32_t team);

/// How a cell looks to a view. `team` must exist (asserted) or be FM_ALL_TEAMS.
fm_learned fm_world_look_up(const fm_world *world, uint32_t team, fm_cell cell);

/// The buildings that a team believes in, or those that stand (FM_ALL_TEAMS; `name` is the id), by
/// id. Good until the next tick or command.
///
/// @param count  receives how many
const fm_building_look *fm_world_buildings(const fm_world *world, uint32_t team, uint32_t *count);

/// The tag of an agent, as far as a team (or FM_ALL_TEAMS) that sees the agent may know it. Good
/// until the next tick or command.
///
/// @param size  receives its bytes, 0 when there is none or the team may not know it
/// @return NULL then, possibly
const uint8_t *fm_world_tag(const fm_world *world, uint32_t team, fm_agent_id id, uint32_t *size);

/// Whether any agent has been given a tag.
bool fm_world_has_tags(const fm_world *world);

/// The agents in a watched view, by slot, as of the last tick or watch.
///
/// @param agents  receives up to `capacity`
/// @return how many there are, which may exceed capacity
uint32_t fm_world_agents_in_view(const fm_world *world, uint32_t team, fm_agent_look *agents,
                                 uint32_t capacity);
