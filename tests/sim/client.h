// tests/sim/client.h: a client of the simulated server, which checks all that it is sent.
//
//   GREETING ── hello answered ──> READY ── the server or the plan ends it ──> GONE
//
// It keeps every request that has no answer, and a mirror of every view. What it checks: a request
// is answered once and within its time, answers and notifications are of the protocol, a delta fits
// the mirror that it goes to and is younger than what that shows, and an order ends once.
//
// Threads: none; clients live outside of the simulated server's tasks.

#pragma once

#include "tests/sim/websocket.h"

#include <fogmarch/mirror.h>
#include <fogmarch/params.h>
#include "proto/scanner.h"

#define SIM_REQUESTS_MAX 4096u // in flight, of one client
#define SIM_VIEWS_MAX    64u   // of one client
#define SIM_ENDED_MAX    16384u

typedef struct sim_request {
    uint64_t id;
    fm_method method;
    uint64_t sent_ns;
    uint64_t world;  // that it is about; 0: none
    uint64_t number; // what else must be remembered: a subscription, a team, a time
} sim_request;

typedef struct sim_view {
    fm_mirror mirror;
    uint64_t number; // of the subscription
    bool answered;   // subscribe was
    bool ending;     // unsubscribe is under way
    uint64_t *ended; // orders that ended, in the order they did; owned
    uint32_t ended_count;
} sim_view;

typedef struct sim_client sim_client;

// What its owner wants to know.
typedef struct sim_client_events {
    /// A request was answered. `error`: its status, FM_OK for none; `result`: NULL with an error.
    void (*answered)(sim_client *client, const sim_request *request, fm_status error,
                     const msgpack_object *result);
    /// The connection is over. The client's memory stays.
    void (*gone)(sim_client *client);
} sim_client_events;

struct sim_client {
    uint32_t index;
    const sim_client_events *events;
    sim_connection *connection; // NULL: gone
    bool ready;                 // hello was answered
    fm_role role;
    uint64_t seat_world, seat_team; // of a player
    bool prompt;                    // its link is quick and it reads at once: answers have a bound
    bool spoilt;                    // it has sent what is no message: anything may come back
    bool is_cut;                    // what it sent from this request on cannot be read
    uint64_t cut_id;                // the last before
    bool warned;                    // was sent going_down
    bool in_frames;                 // its session is in a WebSocket
    sim_websocket socket;
    uint64_t id_last;
    bool is_crowded;     // has so much under way that the server may not read from it
    uint64_t crowded_ns; // when it last had
    sim_request requests[SIM_REQUESTS_MAX];
    uint32_t request_count;
    sim_view *views[SIM_VIEWS_MAX]; // owned
    uint32_t view_count;
    sim_bytes input;
    fm_scanner scanner;
    fm_params params; // of the request that is being made
};

/// Connects, to the HTTP port by a WebSocket. The owner says hello.
void sim_client_open(sim_client *client, uint32_t index, const sim_link *link, bool prompt,
                     const sim_client_events *events);

/// Releases what it owns; its connection must be gone.
void sim_client_fini(sim_client *client);

/// Sends client->params, which it clears, as a request.
///
/// @param world, number  to be remembered with it
/// @param silent         as a notification, which is not answered
void sim_client_ask(sim_client *client, fm_method method, uint64_t world, uint64_t number,
                    bool silent);

/// Sends bytes that may be anything; into a WebSocket also what is no frame.
void sim_client_spoil(sim_client *client, const void *bytes, size_t size);

// The connection ends this way.
typedef enum sim_client_end {
    SIM_CLIENT_HANGS_UP,
    SIM_CLIENT_RESETS,
    SIM_CLIENT_VANISHES,
} sim_client_end;

void sim_client_close(sim_client *client, sim_client_end end);

/// @return NULL when there is none
sim_view *sim_client_view(const sim_client *client, uint64_t number);

/// Checks that no request of a prompt client waits too long.
void sim_client_check_time(const sim_client *client);

/// The longest that an answer took, of prompt clients, stalls of threads left out: to ping, and to
/// anything else.
uint64_t sim_ping_max_ns(void);
uint64_t sim_answer_max_ns(void);

/// Whether requests of prompt clients must be answered in time: until the server is told to stop.
extern bool sim_answers_have_bounds;

/// Whether answers may wait for a disk that fails and is tried again.
extern bool sim_journal_may_fail;

/// By all clients.
extern uint64_t sim_notifications_heard;
