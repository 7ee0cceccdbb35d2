// core/planners/dstar_lite.h: D* Lite, an incremental search from the goal. dstar_lite.c tells how.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_dstar_lite;
