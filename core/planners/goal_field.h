// core/planners/goal_field.h: one field of distances in tiles for all agents with a goal.
// goal_field.c tells how.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_goal_field;
