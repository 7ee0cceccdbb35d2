// server/methods/issuance.c: see issuance.h.

#include "server/methods/issuance.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/sessions/ledger.h"
#include "server/streams/shipping.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_MS 4000u // longer than the lease of a node that does not answer

enum entry_kind {
    ENTRY_ADD,
    ENTRY_REMOVE,
    ENTRY_REMOVE_WORLD,
};

// A change to be written, and the session that waits for it.
struct fm_issuance_entry {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    enum entry_kind kind;
    fm_grant grant;                 // ENTRY_ADD
    char token[FM_TOKEN_TEXT_SIZE]; // the same: the secret
    uint64_t number;                // of the token or world
    uint64_t session, request;      // session 0: none waits
    bool is_notification;
    uint64_t world;                 // ENTRY_REMOVE: of the token's seat
    uint64_t revision;              // in a cluster: of the change
    uint64_t until_ns;              // time that it waits for the other nodes
    struct fm_issuance_entry *next; // waiting or unwritten
    fm_status status;
    char error[FM_LEDGER_ERROR_SIZE];
};

// ---- answers -----------------------------------------------------------------------------------

static void log_created(const fm_grant *grant)
{
    static fm_log_site created;
    fm_log_limited(&created, FM_LOG_INFO, "token created", fm_log_uint("number", grant->number),
                   fm_log_text("role", fm_role_name(grant->role)),
                   fm_log_uint("world", grant->seat.number), fm_log_uint("team", grant->seat.team));
}

static void answer_created(fm_session *session, uint64_t request, const char *token,
                           uint64_t number)
{
    fm_reply reply;
    fm_reply_begin(&reply, request);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_key_text(&reply.packer, "token", token);
    fm_pack_key_uint(&reply.packer, "number", number);
    fm_reply_send(session, &reply);
}

static void answer_revoked(fm_session *session, uint64_t request)
{
    fm_reply reply;
    fm_reply_begin(&reply, request);
    msgpack_pack_map(&reply.packer, 0);
    fm_reply_send(session, &reply);
}

// ---- writing -----------------------------------------------------------------------------------

static void write_to_cluster(struct fm_issuance_entry *entry)
{
    const fm_token_log_place place =
        fm_world_log_token_place(entry->hub->log_store); // of the same cluster
    switch (entry->kind) {
    case ENTRY_ADD:
        entry->status = fm_token_log_add(&place, &entry->grant, fm_clock_unix_s(), &entry->revision,
                                         entry->error);
        entry->number = entry->grant.number;
        break;
    case ENTRY_REMOVE:
        entry->status = fm_token_log_remove(&place, entry->world, entry->number, &entry->revision,
                                            entry->error);
        break;
    case ENTRY_REMOVE_WORLD:
        entry->status =
            fm_token_log_remove_world(&place, entry->number, &entry->revision, entry->error);
        break;
    }
}

static void write_entry(uv_work_t *work)
{
    struct fm_issuance_entry *entry = work->data;
    fm_ledger *ledger = entry->hub->ledger;
    if (entry->hub->log_store != NULL) {
        write_to_cluster(entry);
        return;
    }
    switch (entry->kind) {
    case ENTRY_ADD:
        entry->status = fm_ledger_add(ledger, &entry->grant, entry->error);
        break;
    case ENTRY_REMOVE:
        entry->status = fm_ledger_remove(ledger, entry->number, entry->error);
        break;
    case ENTRY_REMOVE_WORLD:
        entry->status = fm_ledger_remove_world(ledger, entry->number, entry->error);
        break;
    }
}

static void on_written(uv_work_t *work, int error);
static void finish_entry(struct fm_issuance_entry *entry);

static void free_entry(struct fm_issuance_entry *entry)
{
    entry->hub->issuance.asked_count -= entry->session != 0;
    sodium_memzero(entry->token, sizeof entry->token);
    free(entry);
}

static bool begin_write(struct fm_issuance_entry *entry)
{
    entry->work.data = entry;
    return uv_queue_work(entry->hub->loop, &entry->work, write_entry, on_written) == 0;
}

static struct fm_issuance_entry *take_first(fm_issuance *issuance)
{
    struct fm_issuance_entry *first = issuance->unwritten;
    issuance->unwritten = first->next;
    first->next = NULL;
    return first;
}

static void append(fm_issuance *issuance, struct fm_issuance_entry *entry)
{
    struct fm_issuance_entry **link =
        issuance->unwritten == NULL ? &issuance->unwritten : &issuance->unwritten_last->next;
    *link = issuance->unwritten_last = entry;
}

static void write_next(fm_issuance *issuance)
{
    while (issuance->unwritten != NULL && !begin_write(issuance->unwritten)) {
        issuance->unwritten->status = FM_ERR_IO;
        issuance->writing_count--;
        finish_entry(take_first(issuance));
    }
}

static fm_status queue(struct fm_issuance_entry *entry)
{
    fm_issuance *issuance = &entry->hub->issuance;
    bool is_alone = entry->hub->log_store != NULL || issuance->unwritten == NULL;
    if (is_alone && !begin_write(entry)) {
        free_entry(entry);
        return FM_ERR_IO;
    }
    if (entry->hub->log_store == NULL) {
        append(issuance, entry);
    }
    issuance->writing_count++;
    return FM_OK;
}

// A server that is told to remove `number` need not be notified.
static void strike(fm_hub *hub, enum entry_kind kind, uint64_t number)
{
    bool is_kept = hub->ledger != NULL || hub->log_store != NULL;
    struct fm_issuance_entry *entry = is_kept ? calloc(1, sizeof *entry) : NULL;
    if (entry != NULL) {
        *entry = (struct fm_issuance_entry){.hub = hub, .kind = kind, .number = number};
    }
    if (is_kept && (entry == NULL || queue(entry) != FM_OK)) {
        fm_log(FM_LOG_ERROR, "token not struck out", fm_log_uint("number", number),
               fm_log_text("reason", "out of memory"));
    }
}

static void finish_add(struct fm_issuance_entry *entry, fm_session *session)
{
    fm_hub *hub = entry->hub;
    bool is_good = fm_tokens_have(&hub->tokens, entry->grant.hash) || hub->log_store != NULL;
    if (entry->status == FM_OK && !is_good) {
        strike(hub, ENTRY_REMOVE, entry->number); // it ended while it was written
    }
    if (entry->status != FM_OK && hub->log_store != NULL) {
        return; // it is in no list
    }
    if (entry->status != FM_OK) {
        (void)fm_tokens_revoke(&hub->tokens, entry->number); // not known to anyone yet
    } else {
        log_created(&entry->grant);
    }
    if (session != NULL && entry->status == FM_OK) {
        answer_created(session, entry->request, entry->token, entry->number);
    }
}

// Ends a removed token, and the sessions that were opened with it. A session that revoked its own
// token gets its answer first.
static fm_status end_token(fm_hub *hub, uint64_t number, const fm_session *session)
{
    if (!fm_tokens_revoke(&hub->tokens, number)) {
        return FM_ERR_BAD_VALUE;
    }
    static fm_log_site revoked;
    fm_log_limited(&revoked, FM_LOG_INFO, "token revoked", fm_log_uint("number", number));
    fm_sessions_check_tokens(hub, session);
    return FM_OK;
}

static void tell_ended(fm_hub *hub, fm_session *session, uint64_t request, bool is_notification)
{
    if (session != NULL && !is_notification) {
        answer_revoked(session, request);
    }
    fm_sessions_check_tokens(hub, NULL);
}

// The token is gone now.
static void finish_remove(const struct fm_issuance_entry *entry, fm_session *session)
{
    bool was_asked_for = entry->session != 0;
    if (entry->status == FM_OK && was_asked_for) {
        tell_ended(entry->hub, session, entry->request, entry->is_notification);
    }
}

// @param is_safe  false: the server ends before its standby has the entry
static void finish_copied(void *context, bool is_safe)
{
    struct fm_issuance_entry *entry = context;
    entry->status = is_safe ? entry->status : FM_ERR_GOING_DOWN;
    finish_entry(entry);
}

// A token without a number for clients (ENTRY_REMOVE without a session) is gone already. Others end
// before the standby is notified: it gets the valid tokens.
static void tell_standby(struct fm_issuance_entry *entry)
{
    fm_hub *hub = entry->hub;
    if (entry->kind == ENTRY_REMOVE && entry->session != 0) {
        entry->status = end_token(hub, entry->number, fm_hub_find_session(hub, entry->session));
    }
    if (entry->status == FM_OK) {
        fm_shipping_note_ledger(hub, finish_copied, entry);
    } else {
        finish_entry(entry);
    }
}

static void on_written(uv_work_t *work, int error)
{
    struct fm_issuance_entry *entry = work->data;
    fm_hub_beat(entry->hub);
    entry->hub->issuance.writing_count--;
    if (error < 0) {
        entry->status = FM_ERR_IO;
        snprintf(entry->error, sizeof entry->error, "%s", uv_strerror(error));
    }
    if (entry->hub->log_store == NULL) {
        (void)take_first(&entry->hub->issuance);
        write_next(&entry->hub->issuance);
    }
    if (entry->status == FM_OK && entry->session != 0 && entry->hub->node != NULL) {
        entry->until_ns = fm_clock_now_ns() + KNOWN_MS * FM_NS_PER_MS;
        entry->next = entry->hub->issuance.waiting;
        entry->hub->issuance.waiting = entry;
        fm_issuance_check(entry->hub);
    } else if (entry->status == FM_OK && entry->hub->log_store == NULL) {
        tell_standby(entry);
    } else {
        finish_entry(entry);
    }
}

static void finish_entry(struct fm_issuance_entry *entry)
{
    fm_session *session =
        entry->session == 0 ? NULL : fm_hub_find_session(entry->hub, entry->session);
    if (session != NULL) {
        fm_session_job_done(session);
    }
    if (entry->status != FM_OK && entry->error[0] != '\0') { // else the disk is not at fault
        static fm_log_site failed;
        fm_log_limited(&failed, FM_LOG_ERROR, "ledger cannot be written",
                       fm_log_text("reason", entry->error));
    }
    switch (entry->kind) {
    case ENTRY_ADD:
        finish_add(entry, session);
        break;
    case ENTRY_REMOVE:
        finish_remove(entry, session);
        break;
    case ENTRY_REMOVE_WORLD:
        break;
    }
    if (session != NULL && entry->status != FM_OK && !entry->is_notification) {
        fm_reply_error(session, entry->request, entry->status,
                       entry->error[0] == '\0' ? NULL : entry->error);
    }
    free_entry(entry);
}

static struct fm_issuance_entry *make_entry(const fm_session *session, const fm_request *request,
                                            enum entry_kind kind, uint64_t number)
{
    struct fm_issuance_entry *entry = calloc(1, sizeof *entry);
    if (entry != NULL) {
        *entry = (struct fm_issuance_entry){
            .hub = session->hub,
            .kind = kind,
            .number = number,
            .session = session->number,
            .request = request->id,
            .is_notification = request->is_notification,
        };
        session->hub->issuance.asked_count++;
    }
    return entry;
}

// ---- a cluster ---------------------------------------------------------------------------------

// A session that revokes its own token is answered first.
static const fm_session *revoker(const fm_hub *hub)
{
    for (const struct fm_issuance_entry *entry = hub->issuance.waiting; entry != NULL;
         entry = entry->next) {
        if (entry->kind == ENTRY_REMOVE) {
            return fm_hub_find_session(hub, entry->session);
        }
    }
    return NULL;
}

void fm_take_cluster_tokens(fm_hub *hub)
{
    fm_token_list list;
    if (hub->node == NULL || !fm_node_take_tokens(hub->node, &list)) {
        return;
    }
    fm_status status = fm_tokens_replace(&hub->tokens, list.grants, list.count, fm_clock_unix_s());
    if (status != FM_OK) {
        fm_log(FM_LOG_ERROR, "not all tokens of the cluster are taken in",
               fm_log_uint("count", list.count), fm_log_status("reason", status));
    }
    free(list.grants);
    fm_sessions_check_tokens(hub, revoker(hub));
    fm_issuance_check(hub);
}

bool fm_issuance_is_writing(const fm_hub *hub)
{
    return hub->issuance.writing_count > 0;
}

void fm_issuance_check(fm_hub *hub)
{
    struct fm_issuance_entry **link = &hub->issuance.waiting;
    uint64_t now_ns = fm_clock_now_ns();
    while (*link != NULL) {
        struct fm_issuance_entry *entry = *link;
        bool is_known = hub->node == NULL || fm_node_tokens_are_known(hub->node, entry->revision);
        if (!is_known && now_ns < entry->until_ns) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        if (!is_known) {
            fm_log(FM_LOG_WARNING, "a node does not say whether it knows of a token",
                   fm_log_uint("number", entry->number));
        }
        finish_entry(entry);
    }
}

// ---- what handlers call ------------------------------------------------------------------------

// While a disk, the cluster or a standby makes changes wait, clients that leave can ask for more
// and more of them.
static bool is_full(const fm_hub *hub)
{
    return hub->issuance.asked_count >= FM_ISSUANCE_MAX;
}

static fm_status write_created(fm_session *session, const fm_request *request,
                               const fm_grant *grant, const char token[FM_TOKEN_TEXT_SIZE])
{
    struct fm_issuance_entry *entry = make_entry(session, request, ENTRY_ADD, grant->number);
    if (entry == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    entry->grant = *grant;
    memcpy(entry->token, token, sizeof entry->token);
    fm_status status = queue(entry);
    session->jobs_waiting += status == FM_OK;
    return status;
}

static fm_status issue_in_cluster(fm_session *session, const fm_request *request,
                                  const fm_grant *grant)
{
    fm_grant made = *grant;
    char token[FM_TOKEN_TEXT_SIZE];
    if (session->hub->tokens.created_count >= FM_TOKENS_CREATED_MAX) {
        return FM_ERR_LIMIT;
    }
    fm_tokens_draw(&made, token);
    fm_status status = write_created(session, request, &made, token);
    sodium_memzero(token, sizeof token);
    return status;
}

fm_status fm_issue_token(fm_session *session, const fm_request *request, const fm_grant *grant)
{
    fm_hub *hub = session->hub;
    if (is_full(hub)) {
        return FM_ERR_BUSY;
    }
    if (hub->log_store != NULL) {
        return issue_in_cluster(session, request, grant);
    }
    fm_grant made = *grant;
    char token[FM_TOKEN_TEXT_SIZE];
    fm_status status = fm_tokens_create(&hub->tokens, &made, token);
    if (status != FM_OK) {
        return status;
    }
    if (hub->ledger == NULL) {
        log_created(&made);
        answer_created(session, request->id, token, made.number);
    } else {
        status = write_created(session, request, &made, token);
        if (status != FM_OK) {
            (void)fm_tokens_revoke(&hub->tokens, made.number);
        }
    }
    sodium_memzero(token, sizeof token);
    return status;
}

// Written first: if the token ended first and the disk were full, it would come back with a
// restart.
fm_status fm_revoke_token(fm_session *session, const fm_request *request, uint64_t number)
{
    fm_hub *hub = session->hub;
    if (hub->ledger == NULL && hub->log_store == NULL) {
        fm_status status = end_token(hub, number, session);
        if (status == FM_OK) {
            tell_ended(hub, session, request->id, request->is_notification);
        }
        return status;
    }
    if (!fm_tokens_have_number(&hub->tokens, number)) {
        return FM_ERR_BAD_VALUE;
    }
    if (is_full(hub)) {
        return FM_ERR_BUSY;
    }
    struct fm_issuance_entry *entry = make_entry(session, request, ENTRY_REMOVE, number);
    if (entry == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    entry->world = fm_tokens_world_of(&hub->tokens, number);
    fm_status status = queue(entry);
    session->jobs_waiting += status == FM_OK;
    return status;
}

void fm_expire_tokens(fm_hub *hub)
{
    uint64_t number, now_s = fm_clock_unix_s();
    bool any = false;
    while ((number = fm_tokens_expired(&hub->tokens, now_s)) != 0) {
        static fm_log_site expired;
        fm_log_limited(&expired, FM_LOG_INFO, "token expired", fm_log_uint("number", number));
        (void)fm_tokens_revoke(&hub->tokens, number);
        if (hub->log_store == NULL) { // else its key goes with a lease, whatever this clock says
            strike(hub, ENTRY_REMOVE, number); // if that fails it has still expired
        }
        any = true;
    }
    if (any) {
        fm_sessions_check_tokens(hub, NULL);
    }
}

void fm_revoke_world(fm_hub *hub, uint64_t world)
{
    fm_tokens_end_world(&hub->tokens, world);
    fm_sessions_check_tokens(hub, NULL);
    strike(hub, ENTRY_REMOVE_WORLD, world);
}
