// core/planners/catalogue.h: every planner there is, and how users name them. Each planner has a
// header of its own, beside its source; this one includes them all.

#pragma once

#include "core/planners/auto.h"
#include "core/planners/dstar_extra_lite.h"
#include "core/planners/dstar_lite.h"
#include "core/planners/forward_astar.h"
#include "core/planners/goal_field.h"
#include "core/planners/one_shot.h"
#include "core/planners/real_time.h"
#include "core/planners/repeated_jps.h"
#include "core/planners/time_bounded.h"
#include "core/search/planner.h"

// Every planner there is, NULL-terminated.
extern const fm_planner_ops *const fm_planner_catalogue[];
#define FM_PLANNER_COUNT 23u // planners in it

/// A planner's index in the catalogue, which has it (asserted).
uint32_t fm_planner_index(const fm_planner_ops *ops);

/// Finds a planner by name. NULL if there is none.
const fm_planner_ops *fm_planner_by_name(const char *name);

/// Reads "name" or "name:key=value,key=value". Keys: queue = bucket | heap, ties = smaller-g |
/// larger-g, step = nearest | first, lookahead = expansions (0..1000000), weight = 1..2 (with up to
/// three decimals), period = ticks, horizon = tiles (0: to the goal), full = ticks,
/// heuristic = default | zero | manhattan | octile | chebyshev | euclidean | cluster | landmarks.
///
/// @param error  receives, on failure, a sentence that names what was wrong (NUL-terminated, cut
///               to error_size); may be NULL
/// @return FM_OK, FM_ERR_NO_PLANNER or FM_ERR_BAD_VALUE; *spec is left alone on failure
FM_CHECKED fm_status fm_planner_spec_parse(const char *text, fm_planner_spec *spec, char *error,
                                           size_t error_size);
