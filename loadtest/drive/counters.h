// loadtest/drive/counters.h: the answer of `stats`, as numbers.
//
// Counters only grow: what happened between two moments is the difference. The histograms cannot be
// subtracted from outside; the server resets them when it is asked to (`reset`).

#pragma once

#include "loadtest/report/result.h"

#include <msgpack.h>

typedef struct fm_counters {
    uint64_t workers;
    uint64_t rss_bytes;
    uint64_t deltas_merged, keyframes_forced;

    // of the world; all zero when none was asked for
    uint64_t ticks, late_ticks, skipped_ticks, degraded_ticks;
    uint64_t agents, moving, waiting, idle, blocked, planners;
    uint64_t orders_given;
    uint64_t ended_arrived, ended_nearest_reached, ended_unreachable, ended_replaced;
    uint64_t ended_cancelled, ended_died, ended_out_of_memory;
    uint64_t ended_target_lost, ended_target_died, ended_explored, ended_crowded, ended_deadline,
        ended_boarded;
    uint64_t expansions, moves, cells_edited;
    uint64_t queued; // ticks of agents that others did not let through
    uint64_t search_bytes, knowledge_bytes;
    double ns_per_expansion;
    fm_quantiles tick_ms, overrun_ms, order_to_first_move_ticks;
    double stage_sense_ms, stage_assign_ms, stage_search_ms;
    double stage_choose_ms, stage_move_ms, stage_observe_ms, stage_digest_ms;
} fm_counters;

/// Entries that are missing read as 0.
fm_counters fm_counters_read(const msgpack_object *stats);

/// Enters into the result what happened from `begin` to `end`, `duration_s` later.
void fm_counters_report(const fm_counters *begin, const fm_counters *end, double duration_s,
                        fm_result *result);
