// server/relay/upstream.h: one connection of a relay to a server, or to another relay: a client of
// clients/c on the event loop.
//
//   CLOSED ── connect ──> CONNECTING ── hello was answered ──> OPEN
//      ^                      └── failed ──┐                     │
//      └───────────────────────────────────┴── broke, silent ────┘
//
// Resolving, connecting and hello run on libuv's thread pool, all else on the loop. A frozen server
// neither answers nor closes, so it is pinged every second.
//
// Threads: the event loop.

#pragma once

#include <fogmarch/connection.h>

#include <uv.h>

#define FM_UPSTREAM_ADDRESS_SIZE 256u // bytes, NUL included
#define FM_UPSTREAM_TOKEN_SIZE   512u // bytes, NUL included
#define FM_UPSTREAM_SEEDS_MAX    16u

typedef struct fm_upstream fm_upstream;

// A relay's token, and the certificates that it trusts. Texts outlive all connections; the token
// may change, and each connection shows what it is when it starts.
typedef struct fm_upstream_access {
    const char *token;   // empty: none; shorter than FM_UPSTREAM_TOKEN_SIZE
    bool tls;            // the server's certificate is checked
    const char *ca_file; // NULL: the system's
} fm_upstream_access;

// Callbacks of a connection; none may destroy, close or connect it.
typedef struct fm_upstream_events {
    void (*opened)(void *context);
    void (*notified)(void *context, fm_notification notification, const msgpack_object *params);
    /// It has failed, or broken. Requests without an answer are answered before.
    void (*closed)(void *context, const char *reason);
} fm_upstream_events;

/// @param access, events  outlive it
/// @return NULL when out of memory
fm_upstream *fm_upstream_create(uv_loop_t *loop, const fm_upstream_access *access,
                                const fm_upstream_events *events, void *context);

/// Closes it without callbacks. NULL is allowed. The loop must run until its handles are closed.
void fm_upstream_destroy(fm_upstream *upstream);

/// Starts connecting. It must be CLOSED (asserted).
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_upstream_connect(fm_upstream *upstream, const char *address);

/// Disconnects without callbacks; while CONNECTING, as soon as that is over.
void fm_upstream_close(fm_upstream *upstream);

bool fm_upstream_is_closed(const fm_upstream *upstream);
bool fm_upstream_is_open(const fm_upstream *upstream);

/// Where it was connected to last.
const char *fm_upstream_address(const fm_upstream *upstream);

/// The nodes that the last hello named.
/// @return count; each "ADDRESS:PORT"
uint32_t fm_upstream_seeds(const fm_upstream *upstream,
                           const char (**seeds)[FM_UPSTREAM_ADDRESS_SIZE]);

/// Sends a request. @return as fm_client_send()
FM_CHECKED fm_status fm_upstream_send(fm_upstream *upstream, fm_method method,
                                      const fm_params *params, fm_client_reply_fn *on_reply,
                                      void *context, uint64_t *id);

/// A few times a second: pings the server, and disconnects when it does not answer.
void fm_upstream_check(fm_upstream *upstream, uint64_t now_ns);

/// Bytes received since it was created.
uint64_t fm_upstream_bytes_in(const fm_upstream *upstream);
