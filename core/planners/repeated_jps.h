// core/planners/repeated_jps.h: a search by jump points, again whenever the path breaks.
// See repeated_jps.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_repeated_jps;
