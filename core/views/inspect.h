// core/views/inspect.h: the inside of a world, for debugging and for `stats`.
//
// Threads: between ticks. Nothing here changes the world.

#pragma once

#include "core/world/world.h"

/// @return FM_OK, FM_ERR_NO_AGENT, or FM_ERR_CARRIED
FM_CHECKED fm_status fm_world_inspect(const fm_world *world, fm_agent_id id,
                                      fm_agent_report *report);

/// Visits the search of an agent's planner. @return FM_OK, FM_ERR_NO_AGENT, or FM_ERR_NOT_READY
/// when the agent has no planner
FM_CHECKED fm_status fm_world_inspect_search(const fm_world *world, fm_agent_id id,
                                             fm_inspect_fn *visit, void *context);

/// The path an agent is on, from its cell to its goal; see fm_planner_ops.path.
/// @return how many cells of it are in `cells`; 0 when there is none or no such agent
uint32_t fm_world_agent_path(const fm_world *world, fm_agent_id id, fm_cell *cells,
                             uint32_t capacity);

void fm_world_counts_get(const fm_world *world, fm_world_counts *counts);

/// What each team may search and does.
///
/// @param counts  receives the first `capacity` teams, by number
/// @return how many teams there are, which may exceed capacity
uint32_t fm_world_team_counts(const fm_world *world, fm_team_counts *counts, uint32_t capacity);

/// Everything about one agent that is cheap to find out: like fm_world_inspect(), with 0 for
/// open_count, closed_count and planner_bytes.
///
/// @return FM_OK, FM_ERR_NO_AGENT, or FM_ERR_CARRIED
FM_CHECKED fm_status fm_world_describe(const fm_world *world, fm_agent_id id,
                                       fm_agent_report *report);
