// core/planners/auto.h: the planner that chooses among others. See auto.c.

#pragma once

#include "core/search/planner.h"

extern const fm_planner_ops fm_auto;
