// core/search/heuristic.h: estimates of what the path from a cell to a target costs, for A*.
//
//   kind        what it is                                    never too high   consistent
//   ---------   -------------------------------------------   --------------   --------------
//   default     octile, or Manhattan with 4 neighbours        yes              yes
//   zero        nothing: A* becomes Dijkstra's search         yes              yes
//   manhattan   dx + dy straight steps                        4 neighbours     4 neighbours
//   octile      an empty map's cheapest path                  yes              yes
//   chebyshev   max(dx, dy) straight steps                    yes              yes
//   euclidean   as the crow flies                             yes              yes
//   cluster     cost between the tiles of the two cells       yes, while new   no
//   landmarks   differential: |D(target) - D(cell)|           yes, while new   while new
//
// An estimate that is never too high (admissible) makes A* find a cheapest path. A consistent one,
// where h(u) <= c(u, v) + h(v) on every step, also lets it expand each cell only once; learning
// from searches, and buckets, need that. The last two are read from tables
// (core/search/landmarks.h, core/search/clusters.h) that hang on the view. While these are missing,
// or out of date because some step has become cheaper, the default is used instead, so that no path
// is silently worse than optimal. `allow_stale` permits tables that are out of date; then paths may
// be longer.
//
// Tables change between ticks only. A search that began with others must restart:
// fm_heuristic_is_current().
//
// Source of the differential heuristic: Goldberg and Harrelson (ALT, 2005); Sturtevant, Felner,
// Barrer, Schaeffer and Burch 2009.

#pragma once

#include "core/map/view.h"

#define FM_LANDMARKS_MAX 16u

// X(enumerator, name in `heuristic=`)
#define FM_HEURISTIC_LIST(X)                                                                       \
    X(FM_HEURISTIC_DEFAULT, "default")                                                             \
    X(FM_HEURISTIC_ZERO, "zero")                                                                   \
    X(FM_HEURISTIC_MANHATTAN, "manhattan")                                                         \
    X(FM_HEURISTIC_OCTILE, "octile")                                                               \
    X(FM_HEURISTIC_CHEBYSHEV, "chebyshev")                                                         \
    X(FM_HEURISTIC_EUCLIDEAN, "euclidean")                                                         \
    X(FM_HEURISTIC_CLUSTER, "cluster")                                                             \
    X(FM_HEURISTIC_LANDMARKS, "landmarks")

typedef enum fm_heuristic_kind {
#define X(enumerator, name) enumerator,
    FM_HEURISTIC_LIST(X)
#undef X
} fm_heuristic_kind;

#define FM_HEURISTIC_COUNT (FM_HEURISTIC_LANDMARKS + 1u)

// Costs from each of `count` landmarks to every cell, FM_COST_INFINITE where there is no path.
typedef struct fm_landmark_table {
    uint32_t count;                          // 0: there are none yet
    const uint32_t *costs[FM_LANDMARKS_MAX]; // width * height each, row-major
    bool stale;                              // some step has become cheaper since
    uint32_t generation;                     // another number whenever anything above changes
} fm_landmark_table;

// Least costs between any two cells of two tiles of side x side cells.
typedef struct fm_cluster_table {
    const uint32_t *costs; // [from * count + to], NULL: there are none yet
    uint32_t count;        // tiles
    uint32_t columns;      // tiles in a row
    uint32_t side;         // cells
    bool stale;
    uint32_t generation;
} fm_cluster_table;

// The tables of a view.
typedef struct fm_heuristic_tables {
    fm_landmark_table landmarks;
    fm_cluster_table clusters;
    bool allow_stale; // stale tables are used where estimates need not be consistent
} fm_heuristic_tables;

// The estimates of one search. Set up by fm_heuristic_towards(); a plain value.
typedef struct fm_heuristic {
    const fm_view *view;
    fm_cell target;
    fm_heuristic_kind kind; // in use: the default where the wanted one has no table
    bool consistent;
    bool admissible;
    bool metric; // obeys the triangle inequality, as estimates that outlive a target must
    fm_heuristic_kind wanted;
    uint32_t generation;                     // of the tables that `wanted` reads
    uint32_t target_costs[FM_LANDMARKS_MAX]; // of the target, by landmark
} fm_heuristic;

/// Whether a kind is consistent (by new tables) under these rules.
bool fm_heuristic_kind_is_consistent(fm_heuristic_kind kind, fm_connectivity connectivity);

const char *fm_heuristic_name(fm_heuristic_kind kind);

/// False when there is no such kind.
bool fm_heuristic_by_name(const char *name, fm_heuristic_kind *kind);

/// Estimates towards a cell of the map, by the tables that the view has now.
///
/// @param view         outlives the estimates
/// @param must_be_consistent  no stale tables, whatever is allowed. Kinds that are never consistent
///                            under the view's rules are replaced by the default.
fm_heuristic fm_heuristic_towards(const fm_view *view, fm_heuristic_kind kind, fm_cell target,
                                  bool must_be_consistent);

/// Whether the tables are still those that the estimates were set up with. If not, estimates may
/// still be asked for, but do not fit earlier ones.
bool fm_heuristic_is_current(const fm_heuristic *heuristic);

/// The part of fm_heuristic_estimate() that is not in line.
uint32_t fm_heuristic_look_up(const fm_heuristic *heuristic, fm_cell cell);

/// The estimate for a cell of the map.
static inline uint32_t fm_heuristic_estimate(const fm_heuristic *heuristic, fm_cell cell)
{
    return heuristic->kind == FM_HEURISTIC_DEFAULT
               ? fm_view_distance(heuristic->view, cell, heuristic->target)
               : fm_heuristic_look_up(heuristic, cell);
}
