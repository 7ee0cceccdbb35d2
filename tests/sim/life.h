// tests/sim/life.h: one run of the simulated server, from its start to its end.

#pragma once

#include "tests/sim/kernel.h"

// What happened in a seed, or in several.
typedef struct sim_result {
    uint64_t trace_hash;
    uint64_t virtual_ns;
    uint64_t answers, notifications, ticks, views_compared, orders_audited;
    uint64_t pages, ticks_replayed;
    uint64_t faults[SIM_FAULT_COUNT];
    uint64_t runs[SIM_FAULT_COUNT]; // runs that had each fault; see sim_result_count_runs()
    uint64_t ping_max_ns, answer_max_ns, tick_late_max_ns;
} sim_result;

/// Runs a seed, or the rest of it after the crashes that *sim_told has counted. Ends the process
/// when a check fails.
///
/// @param result  its counts are added here
/// @return false: the machine has crashed, and must be started again in a new process
bool sim_live(uint64_t seed, bool print_trace, sim_result *result);

/// Called when all lives of a seed are added up: counts the faults of this one run.
void sim_result_count_runs(sim_result *result);

/// Adds one result to another.
void sim_result_add(sim_result *sum, const sim_result *one);
