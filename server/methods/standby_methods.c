// server/methods/standby_methods.c: see standby_methods.h.

#include "server/methods/standby_methods.h"

#include "server/base/log.h"
#include "server/journal/shipment.h"
#include "server/sessions/ledger.h"
#include "server/streams/shipping.h"

#include <stdio.h>
#include <string.h>

// A standby of this server's has taken over while this one was away. Worlds that went on here go on
// there, too; this server must not tell anybody of its own any more. It is over with the next look
// at the clock: the answer goes out before.
static void note_replaced(fm_hub *hub, uint64_t epoch)
{
    char error[FM_LEDGER_ERROR_SIZE];
    if (hub->replaced == 0 && fm_ledger_write_replaced(hub->ledger, epoch, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot note that this server was replaced",
               fm_log_text("reason", error));
    }
    hub->replaced = epoch;
}

// @param claim  NULL: none
static fm_status check_epoch(fm_hub *hub, uint64_t epoch, const fm_shipment_claim *claim,
                             char *error)
{
    bool is_ours = false;
    if (claim != NULL && hub->ledger != NULL) {
        const fm_journal_link own = fm_ledger_name(&hub->resume_key);
        is_ours = memcmp(&own, &claim->ledger, sizeof own) == 0;
    }
    if (epoch > hub->epoch) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "the standby is of epoch %llu, this server of %llu: it has been replaced",
                 (unsigned long long)epoch, (unsigned long long)hub->epoch);
        if (is_ours && hub->standby == NULL) {
            note_replaced(hub, epoch);
        }
        return FM_ERR_BAD_VALUE;
    }
    if (claim != NULL && claim->has_taken_over) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server is of epoch %llu: it is not replaced",
                 (unsigned long long)hub->epoch);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

fm_status fm_take_journal_follow(fm_session *session, const fm_request *request, char *error)
{
    fm_hub *hub = session->hub;
    const fm_value *value = &request->values[FM_FIELD_DATA];
    const uint8_t *places = value->present ? (const uint8_t *)value->bytes : NULL;
    size_t size = value->present ? value->size : 0;
    fm_shipment_claim claim;
    bool has_claim = fm_shipment_take_claim(&places, &size, &claim);
    fm_status status =
        check_epoch(hub, request->values[FM_FIELD_EPOCH].number, has_claim ? &claim : NULL, error);
    if (status == FM_OK) {
        status = fm_shipping_begin(session, size > 0 ? (const void *)places : "", size, error);
    }
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
