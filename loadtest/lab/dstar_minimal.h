// loadtest/lab/dstar_minimal.h: D* Lite with buckets as small as it gets, to compare with.
//
// What core/planners/dstar_lite.c would cost without all that a server wants of it: pages, agents
// that share a search, suspension, other costs and eight neighbours, an answer to running out of
// memory. It plays the missions of `maze` in the same loop, with the same expansions.

#pragma once

#include "core/search/planner.h"

// For 4 neighbours, unit cost and one agent. Answers only what missions ask.
extern const fm_planner_ops fm_lab_dstar_minimal;
