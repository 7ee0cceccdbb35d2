// server/wire/transport_ws.c: see transport_ws.h.
//
// libwebsockets writes only when the socket is ready, and wants room for a header before the
// bytes. So messages wait in a queue of our own, as references to their frames, and are copied out
// in chunks, each a WebSocket fragment, through one buffer that all connections share.

#include "server/wire/transport_ws.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CHUNK_SIZE ((size_t)64 << 10)
#define CHUNKS_MAX 16u // of one connection before it is the next one's turn

struct ws_message {
    struct ws_message *next;
    fm_frame *frames[FM_SEND_FRAMES_MAX];
    uint32_t frame_count;
    size_t size, written;
};

struct ws_transport {
    fm_transport base;
    struct lws *wsi;
    struct ws_message *first, *last; // queue
    size_t unsent_size;
    bool finishing; // to be closed once the queue is empty
    bool closing;
};

static uint8_t chunk[LWS_PRE + CHUNK_SIZE];

static struct ws_transport *ws_of(fm_transport *transport)
{
    return (struct ws_transport *)transport;
}

// ---- the queue ---------------------------------------------------------------------------------

static void message_destroy(struct ws_message *message)
{
    for (uint32_t i = 0; i < message->frame_count; i++) {
        fm_frame_drop(message->frames[i]);
    }
    free(message);
}

static fm_status ws_send(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count)
{
    FM_ASSERT(frame_count >= 1 && frame_count <= FM_SEND_FRAMES_MAX);
    struct ws_transport *ws = ws_of(transport);
    if (ws->finishing || ws->closing) {
        return FM_ERR_IO;
    }
    struct ws_message *message = calloc(1, sizeof *message);
    if (message == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    message->frame_count = frame_count;
    for (uint32_t i = 0; i < frame_count; i++) {
        message->frames[i] = fm_frame_hold(frames[i]);
        message->size += frames[i]->size;
    }
    if (ws->last == NULL) {
        ws->first = message;
    } else {
        ws->last->next = message;
    }
    ws->last = message;
    ws->unsent_size += message->size + FM_SEND_OVERHEAD;
    lws_callback_on_writable(ws->wsi);
    return FM_OK;
}

static struct ws_message *queue_take(struct ws_transport *ws)
{
    struct ws_message *message = ws->first;
    ws->first = message->next;
    if (ws->first == NULL) {
        ws->last = NULL;
    }
    return message;
}

static size_t ws_unsent_size(const fm_transport *transport)
{
    return ((const struct ws_transport *)transport)->unsent_size;
}

// ---- writing -----------------------------------------------------------------------------------

// Copies the next bytes of a message; returns how many.
static size_t copy_out(const struct ws_message *message, uint8_t *out)
{
    size_t skipped = 0, count = 0;
    for (uint32_t i = 0; i < message->frame_count && count < CHUNK_SIZE; i++) {
        const fm_frame *frame = message->frames[i];
        size_t from = message->written > skipped ? message->written - skipped : 0;
        skipped += frame->size;
        if (from < frame->size) {
            size_t size = frame->size - from;
            size = size < CHUNK_SIZE - count ? size : CHUNK_SIZE - count;
            memcpy(out + count, frame->bytes + from, size);
            count += size;
        }
    }
    return count;
}

// Hands over one fragment. @return false when the connection is lost
static bool write_chunk(struct ws_transport *ws)
{
    struct ws_message *message = ws->first;
    size_t size = copy_out(message, chunk + LWS_PRE);
    bool is_first = message->written == 0;
    bool is_last = message->written + size == message->size;
    enum lws_write_protocol kind = lws_write_ws_flags(LWS_WRITE_BINARY, is_first, is_last);
    if (lws_write(ws->wsi, chunk + LWS_PRE, size, kind) < (int)size) {
        return false;
    }
    message->written += size;
    ws->unsent_size -= size;
    if (is_last) {
        ws->unsent_size -= FM_SEND_OVERHEAD;
        message_destroy(queue_take(ws));
        if (!ws->finishing) {
            ws->base.events->sent(ws->base.owner);
        }
    }
    return true;
}

bool fm_ws_write(fm_ws_slot *slot)
{
    if (slot->transport == NULL) {
        return false;
    }
    struct ws_transport *ws = ws_of(slot->transport);
    for (uint32_t i = 0; i < CHUNKS_MAX && ws->first != NULL && !ws->closing; i++) {
        if (lws_send_pipe_choked(ws->wsi)) {
            break;
        }
        if (!write_chunk(ws)) {
            return false;
        }
    }
    if (ws->closing) {
        return false;
    }
    if (ws->first != NULL) {
        lws_callback_on_writable(ws->wsi);
        return true;
    }
    if (ws->finishing) {
        lws_close_reason(ws->wsi, LWS_CLOSE_STATUS_GOINGAWAY, NULL, 0);
        return false;
    }
    return true;
}

// ---- the rest of the table ---------------------------------------------------------------------

static void ws_pause(fm_transport *transport)
{
    lws_rx_flow_control(ws_of(transport)->wsi, 0);
}

static void ws_resume(fm_transport *transport)
{
    lws_rx_flow_control(ws_of(transport)->wsi, 1);
}

static void ws_finish(fm_transport *transport)
{
    struct ws_transport *ws = ws_of(transport);
    if (!ws->finishing && !ws->closing) {
        ws->finishing = true;
        ws_resume(transport);
        lws_callback_on_writable(ws->wsi);
    }
}

static void ws_close(fm_transport *transport)
{
    struct ws_transport *ws = ws_of(transport);
    if (!ws->closing) {
        ws->closing = true;
        lws_set_timeout(ws->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
        lws_cancel_service(lws_get_context(ws->wsi)); // look at time-outs now
    }
}

static const fm_transport_ops ws_ops = {
    .send = ws_send,
    .unsent_size = ws_unsent_size,
    .pause = ws_pause,
    .resume = ws_resume,
    .finish = ws_finish,
    .close = ws_close,
};

// ---- beginning and end -------------------------------------------------------------------------

bool fm_ws_open(struct lws *wsi, fm_ws_slot *slot, fm_accept_fn *accept, void *context)
{
    struct ws_transport *ws = calloc(1, sizeof *ws);
    if (ws == NULL) {
        return false;
    }
    ws->base.ops = &ws_ops;
    ws->wsi = wsi;
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&address, &size) == 0) {
        fm_transport_describe_peer(&ws->base, &address);
    }
    slot->transport = &ws->base;
    accept(context, &ws->base);
    return true;
}

bool fm_ws_receive(fm_ws_slot *slot, const void *bytes, size_t size)
{
    if (slot->transport == NULL) {
        return false;
    }
    struct ws_transport *ws = ws_of(slot->transport);
    if (!lws_frame_is_binary(ws->wsi)) {
        lws_close_reason(ws->wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, NULL, 0);
        return false;
    }
    if (!ws->finishing && !ws->closing && size > 0) {
        ws->base.events->received(ws->base.owner, bytes, size);
    }
    return true;
}

void fm_ws_closed(fm_ws_slot *slot)
{
    if (slot->transport == NULL) {
        return;
    }
    struct ws_transport *ws = ws_of(slot->transport);
    slot->transport = NULL;
    ws->closing = true;
    while (ws->first != NULL) {
        message_destroy(queue_take(ws));
    }
    if (ws->base.events != NULL) {
        ws->base.events->closed(ws->base.owner);
    }
    free(ws);
}
