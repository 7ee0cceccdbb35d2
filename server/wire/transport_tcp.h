// server/wire/transport_tcp.h: connections over TCP, and where they come from.
//
// Threads: the event loop.

#pragma once

#include "server/wire/transport.h"

#include <uv.h>

typedef struct fm_tcp_listener fm_tcp_listener;

/// Listens on a numeric address.
///
/// @param port         0 takes any free one
/// @param port_taken   receives the port
/// @param read_buffer  lent to every connection while bytes come in; outlives them all
/// @param out          receives the listener; left alone on failure
/// @param error        receives the reason; a static text
/// @return FM_OK, FM_ERR_NO_MEMORY, FM_ERR_BAD_VALUE (address) or FM_ERR_IO
FM_CHECKED fm_status fm_tcp_listen(uv_loop_t *loop, const char *address, uint16_t port,
                                   uv_buf_t read_buffer, fm_accept_fn *accept, void *context,
                                   uint16_t *port_taken, fm_tcp_listener **out, const char **error);

/// Stops listening; connections live on. NULL is allowed.
void fm_tcp_listener_destroy(fm_tcp_listener *listener);
