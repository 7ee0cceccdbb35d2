// core/planners/goal_field.h: one field of distances in tiles for all agents with a goal.
// See goal_field.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_goal_field;
