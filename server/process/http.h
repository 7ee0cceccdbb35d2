// server/process/http.h: an HTTP port: health, metrics, the web client's files, and WebSocket.
//
//   GET /livez 200 while the event loop runs
//   GET /readyz 200 while clients are accepted, 503 while worlds load or the server goes down
//   GET /healthz   the same with details, as JSON; for operators
//   GET /metrics   Prometheus text format 0.0.4 (server/process/metrics.h); for operators
//   GET /ws        WebSocket, subprotocol "fogmarch" or none (server/wire/transport_ws.h)
//   GET /...       files of the web client below web_root
//
// There may be two: `http` for all clients, and `metrics_listen` for operators, which serves only
// the first four pages. Pages for operators are not on the first one when the second is there;
// without it only clients on this machine get them there, others get 403.
//
// HEAD is answered like GET, without the body. All else is refused with a status and a sentence,
// and ends the connection: other methods, bodies, other versions and upgrades, heads that are
// malformed or too long. A connection is a transport (TCP, or TLS with a certificate: https and
// wss, and then nothing else), which becomes a WebSocket's after the handshake:
//
//   READING ── /metrics ──> WAITING ── they are there ──> READING
//     ├── /ws ──> UPGRADED
//     └── last answer, refusal ──> ENDING ── the client closes, or is disconnected ───> gone
//
// Browsers may connect from pages of the same host and port, and from the origins that http_origins
// lists; others get 403.
//
// Bounded: connections by http_connections_max, those of one address by sessions_per_address_max
// and rate_connections; a TLS handshake and the head of a request by hello_timeout_s, but 10
// seconds at most, the latter by 4 KiB too; requests behind one that is not answered by 8 KiB in
// all; answers that are not read by 64 KiB and the one that exceeds it, then nothing more is read,
// and after 10 seconds without progress the client is disconnected; a connection between two
// requests by 30 seconds; a silent WebSocket by pings after 20 seconds and a disconnect after 35.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/hub.h"
#include "server/wire/tls.h"
#include "server/wire/transport.h"

typedef struct fm_http fm_http;

/// Makes a server that does not listen yet. Reads the files of the web client.
///
/// @param hub     outlives it; its config says where the files are
/// @param accept  is given each WebSocket connection, as by fm_tcp_listen(), with `hub`; NULL: this
///                is the operators' port
/// @return NULL when out of memory
fm_http *fm_http_create(fm_hub *hub, fm_accept_fn *accept);

/// Listens on a numeric address, with the certificate that the config names, if any. Once.
///
/// @param port         0 takes any free one
/// @param read_buffer  as in fm_tcp_listen()
/// @param port_taken   receives the port
/// @param error        receives the reason; good as long as `http`
/// @return FM_OK, FM_ERR_NO_MEMORY, FM_ERR_BAD_VALUE or FM_ERR_IO
FM_CHECKED fm_status fm_http_listen(fm_http *http, const char *address, uint16_t port,
                                    uv_buf_t read_buffer, uint16_t *port_taken, const char **error);

/// A connection came in; fits fm_accept_fn, `http` is the context. For callers with their own
/// listener.
void fm_http_accept(void *http, fm_transport *inner);

/// Reads the certificate again, for the connections to come, and the files. `http` may be NULL.
/// @return FM_OK or FM_ERR_BAD_VALUE, with the reason in `error`, of FM_TLS_ERROR_SIZE
FM_CHECKED fm_status fm_http_renew_certificate(fm_http *http, char *error);
void fm_http_read_files(fm_http *http);

/// A job whose is_scrape is set came back. Destroys it. `http` may be NULL.
void fm_http_take_scrape(fm_http *http, fm_job *job);

/// Checks time-outs, a few times a second. `http` may be NULL.
void fm_http_check_time(fm_http *http, uint64_t now_ns);

/// The server itself was stalled for so long: time-outs do not count that time. `http` may be NULL.
void fm_http_forgive(fm_http *http, uint64_t pause_ns, uint64_t now_ns);

/// Disconnects all clients, WebSocket sessions included. The loop must run until their handles are
/// closed. NULL and repetition are allowed.
void fm_http_close(fm_http *http);

/// Releases a server that was closed, once its loop has ended. NULL is allowed.
void fm_http_destroy(fm_http *http);
