// server/wire/transport_tcp.c: see transport_tcp.h.
//
// Each message is one uv_write() of its frames; libuv tries the socket at once and queues the
// rest. All connections share one buffer for received bytes, because the loop reads one at a time
// and the owner takes what it needs before it returns.

#include "server/wire/transport_tcp.h"

#include "server/wire/listener.h"

#include <stdlib.h>
#include <unistd.h>

#define KEEPALIVE_S      60
#define SEND_BUFFER_SIZE (256 << 10) // of the socket: a slow reader is noticed after so many bytes

struct fm_tcp_listener {
    fm_listener *port;
    uv_loop_t *loop;
    uv_buf_t read_buffer;
    fm_accept_fn *accept;
    void *context;
};

struct tcp_transport {
    fm_transport base;
    uv_tcp_t handle; // handle.data points back here
    uv_buf_t read_buffer;
    uv_shutdown_t shutdown;
    uint32_t unsent_count; // messages
    bool finishing;
};

struct write_job {
    uv_write_t request; // request.data points back here
    fm_frame *frames[FM_SEND_FRAMES_MAX];
    uint32_t frame_count;
};

static struct tcp_transport *tcp_of(fm_transport *transport)
{
    return (struct tcp_transport *)transport;
}

static void on_closed(uv_handle_t *handle)
{
    struct tcp_transport *tcp = handle->data;
    if (tcp->base.events != NULL) {
        tcp->base.events->closed(tcp->base.owner);
    }
    free(tcp);
}

static void tcp_close(fm_transport *transport)
{
    struct tcp_transport *tcp = tcp_of(transport);
    if (!uv_is_closing((uv_handle_t *)&tcp->handle)) {
        uv_close((uv_handle_t *)&tcp->handle, on_closed);
    }
}

// ---- receiving ---------------------------------------------------------------------------------

static void on_alloc(uv_handle_t *handle, size_t suggested_size, uv_buf_t *buffer)
{
    (void)suggested_size;
    struct tcp_transport *tcp = handle->data;
    *buffer = tcp->read_buffer;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct tcp_transport *tcp = stream->data;
    if (size < 0) {
        tcp_close(&tcp->base);
    } else if (size > 0 && !tcp->finishing) {
        tcp->base.events->received(tcp->base.owner, (const uint8_t *)buffer->base, (size_t)size);
    }
}

static void tcp_pause(fm_transport *transport)
{
    uv_read_stop((uv_stream_t *)&tcp_of(transport)->handle);
}

static void tcp_resume(fm_transport *transport)
{
    struct tcp_transport *tcp = tcp_of(transport);
    if (uv_is_closing((uv_handle_t *)&tcp->handle)) {
        return;
    }
    int result = uv_read_start((uv_stream_t *)&tcp->handle, on_alloc, on_read);
    if (result < 0 && result != UV_EALREADY) {
        tcp_close(transport);
    }
}

// ---- sending -----------------------------------------------------------------------------------

static void write_job_destroy(struct write_job *job)
{
    for (uint32_t i = 0; i < job->frame_count; i++) {
        fm_frame_drop(job->frames[i]);
    }
    free(job);
}

static void on_written(uv_write_t *request, int error)
{
    struct write_job *job = request->data;
    struct tcp_transport *tcp = request->handle->data;
    write_job_destroy(job);
    tcp->unsent_count--;
    if (uv_is_closing((uv_handle_t *)&tcp->handle)) {
        return;
    }
    if (error < 0) {
        tcp_close(&tcp->base);
    } else if (!tcp->finishing) {
        tcp->base.events->sent(tcp->base.owner);
    }
}

static fm_status tcp_send(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count)
{
    FM_ASSERT(frame_count >= 1 && frame_count <= FM_SEND_FRAMES_MAX);
    struct tcp_transport *tcp = tcp_of(transport);
    if (tcp->finishing || uv_is_closing((uv_handle_t *)&tcp->handle)) {
        return FM_ERR_IO;
    }
    struct write_job *job = malloc(sizeof *job);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    uv_buf_t buffers[FM_SEND_FRAMES_MAX];
    job->request.data = job;
    job->frame_count = frame_count;
    for (uint32_t i = 0; i < frame_count; i++) {
        job->frames[i] = fm_frame_hold(frames[i]);
        buffers[i] = uv_buf_init(frames[i]->bytes, (unsigned)frames[i]->size);
    }
    if (uv_write(&job->request, (uv_stream_t *)&tcp->handle, buffers, frame_count, on_written) <
        0) {
        write_job_destroy(job);
        return FM_ERR_IO;
    }
    tcp->unsent_count++;
    return FM_OK;
}

static size_t tcp_unsent_size(const fm_transport *transport)
{
    const struct tcp_transport *tcp = (const struct tcp_transport *)transport;
    return uv_stream_get_write_queue_size((const uv_stream_t *)&tcp->handle) +
           tcp->unsent_count * FM_SEND_OVERHEAD;
}

static void on_shut_down(uv_shutdown_t *request, int error)
{
    struct tcp_transport *tcp = request->handle->data;
    if (error < 0) {
        tcp_close(&tcp->base);
    }
}

// The write side ends first and the read side continues until the peer disconnects: closing a
// socket with unread bytes in it would make the system drop our last answer.
static void tcp_finish(fm_transport *transport)
{
    struct tcp_transport *tcp = tcp_of(transport);
    if (tcp->finishing || uv_is_closing((uv_handle_t *)&tcp->handle)) {
        return;
    }
    tcp->finishing = true;
    tcp_resume(transport);
    if (uv_shutdown(&tcp->shutdown, (uv_stream_t *)&tcp->handle, on_shut_down) < 0) {
        tcp_close(transport);
    }
}

static const fm_transport_ops tcp_ops = {
    .send = tcp_send,
    .unsent_size = tcp_unsent_size,
    .pause = tcp_pause,
    .resume = tcp_resume,
    .finish = tcp_finish,
    .close = tcp_close,
};

// ---- accepting ---------------------------------------------------------------------------------

static void describe_peer(struct tcp_transport *tcp)
{
    struct sockaddr_storage address = {0};
    int size = sizeof address;
    if (uv_tcp_getpeername(&tcp->handle, (struct sockaddr *)&address, &size) == 0) {
        fm_transport_describe_peer(&tcp->base, &address);
    }
}

static void on_connection(void *context, int fd)
{
    fm_tcp_listener *listener = context;
    struct tcp_transport *tcp = calloc(1, sizeof *tcp);
    if (tcp == NULL) {
        close(fd);
        return;
    }
    tcp->base.ops = &tcp_ops;
    tcp->read_buffer = listener->read_buffer;
    uv_tcp_init(listener->loop, &tcp->handle); // cannot fail: makes no socket yet
    tcp->handle.data = tcp;
    if (uv_tcp_open(&tcp->handle, fd) < 0) {
        close(fd);
        tcp_close(&tcp->base);
        return;
    }
    int send_buffer_size = SEND_BUFFER_SIZE;
    uv_tcp_nodelay(&tcp->handle, 1);
    uv_tcp_keepalive(&tcp->handle, 1, KEEPALIVE_S); // detects peers that vanished
    uv_send_buffer_size((uv_handle_t *)&tcp->handle, &send_buffer_size);
    describe_peer(tcp);
    listener->accept(listener->context, &tcp->base);
    tcp_resume(&tcp->base);
}

void fm_tcp_listener_destroy(fm_tcp_listener *listener)
{
    if (listener != NULL) {
        fm_listener_destroy(listener->port);
        free(listener);
    }
}

fm_status fm_tcp_listen(uv_loop_t *loop, const char *address, uint16_t port, uv_buf_t read_buffer,
                        fm_accept_fn *accept, void *context, uint16_t *port_taken,
                        fm_tcp_listener **out, const char **error)
{
    fm_tcp_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        *error = "out of memory";
        return FM_ERR_NO_MEMORY;
    }
    listener->loop = loop;
    listener->read_buffer = read_buffer;
    listener->accept = accept;
    listener->context = context;
    fm_status status = fm_listener_create(loop, address, port, on_connection, listener, port_taken,
                                          &listener->port, error);
    if (status != FM_OK) {
        free(listener);
        return status;
    }
    *out = listener;
    return FM_OK;
}
