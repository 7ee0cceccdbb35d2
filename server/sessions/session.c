// server/sessions/session.c: see session.h.

#include "server/sessions/session.h"

#include "proto/pack.h"
#include "server/base/clock.h"
#include "server/base/log.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define ALIAS_BITS      53u
#define ZONE_CHUNK_SIZE 8192u
#define INPUT_KEPT_SIZE (16u << 10) // capacity that an empty input keeps
#define HELD_UP_SHARE   4u          // reading continues when this part of the bound is left
#define ALIVE_NS                                                                                   \
    (FM_NS_PER_S / 2) // clients ask a node that is quiet for 1 s, and leave it 2 s later
#define FINISH_LONGEST_NS (5 * FM_NS_PER_S) // for a client to read its last answers
#define PINGS_WHEN_IDLE   3u                // before a silent client is pinged
#define LINGER_NS         (FM_NS_PER_S / 4) // for it to disconnect after that

static const fm_transport_events events;

// ---- beginning and end -------------------------------------------------------------------------

bool fm_session_is_open(const fm_session *session)
{
    return session->state == FM_SESSION_GREETING || session->state == FM_SESSION_READY;
}

static void set_limits(fm_session *session, uint64_t size_max)
{
    const fm_config *config = session->hub->config;
    uint64_t size = config->message_size_max < size_max ? config->message_size_max : size_max;
    const fm_scan_limits limits = {
        .size_max = (uint32_t)size,
        .depth_max = (uint32_t)config->message_depth_max,
        .elements_max = (uint32_t)config->message_elements_max,
    };
    fm_scanner_init(&session->scanner, &limits);
}

void fm_session_let_in(fm_session *session)
{
    session->state = FM_SESSION_READY;
    set_limits(session, UINT64_MAX);
}

// A counter would show a client how many others come and go. 53 bits are what a JavaScript client
// can hold, and enough not to check for duplicates.
static uint64_t make_alias(void)
{
    uint64_t alias;
    randombytes_buf(&alias, sizeof alias);
    alias >>= 64 - ALIAS_BITS;
    return alias == 0 ? 1 : alias;
}

static fm_session *session_create(fm_hub *hub, fm_transport *transport)
{
    fm_session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        return NULL;
    }
    session->hub = hub;
    set_limits(session, FM_GREETING_SIZE_MAX);
    session->transport = transport;
    session->number = hub->session_last + 1;
    session->alias = make_alias();
    session->opened_ns = session->progress_ns = session->received_ns = fm_clock_now_ns();
    return session;
}

static void join_yielding(fm_session *session)
{
    fm_hub *hub = session->hub;
    session->before_yielding = hub->yield_last;
    session->next_yielding = NULL;
    *(hub->yield_last == NULL ? &hub->yield_first : &hub->yield_last->next_yielding) = session;
    hub->yield_last = session;
    hub->yield_count++;
    session->yields = true;
}

static void leave_yielding(fm_session *session)
{
    fm_hub *hub = session->hub;
    fm_session *before = session->before_yielding, *next = session->next_yielding;
    *(before == NULL ? &hub->yield_first : &before->next_yielding) = next;
    *(next == NULL ? &hub->yield_last : &next->before_yielding) = before;
    hub->yield_count--;
    session->yields = false;
}

static void session_destroy(fm_session *session)
{
    if (session->yields) {
        leave_yielding(session);
    }
    session->hub->uploads_size -= session->upload.total + session->download.total;
    fm_quotas_release(&session->hub->address_quotas, session->address_quota, fm_clock_now_ns());
    if (session->token_quota != NULL) {
        fm_quotas_release(&session->hub->token_quotas, session->token_quota, fm_clock_now_ns());
    }
    free(session->upload.bytes);
    free(session->download.bytes);
    free(session->input);
    free(session);
}

static bool is_full(const fm_hub *hub, const fm_quota *address)
{
    const fm_config *config = hub->config;
    return hub->going_down || hub->session_count >= config->sessions_max ||
           (config->sessions_per_address_max > 0 &&
            address->connections > config->sessions_per_address_max);
}

static void turn_away(fm_hub *hub, fm_transport *transport, bool too_fast)
{
    static fm_log_site too_many;
    hub->counts.turned_away++;
    hub->counts.too_fast += too_fast;
    fm_log_limited(&too_many, FM_LOG_WARNING, "connection turned away",
                   fm_log_text("peer", transport->peer),
                   fm_log_text("reason", too_fast ? "rate_connections" : "too many"),
                   fm_log_uint("sessions", hub->session_count));
    transport->ops->close(transport);
}

void fm_session_accept(void *context, fm_transport *transport)
{
    fm_hub *hub = context;
    uint64_t now_ns = fm_clock_now_ns();
    fm_quota *address = fm_quotas_hold_address(&hub->address_quotas, transport->peer);
    bool too_fast =
        address != NULL && !fm_quota_may_open(address, hub->config->rate_connections, now_ns);
    if (address == NULL || too_fast || is_full(hub, address)) {
        if (address != NULL) {
            fm_quotas_release(&hub->address_quotas, address, now_ns);
        }
        turn_away(hub, transport, too_fast);
        return;
    }
    fm_session *session = session_create(hub, transport);
    if (session == NULL) {
        fm_quotas_release(&hub->address_quotas, address, now_ns);
        transport->ops->close(transport);
        return;
    }
    session->address_quota = address;
    if (!fm_hub_add_session(hub, session)) {
        session_destroy(session);
        transport->ops->close(transport);
        return;
    }
    hub->session_last++;
    transport->events = &events;
    transport->owner = session;
}

// From here on nothing is sent. Subscriptions end with the session, when its transport is closed:
// the caller may be walking over them.
static void let_go(fm_session *session, fm_session_state state, const char *reason)
{
    static fm_log_site ended;
    session->state = state;
    fm_hub_count_ending(session->hub, reason);
    fm_log_limited(&ended, FM_LOG_INFO, "session ended", fm_log_uint("session", session->number),
                   fm_log_text("client", session->client), fm_log_text("reason", reason));
}

void fm_session_disconnect(fm_session *session, const char *reason)
{
    if (session->state == FM_SESSION_GONE) {
        return;
    }
    if (session->state != FM_SESSION_FINISHING) {
        let_go(session, FM_SESSION_GONE, reason);
    }
    session->state = FM_SESSION_GONE;
    session->transport->ops->close(session->transport);
}

void fm_session_finish(fm_session *session, const char *reason)
{
    if (fm_session_is_open(session)) {
        let_go(session, FM_SESSION_FINISHING, reason);
        session->finish_ns = session->progress_ns = fm_clock_now_ns();
        session->transport->ops->finish(session->transport);
    }
}

static void on_closed(void *owner)
{
    fm_session *session = owner;
    fm_hub *hub = session->hub;
    fm_hub_beat(hub);
    if (fm_session_is_open(session)) {
        let_go(session, FM_SESSION_GONE, "client disconnected");
    }
    hub->session_events->closed(session);
    fm_hub_drop_session(hub, session);
    session_destroy(session);
    hub->on_session_gone(hub);
}

// ---- receiving ---------------------------------------------------------------------------------

// The number of a request of which only the beginning is known: [0, id, ...
static bool request_of_beginning(const uint8_t *bytes, size_t size, uint64_t *request)
{
    if (size < 3 || bytes[0] != 0x94 || bytes[1] != 0x00) {
        return false;
    }
    uint32_t number_size = bytes[2] == 0xcc ? 1 : bytes[2] == 0xcd ? 2 : bytes[2] == 0xce ? 4 : 0;
    if (number_size == 0) {
        *request = bytes[2];
        return bytes[2] < 0x80;
    }
    *request = 0;
    for (uint32_t i = 0; i < number_size && size >= 3 + number_size; i++) {
        *request = *request << 8 | bytes[3 + i];
    }
    return size >= 3 + number_size;
}

static void refuse_bytes(fm_session *session, const uint8_t *message, size_t size)
{
    static fm_log_site refused;
    const fm_scanner *scanner = &session->scanner;
    session->hub->counts.protocol_errors++;
    fm_log_limited(
        &refused, FM_LOG_WARNING, "message refused", fm_log_uint("session", session->number),
        fm_log_text("peer", session->transport->peer), fm_log_text("reason", scanner->reason));
    uint64_t request;
    if (request_of_beginning(message, size, &request)) {
        fm_status status = scanner->state == FM_SCAN_LARGE ? FM_ERR_TOO_LARGE : FM_ERR_BAD_MESSAGE;
        fm_reply_error(session, request, status, scanner->reason);
    }
    fm_session_finish(session, "bad bytes");
}

// One whole message that the scanner has passed. Its unpacked form is freed with it: an idle
// session holds no memory for messages.
static void receive_message(fm_session *session, const uint8_t *bytes, size_t size)
{
    msgpack_object message;
    msgpack_zone zone;
    size_t offset = 0;
    session->hub->counts.messages++;
    session->message_size = size;
    if (!msgpack_zone_init(&zone, ZONE_CHUNK_SIZE)) {
        fm_session_disconnect(session, "out of memory");
        return;
    }
    msgpack_unpack_return result =
        msgpack_unpack((const char *)bytes, size, &offset, &zone, &message);
    if (result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES) {
        session->hub->session_events->received(session, &message);
    } else {
        session->hub->counts.protocol_errors++;
        fm_session_finish(session, "message cannot be unpacked");
    }
    msgpack_zone_destroy(&zone);
}

static bool is_overloaded(const fm_session *session)
{
    return session->jobs_waiting >= FM_SESSION_JOBS_MAX ||
           fm_session_unsent_size(session) > session->hub->config->session_unsent_max;
}

// Work that directly follows other work, as when libuv reads again and again, belongs to the same
// turn.
static void begin_turn(fm_session *session, uint64_t now_ns)
{
    if (now_ns - session->worked_ns > FM_SESSION_TURN_NS) {
        session->turn_ns = now_ns;
    }
}

static void yield(fm_session *session)
{
    fm_hub *hub = session->hub;
    join_yielding(session);
    session->transport->ops->pause(session->transport);
    if (hub->yield_count == 1) {
        hub->on_yield(hub);
    }
}

static void end_work(fm_session *session)
{
    session->worked_ns = fm_clock_now_ns();
    if (session->hub->on_yield != NULL && fm_session_is_open(session) &&
        session->worked_ns - session->turn_ns > FM_SESSION_TURN_NS) {
        yield(session);
    }
}

static void end_message(fm_session *session)
{
    if (is_overloaded(session)) {
        session->worked_ns = fm_clock_now_ns();
        session->held_up = true;
        session->transport->ops->pause(session->transport);
    } else {
        end_work(session);
    }
}

static bool may_go_on(const fm_session *session)
{
    return fm_session_is_open(session) && !session->held_up && !session->yields;
}

// Handles the whole messages at the start of `bytes`. Returns how many bytes they were; the rest is
// the beginning of a message, of which the scanner has seen scanner.size bytes, or waits because
// the session was paused or yields.
static size_t receive_messages(fm_session *session, const uint8_t *bytes, size_t size)
{
    size_t start = 0;
    while (may_go_on(session)) {
        fm_scanner *scanner = &session->scanner;
        size_t scanned = start + (size_t)scanner->size;
        fm_scanner_feed(scanner, bytes + scanned, size - scanned);
        if (scanner->state == FM_SCAN_MORE) {
            break;
        }
        if (scanner->state != FM_SCAN_DONE) {
            refuse_bytes(session, bytes + start, size - start);
            break;
        }
        size_t message_size = (size_t)scanner->size;
        fm_scanner_reset(scanner);
        receive_message(session, bytes + start, message_size);
        start += message_size;
        end_message(session);
    }
    return start;
}

static bool keep_input(fm_session *session, const uint8_t *bytes, size_t size)
{
    size_t needed = session->input_size + size;
    if (needed > session->input_capacity) {
        size_t capacity = session->input_capacity == 0 ? 1024 : session->input_capacity;
        while (capacity < needed) {
            capacity *= 2;
        }
        uint8_t *input = realloc(session->input, capacity);
        if (input == NULL) {
            return false;
        }
        session->input = input;
        session->input_capacity = capacity;
    }
    if (session->input_size == 0) {
        session->message_ns = session->received_ns;
    }
    memcpy(session->input + session->input_size, bytes, size);
    session->input_size += size;
    return true;
}

static void drop_input(fm_session *session, size_t size)
{
    session->input_size -= size;
    if (size > 0) {
        session->message_ns = session->received_ns; // another session is at the front now
    }
    if (session->input_size > 0) {
        memmove(session->input, session->input + size, session->input_size);
    } else if (session->input_capacity > INPUT_KEPT_SIZE) {
        free(session->input);
        session->input = NULL;
        session->input_capacity = 0;
    }
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    fm_session *session = owner;
    fm_hub_beat(session->hub);
    session->hub->counts.bytes_in += size;
    session->received_ns = fm_clock_now_ns();
    begin_turn(session, session->received_ns);
    size_t taken = 0;
    bool straight = session->input_size == 0;
    if (straight) {
        taken = receive_messages(session, bytes, size);
    }
    if (!fm_session_is_open(session)) {
        return;
    }
    if (taken < size && !keep_input(session, bytes + taken, size - taken)) {
        fm_session_disconnect(session, "out of memory");
        return;
    }
    if (!straight) {
        drop_input(session, receive_messages(session, session->input, session->input_size));
    }
}

// What belongs to no message says nothing about whether the client is there, but takes time.
static void on_worked(void *owner, uint64_t begin_ns)
{
    fm_session *session = owner;
    if (may_go_on(session)) {
        if (begin_ns > session->worked_ns) {
            begin_turn(session, begin_ns);
        }
        end_work(session);
    }
}

// ---- sending -----------------------------------------------------------------------------------

size_t fm_session_bytes(const fm_session *session)
{
    return sizeof *session + session->input_capacity + session->upload.total +
           session->download.total;
}

size_t fm_session_unsent_size(const fm_session *session)
{
    return session->transport->ops->unsent_size(session->transport);
}

void fm_session_send(fm_session *session, fm_frame *const *frames, uint32_t frame_count)
{
    if (!fm_session_is_open(session)) {
        return;
    }
    size_t size = 0;
    for (uint32_t i = 0; i < frame_count; i++) {
        size += frames[i]->size;
    }
    if (fm_session_unsent_size(session) > FM_SESSION_UNSENT_MAX) {
        fm_session_disconnect(session, "too much unread");
        return;
    }
    if (session->transport->ops->send(session->transport, frames, frame_count) != FM_OK) {
        fm_session_disconnect(session, "cannot write");
        return;
    }
    session->queued_size += size + FM_SEND_OVERHEAD;
    session->hub->counts.bytes_out += size;
}

static void go_on(fm_session *session)
{
    if (session->input_size > 0) {
        drop_input(session, receive_messages(session, session->input, session->input_size));
    }
    if (may_go_on(session)) {
        session->transport->ops->resume(session->transport);
    }
}

// Resumes a paused session once its client has caught up.
static void try_to_go_on(fm_session *session)
{
    const fm_config *config = session->hub->config;
    if (!session->held_up || !fm_session_is_open(session) ||
        session->jobs_waiting > FM_SESSION_JOBS_MAX / HELD_UP_SHARE ||
        fm_session_unsent_size(session) > config->session_unsent_max / HELD_UP_SHARE) {
        return;
    }
    session->held_up = false;
    begin_turn(session, fm_clock_now_ns());
    go_on(session);
}

// Sessions that disconnect may be removed at once. Those that yield again wait for the next round.
void fm_sessions_take_turns(fm_hub *hub)
{
    for (uint32_t left = hub->yield_count; left > 0 && hub->yield_first != NULL; left--) {
        fm_session *session = hub->yield_first;
        leave_yielding(session);
        session->turn_ns = fm_clock_now_ns();
        if (may_go_on(session)) {
            go_on(session);
        }
    }
    if (hub->yield_count > 0) {
        hub->on_yield(hub);
    }
}

static void on_sent(void *owner)
{
    fm_session *session = owner;
    try_to_go_on(session);
    if (fm_session_is_open(session)) {
        session->hub->session_events->drained(session);
    }
}

void fm_session_jobs_done(fm_session *session, uint32_t count)
{
    session->jobs_waiting -= count;
    try_to_go_on(session);
}

void fm_session_job_done(fm_session *session)
{
    fm_session_jobs_done(session, 1);
}

static const fm_transport_events events = {
    .received = on_received,
    .worked = on_worked,
    .sent = on_sent,
    .closed = on_closed,
};

// ---- time --------------------------------------------------------------------------------------

static uint64_t ns_of(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

// A client that has received everything should disconnect by itself: if we closed first, bytes that
// it still sends would make the system drop what it has not read. When the server goes down,
// grace_s is the limit.
static void check_finishing(fm_session *session, uint64_t now_ns)
{
    if (fm_session_unsent_size(session) > 0) {
        session->progress_ns = now_ns;
    }
    bool too_long = !session->hub->going_down && now_ns - session->finish_ns > FINISH_LONGEST_NS;
    if (too_long || now_ns - session->progress_ns > LINGER_NS) {
        fm_session_disconnect(session, "finished");
    }
}

// Pings the client. A client of the protocol answers with a ping of its own.
static void ping(fm_session *session, uint64_t now_ns)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_notification(&packer, FM_NOTIFY_IDLE);
    msgpack_pack_map(&packer, 1);
    fm_pack_text(&packer, "time");
    msgpack_pack_uint64(&packer, (now_ns - session->hub->start_ns) / FM_NS_PER_MS);
    fm_frame *frame = fm_frame_take(&buffer);
    if (frame != NULL) {
        session->pinged_ns = now_ns;
        fm_session_send(session, &frame, 1);
        fm_frame_drop(frame);
    }
}

// Its requests wait for a world or a disk, and more are not read before some are answered: for its
// client, which hears no answer to a ping either, this server would be silent.
static bool seems_silent(const fm_session *session, uint64_t now_ns)
{
    return session->held_up && session->state == FM_SESSION_READY &&
           session->jobs_waiting > FM_SESSION_JOBS_MAX / HELD_UP_SHARE &&
           fm_session_unsent_size(session) == 0 && now_ns - session->worked_ns > ALIVE_NS &&
           now_ns - session->pinged_ns > ALIVE_NS;
}

// A session that we paused is not idle by its own fault.
static void check_idle(fm_session *session, uint64_t now_ns)
{
    const fm_config *config = session->hub->config;
    uint64_t idle_ns = ns_of(config->idle_timeout_s);
    if (session->held_up || session->yields) {
        session->received_ns = session->message_ns = now_ns;
        if (seems_silent(session, now_ns)) {
            ping(session, now_ns);
        }
        return;
    }
    if (session->input_size > 0 &&
        now_ns - session->message_ns > ns_of(config->message_timeout_s)) {
        fm_session_disconnect(session, "slow message");
    } else if (idle_ns > 0 && now_ns - session->received_ns > idle_ns) {
        fm_session_disconnect(session, "idle");
    } else if (idle_ns > 0 && session->state == FM_SESSION_READY &&
               now_ns - session->received_ns > idle_ns / PINGS_WHEN_IDLE &&
               now_ns - session->pinged_ns > idle_ns / PINGS_WHEN_IDLE) {
        ping(session, now_ns);
    }
}

void fm_session_check_time(fm_session *session, uint64_t now_ns)
{
    const fm_config *config = session->hub->config;
    if (session->state == FM_SESSION_GONE) {
        return;
    }
    if (session->state == FM_SESSION_FINISHING) {
        check_finishing(session, now_ns);
        return;
    }
    uint64_t unsent_size = fm_session_unsent_size(session);
    uint64_t written_size = session->queued_size - unsent_size;
    if (unsent_size == 0 || written_size != session->written_size) {
        session->written_size = written_size;
        session->progress_ns = now_ns;
    }
    if (session->state == FM_SESSION_GREETING &&
        now_ns - session->opened_ns > ns_of(config->hello_timeout_s)) {
        fm_session_disconnect(session, "no hello");
    } else if (now_ns - session->progress_ns > ns_of(config->slow_reader_timeout_s)) {
        fm_session_disconnect(session, "slow reader");
    } else {
        check_idle(session, now_ns);
    }
}

void fm_session_forgive(fm_session *session, uint64_t pause_ns, uint64_t now_ns)
{
    uint64_t *const times[] = {
        &session->opened_ns, &session->finish_ns,  &session->received_ns,
        &session->pinged_ns, &session->message_ns, &session->progress_ns,
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(times); i++) {
        // Bytes that came in after the pause must not get a time in the future.
        *times[i] = now_ns - *times[i] < pause_ns ? now_ns : *times[i] + pause_ns;
    }
}

fm_status fm_session_meter(fm_session *session, fm_meter_kind kind, uint64_t amount, char *error)
{
    const fm_config *config = session->hub->config;
    const struct {
        uint64_t per_s;
        const char *text;
    } rates[] = {
#define X(enumerator, key, words) [enumerator] = {config->key, words},
        FM_METER_LIST(X)
#undef X
    };
    uint64_t wait_ns;
    if (fm_meter_take(&session->meters[kind], amount, rates[kind].per_s, fm_clock_now_ns(),
                      &wait_ns)) {
        return FM_OK;
    }
    session->hub->counts.rate_refusals++;
    snprintf(error, FM_ERROR_TEXT_SIZE, "more than %llu %s a second; again in %llu ms",
             (unsigned long long)rates[kind].per_s, rates[kind].text,
             (unsigned long long)(wait_ns / FM_NS_PER_MS + 1));
    return FM_ERR_BUSY;
}

// Walks backwards, because sessions that finish may be removed at once.
void fm_sessions_check_tokens(fm_hub *hub, const fm_session *but)
{
    fm_token_index index;
    fm_token_index_init(&index, &hub->tokens);
    for (uint32_t i = hub->session_count; i-- > 0;) {
        fm_session *session = hub->sessions[i];
        if (session != but && session->has_token && !session->is_vouched &&
            !fm_token_index_has(&index, session->token_hash)) {
            fm_session_finish(session, "token revoked");
        }
    }
    fm_token_index_fini(&index);
}

// ---- answers -----------------------------------------------------------------------------------

void fm_reply_begin(fm_reply *reply, uint64_t request)
{
    msgpack_sbuffer_init(&reply->buffer);
    msgpack_packer_init(&reply->packer, &reply->buffer, fm_frame_write);
    fm_pack_result(&reply->packer, request);
}

void fm_reply_send(fm_session *session, fm_reply *reply)
{
    fm_frame *frame = fm_frame_take(&reply->buffer);
    if (frame == NULL) {
        fm_session_disconnect(session, "out of memory");
        return;
    }
    fm_session_send(session, &frame, 1);
    fm_frame_drop(frame);
}

void fm_reply_error(fm_session *session, uint64_t request, fm_status status, const char *message)
{
    fm_reply reply;
    msgpack_sbuffer_init(&reply.buffer);
    msgpack_packer_init(&reply.packer, &reply.buffer, fm_frame_write);
    fm_pack_error(&reply.packer, request, status, message);
    fm_reply_send(session, &reply);
}

// ---- elsewhere ---------------------------------------------------------------------------------

void fm_session_ticket(const fm_session *session, char text[FM_TICKET_TEXT_SIZE])
{
    const fm_hub *hub = session->hub;
    text[0] = '\0';
    if (hub->secrets.count == 0) {
        return;
    }
    const fm_grant *grant =
        session->has_token ? fm_tokens_find_hash(&hub->tokens, session->token_hash) : NULL;
    fm_ticket ticket = {.has_token = session->has_token,
                        .is_created = grant != NULL && grant->number != 0,
                        .role = session->role,
                        .seat = session->seat,
                        .expires_s = fm_clock_unix_s() + FM_TICKET_LASTS_S};
    // Only a node that knows the token makes its tickets last: nobody else hears of its end.
    if (session->is_vouched && grant == NULL && session->vouched_until_s < ticket.expires_s) {
        ticket.expires_s = session->vouched_until_s;
    }
    if (ticket.expires_s <= fm_clock_unix_s()) {
        return;
    }
    memcpy(ticket.token_hash, session->token_hash, sizeof ticket.token_hash);
    fm_ticket_make(&hub->secrets, &ticket, text);
}

void fm_reply_moved(fm_session *session, uint64_t request, uint64_t number)
{
    const fm_hub *hub = session->hub;
    fm_node_world world;
    fm_node_entry place = {.name = ""};
    char ticket[FM_TICKET_TEXT_SIZE];
    if (hub->node != NULL) {
        (void)fm_node_locate(hub->node, number, NULL, &world, &place);
    }
    if (hub->node != NULL && strcmp(place.name, fm_node_name(hub->node)) == 0) {
        place = (fm_node_entry){.name = ""}; // as it was at the last check
    }
    fm_session_ticket(session, ticket);
    fm_reply reply;
    msgpack_sbuffer_init(&reply.buffer);
    msgpack_packer_init(&reply.packer, &reply.buffer, fm_frame_write);
    fm_pack_error_and(&reply.packer, request, FM_ERR_MOVED, NULL, 5);
    fm_pack_key_uint(&reply.packer, "world", number);
    fm_pack_key_text(&reply.packer, "node", place.name);
    fm_pack_key_text(&reply.packer, "tcp", place.tcp);
    fm_pack_key_text(&reply.packer, "http", place.http);
    fm_pack_key_text(&reply.packer, "ticket", ticket);
    msgpack_pack_nil(&reply.packer);
    fm_reply_send(session, &reply);
}
