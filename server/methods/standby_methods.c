// server/methods/standby_methods.c: see standby_methods.h.

#include "server/methods/standby_methods.h"

#include "server/streams/shipping.h"

fm_status fm_take_journal_follow(fm_session *session, const fm_request *request, char *error)
{
    const fm_hub *hub = session->hub;
    const fm_value *places = &request->values[FM_FIELD_DATA];
    uint64_t epoch = request->values[FM_FIELD_EPOCH].number;
    if (epoch > hub->epoch) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "the standby is of epoch %llu, this server of %llu: it has been replaced",
                 (unsigned long long)epoch, (unsigned long long)hub->epoch);
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = fm_shipping_begin(session, places->present ? places->bytes : "",
                                         places->present ? places->size : 0, error);
    if (status == FM_OK && !request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 2);
        fm_pack_key_uint(&reply.packer, "epoch", hub->epoch);
        fm_pack_key_bool(&reply.packer, "replica",
                         hub->config->durability == FM_DURABILITY_REPLICA);
        fm_reply_send(session, &reply);
    }
    fm_shipping_feed(session->hub);
    return status;
}

fm_status fm_take_journal_have(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_shipping_have(session, request->values[FM_FIELD_NUMBER].number);
    fm_request_done(session, request);
    return FM_OK;
}

// ---- standby.status ----------------------------------------------------------------------------

static void pack_worlds(msgpack_packer *packer, const fm_hub *hub)
{
    fm_pack_text(packer, "worlds");
    msgpack_pack_array(packer, hub->host_count);
    for (uint32_t i = 0; i < hub->host_count; i++) {
        const fm_host *host = hub->hosts[i];
        msgpack_pack_map(packer, 4);
        fm_pack_key_uint(packer, "world", host->number);
        fm_pack_key_text(packer, "name", host->name);
        fm_pack_key_uint(packer, "tick", fm_conductor_summary(hub->conductor, host).tick);
        fm_pack_key_uint(packer, "lag_ticks", hub->shipping == NULL ? 0 : fm_shipping_lag(host));
    }
}

fm_status fm_take_standby_status(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    const fm_hub *hub = session->hub;
    if (request->is_notification) {
        return FM_OK;
    }
    const fm_shipping_report shipped = fm_shipping_report_get(hub);
    fm_standby_report own = {
        .role = "primary", .state = fm_shipping_state_name(shipped.state), .peer = shipped.peer};
    if (hub->standby != NULL) {
        hub->standby_calls->report(hub->standby, &own);
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 9);
    fm_pack_key_text(&reply.packer, "role", own.role);
    fm_pack_key_uint(&reply.packer, "epoch", hub->epoch);
    fm_pack_key_text(&reply.packer, "peer", own.peer);
    fm_pack_key_text(&reply.packer, "state", own.state);
    fm_pack_key_text(&reply.packer, "error", own.error);
    fm_pack_key_text(&reply.packer, "durability", shipped.durability);
    fm_pack_key_uint(&reply.packer, "lag_ticks", shipped.lag_ticks);
    fm_pack_key_uint(&reply.packer, "lag_bytes", shipped.lag_size);
    pack_worlds(&reply.packer, hub);
    fm_reply_send(session, &reply);
    return FM_OK;
}

// ---- standby.promote ---------------------------------------------------------------------------

fm_status fm_take_standby_promote(fm_session *session, const fm_request *request, char *error)
{
    fm_hub *hub = session->hub;
    if (hub->standby == NULL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server is no standby");
        return FM_ERR_BAD_VALUE;
    }
    fm_status status =
        hub->standby_calls->promote(hub->standby, session, request->id, request->is_notification);
    if (status == FM_ERR_BUSY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "it is taking over already");
    }
    return status;
}
