// core/saves/world_load_agents.h: reads the sections of teams, agents and planners.

#pragma once

#include "core/saves/world_loader.h"

// Each reads one section. FM_OK does not mean that the bytes are valid: check the reader.
FM_CHECKED fm_status fm_load_teams(fm_world_loader *loader);
FM_CHECKED fm_status fm_load_agents(fm_world_loader *loader);
FM_CHECKED fm_status fm_load_planners(fm_world_loader *loader);
