// core/saves/world_loader.h: a saved world while it is read, and small parts of it.

#pragma once

#include "core/base/bytes.h"
#include "core/world/world.h"

typedef struct fm_world_loader {
    fm_reader reader; // ends where the section does
    fm_world *world;  // from the section map on
    fm_world_rules rules;
    uint32_t team_count, agent_count, agent_slots; // as the head says
    uint32_t width, height;                        // the same
    const fm_memory *memory;
    uint32_t version; // of the file
} fm_world_loader;

/// A cell of the map.
fm_cell fm_loader_take_cell(fm_world_loader *loader, const char *what);

/// A rectangle on the map, of 1..FM_BUILDING_CELLS_MAX cells.
fm_rect fm_loader_take_rect(fm_world_loader *loader);

/// A planner by its name and options. `ops` stays NULL when something is wrong.
void fm_loader_take_spec(fm_world_loader *loader, fm_planner_spec *spec);

/// A team that exists, or FM_ALL_TEAMS where nobody's is allowed.
uint32_t fm_loader_take_team(fm_world_loader *loader, bool may_be_none, const char *what);
