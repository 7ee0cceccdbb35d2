// server/methods/session_methods.c: see session_methods.h.

#include "server/methods/session_methods.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/methods/cluster_methods.h"
#include "server/methods/issuance.h"
#include "server/relay/relay.h"

#include <sodium.h>
#include <string.h>

// ---- hello -------------------------------------------------------------------------------------

static void take_grant(fm_session *session, const fm_grant *grant)
{
    session->role = grant->role;
    session->seat = grant->seat;
    session->has_token = true;
    memcpy(session->token_hash, grant->hash, sizeof session->token_hash);
}

static bool goes_without(const fm_session *session)
{
    return !fm_tokens_are_needed(&session->hub->tokens) && session->transport->is_loopback;
}

// The old session may not have noticed yet that its connection is gone.
static void end_resumed(fm_session *session, const fm_resume *resume)
{
    fm_hub *hub = session->hub;
    fm_session *before = resume->epoch == hub->resume_key.epoch
                             ? fm_hub_find_session_by_alias(hub, resume->session)
                             : NULL;
    if (before != NULL && before != session && before->has_token == resume->has_token &&
        sodium_memcmp(before->token_hash, resume->token_hash, FM_TOKEN_HASH_SIZE) == 0) {
        fm_session_finish(before, "resumed by another session");
    }
}

// As this node makes them, or as any node did before the shared secret was changed.
static bool read_resume(const fm_hub *hub, const fm_value *text, fm_resume *resume)
{
    bool is_ours = fm_resume_read(&hub->resume_key, text->bytes, text->size, resume);
    for (uint32_t i = 1; i < hub->secrets.count && !is_ours; i++) {
        fm_resume_key key = hub->resume_key;
        memcpy(key.bytes, hub->secrets.keys[i].resume, sizeof key.bytes);
        is_ours = fm_resume_read(&key, text->bytes, text->size, resume);
    }
    return is_ours;
}

// Whether a resume token decides what the session is.
//
// @param grant  receives what the token behind it gives now; NULL: there was none
static bool resume_is_good(const fm_session *session, const fm_value *text, fm_resume *resume,
                           const fm_grant **grant)
{
    const fm_hub *hub = session->hub;
    bool is_ours = read_resume(hub, text, resume);
    *grant = fm_tokens_find_hash(&hub->tokens, resume->token_hash);
    return is_ours && (resume->has_token ? *grant != NULL : goes_without(session));
}

static bool take_resume(fm_session *session, const fm_value *text, fm_resume *resume)
{
    const fm_grant *grant;
    if (!resume_is_good(session, text, resume, &grant)) {
        return false;
    }
    if (resume->has_token) {
        take_grant(session, grant);
    } else {
        session->role = FM_ROLE_ADMIN;
    }
    session->resumed = true;
    end_resumed(session, resume);
    return true;
}

// Whether a ticket of another node decides what the session is. A token that token.create has made
// is known to all nodes, unless it has ended; one of that node's own file may not be known here.
//
// @param grant  receives what the token behind it gives here; NULL: it is not known, or was none
static bool ticket_is_good(const fm_session *session, const fm_value *text, fm_ticket *ticket,
                           const fm_grant **grant)
{
    const fm_hub *hub = session->hub;
    if (!text->present ||
        !fm_ticket_read(&hub->secrets, text->bytes, text->size, fm_clock_unix_s(), ticket)) {
        return false;
    }
    *grant = ticket->has_token ? fm_tokens_find_hash(&hub->tokens, ticket->token_hash) : NULL;
    return *grant != NULL || (ticket->has_token ? !ticket->is_created : goes_without(session));
}

static bool take_ticket(fm_session *session, const fm_value *text)
{
    fm_ticket ticket;
    const fm_grant *grant;
    if (!ticket_is_good(session, text, &ticket, &grant)) {
        return false;
    }
    if (grant != NULL) {
        take_grant(session, grant);
        return true;
    }
    session->role = ticket.role;
    session->seat = ticket.seat;
    session->has_token = session->is_vouched = ticket.has_token;
    session->vouched_until_s = ticket.expires_s;
    memcpy(session->token_hash, ticket.token_hash, sizeof session->token_hash);
    return true;
}

// Decides what the session may be. False: the token is missing or wrong.
static bool take_role(fm_session *session, const fm_request *request)
{
    const fm_tokens *tokens = &session->hub->tokens;
    const fm_value *token = &request->values[FM_FIELD_TOKEN];
    const fm_value *text = &request->values[FM_FIELD_RESUME];
    fm_resume resume = {.has_token = false};
    if ((text->present && take_resume(session, text, &resume)) ||
        take_ticket(session, &request->values[FM_FIELD_TICKET])) {
        return true;
    }
    // A wrong token is refused even where none is needed: a page with the token of a seat must not
    // come back as admin because the server was restarted without tokens.
    if (token->present && token->size > 0) {
        const fm_grant *grant = fm_tokens_find(tokens, token->bytes, token->size);
        if (grant == NULL) {
            return false;
        }
        take_grant(session, grant);
        return true;
    }
    if (!goes_without(session) || resume.has_token) {
        return false;
    }
    session->role = FM_ROLE_ADMIN;
    return true;
}

// Whether the session is let in by what this server has drawn or signed: 256 random bits, which
// cannot be guessed. Only tokens that people chose can be. So guessing does not lock out players
// with such tokens who share the address, behind a proxy or at a university. A resume token or
// ticket behind which the token has ended lets nobody in, and nobody may guess beside it.
static bool is_beyond_guessing(const fm_session *session, const fm_request *request)
{
    const fm_value *token = &request->values[FM_FIELD_TOKEN];
    const fm_value *text = &request->values[FM_FIELD_RESUME];
    fm_resume resume;
    fm_ticket ticket;
    const fm_grant *grant;
    if ((text->present && resume_is_good(session, text, &resume, &grant)) ||
        ticket_is_good(session, &request->values[FM_FIELD_TICKET], &ticket, &grant)) {
        return true;
    }
    grant =
        token->present ? fm_tokens_find(&session->hub->tokens, token->bytes, token->size) : NULL;
    return grant != NULL && grant->number != 0;
}

static void pack_limits(msgpack_packer *packer, const fm_config *config)
{
    fm_pack_text(packer, "limits");
    msgpack_pack_map(packer, 5);
    fm_pack_key_uint(packer, "message_size", config->message_size_max);
    fm_pack_key_uint(packer, "depth", config->message_depth_max);
    fm_pack_key_uint(packer, "elements", config->message_elements_max);
    fm_pack_key_uint(packer, "agents", FM_AGENTS_PER_REQUEST);
    fm_pack_key_uint(packer, "cells", FM_CELLS_PER_REQUEST);
}

static void pack_resume(msgpack_packer *packer, const fm_session *session)
{
    fm_resume resume = {.has_token = session->has_token, .session = session->alias};
    memcpy(resume.token_hash, session->token_hash, sizeof resume.token_hash);
    char text[FM_RESUME_TEXT_SIZE];
    fm_resume_make(&session->hub->resume_key, &resume, text);
    fm_pack_key_text(packer, "resume", text);
    fm_pack_key_bool(packer, "resumed", session->resumed);
    sodium_memzero(text, sizeof text);
}

static void welcome(fm_session *session, const fm_request *request)
{
    if (request->is_notification) {
        return;
    }
    bool is_player = session->role == FM_ROLE_PLAYER;
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, is_player ? 11 : 9);
    fm_pack_key_text(&reply.packer, "server", "fogmarchd " FOGMARCH_VERSION);
    fm_pack_key_uint(&reply.packer, "protocol", FM_PROTOCOL_NUMBER);
    fm_pack_key_uint(&reply.packer, "session", session->alias);
    fm_pack_key_text(&reply.packer, "role", fm_role_name(session->role));
    if (is_player) {
        const fm_host *host = fm_request_seat_host(session);
        fm_pack_key_uint(&reply.packer, "world", host == NULL ? 0 : host->number);
        fm_pack_key_uint(&reply.packer, "team", session->seat.team);
    }
    pack_resume(&reply.packer, session);
    pack_limits(&reply.packer, session->hub->config);
    const fm_node *node = session->hub->node;
    fm_pack_key_text(&reply.packer, "node", node == NULL ? "" : fm_node_name(node));
    fm_pack_seeds(&reply.packer, session->hub);
    fm_reply_send(session, &reply);
}

fm_status fm_take_hello(fm_session *session, const fm_request *request, char *error)
{
    if (session->state != FM_SESSION_GREETING) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "hello was said already");
        return FM_ERR_NOT_READY;
    }
    if (request->values[FM_FIELD_PROTOCOL].number != FM_PROTOCOL_NUMBER) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server speaks protocol %u", FM_PROTOCOL_NUMBER);
        return FM_ERR_BAD_VALUE;
    }
    const fm_value *client = &request->values[FM_FIELD_CLIENT];
    if (client->present) {
        memcpy(session->client, client->bytes, client->size);
    }
    uint64_t now_ns = fm_clock_now_ns(), wait_ns;
    const fm_value *token = &request->values[FM_FIELD_TOKEN];
    if (!fm_quota_may_try(session->address_quota, now_ns, &wait_ns) &&
        !is_beyond_guessing(session, request)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "too many wrong tokens from this address; again in %llu s",
                 (unsigned long long)(wait_ns / FM_NS_PER_S + 1));
        fm_request_refuse(session, request, FM_ERR_BUSY, error);
        fm_session_finish(session, "too many wrong tokens");
        return FM_OK;
    }
    if (!take_role(session, request)) {
        session->hub->counts.wrong_tokens++;
        if (token->size > 0) { // a client without a token does not guess
            fm_quota_failed(session->address_quota, session->hub->config->auth_failures_per_minute,
                            now_ns);
        }
        bool resumes = token->size == 0 && request->values[FM_FIELD_RESUME].present;
        fm_request_refuse(session, request, FM_ERR_DENIED,
                          resumes ? "the resume is not good any more, and there is no token"
                                  : "the token is missing or wrong");
        fm_session_finish(session, "wrong token");
        return FM_OK;
    }
    if (session->hub->relay != NULL && session->role == FM_ROLE_PLAYER) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "this is a relay, which has spectators only: players go to %.120s",
                 fm_relay_owner(session->hub->relay, NULL));
        fm_request_refuse(session, request, FM_ERR_DENIED, error);
        fm_session_finish(session, "a player at a relay");
        return FM_OK;
    }
    fm_session_let_in(session);
    if (session->has_token) {
        fm_tokens_note_use(&session->hub->tokens, session->token_hash, fm_clock_unix_s());
    }
    static fm_log_site opened;
    fm_log_limited(&opened, FM_LOG_INFO, "session opened", fm_log_uint("session", session->number),
                   fm_log_uint("alias", session->alias), fm_log_text("client", session->client),
                   fm_log_text("peer", session->transport->peer),
                   fm_log_text("role", fm_role_name(session->role)));
    welcome(session, request);
    return FM_OK;
}

// ---- ping --------------------------------------------------------------------------------------

fm_status fm_take_ping(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    if (request->is_notification) {
        return FM_OK;
    }
    uint64_t uptime_ns = fm_clock_now_ns() - session->hub->start_ns;
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_key_uint(&reply.packer, "time", request->values[FM_FIELD_TIME].number);
    fm_pack_key_uint(&reply.packer, "uptime_ms", uptime_ns / FM_NS_PER_MS);
    fm_reply_send(session, &reply);
    return FM_OK;
}

// ---- tokens ------------------------------------------------------------------------------------

static fm_status read_role(const fm_request *request, fm_role *role, char *error)
{
    for (fm_role r = FM_ROLE_PLAYER; r <= FM_ROLE_ADMIN; r++) {
        if (fm_value_is(&request->values[FM_FIELD_ROLE], fm_role_name(r))) {
            *role = r;
            return FM_OK;
        }
    }
    snprintf(error, FM_ERROR_TEXT_SIZE, "role must be player, observer, debug or admin");
    return FM_ERR_BAD_VALUE;
}

static fm_status read_seat(fm_session *session, const fm_request *request, fm_grant *grant,
                           char *error)
{
    bool has_world = request->values[FM_FIELD_WORLD].present;
    bool has_team = request->values[FM_FIELD_TEAM].present;
    bool is_player = grant->role == FM_ROLE_PLAYER;
    if (has_world != is_player || has_team != is_player) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 is_player ? "token.create: a player's seat is a world and a team"
                           : "token.create: only players have a world and a team");
        return FM_ERR_BAD_FIELD;
    }
    if (!is_player) {
        return FM_OK;
    }
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status == FM_OK) {
        grant->seat.number = host->number;
        grant->seat.team = (uint32_t)request->values[FM_FIELD_TEAM].number;
    }
    return status;
}

fm_status fm_take_token_create(fm_session *session, const fm_request *request, char *error)
{
    fm_grant grant = {.role = FM_ROLE_NONE};
    fm_status status = read_role(request, &grant.role, error);
    if (status == FM_OK) {
        status = read_seat(session, request, &grant, error);
    }
    if (status != FM_OK || request->is_notification) {
        return status; // without an answer there is no use in making a secret
    }
    uint64_t lasts_s = request->values[FM_FIELD_EXPIRES_S].number;
    grant.expires_s = lasts_s == 0 ? 0 : fm_clock_unix_s() + lasts_s;
    return fm_issue_token(session, request, &grant);
}

static void pack_token(msgpack_packer *packer, const fm_grant *grant, uint64_t now_s)
{
    bool expires = grant->expires_s != 0, was_used = grant->used_s != 0;
    bool is_player = grant->role == FM_ROLE_PLAYER;
    msgpack_pack_map(packer, 2 + 2 * is_player + expires + was_used);
    fm_pack_key_uint(packer, "number", grant->number);
    fm_pack_key_text(packer, "role", fm_role_name(grant->role));
    if (is_player) {
        fm_pack_key_uint(packer, "world", grant->seat.number);
        fm_pack_key_uint(packer, "team", grant->seat.team);
    }
    if (expires) {
        fm_pack_key_uint(packer, "expires_s",
                         grant->expires_s > now_s ? grant->expires_s - now_s : 0);
    }
    if (was_used) {
        fm_pack_key_uint(packer, "used_s", now_s > grant->used_s ? now_s - grant->used_s : 0);
    }
}

fm_status fm_take_token_list(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    const fm_tokens *tokens = &session->hub->tokens;
    uint64_t now_s = fm_clock_unix_s();
    if (request->is_notification) {
        return FM_OK;
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 1);
    fm_pack_text(&reply.packer, "tokens");
    msgpack_pack_array(&reply.packer, tokens->created_count);
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        pack_token(&reply.packer, &tokens->created[i], now_s);
    }
    fm_reply_send(session, &reply);
    return FM_OK;
}

fm_status fm_take_token_revoke(fm_session *session, const fm_request *request, char *error)
{
    fm_status status = fm_revoke_token(session, request, request->values[FM_FIELD_NUMBER].number);
    if (status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "token %llu: there is no such token",
                 (unsigned long long)request->values[FM_FIELD_NUMBER].number);
    }
    return status;
}
