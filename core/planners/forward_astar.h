// core/planners/forward_astar.h: planners that search from scratch whenever their path is no longer
// a shortest one. See forward_astar.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_repeated_forward_astar;
extern const fm_planner_ops fm_repeated_backward_astar;
extern const fm_planner_ops fm_adaptive_astar;
extern const fm_planner_ops fm_mpgaa_star;
