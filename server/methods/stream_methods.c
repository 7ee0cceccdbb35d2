// server/methods/stream_methods.c: see stream_methods.h.

#include "server/methods/stream_methods.h"

#include "server/streams/stream.h"

#define FOLLOW_SIDE 33u // cells

// A view that follows an agent has a default side.
static void shrink_to_follow(const fm_request *request, fm_rect *rect)
{
    if (!request->values[FM_FIELD_RECT].present) {
        rect->width = rect->width < FOLLOW_SIDE ? rect->width : FOLLOW_SIDE;
        rect->height = rect->height < FOLLOW_SIDE ? rect->height : FOLLOW_SIDE;
    }
}

// Where an earlier subscription stopped; its rectangle must be given, unless it was the whole map.
static fm_status take_resumption(const fm_request *request, fm_stream_request *wanted, char *error)
{
    bool has_stream = request->values[FM_FIELD_STREAM].present;
    if (has_stream != request->values[FM_FIELD_SINCE].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "subscribe: stream and since go together");
        return FM_ERR_BAD_FIELD;
    }
    if (has_stream && wanted->follow != 0 && !request->values[FM_FIELD_RECT].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "subscribe: stream and follow need the rect that is shown");
        return FM_ERR_BAD_FIELD;
    }
    wanted->stream = has_stream ? request->values[FM_FIELD_STREAM].number : 0;
    wanted->since = has_stream ? request->values[FM_FIELD_SINCE].number : 0;
    return FM_OK;
}

static fm_status take_encoding(const fm_request *request, bool *dense, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_ENCODING];
    *dense = value->present && fm_value_is(value, "dense");
    if (value->present && !*dense && !fm_value_is(value, "plain")) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "encoding is plain or dense, not \"%.*s\"",
                 (int)value->size, (const char *)value->bytes);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

fm_status fm_take_subscribe(fm_session *session, const fm_request *request, char *error)
{
    fm_stream_request wanted = {
        .every = 1,
        .number = request->id,
        .is_notification = request->is_notification,
    };
    fm_status status = fm_request_host(session, request, &wanted.host);
    if (status == FM_OK) {
        status = fm_request_team(session, request, &wanted.team);
    }
    if (status != FM_OK) {
        return status;
    }
    status = fm_request_rect(wanted.host, request, &wanted.rect, error);
    if (status != FM_OK) {
        return status;
    }
    if (request->values[FM_FIELD_FOLLOW].present) {
        wanted.follow = request->values[FM_FIELD_FOLLOW].number;
        shrink_to_follow(request, &wanted.rect);
    }
    wanted.sight =
        request->values[FM_FIELD_SIGHT].present && request->values[FM_FIELD_SIGHT].number != 0;
    if (request->values[FM_FIELD_EVERY].present) {
        wanted.every = (uint32_t)request->values[FM_FIELD_EVERY].number;
    }
    wanted.motion =
        request->values[FM_FIELD_MOTION].present && request->values[FM_FIELD_MOTION].number != 0;
    status = take_encoding(request, &wanted.dense, error);
    if (status == FM_OK) {
        status = take_resumption(request, &wanted, error);
    }
    return status == FM_OK ? fm_stream_subscribe(session, &wanted) : status;
}

fm_status fm_take_subscription_move(fm_session *session, const fm_request *request, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_RECT];
    uint64_t numbers[4];
    for (uint32_t i = 0; i < 4; i++) {
        numbers[i] = fm_value_at(value, i) < UINT32_MAX ? fm_value_at(value, i) : UINT32_MAX;
    }
    fm_rect rect = {(uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2],
                    (uint32_t)numbers[3]};
    uint64_t number = request->values[FM_FIELD_SUBSCRIPTION].number;
    fm_status status = fm_stream_move(session, number, &rect);
    if (status == FM_ERR_OFF_GRID) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "rect must lie inside the map");
    } else if (status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such subscription");
    } else if (status == FM_OK && !request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 0);
        fm_reply_send(session, &reply);
    }
    return status;
}

fm_status fm_take_unsubscribe(fm_session *session, const fm_request *request, char *error)
{
    if (!fm_stream_unsubscribe(session, request->values[FM_FIELD_SUBSCRIPTION].number)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such subscription");
        return FM_ERR_BAD_VALUE;
    }
    fm_request_done(session, request);
    return FM_OK;
}
