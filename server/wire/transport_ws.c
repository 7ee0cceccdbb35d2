// server/wire/transport_ws.c: see transport_ws.h.

#include "server/wire/transport_ws.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/wire/websocket.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_SIZE      (64u << 10)
#define PONG_UNSENT_MAX ((size_t)64 << 10) // more waits for the client: it gets no pongs
#define PING_NS         (20 * FM_NS_PER_S)
#define HANG_UP_NS      (35 * FM_NS_PER_S)
#define LINGER_NS       FM_NS_PER_S        // for the client to close, once it was notified
#define END_LONGEST_NS  (10 * FM_NS_PER_S) // for it to read what is still queued
#define REASON_MAX      (FM_WEBSOCKET_CONTROL_MAX - 2)

enum state {
    OPEN,
    ENDING,
    OVER
};

struct fm_ws {
    fm_transport base;
    fm_transport *inner;
    enum state state;
    bool paused;
    bool pinged; // and nothing came since
    uint64_t received_ns;
    uint64_t ended_ns; // when it was no longer open
    fm_websocket_decoder decoder;
};

static struct fm_ws *ws_of(fm_transport *transport)
{
    return (struct fm_ws *)transport;
}

// ---- sending -----------------------------------------------------------------------------------

static fm_frame *make_head(size_t size)
{
    uint8_t bytes[FM_WEBSOCKET_HEAD_MAX];
    size_t head_size = fm_websocket_head(FM_WEBSOCKET_BINARY, size, bytes);
    return fm_frame_copy(bytes, head_size);
}

static fm_status ws_send(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count)
{
    FM_ASSERT(frame_count >= 1 && frame_count < FM_SEND_FRAMES_MAX);
    struct fm_ws *ws = ws_of(transport);
    if (ws->state != OPEN) {
        return FM_ERR_IO;
    }
    fm_frame *all[FM_SEND_FRAMES_MAX];
    size_t size = 0;
    for (uint32_t i = 0; i < frame_count; i++) {
        all[1 + i] = frames[i];
        size += frames[i]->size;
    }
    all[0] = make_head(size);
    if (all[0] == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = ws->inner->ops->send(ws->inner, all, 1 + frame_count);
    fm_frame_drop(all[0]);
    return status;
}

// A control frame. If it cannot be sent, the connection ends anyway.
static void send_control(struct fm_ws *ws, fm_websocket_kind kind, const void *bytes, size_t size)
{
    uint8_t whole[FM_WEBSOCKET_HEAD_MAX + FM_WEBSOCKET_CONTROL_MAX];
    size_t head_size = fm_websocket_head(kind, size, whole);
    memcpy(whole + head_size, bytes, size);
    fm_frame *frame = fm_frame_copy(whole, head_size + size);
    if (frame == NULL || ws->inner->ops->send(ws->inner, &frame, 1) != FM_OK) {
        ws->inner->ops->close(ws->inner);
    }
    fm_frame_drop(frame);
}

static void send_close(struct fm_ws *ws, uint32_t code, const char *reason)
{
    uint8_t payload[2 + REASON_MAX] = {(uint8_t)(code >> 8), (uint8_t)code};
    size_t size = strlen(reason);
    FM_ASSERT(size <= REASON_MAX);
    memcpy(payload + 2, reason, size);
    send_control(ws, FM_WEBSOCKET_CLOSE, payload, code == FM_WEBSOCKET_NO_CODE ? 0 : 2 + size);
}

static size_t ws_unsent_size(const fm_transport *transport)
{
    const struct fm_ws *ws = (const struct fm_ws *)transport;
    return ws->inner->ops->unsent_size(ws->inner);
}

void fm_ws_sent(fm_ws *ws)
{
    if (ws->state == OPEN) {
        ws->base.events->sent(ws->base.owner);
    }
}

// ---- the end -----------------------------------------------------------------------------------

static void leave(struct fm_ws *ws, enum state state)
{
    if (ws->state == OPEN) {
        ws->ended_ns = fm_clock_now_ns();
    }
    ws->state = state;
}

static void ws_finish(fm_transport *transport)
{
    struct fm_ws *ws = ws_of(transport);
    if (ws->state == OPEN) {
        leave(ws, ENDING);
        send_close(ws, FM_WEBSOCKET_GOING_AWAY, "");
        ws->inner->ops->resume(ws->inner);
    }
}

static void ws_close(fm_transport *transport)
{
    struct fm_ws *ws = ws_of(transport);
    leave(ws, OVER);
    ws->inner->ops->close(ws->inner);
}

static void end(struct fm_ws *ws, uint32_t code, const char *reason)
{
    if (ws->state == OPEN) {
        send_close(ws, code, reason);
    }
    leave(ws, OVER);
    ws->inner->ops->finish(ws->inner);
}

static void refuse(struct fm_ws *ws, const fm_websocket_heard *heard)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "WebSocket frame refused",
                   fm_log_text("peer", ws->base.peer), fm_log_text("reason", heard->error));
    end(ws, heard->error_code, heard->error);
}

// ---- receiving ---------------------------------------------------------------------------------

static void take(struct fm_ws *ws, const uint8_t *bytes, size_t size)
{
    static uint8_t plain[PLAIN_SIZE]; // the loop delivers for one connection at a time
    static fm_websocket_heard heard;
    fm_websocket_decode(&ws->decoder, bytes, size, plain, &heard);
    if (heard.size > 0 && ws->state == OPEN) {
        ws->base.events->received(ws->base.owner, plain, heard.size);
    }
    if (heard.has_pinged && ws->state == OPEN &&
        ws->inner->ops->unsent_size(ws->inner) <= PONG_UNSENT_MAX) {
        send_control(ws, FM_WEBSOCKET_PONG, heard.pinged, heard.pinged_size);
    }
    if (ws->state == OVER) {
        return;
    }
    if (heard.error_code != 0) {
        refuse(ws, &heard);
    } else if (heard.close_code != 0) {
        end(ws, heard.close_code, "");
    }
}

// Frames of a few bytes take the loop longer than messages do, and need not contain any.
void fm_ws_receive(fm_ws *ws, const uint8_t *bytes, size_t size)
{
    uint64_t begin_ns = fm_clock_now_ns();
    ws->received_ns = begin_ns;
    ws->pinged = false;
    while (size > 0 && ws->state != OVER) {
        size_t part = size < PLAIN_SIZE ? size : PLAIN_SIZE;
        take(ws, bytes, part);
        bytes += part;
        size -= part;
    }
    if (ws->state == OPEN && ws->base.events->worked != NULL) {
        ws->base.events->worked(ws->base.owner, begin_ns);
    }
}

static void ws_pause(fm_transport *transport)
{
    struct fm_ws *ws = ws_of(transport);
    ws->paused = true;
    ws->inner->ops->pause(ws->inner);
}

static void ws_resume(fm_transport *transport)
{
    struct fm_ws *ws = ws_of(transport);
    ws->paused = false;
    ws->inner->ops->resume(ws->inner);
}

static const fm_transport_ops ws_ops = {
    .send = ws_send,
    .unsent_size = ws_unsent_size,
    .pause = ws_pause,
    .resume = ws_resume,
    .finish = ws_finish,
    .close = ws_close,
};

// ---- time --------------------------------------------------------------------------------------

static void check_end(struct fm_ws *ws, uint64_t now_ns)
{
    bool is_read = ws->inner->ops->unsent_size(ws->inner) == 0;
    if (now_ns - ws->ended_ns > (is_read ? LINGER_NS : END_LONGEST_NS)) {
        ws_close(&ws->base);
    }
}

void fm_ws_check_time(fm_ws *ws, uint64_t now_ns)
{
    if (ws->state == OVER) {
        check_end(ws, now_ns);
        return;
    }
    if (ws->state == ENDING) {
        return; // its owner knows how long to wait
    }
    if (ws->paused) {
        ws->received_ns = now_ns; // a pause of ours is not its fault
    } else if (now_ns - ws->received_ns > HANG_UP_NS) {
        ws_close(&ws->base);
    } else if (now_ns - ws->received_ns > PING_NS && !ws->pinged) {
        ws->pinged = true;
        send_control(ws, FM_WEBSOCKET_PING, "", 0);
    }
}

void fm_ws_forgive(fm_ws *ws, uint64_t pause_ns, uint64_t now_ns)
{
    uint64_t *const times[] = {&ws->received_ns, &ws->ended_ns};
    for (uint32_t i = 0; i < FM_COUNT_OF(times); i++) {
        *times[i] = now_ns - *times[i] < pause_ns ? now_ns : *times[i] + pause_ns;
    }
}

// ---- beginning and end -------------------------------------------------------------------------

fm_ws *fm_ws_open(fm_transport *inner, uint64_t frame_size_max, fm_accept_fn *accept, void *context)
{
    struct fm_ws *ws = calloc(1, sizeof *ws);
    if (ws == NULL) {
        return NULL;
    }
    ws->base.ops = &ws_ops;
    ws->base.is_loopback = inner->is_loopback;
    memcpy(ws->base.peer, inner->peer, sizeof ws->base.peer);
    ws->inner = inner;
    ws->decoder.frame_size_max = frame_size_max;
    ws->received_ns = fm_clock_now_ns();
    accept(context, &ws->base);
    return ws;
}

void fm_ws_closed(fm_ws *ws)
{
    if (ws->base.events != NULL) {
        ws->base.events->closed(ws->base.owner);
    }
    free(ws);
}
