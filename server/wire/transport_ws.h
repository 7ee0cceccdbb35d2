// server/wire/transport_ws.h: the protocol as binary WebSocket frames (RFC 6455), behind
// server/wire/transport.h.
//
// A message of ours goes out as one WebSocket message. What comes in is one stream of bytes,
// however the client cuts it into WebSocket messages; text messages end the connection.
//
// Threads: the event loop.

#pragma once

#include "server/wire/transport.h"

#include <libwebsockets.h>

#define FM_WS_PROTOCOL "fogmarch" // the Sec-WebSocket-Protocol of clients

// What libwebsockets keeps per connection.
typedef struct fm_ws_slot {
    fm_transport *transport; // NULL until the handshake is over and after the end
} fm_ws_slot;

/// A handshake is over: makes the transport and hands it to `accept`.
///
/// @return false when memory is out: refuse the connection
bool fm_ws_open(struct lws *wsi, fm_ws_slot *slot, fm_accept_fn *accept, void *context);

/// Bytes came in. @return false: end the connection
bool fm_ws_receive(fm_ws_slot *slot, const void *bytes, size_t size);

/// The socket takes bytes again. @return false: end the connection
bool fm_ws_write(fm_ws_slot *slot);

/// The connection is over: tells the owner and releases the transport.
void fm_ws_closed(fm_ws_slot *slot);
