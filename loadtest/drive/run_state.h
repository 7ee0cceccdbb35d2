// loadtest/drive/run_state.h: what the parts of a running load test share. For run*.c only.
//
// Three kinds of connections, so that none disturbs what the others measure:
//   control   sends everything: setup, orders, walls, stats
//   watch     reads the view of everything: which orders ended, the tick times in the deltas, how
//             many bytes an agent costs
//   audience  the scenario's subscribers: they read and count, or do not read at all
//
// One thread, one poll loop (run.c). Callbacks note what comes and push events; only the loop
// sends. The parts, the lowest first: run_state, run_orders and run_walls, run_watch, run_setup,
// run.

#pragma once

#include <fogmarch/connection.h>
#include <fogmarch/object.h>
#include "loadtest/drive/counters.h"
#include "loadtest/drive/groups.h"
#include "loadtest/drive/run.h"
#include "loadtest/drive/schedule.h"
#include "loadtest/drive/server_process.h"

// A subscriber.
typedef struct fm_listener {
    fm_client *client;           // NULL: lost
    bool silent;                 // never reads
    struct fm_wall_watch *walls; // what its view has shown; NULL unless checked
} fm_listener;

typedef struct fm_wall {
    fm_cell cells[256];
    uint32_t count;
} fm_wall;

typedef struct fm_run_state {
    const fm_scenario *scenario;
    const fm_run_options *options;
    fm_result *result;
    char *error; // FM_RUN_ERROR_SIZE

    fm_ground *ground;
    fm_cell *starts;
    fm_groups groups;
    fm_schedule schedule;
    fm_wall *walls; // slots; those in free_walls are not in use
    uint32_t wall_count, wall_capacity;
    uint32_t *free_walls;
    uint32_t free_wall_count, free_wall_capacity;

    fm_server_process server;
    fm_client *control;
    fm_client *watch;
    fm_listener *audience;
    uint32_t audience_count;
    fm_client_welcome welcome;
    fm_params params;     // of the request being made
    uint64_t *numbers;    // scratch of the request being made: 3 per agent
    uint32_t batch_max;   // agents of one request with many goals
    uint32_t *due_groups; // to be ordered together at the end of this turn of the loop
    uint32_t due_group_count;
    uint64_t due_ns;     // earliest of them
    fm_cell common_goal; // of all orders; FM_CELL_NONE: goals are drawn

    uint64_t world;
    uint32_t *teams; // numbers on the wire
    bool failed;     // something went wrong that ends the run; `error` says what
    bool measuring;
    bool over; // the last counters are in

    uint64_t began_ns, measure_ns, end_ns;
    fm_counters begin, last;
    fm_histogram reply_us, late_us, stream_tick_us;
    struct fm_detours *detours; // NULL unless asked for
    uint64_t moves_shown;       // in the generator's own view
    uint64_t watch_bytes_begin, audience_bytes_begin;
    double server_cpu_begin, generator_cpu_begin;
    double moving_sum, waiting_sum, idle_sum, blocked_sum; // shares, over samples
    double search_bytes_sum, knowledge_bytes_sum;
    uint32_t sample_count;
    bool sample_in_flight; // an overloaded server is not asked again before it has answered
    uint64_t progress_ns;  // of the last line
} fm_run_state;

/// Nanoseconds of the monotonic clock.
uint64_t fm_run_now_ns(void);

/// Ends the run with a message, unless another one was first.
__attribute__((format(printf, 2, 3))) void fm_run_fail(fm_run_state *run, const char *format, ...);

/// Schedules an event. The run fails when out of memory.
void fm_run_push(fm_run_state *run, uint64_t due_ns, fm_event_kind kind, uint32_t index);
