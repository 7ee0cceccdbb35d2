// core/planners/repeated_jps.h: a search by jump points, again whenever the path breaks.
// repeated_jps.c tells how.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_repeated_jps;
