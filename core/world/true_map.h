// core/world/true_map.h: the map as it is, whatever teams know of it.

#pragma once

#include "core/map/line_of_sight.h"
#include "core/world/team_labels.h"
#include "core/world/world.h"

struct fm_agent;

// The true map. Whose: core/commands and core/saves, which build, edit and load it between ticks,
// world_classes.c and team_labels.c; stages read it.
struct fm_world_map {
    fm_grid *grid;
    fm_line_of_sight *sight;                                 // as the rules say
    fm_line_of_sight *other_sights[FM_SENSE_RADIUS_MAX + 1]; // by radius; NULL: no agent had it yet
    uint32_t sight_reach;                                    // largest radius that any agent had
    fm_view truth;                                           // of the whole map
    fm_buildings buildings;
    fm_buildings_seen buildings_shown;         // to the view of everything
    fm_class_map *class_truth[FM_CLASSES_MAX]; // by class; NULL: it sees `truth`
    fm_labels *labels[FM_LABELED_MAPS];        // for queries; NULL: not asked for yet
};

const struct fm_world_map *fm_world_map(const fm_world *world);
struct fm_world_map *fm_world_edit_map(fm_world *world);

/// How an agent sees.
const fm_line_of_sight *fm_agent_sight(const fm_world *world, const struct fm_agent *agent);

/// Lets agents see `radius` cells, 1..FM_SENSE_RADIUS_MAX (asserted).
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_world_prepare_sight(fm_world *world, uint32_t radius);

/// Whether a cell lies on the map.
bool fm_world_contains(const fm_world *world, fm_cell cell);
