// loadtest/series/capacity.h: how many agents this machine carries, and the effect of a tick's
// budget.
//
// For each number of workers and each rate (FM_CAPACITY_RATES) the report searches for the largest
// number of agents that is carried. Carried means, over a whole try:
//
//   - p99 of the tick time is within the budget,
//   - at most 3 % of the agents wait for their search, on average,
//   - 99 of 100 orders have their first move within 2 ticks; not asked where a cell holds
//     one unit, as those around an agent decide there when it moves,
//   - at most 2 % of the ticks that were due are missing, and no request failed.
//
// The budget is the same share of the tick's period at every rate: the mix's own. One server for
// each number of workers stays up; each try makes a world in it. Then the numbers that were found
// for all workers are held for 1,000 ticks and more, as far as there is time (in reports of five
// minutes or more), and one number of agents is played with different budgets: what is the price of
// a tight one?
//
// The time is bounded: each search gets a share of what is left, and reports when it had to stop
// before its two ends were within 5 % of each other.

#pragma once

#include "loadtest/drive/run.h"

#define FM_CAPACITY_RATES       4u // ticks per second: 30, 20, 10, 5
#define FM_CAPACITY_WORKERS_MAX 8u // different numbers of workers
#define FM_CAPACITY_CELLS_MAX   (FM_CAPACITY_RATES * FM_CAPACITY_WORKERS_MAX)
#define FM_CAPACITY_BUDGETS_MAX 5u
#define FM_CAPACITY_TRIES_MAX   1024u
#define FM_CAPACITY_REASON_SIZE 128u
#define FM_CAPACITY_OTHERS_MANY 0.05 // of the processors' time: from here on the report warns

typedef struct fm_capacity_try {
    uint32_t workers, agents;
    double tick_hz, budget_ms;
    uint64_t ticks;
    double p99_ms;
    char reason[FM_CAPACITY_REASON_SIZE]; // why it is not carried; empty: it is
} fm_capacity_try;

// One number of workers at one rate.
typedef struct fm_capacity_cell {
    uint32_t workers;
    double tick_hz, budget_ms;
    uint32_t agents;      // carried; 0: none was
    uint32_t agents_over; // smallest that was not; 0: none
    char reason[FM_CAPACITY_REASON_SIZE];
    fm_result result; // of the try with that number
    bool was_held;    // played again for 1,000 ticks or more
    fm_result held;
    char held_reason[FM_CAPACITY_REASON_SIZE]; // empty: carried all the time
} fm_capacity_cell;

typedef struct fm_capacity {
    char mix[40], map[128];
    double seconds; // that it took
    double budget_share;
    bool exclusive;      // a cell holds one unit
    double others_share; // of all processor time, what other programs took meanwhile; 0..1
    fm_capacity_cell cells[FM_CAPACITY_CELLS_MAX]; // by workers, then by rate
    uint32_t cell_count;
    fm_result budgets[FM_CAPACITY_BUDGETS_MAX]; // the same agents, a larger budget each
    uint32_t budget_count;
    fm_capacity_try tries[FM_CAPACITY_TRIES_MAX];
    uint32_t try_count; // further ones are not kept
} fm_capacity;

/// Why a result is not carried; an empty text when it is. Room for FM_CAPACITY_REASON_SIZE.
///
/// @param exclusive  whether a cell holds one unit
void fm_capacity_judge(const fm_result *result, bool exclusive, char *reason);

/// Makes the report.
///
/// @param scenario  the mix; `agents` is where the search begins, `workers` (1 or more) the largest
///                  number of workers
/// @param options   without `connect`
/// @param seconds   that it may take; a try that has begun is finished
/// @param capacity  filled as far as it came, also on failure
/// @param error     receives what failed; room for FM_RUN_ERROR_SIZE
/// @return as fm_run()
FM_CHECKED fm_status fm_capacity_measure(const fm_scenario *scenario, const fm_run_options *options,
                                         double seconds, fm_capacity *capacity, char *error);

/// A table for people.
void fm_capacity_print(const fm_capacity *capacity, FILE *out);

/// All of it as one JSON object. In it `<` is written as \u003c, so that it may stand in a page.
void fm_capacity_print_json(const fm_capacity *capacity, FILE *out);

/// A line for each number of workers and rate, and for each budget.
void fm_capacity_print_csv(const fm_capacity *capacity, FILE *out);

/// One HTML page that needs no server and no network: charts (uPlot, inlined), tables, all data.
/// Without uPlot, where the program was built without npm, the page has the tables alone.
///
/// @param error  receives what failed; room for FM_RUN_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO (the page's frame, which comes with the program, is not there) or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_capacity_print_page(const fm_capacity *capacity, FILE *out, char *error);
