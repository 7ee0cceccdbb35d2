// tests/sim/websocket.h: a client's end of a WebSocket: the bytes of a session in frames (RFC
// 6455), over a connection to the HTTP port.
//
//   ASKED ── 101 ──> OPEN ── the server's close frame ──> CLOSED
//
// What is sent before the handshake is answered waits. Messages are cut into random frames and
// fragments, with pings between them. It checks the answer to the handshake and each frame's form;
// client.c checks that each message of the WebSocket is one of the protocol.

#pragma once

#include "tests/sim/net.h"

typedef enum sim_websocket_state {
    SIM_WEBSOCKET_ASKED,
    SIM_WEBSOCKET_OPEN,
    SIM_WEBSOCKET_CLOSED,
} sim_websocket_state;

typedef struct sim_websocket {
    uint32_t index; // of the client
    sim_connection *connection;
    sim_websocket_state state;
    bool is_prompt;    // its link is quick
    bool spoilt;       // has sent an invalid frame: anything may come back
    bool in_message;   // the fragment received last was not the last one of its message
    bool sends_close;  // has sent a close frame
    uint32_t pings;    // not answered yet
    sim_bytes input;   // not a complete frame yet
    sim_bytes waiting; // to send when the WebSocket is open
} sim_websocket;

/// Sends the handshake.
///
/// @param index      of the client, for messages
/// @param is_prompt  its link is quick: the handshake must not run into the server's time-out
void sim_websocket_open(sim_websocket *socket, sim_connection *connection, uint32_t index,
                        bool is_prompt);

void sim_websocket_fini(sim_websocket *socket);

void sim_websocket_send(sim_websocket *socket, const void *bytes, size_t size);

/// Sends an invalid frame, or one that is not allowed now.
void sim_websocket_spoil(sim_websocket *socket);

/// Sends a close frame, unless it was sent already.
void sim_websocket_close(sim_websocket *socket);

// What a frame contained.
typedef struct sim_websocket_data {
    const uint8_t *bytes; // valid until the next call
    size_t size;
    bool is_last; // last fragment of its message
} sim_websocket_data;

/// Takes bytes from the network.
void sim_websocket_feed(sim_websocket *socket, const void *bytes, size_t size);

/// Takes the next complete frame and answers it if necessary.
///
/// @param data  receives the frame's bytes for the session
/// @return false: there is no complete frame, or the server has closed
bool sim_websocket_next(sim_websocket *socket, sim_websocket_data *data);
