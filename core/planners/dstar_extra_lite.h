// core/planners/dstar_extra_lite.h: D* Extra Lite, an incremental search from the goal that cuts
// off broken branches. See dstar_extra_lite.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_dstar_extra_lite;
