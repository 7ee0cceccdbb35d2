// loadtest/series/find_max.h: how many agents a scenario can have before its promises break, for
// each number of workers.
//
// A number of agents is carried when, over a whole try,
//   - p99 of the tick time is within the budget,
//   - no more than 2 % of the ticks that were due are missing,
//   - no more than 5 % of the agents wait for their search at any time, on average: ticks that are
//     short because searches are postponed do not count as speed,
//   - no request failed.
// One server for each number of workers stays up; each try makes a world in it. bracket.h chooses
// the numbers, until the largest that is carried and the smallest that is not are within 5 %.

#pragma once

#include "loadtest/drive/run.h"

typedef struct fm_max {
    uint32_t workers;
    uint32_t agents;      // 0: not even the smallest number is carried
    fm_result result;     // of the try with that number
    uint32_t agents_over; // smallest number that was not carried; 0: none was tried
    char reason[128];     // why it was not
} fm_max;

/// Searches for each number of workers from 1 to scenario.workers.
///
/// @param scenario         its agents are where the search begins; durations are overridden
/// @param seconds_per_try  measured; half of it more is warm-up
/// @param seconds          that it may take: an equal part for each number of workers, in which at
///                         least one number is found
/// @param max              receives scenario.workers entries
/// @param error            receives what failed; room for FM_RUN_ERROR_SIZE
/// @return as fm_run()
FM_CHECKED fm_status fm_find_max(const fm_scenario *scenario, const fm_run_options *options,
                                 double seconds_per_try, double seconds, fm_max *max, char *error);

/// Why a result breaks a promise; an empty text when it keeps them all. Room for 128 bytes.
void fm_find_max_judge(const fm_result *result, char *reason);

void fm_find_max_print(const fm_max *max, uint32_t count, FILE *out);
void fm_find_max_print_json(const fm_max *max, uint32_t count, FILE *out);
void fm_find_max_print_csv(const fm_max *max, uint32_t count, FILE *out);
