// tests/sim/tcp.c: libuv's TCP streams over connections in memory.
//
// Its visible behaviour is libuv's: a write is tried at once and its callback comes later; closing
// cancels the writes that wait, before the handle's close callback.

#include "tests/sim/loop.h"
#include "tests/sim/sockets.h"

#include <string.h>

static void append(uv_write_t **first, uv_write_t **last, uv_write_t *write)
{
    write->queue[0] = NULL;
    if (*first == NULL) {
        *first = write;
    } else {
        (*last)->queue[0] = write;
    }
    *last = write;
}

static uv_write_t *pop(uv_write_t **first)
{
    uv_write_t *write = *first;
    *first = write->queue[0];
    return write;
}

static uv_stream_t *stream_of(const sim_handle *handle)
{
    return (uv_stream_t *)handle->handle;
}

// ---- beginning ---------------------------------------------------------------------------------

int uv_tcp_init(uv_loop_t *loop, uv_tcp_t *tcp)
{
    sim_handle_init(loop, tcp, UV_TCP);
    tcp->write_queue_size = 0;
    return 0;
}

int uv_tcp_open(uv_tcp_t *tcp, uv_os_sock_t fd)
{
    sim_handle_of(tcp)->connection = sim_socket_take(fd);
    return 0;
}

int uv_tcp_nodelay(uv_tcp_t *tcp, int on)
{
    (void)tcp, (void)on;
    return 0;
}

int uv_tcp_keepalive(uv_tcp_t *tcp, int on, unsigned int delay_s)
{
    (void)tcp, (void)on, (void)delay_s;
    return 0;
}

int uv_send_buffer_size(uv_handle_t *handle, int *size)
{
    (void)handle, (void)size; // the link decides how much fits
    return 0;
}

int uv_tcp_getpeername(const uv_tcp_t *tcp, struct sockaddr *address, int *size)
{
    socklen_t room = (socklen_t)*size;
    sim_socket_peer(sim_handle_of(tcp)->connection, address, &room);
    *size = (int)room;
    return 0;
}

// ---- reading -----------------------------------------------------------------------------------

int uv_read_start(uv_stream_t *stream, uv_alloc_cb on_alloc, uv_read_cb on_read)
{
    sim_handle *handle = sim_handle_of(stream);
    if (handle->is_closing) {
        return UV_EINVAL;
    }
    if (handle->is_reading) {
        return UV_EALREADY;
    }
    if (handle->connection == NULL) {
        return UV_ENOTCONN;
    }
    handle->is_reading = handle->is_active = true;
    handle->on_alloc = on_alloc;
    handle->on_read = on_read;
    return 0;
}

int uv_read_stop(uv_stream_t *stream)
{
    sim_handle *handle = sim_handle_of(stream);
    handle->is_reading = false;
    handle->is_active = handle->write_first != NULL || handle->shutdown != NULL;
    return 0;
}

static bool can_read(const sim_handle *handle)
{
    const sim_connection *connection = handle->connection;
    return handle->is_reading && connection != NULL &&
           (sim_bytes_size(&connection->arrived) > 0 || connection->end_arrived ||
            connection->error != 0);
}

static void read_some(sim_handle *handle)
{
    sim_connection *connection = handle->connection;
    uv_stream_t *stream = stream_of(handle);
    uv_buf_t buffer = {0};
    handle->on_alloc(handle->handle, 65536, &buffer);
    size_t size = sim_server_read(connection, buffer.base, buffer.len);
    if (size > 0) {
        sim_charge(size / 4 + 500);
        handle->on_read(stream, (ssize_t)size, &buffer);
        return;
    }
    handle->is_reading = false;
    handle->on_read(stream, connection->error != 0 ? connection->error : UV_EOF, &buffer);
}

// ---- writing -----------------------------------------------------------------------------------

// Writes as much of the first write as the socket takes. @return whether that was all of it
static bool write_first(sim_handle *handle)
{
    uv_write_t *write = handle->write_first;
    while (write->write_index < write->nbufs) {
        uv_buf_t *buffer = &write->bufsml[write->write_index];
        size_t size = sim_server_write(handle->connection, buffer->base, buffer->len);
        buffer->base += size;
        buffer->len -= size;
        stream_of(handle)->write_queue_size -= size;
        if (buffer->len > 0) {
            return false;
        }
        write->write_index++;
    }
    return true;
}

static size_t left_of(const uv_write_t *write)
{
    size_t size = 0;
    for (unsigned i = write->write_index; i < write->nbufs; i++) {
        size += write->bufsml[i].len;
    }
    return size;
}

static void end_write(sim_handle *handle, int error)
{
    uv_write_t *write = pop(&handle->write_first);
    stream_of(handle)->write_queue_size -= left_of(write);
    write->error = error;
    append(&handle->written_first, &handle->written_last, write);
}

static void write_more(sim_handle *handle)
{
    while (handle->write_first != NULL) {
        if (handle->connection->error != 0) {
            end_write(handle, handle->connection->error == UV_ECONNRESET ? UV_EPIPE : UV_ETIMEDOUT);
        } else if (write_first(handle)) {
            end_write(handle, 0);
        } else {
            return;
        }
    }
}

int uv_write(uv_write_t *write, uv_stream_t *stream, const uv_buf_t buffers[], unsigned int count,
             uv_write_cb on_written)
{
    sim_handle *handle = sim_handle_of(stream);
    FM_ASSERT(!handle->is_closing && count <= FM_COUNT_OF(write->bufsml));
    if (handle->connection == NULL) {
        return UV_EBADF;
    }
    if (handle->shutdown != NULL || handle->connection->server_ended) {
        return UV_EPIPE;
    }
    write->handle = stream;
    write->cb = on_written;
    write->error = 0;
    write->write_index = 0;
    write->nbufs = count;
    for (unsigned i = 0; i < count; i++) {
        write->bufsml[i] = buffers[i];
        stream->write_queue_size += buffers[i].len;
    }
    bool was_empty = handle->write_first == NULL;
    append(&handle->write_first, &handle->write_last, write);
    if (was_empty) {
        write_more(handle);
    }
    sim_loop_wake();
    return 0;
}

size_t uv_stream_get_write_queue_size(const uv_stream_t *stream)
{
    return stream->write_queue_size;
}

static void call_written(sim_handle *handle)
{
    uv_write_t *write = pop(&handle->written_first);
    write->cb(write, write->error);
}

static bool can_write(const sim_handle *handle)
{
    const sim_connection *connection = handle->connection;
    return handle->write_first != NULL &&
           (connection->error != 0 ||
            sim_bytes_size(&connection->socket) < connection->link.socket_size);
}

// ---- the end -----------------------------------------------------------------------------------

int uv_shutdown(uv_shutdown_t *request, uv_stream_t *stream, uv_shutdown_cb on_shut_down)
{
    sim_handle *handle = sim_handle_of(stream);
    if (handle->connection == NULL || handle->is_closing || handle->shutdown != NULL ||
        handle->connection->server_ended) {
        return UV_ENOTCONN;
    }
    request->handle = stream;
    request->cb = on_shut_down;
    handle->shutdown = request;
    handle->is_active = true;
    sim_loop_wake();
    return 0;
}

static void shut_down(sim_handle *handle, int error)
{
    uv_shutdown_t *request = handle->shutdown;
    handle->shutdown = NULL;
    if (error == 0) {
        sim_server_end(handle->connection);
    }
    request->cb(request, error);
}

void sim_stream_close(sim_handle *handle)
{
    if (handle->connection != NULL) {
        sim_server_close(handle->connection);
        handle->connection = NULL;
    }
    handle->is_reading = false;
}

void sim_stream_cancel(sim_handle *handle)
{
    while (handle->write_first != NULL) {
        end_write(handle, UV_ECANCELED);
    }
    while (handle->written_first != NULL) {
        call_written(handle);
    }
    if (handle->shutdown != NULL) {
        shut_down(handle, UV_ECANCELED);
    }
}

// ---- serving -----------------------------------------------------------------------------------

static bool can_shut_down(const sim_handle *handle)
{
    return handle->shutdown != NULL && handle->write_first == NULL && handle->written_first == NULL;
}

bool sim_stream_is_ready(const sim_handle *handle)
{
    return can_read(handle) || can_write(handle) || handle->written_first != NULL ||
           can_shut_down(handle);
}

void sim_stream_serve(sim_handle *handle)
{
    if (can_read(handle) && (!can_write(handle) || sim_chance(500))) {
        read_some(handle);
    } else if (can_write(handle)) {
        write_more(handle);
    } else if (handle->written_first != NULL) {
        call_written(handle);
    } else {
        shut_down(handle, 0);
    }
}
