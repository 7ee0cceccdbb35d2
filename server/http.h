// server/http.h: the HTTP port: health, metrics, the web client's files, and WebSocket.
//
//   GET /livez     200 while the event loop turns
//   GET /readyz    200 while clients are taken, 503 while worlds load or the server goes down
//   GET /healthz   the same with details, as JSON
//   GET /metrics   Prometheus text format 0.0.4 (server/metrics.h)
//   GET /ws        WebSocket, subprotocol "fogmarch" (server/transport_ws.h)
//   GET /...       files of the web client below web_root
//
// libwebsockets runs on the server's own libuv loop. Browsers may connect from pages of the same
// host and port, and from the origins that http_origins lists; others get 403.
//
// Bounded: connections by http_connections_max; the header of a request by 4 KiB and 10 seconds; a
// silent WebSocket by pings after 20 seconds and a hang-up after 35.
//
// Threads: the event loop.

#pragma once

#include "server/hub.h"
#include "server/transport.h"

typedef struct fm_http fm_http;

/// Makes a server that does not listen yet.
///
/// @param hub     outlives it; its config says where the files are
/// @param accept  is given each WebSocket connection, as by fm_tcp_listen(), with `hub`
/// @return NULL when memory is out
fm_http *fm_http_create(fm_hub *hub, fm_accept_fn *accept);

/// Listens on a numeric address. Once.
///
/// @param port        0 takes any free one
/// @param port_taken  receives the port
/// @param error       receives the reason; a static text
/// @return FM_OK, FM_ERR_NO_MEMORY or FM_ERR_IO
FM_CHECKED fm_status fm_http_listen(fm_http *http, const char *address, uint16_t port,
                                    uint16_t *port_taken, const char **error);

/// A job whose is_scrape is set came back. Destroys it. `http` may be NULL.
void fm_http_take_scrape(fm_http *http, fm_job *job);

/// Hangs up on everybody, WebSocket sessions included. The loop has to run on until libwebsockets
/// has closed its handles. NULL and repetition are allowed.
void fm_http_close(fm_http *http);

/// Releases a server that was closed, once its loop has ended. NULL is allowed.
void fm_http_destroy(fm_http *http);
