// core/planners/catalogue.h: every planner there is, and how users name them.

#pragma once

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

extern const fm_planner_ops fm_dstar_lite;              // core/planners/dstar_lite.c
extern const fm_planner_ops fm_dstar_extra_lite;        // core/planners/dstar_extra_lite.c
extern const fm_planner_ops fm_repeated_forward_astar;  // core/planners/forward_astar.c
extern const fm_planner_ops fm_repeated_backward_astar; // core/planners/forward_astar.c
extern const fm_planner_ops fm_adaptive_astar;          // core/planners/forward_astar.c
extern const fm_planner_ops fm_mpgaa_star;              // core/planners/forward_astar.c
extern const fm_planner_ops fm_repeated_jps;            // core/planners/repeated_jps.c
extern const fm_planner_ops fm_tba_star;                // core/planners/time_bounded.c
extern const fm_planner_ops fm_rtba_star;               // core/planners/time_bounded.c
extern const fm_planner_ops fm_tbaa_star;               // core/planners/time_bounded.c
extern const fm_planner_ops fm_rtaa_star;               // core/planners/real_time.c
extern const fm_planner_ops fm_artaa_star;              // core/planners/real_time.c
extern const fm_planner_ops fm_dartaa_star;             // core/planners/real_time.c
extern const fm_planner_ops fm_lss_lrta_star;           // core/planners/real_time.c
extern const fm_planner_ops fm_alss_lrta_star;          // core/planners/real_time.c
extern const fm_planner_ops fm_dalss_lrta_star;         // core/planners/real_time.c
extern const fm_planner_ops fm_breadth_first;           // core/planners/one_shot.c
extern const fm_planner_ops fm_depth_first;             // core/planners/one_shot.c
extern const fm_planner_ops fm_greedy_best_first;       // core/planners/one_shot.c
extern const fm_planner_ops fm_dijkstra;                // core/planners/one_shot.c
extern const fm_planner_ops fm_astar;                   // core/planners/one_shot.c
extern const fm_planner_ops fm_auto;                    // core/planners/auto.c
extern const fm_planner_ops fm_goal_field;              // core/planners/goal_field.c
