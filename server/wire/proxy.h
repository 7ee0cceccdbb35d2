// server/wire/proxy.h: the client addresses behind trusted proxies (the PROXY protocol of HAProxy,
// versions 1 and 2).
//
//   peer ──> port ──> trusted? ── no ──────────────────────────────> session, TLS or HTTP
//                         └────── yes ── its first bytes say who ──> the same, with that address
//
// Behind a proxy all clients have its address: limits of connections, subscriptions and wrong
// tokens would be shared by all of them. A proxy whose address is in `trusted_proxies` names the
// client in the first bytes of each connection. From other addresses such bytes are ordinary input.
// A trusted proxy that does not send them is disconnected. A client of whom the proxy says only
// that it is one (UNKNOWN, UDP, a Unix socket) counts for the proxy's address, but never as one on
// this machine, who needs no token where there are none.
//
// Bounds: FM_PROXY_HEAD_MAX bytes of a head, FM_PROXIES_WAITING_MAX connections without one, and
// hello_timeout_s.
//
// Threads: the event loop.

#pragma once

#include "server/wire/transport.h"

#define FM_PROXY_HEAD_MAX      552u // 16, addresses of 36, and room for what else version 2 has
#define FM_PROXIES_WAITING_MAX 1024u

typedef struct fm_proxies fm_proxies;

typedef enum fm_proxy_reading {
    FM_PROXY_MORE, // the head is not whole yet
    FM_PROXY_DONE,
    FM_PROXY_WRONG,
} fm_proxy_reading;

// The contents of a head.
typedef struct fm_proxy_head {
    size_t size;     // bytes of it
    bool has_peer;   // else the address stays the proxy's
    bool is_unknown; // of a client whose address the proxy does not tell: nowhere near loopback
    char peer[64];   // an address as text
    bool is_loopback;
} fm_proxy_head;

/// Reads the head of a connection, of either version.
fm_proxy_reading fm_proxy_head_read(const uint8_t *bytes, size_t size, fm_proxy_head *head);

/// @param list  trusted_proxies; outlives it, and may change
/// @param accept, context  receives the connections
/// @return NULL when out of memory
fm_proxies *fm_proxies_create(const char *list, fm_accept_fn *accept, void *context);

/// Call after the loop has ended. NULL is allowed.
void fm_proxies_destroy(fm_proxies *proxies);

/// Takes a connection; fits fm_accept_fn, `proxies` is the context.
void fm_proxies_accept(void *proxies, fm_transport *transport);

/// Disconnects connections without a head for so long. NULL is allowed.
void fm_proxies_check_time(fm_proxies *proxies, uint64_t now_ns, uint64_t patience_ns);

/// Disconnects all waiting connections: the server ends. NULL is allowed.
void fm_proxies_close(fm_proxies *proxies);
