// server/wire/listener.h: a port that takes TCP connections.
//
// Accepting is done here and not by libuv, because libuv spins while the process has no file
// descriptor left for a waiting connection. Here the port pauses for a moment instead; connections
// stay in the backlog.
//
// Threads: the event loop.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <uv.h>

typedef struct fm_listener fm_listener;

/// A connection came in. `fd` does not block, is closed on exec, and belongs to the callee.
typedef void fm_listener_fn(void *context, int fd);

/// Listens on a numeric address, IPv4 or IPv6.
///
/// @param port        0 takes any free one
/// @param port_taken  receives the port
/// @param out         receives the listener; left alone on failure
/// @param error       receives the reason; a static text
/// @return FM_OK, FM_ERR_NO_MEMORY, FM_ERR_BAD_VALUE (address) or FM_ERR_IO
FM_CHECKED fm_status fm_listener_create(uv_loop_t *loop, const char *address, uint16_t port,
                                        fm_listener_fn *take, void *context, uint16_t *port_taken,
                                        fm_listener **out, const char **error);

/// Stops listening at once; the loop must run until the handles are closed. NULL is allowed.
void fm_listener_destroy(fm_listener *listener);
