// server/process/http.h: the HTTP port: health, metrics, the web client's files, and WebSocket.
//
//   GET /livez     200 while the event loop turns
//   GET /readyz    200 while clients are taken, 503 while worlds load or the server goes down
//   GET /healthz   the same with details, as JSON
//   GET /metrics   Prometheus text format 0.0.4 (server/process/metrics.h)
//   GET /ws        WebSocket, subprotocol "fogmarch" (server/wire/transport_ws.h)
//   GET /...       files of the web client below web_root
//
// libwebsockets runs on the server's own libuv loop. With a certificate the port speaks TLS 1.2 and
// 1.3 and HTTP over that (https, wss), and nothing else. Browsers may connect from pages of the
// same host and port, and from the origins that http_origins lists; others get 403.
//
// Bounded: connections by http_connections_max, those of one address by sessions_per_address_max
// and rate_connections; a TLS handshake and the header of a request by hello_timeout_s, but 10
// seconds at most, the latter by 4 KiB too; a silent WebSocket by pings after 20 seconds and a
// hang-up after 35.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/hub.h"
#include "server/wire/tls.h"
#include "server/wire/transport.h"

typedef struct fm_http fm_http;

/// Makes a server that does not listen yet.
///
/// @param hub     outlives it; its config says where the files are
/// @param tls     whose certificate the port shows; outlives it. NULL: no TLS
/// @param accept  is given each WebSocket connection, as by fm_tcp_listen(), with `hub`
/// @return NULL when memory is out
fm_http *fm_http_create(fm_hub *hub, const fm_tls *tls, fm_accept_fn *accept);

/// Listens on a numeric address. Once.
///
/// @param port        0 takes any free one
/// @param port_taken  receives the port
/// @param error       receives the reason; a static text
/// @return FM_OK, FM_ERR_NO_MEMORY or FM_ERR_IO
FM_CHECKED fm_status fm_http_listen(fm_http *http, const char *address, uint16_t port,
                                    uint16_t *port_taken, const char **error);

/// Takes the certificate that was read again, for the connections to come. `http` may be NULL.
/// @return FM_OK or FM_ERR_BAD_VALUE, with the reason in `error`, of FM_TLS_ERROR_SIZE
FM_CHECKED fm_status fm_http_renew_certificate(fm_http *http, char *error);

/// A job whose is_scrape is set came back. Destroys it. `http` may be NULL.
void fm_http_take_scrape(fm_http *http, fm_job *job);

/// Hangs up on everybody, WebSocket sessions included. The loop has to run on until libwebsockets
/// has closed its handles. NULL and repetition are allowed.
void fm_http_close(fm_http *http);

/// Releases a server that was closed, once its loop has ended. NULL is allowed.
void fm_http_destroy(fm_http *http);
