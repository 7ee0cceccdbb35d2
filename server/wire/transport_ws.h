// server/wire/transport_ws.h: the protocol as binary WebSocket frames (websocket.h), behind
// server/wire/transport.h and over another transport, TCP or TLS.
//
//   OPEN ── finish: our close frame is sent ──> ENDING ── the client's comes ──> OVER
//     └── the client's close frame, an error: answered with ours ──> OVER ^
//
//   ENDING  waits for the client's close frame; messages are dropped
//   OVER    nothing more is read; the inner transport ends
//
// A message of ours goes out as one WebSocket message: a head, then the frames, which all receivers
// share. Input is one stream of bytes, however the client cuts it into messages and fragments; text
// messages end the connection. Pings are answered (of several at once only the last), but not while
// the client does not read. A client that says nothing
// is pinged after 20 seconds and disconnected after 35.
//
// The owner of the inner transport passes on what it reports.
//
// Threads: the event loop.

#pragma once

#include "server/wire/transport.h"

#define FM_WS_PROTOCOL "fogmarch" // the Sec-WebSocket-Protocol of clients

typedef struct fm_ws fm_ws;

/// A handshake is over: makes the transport and hands it to `accept`.
///
/// @param inner           outlives it; stays the caller's
/// @param frame_size_max  bytes of a client's frame; longer ones end the connection
/// @return NULL when out of memory
fm_ws *fm_ws_open(fm_transport *inner, uint64_t frame_size_max, fm_accept_fn *accept,
                  void *context);

/// The inner transport has received, or sent.
void fm_ws_receive(fm_ws *ws, const uint8_t *bytes, size_t size);
void fm_ws_sent(fm_ws *ws);

/// Checks time-outs. Called a few times a second.
void fm_ws_check_time(fm_ws *ws, uint64_t now_ns);

/// The server itself was stalled for so long.
void fm_ws_forgive(fm_ws *ws, uint64_t pause_ns, uint64_t now_ns);

/// The inner transport is closed: notifies the owner and releases it.
void fm_ws_closed(fm_ws *ws);
