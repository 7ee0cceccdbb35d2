// tests/sim/net.h: connections in memory, seen from the client's end. The server's end is uv_tcp_t
// (tcp.c).
//
//   client ── sent ──> flight ── in pieces ──> arrived ── read in pieces ──> server
//   client <── in pieces ── socket ── written in pieces, as far as there is room ── server
//
// How large pieces are and how long they take is the link's character, and differs from connection
// to connection; so bytes of different connections overtake each other. Within one connection and
// direction they stay in order, as TCP keeps them.

#pragma once

#include "tests/sim/bytes.h"
#include "tests/sim/kernel.h"
#include "tests/sim/tls.h"

#include <uv.h>

#define SIM_BACKLOG_MAX 512u

// Where the server listens.
typedef enum sim_port {
    SIM_PORT_TCP,
    SIM_PORT_HTTP,
    SIM_PORT_COUNT,
} sim_port;

// What a connection is like.
typedef struct sim_link {
    uint32_t piece_max;    // bytes that arrive at once
    uint32_t delay_max_us; // until the next piece arrives
    uint32_t window_size;  // bytes that the server's system takes before the server reads them
    uint32_t socket_size;  // bytes that it takes from the server before they are delivered
    uint8_t address;       // the client's, 127.0.0.x; 0: one of four
    sim_port port;         // that it leads to
    bool is_raw;           // bytes cross it as they are, though the server speaks TLS
} sim_link;

// What the client is told.
typedef struct sim_net_events {
    void (*received)(void *owner, const uint8_t *bytes, size_t size);
    /// Nothing more will come. `clean`: the server ended it and all that it wrote was delivered.
    void (*closed)(void *owner, bool clean);
} sim_net_events;

typedef struct sim_connection sim_connection;

struct sim_connection {
    uint32_t number;
    sim_link link;
    const sim_net_events *events;
    void *owner; // NULL: the client has let go of it
    sim_source up, down;
    sim_bytes flight, arrived, socket;
    sim_tls *tls;         // the client's end; owned; NULL: bytes cross it as they are
    bool hears;           // the client has been sent something through it
    bool client_ended;    // the client will send nothing more
    bool end_arrived;     // the server's system knows
    bool server_ended;    // the server will send nothing more
    bool server_finished; // after all that it wanted to send
    bool reading;         // the client takes what comes
    bool vanished;        // the client is gone without a word: nothing moves
    bool told;            // the client was told that it is closed
    int error;            // that the server will get: UV_ECONNRESET, UV_ETIMEDOUT; 0: none
    bool server_closed;
    uint8_t address; // 127.0.0.x
};

/// Whether the server speaks TLS; clients then do as well.
extern bool sim_net_speaks_tls;

/// Connects to the server's listener. When there is none the connection is refused: closed() comes
/// later.
sim_connection *sim_connect(const sim_link *link, const sim_net_events *events, void *owner);

void sim_send(sim_connection *connection, const void *bytes, size_t size);

/// Sends what TLS does not allow. There must be TLS.
/// @return whether the server can read nothing that the client sends from now on
bool sim_spoil_records(sim_connection *connection);

/// Stops and goes on taking what comes.
void sim_set_reading(sim_connection *connection, bool reading);

/// From now on the connection is like this.
void sim_set_link(sim_connection *connection, const sim_link *link);

/// From now on all of them are, those too whose client has disconnected and whose bytes still
/// arrive.
void sim_net_calm(const sim_link *link);

// Three ends of a connection. The client is not notified afterwards.

/// What was sent still arrives, then the server reads the end.
void sim_hang_up(sim_connection *connection);

/// What is under way is lost, the server gets an error.
void sim_reset(sim_connection *connection);

/// The server is not notified, until keep-alive finds out after a minute or more.
void sim_vanish(sim_connection *connection);

/// Whether what the client sent has been read by the server, and what the server wrote by the
/// client.
bool sim_is_drained(const sim_connection *connection);

// ---- for the server's end (sockets.c, tcp.c) ----------------------------------------------------

typedef struct sim_listener {
    bool is_open;
    sim_connection *backlog[SIM_BACKLOG_MAX];
    uint32_t backlog_count;
} sim_listener;

extern sim_listener sim_listening[SIM_PORT_COUNT];

/// Reads what has arrived, at most `size` bytes. @return how many
size_t sim_server_read(sim_connection *connection, void *bytes, size_t size);

/// Writes as much as there is room for. @return how many bytes
size_t sim_server_write(sim_connection *connection, const void *bytes, size_t size);

/// The server will write nothing more; what it wrote is still delivered.
void sim_server_end(sim_connection *connection);

/// The server has closed its end.
void sim_server_close(sim_connection *connection);

/// Something happened that the server's loop may want to look at.
void sim_loop_wake(void);
