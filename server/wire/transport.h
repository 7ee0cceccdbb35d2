// server/wire/transport.h: what carries a session's bytes.
//
// A session knows this table of functions only. TCP implements it (transport_tcp.h), and so do
// WebSocket, TLS and simulated sockets; the session does not notice.
//
//   OPEN ── finish ──> FINISHING ── all written, peer closed ──> CLOSED
//     └───────── close, error, peer closed ─────────────────────────^
//
//   OPEN       bytes go in both directions
//   FINISHING  queued bytes are still written, input is dropped
//   CLOSED     nothing more happens; events->closed() comes exactly once, from the loop, and is
//              the owner's last event
//
// Threads: the event loop.

#pragma once

#include "core/base/status.h"
#include "server/base/frame.h"

#include <uv.h>

#define FM_SEND_FRAMES_MAX                                                                         \
    4u // frames of one message, with the head that a WebSocket puts before it
#define FM_SEND_OVERHEAD                                                                           \
    ((size_t)384) // bytes of memory that a queued message takes besides its own

typedef struct fm_transport fm_transport;

// Callbacks to the owner. None is called from inside a call by the owner.
typedef struct fm_transport_events {
    /// Bytes came in; good until it returns.
    void (*received)(void *owner, const uint8_t *bytes, size_t size);
    /// Bytes came in, some of which are no part of any message (heads of frames, pings). Comes
    /// after received(), if that comes at all. NULL where there are no such bytes.
    ///
    /// @param begin_ns  of the work for all of them, by fm_clock_now_ns()
    void (*worked)(void *owner, uint64_t begin_ns);
    /// A message was handed to the system whole; fewer bytes wait now.
    void (*sent)(void *owner);
    /// Over, for whatever reason. The transport is gone when this returns.
    void (*closed)(void *owner);
} fm_transport_events;

typedef struct fm_transport_ops {
    /// Queues one message that consists of these frames, and holds them as long as it needs to.
    /// Returns FM_OK, FM_ERR_NO_MEMORY or FM_ERR_IO: the connection is broken then.
    fm_status (*send)(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count);
    /// Bytes queued that the system has not taken yet, and FM_SEND_OVERHEAD for each message: many
    /// small ones hold more memory than their bytes.
    size_t (*unsent_size)(const fm_transport *transport);
    /// Stops and resumes reading, so that the peer waits instead of filling our memory.
    void (*pause)(fm_transport *transport);
    void (*resume)(fm_transport *transport);
    void (*finish)(fm_transport *transport);
    void (*close)(fm_transport *transport);
} fm_transport_ops;

// The head of every transport.
struct fm_transport {
    const fm_transport_ops *ops;
    const fm_transport_events *events;
    void *owner;
    bool is_loopback; // the peer is on this machine
    char peer[64];    // its address, for logs
};

struct sockaddr_storage;

/// Fills in `peer` and `is_loopback` from the peer's address, an IPv4 or IPv6 one.
void fm_transport_describe_peer(fm_transport *transport, const struct sockaddr_storage *address);

/// A connection came in. The callee sets transport->events and owner before it returns, or closes
/// it.
typedef void fm_accept_fn(void *context, fm_transport *transport);
