// core/planners/time_bounded.h: planners that search for a slice of time per tick and move
// meanwhile. See time_bounded.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_tba_star;
extern const fm_planner_ops fm_rtba_star;
extern const fm_planner_ops fm_tbaa_star;
