// tests/sim/net.h: connections in memory, seen from the client's end. The server's end is uv_tcp_t
// (tcp.c).
//
//   client ── sent ──> flight ── in pieces ──> arrived ── read in pieces ──> server
//   client <── in pieces ── socket ── written in pieces, as far as there is room ── server
//
// The link decides how large pieces are and how long they take. Links differ, so bytes of different
// connections overtake each other. Within one connection and direction they stay in order, as with
// TCP.

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
    SIM_PORT_NEIGHBOUR, // the second node's; no client connects to it
    SIM_PORT_COUNT,
} sim_port;

// The properties of a connection.
typedef struct sim_link {
    uint32_t piece_max;    // bytes that arrive at once
    uint32_t delay_max_us; // until the next piece arrives
    uint32_t window_size;  // bytes that the server's system buffers before the server reads them
    uint32_t socket_size;  // bytes from the server that it buffers before they are delivered
    uint8_t address;       // the client's, 127.0.0.x; 0: one of four
    sim_port port;         // which port it connects to
    bool is_raw;           // no TLS at the client's end, even if the server speaks TLS
} sim_link;

// What the client is notified of.
typedef struct sim_net_events {
    void (*received)(void *owner, const uint8_t *bytes, size_t size);
    /// Nothing more will come. `clean`: the server disconnected, and all that it wrote was
    /// delivered.
    void (*closed)(void *owner, bool clean);
} sim_net_events;

typedef struct sim_connection sim_connection;

struct sim_connection {
    uint32_t number;
    sim_link link;
    const sim_net_events *events;
    void *owner; // NULL: the client has closed it
    sim_source up, down;
    sim_bytes flight, arrived, socket;
    sim_tls *tls;         // the client's end; owned; NULL: no TLS
    bool hears;           // the client has received something
    bool client_ended;    // the client will send nothing more
    bool end_arrived;     // the server's system has seen that
    bool server_ended;    // the server will send nothing more
    bool server_finished; // after it had written everything
    bool reading;         // the client reads
    bool vanished;        // the client is gone without an end or a reset: nothing moves
    bool told;            // the client was notified that it is closed
    int error;            // what the server will get: UV_ECONNRESET, UV_ETIMEDOUT; 0: no error
    bool server_closed;
    uint8_t address; // 127.0.0.x
};

/// Whether the server speaks TLS; clients then speak it, too.
extern bool sim_net_speaks_tls;

/// Connects to the server's listener. Without a listener the connection is refused: closed() is
/// called later.
sim_connection *sim_connect(const sim_link *link, const sim_net_events *events, void *owner);

void sim_send(sim_connection *connection, const void *bytes, size_t size);

/// Sends what TLS does not allow. The connection must have TLS.
/// @return whether the server can read nothing that the client sends from now on
bool sim_spoil_records(sim_connection *connection);

/// Whether the client reads.
void sim_set_reading(sim_connection *connection, bool reading);

/// Changes the link of the connection.
void sim_set_link(sim_connection *connection, const sim_link *link);

/// Changes the links of all connections, also of those whose client has disconnected and whose
/// bytes still arrive.
void sim_net_calm(const sim_link *link);

// Three ways to end a connection. The client is not notified afterwards.

/// Everything that was sent still arrives, then the server reads the end.
void sim_hang_up(sim_connection *connection);

/// Bytes that have not arrived are lost, and the server gets an error.
void sim_reset(sim_connection *connection);

/// The server only notices by keep-alive, after a minute or more.
void sim_vanish(sim_connection *connection);

/// Whether the server has read everything that the client sent, and the client everything that the
/// server wrote.
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

/// Writes as much as fits. @return how many bytes
size_t sim_server_write(sim_connection *connection, const void *bytes, size_t size);

/// The server will write nothing more; what it wrote is still delivered.
void sim_server_end(sim_connection *connection);

/// The server has closed its end.
void sim_server_close(sim_connection *connection);

/// Called when something happened that may concern the server's loop.
void sim_loop_wake(void);
