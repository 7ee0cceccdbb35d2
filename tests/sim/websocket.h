// tests/sim/websocket.h: a client's end of a WebSocket: the bytes of a session in frames (RFC
// 6455), over a connection to the HTTP port.
//
//   ASKED ── 101 ──> OPEN ── the server's close frame ──> CLOSED
//
// What is sent before the request was answered waits. Bytes are cut into frames and fragments by
// chance, with pings between them. What comes in is checked: the answer, each frame's form, and
// that one message of the WebSocket is one of the protocol.

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
    bool spoilt;       // has sent what is no frame: anything may come back
    bool in_message;   // the last fragment was not the last of its message
    bool sends_close;  // has sent a close frame
    uint32_t pings;    // that have not been answered
    sim_bytes input;   // that is not a whole frame yet
    sim_bytes waiting; // to be sent once it is open
} sim_websocket;

/// Sends the request.
///
/// @param index      of the client, for what is said of it
/// @param is_prompt  its link is quick: the server must not run out of patience
void sim_websocket_open(sim_websocket *socket, sim_connection *connection, uint32_t index,
                        bool is_prompt);

void sim_websocket_fini(sim_websocket *socket);

void sim_websocket_send(sim_websocket *socket, const void *bytes, size_t size);

/// Sends something that is no frame, or none that may be sent.
void sim_websocket_spoil(sim_websocket *socket);

/// Sends a close frame, unless it has.
void sim_websocket_close(sim_websocket *socket);

// What a frame brought.
typedef struct sim_websocket_data {
    const uint8_t *bytes; // until the next call
    size_t size;
    bool is_last; // of its message
} sim_websocket_data;

/// Bytes came in.
void sim_websocket_feed(sim_websocket *socket, const void *bytes, size_t size);

/// Takes the next frame of what came in, and answers it if it must be.
///
/// @param data  receives what it has brought for the session
/// @return false: there is none that is whole, or the server has closed
bool sim_websocket_next(sim_websocket *socket, sim_websocket_data *data);
