// tests/sim/loop.h: what loop.c and tcp.c, which together replace libuv, share.

#pragma once

#include "tests/sim/net.h"

#define SIM_READY_MAX 4096u

// A handle's state outside of its own memory: handle->u.reserved[0] points here.
typedef struct sim_handle {
    uv_handle_t *handle;
    bool is_active;
    bool is_closing;
    bool is_closed; // its close callback has been called
    // streams only
    sim_connection *connection;
    bool is_reading;
    uv_alloc_cb on_alloc;
    uv_read_cb on_read;
    uv_shutdown_t *shutdown;
    uv_write_t *write_first, *write_last;     // writes that wait; linked by queue[0]
    uv_write_t *written_first, *written_last; // writes whose callbacks are due
    // descriptors only
    int fd;
    int events; // to poll for
    uv_poll_cb on_poll;
    // signals only
    uint32_t signals;
} sim_handle;

static inline sim_handle *sim_handle_of(const void *handle)
{
    return ((const uv_handle_t *)handle)->u.reserved[0];
}

/// The common part of every uv_..._init().
sim_handle *sim_handle_init(uv_loop_t *loop, void *handle, uv_handle_type type);

// Streams (tcp.c).

/// Whether a callback is due.
bool sim_stream_is_ready(const sim_handle *stream);

/// Calls one callback that is due.
void sim_stream_serve(sim_handle *stream);

/// The handle is closing: cancels what waits, closes the connection.
void sim_stream_close(sim_handle *stream);

/// Calls the callbacks that must come before the handle's close callback.
void sim_stream_cancel(sim_handle *stream);

// For scenarios.

/// Sends a node a signal.
void sim_signal(uint32_t node, int number);

/// Bytes that wait in the queue of the fullest stream.
size_t sim_stream_unsent_max(void);
