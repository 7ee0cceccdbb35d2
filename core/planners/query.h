// core/planners/query.h: one question about paths, asked once and searched from scratch, resumable
// like everything else:
//
//   path     which path from here to there?
//   nearest  which of these goals is the nearest, and which path leads there?
//   field    how far is it to this goal from each cell of a rectangle?
//   trial    how does this planner search the path from here to there?
//
// A query reads the view it was made for. Before the world changes under queries that are not done
// yet, fm_query_move() gives them a copy of the view to read, so that their answers are right for
// the moment they were asked. One copy (fm_view_copy) serves any number of them.
//
// Threads: one worker at a time for each query.

#pragma once

#include "core/map/box.h"
#include "core/search/planner.h"

typedef struct fm_query fm_query;

typedef enum fm_query_state {
    FM_QUERY_RUNNING,
    FM_QUERY_FOUND,       // optimal path; the whole field
    FM_QUERY_UNREACHABLE, // path: none; the answer is the path to the nearest reachable cell.
                          // nearest: no goal can be reached
    FM_QUERY_LIMIT,       // expansions_max was reached first
    FM_QUERY_EXHAUSTED,   // memory ran out
    FM_QUERY_PARTIAL,     // trial: the planner moves before it knows the whole path
} fm_query_state;

#define FM_QUERY_FIELD_CELLS_MAX 16384u // of a field's rectangle
#define FM_QUERY_TRIAL_GRANT     1000u  // expansions after which a real-time planner has to move

/// A path.
///
/// @param view            good until fm_query_move() or fm_query_destroy()
/// @param from, to        inside the map; `from` must not be blocked (FM_ERR_BLOCKED_CELL)
/// @param expansions_max  over the query's life
/// @return FM_OK, FM_ERR_BLOCKED_CELL or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_query_create(const fm_view *view, fm_cell from, fm_cell to,
                                     uint64_t expansions_max, const fm_memory *memory,
                                     fm_query **out);

/// Uses a planner of the catalogue, with its options, in place of the fastest search. Call before
/// the first fm_query_advance(). FM_QUERY_FOUND then means what FM_PLAN_FOUND means for that
/// planner.
/// @return FM_OK, or FM_ERR_BAD_VALUE when it does not search from scratch from where it stands
///         (fm_query_takes_planner()), or not by the rules of the view
FM_CHECKED fm_status fm_query_use_planner(fm_query *query, const fm_planner_spec *spec);

/// Whether queries can be answered by a planner, whatever the view.
bool fm_query_takes_planner(const fm_planner_ops *ops);

/// For callers that know that `to` cannot be reached and which reachable cell is nearest to it
/// (fm_labels_nearest()): the query searches a path there. Call before the first advance.
void fm_query_use_substitute(fm_query *query, fm_cell substitute);

/// The nearest of several goals, by the cost of the path; ties go to whichever the search meets
/// first, which depends on the view and the cells alone.
///
/// @param from       not blocked (FM_ERR_BLOCKED_CELL)
/// @param goals      inside the map; the caller's, good until the query is destroyed
/// @param goal_count at least 1
/// @return FM_OK, FM_ERR_BLOCKED_CELL or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_query_create_nearest(const fm_view *view, fm_cell from,
                                             const fm_cell *goals, uint32_t goal_count,
                                             uint64_t expansions_max, const fm_memory *memory,
                                             fm_query **out);

/// The cost to reach `goal` from each cell of a rectangle.
///
/// @param goal       not blocked (FM_ERR_BLOCKED_CELL)
/// @param box        inside the map, at most FM_QUERY_FIELD_CELLS_MAX cells
/// @param reachable  how many of its cells can reach the goal, when that is known: the search ends
///                   when it has all of them; UINT32_MAX: not known
/// @return FM_OK, FM_ERR_BLOCKED_CELL or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_query_create_field(const fm_view *view, fm_cell goal, fm_box box,
                                           uint32_t reachable, uint64_t expansions_max,
                                           const fm_memory *memory, fm_query **out);

// A search by a planner of the catalogue.
typedef struct fm_query_trial {
    fm_cell from, to;
    const fm_planner_spec *spec;
    fm_box box;         // inside the map; cells of the search in here are kept
    uint32_t cells_max; // how many of them at most; 0: none
} fm_query_trial;

/// Runs a planner of the catalogue like an agent's own, from an agent to its goal, up to its first
/// answer. Its search can be inspected afterwards.
///
/// @param trial  need not outlive the call
/// @return FM_OK, FM_ERR_BAD_VALUE when the planner cannot work by the rules of the view,
///         FM_ERR_BLOCKED_CELL or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_query_create_trial(const fm_view *view, const fm_query_trial *trial,
                                           uint64_t expansions_max, const fm_memory *memory,
                                           fm_query **out);

/// NULL is allowed.
void fm_query_destroy(fm_query *query);

/// From now on the query reads a view of equal content, good until it is moved again or destroyed.
void fm_query_move(fm_query *query, const fm_view *view);

/// Ends a running query as FM_QUERY_EXHAUSTED: out of memory.
void fm_query_give_up(fm_query *query);

/// Searches on, as fm_planner_ops.advance does.
fm_query_state fm_query_advance(fm_query *query, fm_work *work);

/// Sets how many cells of the answer's path are kept; of a longer path none are, only its cost and
/// length. Call before the first advance; without it all are.
void fm_query_keep_cells(fm_query *query, uint32_t cells_max);

/// The same for a path that is there already. Call when the state is not FM_QUERY_RUNNING.
void fm_query_drop_cells(fm_query *query);

typedef struct fm_query_answer {
    fm_query_state state;
    const fm_cell *cells;                    // from first to last; good until fm_query_destroy()
    uint32_t cell_count;                     // 0 when there is no path at all
    bool cells_dropped;                      // or none of its cells are kept
    uint64_t cost;                           // integer cost of the path
    uint32_t straight_count, diagonal_count; // steps
    double length;                           // true units
    fm_cell target;                          // where the path leads
    // Field: of each cell of the rectangle, row by row; FM_COST_INFINITE where there is no path.
    const uint32_t *costs;
    uint64_t expansions;
    // Trial: the search as it was at its end.
    const fm_inspection *search;       // cells in the box; good until fm_query_destroy()
    uint32_t search_count;             // of them
    uint32_t open_count, closed_count; // of all cells
    size_t bytes;                      // of the planner
} fm_query_answer;

/// The answer. Call when the state is not FM_QUERY_RUNNING.
fm_query_answer fm_query_result(const fm_query *query);
