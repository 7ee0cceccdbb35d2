// core/planners/dstar_lite.h: D* Lite, an incremental search from the goal. See dstar_lite.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_dstar_lite;
