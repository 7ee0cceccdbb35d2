// loadtest/run_state.h: what the parts of a running load test share. For loadtest/run*.c only.
//
// Three kinds of connections, so that none disturbs what the others measure:
//   control   sends everything: setup, orders, walls, stats
//   watch     reads the view of everything: which orders ended, the tick times in the deltas, and
//   how
//             many bytes an agent costs
//   audience  the scenario's subscribers: they read and count, or do not read at all
//
// One thread, one poll loop (run.c). Callbacks note what they hear and push events; only the loop
// sends.

#pragma once

#include "clients/c/fogmarch.h"
#include "clients/c/object.h"
#include "loadtest/counters.h"
#include "loadtest/groups.h"
#include "loadtest/run.h"
#include "loadtest/schedule.h"
#include "loadtest/server_process.h"

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
    uint32_t free_wall_count;

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
    uint64_t watch_bytes_begin, audience_bytes_begin;
    double server_cpu_begin, generator_cpu_begin;
    double moving_sum, waiting_sum, idle_sum, blocked_sum; // shares, over samples
    double search_bytes_sum, knowledge_bytes_sum;
    uint32_t sample_count;
    uint64_t progress_ns; // of the last line
} fm_run_state;

uint64_t fm_run_now_ns(void);

/// Ends the run with a message, unless another one was first.
__attribute__((format(printf, 2, 3))) void fm_run_fail(fm_run_state *run, const char *format, ...);

/// Pushes an event; the run fails without memory.
void fm_run_push(fm_run_state *run, uint64_t due_ns, fm_event_kind kind, uint32_t index);

// ---- run_setup.c --------------------------------------------------------------------------------

/// Connects control, makes the world (paused), its teams and agents, then the audience, and lets
/// the world run.
/// @return false when the run failed
bool fm_run_setup(fm_run_state *run);

/// Destroys the world and notes the memory that is left; then hangs up everywhere.
void fm_run_teardown(fm_run_state *run);

// ---- run_orders.c -------------------------------------------------------------------------------

/// Schedules the first order of every group, the volleys and the walls, from now on.
void fm_run_begin_orders(fm_run_state *run, uint64_t now_ns);

/// The group has nothing left to do: it gets another order when it has rested.
void fm_run_group_rests(fm_run_state *run, uint32_t group, uint64_t now_ns);

/// Does an event of the kinds ORDER, VOLLEY, WALL_UP and WALL_DOWN.
void fm_run_on_order_event(fm_run_state *run, const fm_event *event);

/// Sends the orders that were collected in this turn of the loop.
void fm_run_send_due_groups(fm_run_state *run);

// ---- run_walls.c --------------------------------------------------------------------------------

/// Holds every step that a team's view shows against the walls that it has shown before: has its
/// client's notifications. @return false when the run failed
bool fm_run_watch_walls(fm_run_state *run, fm_listener *listener);

/// NULL is allowed.
void fm_wall_watch_destroy(struct fm_wall_watch *watch);

// ---- run_watch.c --------------------------------------------------------------------------------

/// Takes what the view of everything says. A fm_client_notification_fn.
void fm_run_on_watch(void *context, fm_notification notification, const msgpack_object *params);

/// Asks for the counters; the answer goes into run->last, and at the edges of the measurement
/// begins or ends it.
void fm_run_sample(fm_run_state *run, fm_event_kind kind, uint64_t due_ns);

/// Bytes that all reading views but the generator's own have received.
uint64_t fm_run_audience_bytes(const fm_run_state *run);
