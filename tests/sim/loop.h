// tests/sim/loop.h: what loop.c and tcp.c, which together are libuv's place, know of each other.

#pragma once

#include "tests/sim/net.h"

#define SIM_READY_MAX 4096u

// What is kept of a handle, beside its own memory: handle->u.reserved[0] points here.
typedef struct sim_handle {
    uv_handle_t *handle;
    bool is_active;
    bool is_closing;
    bool is_closed; // its callback has been called
    // of streams
    sim_connection *connection;
    bool is_reading;
    uv_alloc_cb on_alloc;
    uv_read_cb on_read;
    uv_shutdown_t *shutdown;
    uv_write_t *write_first, *write_last;     // that wait; linked by queue[0]
    uv_write_t *written_first, *written_last; // whose callbacks are due
    // of descriptors
    int fd;
    int events; // that are looked for
    uv_poll_cb on_poll;
    // of signals
    uint32_t signals;
} sim_handle;

static inline sim_handle *sim_handle_of(const void *handle)
{
    return ((const uv_handle_t *)handle)->u.reserved[0];
}

/// What every uv_..._init() begins with.
sim_handle *sim_handle_init(uv_loop_t *loop, void *handle, uv_handle_type type);

// Of streams (tcp.c).

/// Whether a callback is due.
bool sim_stream_is_ready(const sim_handle *stream);

/// Calls one callback that is due.
void sim_stream_serve(sim_handle *stream);

/// The handle is closing: cancels what waits, closes the connection.
void sim_stream_close(sim_handle *stream);

/// Calls what is left to call before the handle's close callback.
void sim_stream_cancel(sim_handle *stream);

// For scenarios.

/// The process gets a signal.
void sim_signal(int number);

/// Bytes that wait in the queue of the fullest stream.
size_t sim_stream_unsent_max(void);
