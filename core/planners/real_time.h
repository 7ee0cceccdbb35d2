// core/planners/real_time.h: planners that look a bounded number of expansions ahead, learn, and
// move. See real_time.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_rtaa_star;
extern const fm_planner_ops fm_artaa_star;
extern const fm_planner_ops fm_dartaa_star;
extern const fm_planner_ops fm_lss_lrta_star;
extern const fm_planner_ops fm_alss_lrta_star;
extern const fm_planner_ops fm_dalss_lrta_star;
