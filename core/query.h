// core/query.h: one question "which way from here to there?", asked once and searched from
// scratch, resumable like everything else.
//
// A query reads the view it was made for. Before the world changes under a query that is not done
// yet, fm_query_detach() gives it a private copy of the view, so its answer is right for the moment
// it was asked.
//
// Threads: one worker at a time for each query.

#pragma once

#include "core/planner.h"

typedef struct fm_query fm_query;

typedef enum fm_query_state {
    FM_QUERY_RUNNING,
    FM_QUERY_FOUND,       // optimal path from `from` to `to`
    FM_QUERY_UNREACHABLE, // no path; the answer is the way to the nearest reachable cell
    FM_QUERY_LIMIT,       // expansions_max was reached first
    FM_QUERY_EXHAUSTED,   // memory ran out
} fm_query_state;

/// @param view            good until fm_query_detach() or fm_query_destroy()
/// @param from, to        inside the map; `from` must not be blocked (FM_ERR_BLOCKED_CELL)
/// @param expansions_max  over the query's life
/// @return FM_OK, FM_ERR_BLOCKED_CELL or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_query_create(const fm_view *view, fm_cell from, fm_cell to,
                                     uint64_t expansions_max, const fm_memory *memory,
                                     fm_query **out);

/// NULL is allowed.
void fm_query_destroy(fm_query *query);

/// Gives a running query its own copy of the view. Does nothing to a finished one.
/// @return FM_OK or FM_ERR_NO_MEMORY (the query then ends as FM_QUERY_EXHAUSTED)
FM_CHECKED fm_status fm_query_detach(fm_query *query);

/// Searches on, as fm_planner_ops.advance does.
fm_query_state fm_query_advance(fm_query *query, fm_work *work);

typedef struct fm_query_answer {
    fm_query_state state;
    const fm_cell *cells;                    // from first to last; good until fm_query_destroy()
    uint32_t cell_count;                     // 0 when there is no path at all
    uint64_t cost;                           // integer cost of the path
    uint32_t straight_count, diagonal_count; // steps
    double length;                           // true units
    uint64_t expansions;
} fm_query_answer;

/// The answer. Call when the state is not FM_QUERY_RUNNING.
fm_query_answer fm_query_result(const fm_query *query);
