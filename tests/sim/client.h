// tests/sim/client.h: a client of the simulated server, which checks everything that it receives.
//
//   GREETING ── hello answered ──> READY ── the server or the plan ends it ──> GONE
//
// It keeps every open request, and a mirror of every view. It checks that a request is answered
// once and in time, that answers and notifications are messages of the protocol, that a delta fits
// its mirror and is newer than it, and that an order ends once.
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
    uint64_t sent_ns;  // from when on its answer is waited for
    uint64_t asked_ns; // when it was really sent
    uint64_t world;    // that the request is about; 0: none
    uint64_t number;   // what else the answer needs: a subscription, a team, a time
} sim_request;

typedef struct sim_view {
    fm_mirror mirror;
    uint64_t number; // of the subscription
    bool answered;   // subscribe was answered
    bool ending;     // unsubscribe was sent
    uint64_t *ended; // orders that ended, in that order; owned
    uint32_t ended_count;
} sim_view;

typedef struct sim_client sim_client;

// What its owner is notified of.
typedef struct sim_client_events {
    /// A request was answered. `error`: its status, FM_OK for success; `result`: NULL with an
    /// error.
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
    bool prompt;     // its link is quick and it reads at once: answers must be in time
    bool spoilt;     // it has sent invalid bytes: anything may come back
    bool is_cut;     // the server cannot read what it sent after request cut_id
    uint64_t cut_id; // the last request that the server can read
    bool warned;     // was notified of going_down
    bool in_frames;  // its session is in a WebSocket
    sim_websocket socket;
    uint64_t id_last;
    bool is_crowded;     // has so many open requests that the server may not read from it
    uint64_t crowded_ns; // when it was last crowded
    sim_request requests[SIM_REQUESTS_MAX];
    uint32_t request_count;
    sim_view *views[SIM_VIEWS_MAX]; // owned
    uint32_t view_count;
    sim_bytes input;
    fm_scanner scanner;
    fm_params params; // of the next request
};

/// Connects; to the HTTP port by a WebSocket. The owner sends hello.
void sim_client_open(sim_client *client, uint32_t index, const sim_link *link, bool prompt,
                     const sim_client_events *events);

/// Releases what it owns; its connection must be gone.
void sim_client_fini(sim_client *client);

/// Sends client->params, which it clears, as a request.
///
/// @param world, number  kept with the request
/// @param silent         send it as a notification, which is not answered
void sim_client_ask(sim_client *client, fm_method method, uint64_t world, uint64_t number,
                    bool silent);

/// Sends arbitrary bytes; into a WebSocket also invalid frames.
void sim_client_spoil(sim_client *client, const void *bytes, size_t size);

// Ways to end the connection.
typedef enum sim_client_end {
    SIM_CLIENT_HANGS_UP,
    SIM_CLIENT_RESETS,
    SIM_CLIENT_VANISHES,
} sim_client_end;

void sim_client_close(sim_client *client, sim_client_end end);

/// @return NULL when there is none
sim_view *sim_client_view(const sim_client *client, uint64_t number);

/// Checks that no request of this client waits too long, if it is prompt.
void sim_client_check_time(const sim_client *client);

/// The longest that prompt clients waited for an answer, without stalls of threads: to ping, and to
/// anything else.
uint64_t sim_ping_max_ns(void);
uint64_t sim_answer_max_ns(void);

/// Whether prompt clients must be answered in time: true until the server is told to stop.
extern bool sim_answers_have_bounds;

/// Whether answers may wait while the server retries a failing disk.
extern bool sim_journal_may_fail;

/// Of all clients.
extern uint64_t sim_notifications_heard;
