// core/planners/one_shot.h: the plain searches, once per goal, for terrain that is known.
// See one_shot.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_breadth_first;
extern const fm_planner_ops fm_depth_first;
extern const fm_planner_ops fm_greedy_best_first;
extern const fm_planner_ops fm_dijkstra;
extern const fm_planner_ops fm_astar;
