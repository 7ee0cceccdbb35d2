// core/world/world_classes.h: the movement classes of a world: which there are, how each sees the
// true map, and the square that an agent covers.
//
// Threads: serial stages and commands; what is const, also parallel stages.

#pragma once

#include "core/world/world.h"

struct fm_agent;

/// How many cells wide and high its agents are.
uint32_t fm_world_class_size(const fm_world *world, uint32_t class_index);

/// The true map as a class sees it.
const fm_view *fm_world_truth(const fm_world *world, uint32_t class_index);

/// Makes a team's view of a class, unless there is one. Between ticks. Spawning does it for the
/// class of the new agents. Has no effect on the simulation or its digest.
///
/// @param class_index  of the rules (asserted)
/// @return FM_OK, FM_ERR_NO_TEAM or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_prepare_class(fm_world *world, uint32_t team, uint32_t class_index);

/// The same for a part of the view, that many cells or a row. Call it until fm_world_class_view()
/// is not NULL; the world may go on in between.
FM_CHECKED fm_status fm_world_prepare_class_part(fm_world *world, uint32_t team,
                                                 uint32_t class_index, uint32_t cells_max);

/// What planners of a team and class see: a cell is blocked when a unit of the class does not fit
/// with its north-west corner there. FM_ALL_TEAMS gives the truth. Good until the next tick or
/// command. NULL when there is no such team, or no view was made for it.
const fm_view *fm_world_class_view(const fm_world *world, uint32_t team, uint32_t class_index);

/// Fills in and takes over what the rules say of classes: the true map as each class sees it.
FM_CHECKED fm_status fm_world_classes_create(fm_world *world);
void fm_world_classes_destroy(fm_world *world);

/// Whether the rules name classes as they should.
bool fm_world_classes_are_valid(const fm_world_rules *rules);

/// A cell of the true map has changed: what it is now for a class.
void fm_world_class_note_edit(fm_world *world, uint32_t class_index, fm_cell cell);

/// Before and after the true map becomes weighted.
FM_CHECKED fm_status fm_world_classes_prepare_for_weights(fm_world *world);
void fm_world_classes_use_weights(fm_world *world);

/// Whether a planner can work for a class, under the rules and on the map as they are.
///
/// @param team  for whose agents: it may have costs of its own; FM_ALL_TEAMS: for those of a team
///              that has none
bool fm_world_planner_fits(const fm_world *world, const fm_planner_spec *spec, uint32_t team,
                           uint32_t class_index);

/// The same for some class of the rules, in a team that has no costs of its own.
bool fm_world_some_class_fits(const fm_world *world, const fm_planner_spec *spec);

/// The cells from which an agent looks around, within the square that it covers.
///
/// @param cells  room for FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX
/// @return how many
uint32_t fm_agent_eyes(const fm_world *world, const struct fm_agent *agent, fm_cell *cells);

/// Whether an agent covers some cell of a bitmap.
bool fm_agent_touches(const fm_world *world, const struct fm_agent *agent, const fm_bitmap *cells);
