// server/handlers.c: see handlers.h. Here: the table, and the methods that need no world.

#include "server/handlers.h"

#include "server/clock.h"
#include "server/log.h"
#include "server/stream.h"

#include <string.h>

// ---- what handlers share -----------------------------------------------------------------------

fm_status fm_handlers_host(fm_session *session, const fm_request *request, fm_host **out)
{
    fm_host *host = fm_hub_find_host(session->hub, request->values[FM_FIELD_WORLD].number);
    if (host == NULL) {
        return FM_ERR_NO_WORLD;
    }
    *out = host;
    return FM_OK;
}

// Every role that there is so far and that gets past its method's check sees every team; the team
// of a player will be looked at here.
bool fm_handlers_may_see(const fm_session *session, uint32_t team)
{
    return session->role >= FM_ROLE_OBSERVER || team != FM_ALL_TEAMS;
}

fm_job *fm_handlers_make_job(fm_session *session, const fm_request *request, fm_job_kind kind,
                             fm_host *host)
{
    fm_job *job = fm_job_create(kind, host);
    if (job != NULL) {
        job->session = session->number;
        job->request = request->id;
        job->method = request->method;
        job->is_notification = request->is_notification;
    }
    return job;
}

fm_status fm_handlers_post(fm_session *session, fm_job *job)
{
    fm_status status = fm_conductor_post(session->hub->conductor, job);
    if (status == FM_OK) {
        session->jobs_waiting++;
    } else {
        fm_job_destroy(job);
    }
    return status;
}

fm_status fm_handlers_rect(const fm_host *host, const fm_request *request, fm_rect *rect,
                           char *error)
{
    const fm_value *value = &request->values[FM_FIELD_RECT];
    if (!value->present) {
        *rect = (fm_rect){.width = host->width, .height = host->height};
        return FM_OK;
    }
    uint64_t x = fm_value_at(value, 0), y = fm_value_at(value, 1);
    uint64_t width = fm_value_at(value, 2), height = fm_value_at(value, 3);
    if (x >= host->width || y >= host->height || width == 0 || height == 0 ||
        width > host->width - x || height > host->height - y) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "rect must lie inside the map of %u x %u cells",
                 host->width, host->height);
        return FM_ERR_OFF_GRID;
    }
    *rect = (fm_rect){
        .x = (uint32_t)x, .y = (uint32_t)y, .width = (uint32_t)width, .height = (uint32_t)height};
    return FM_OK;
}

void fm_pack_key_uint(msgpack_packer *packer, const char *key, uint64_t number)
{
    fm_pack_text(packer, key);
    msgpack_pack_uint64(packer, number);
}

void fm_pack_key_text(msgpack_packer *packer, const char *key, const char *text)
{
    fm_pack_text(packer, key);
    fm_pack_text(packer, text);
}

void fm_pack_key_bool(msgpack_packer *packer, const char *key, bool flag)
{
    fm_pack_text(packer, key);
    if (flag) {
        msgpack_pack_true(packer);
    } else {
        msgpack_pack_false(packer);
    }
}

void fm_pack_key_real(msgpack_packer *packer, const char *key, double real)
{
    fm_pack_text(packer, key);
    msgpack_pack_double(packer, real);
}

void fm_pack_key_cells(msgpack_packer *packer, const char *key, const fm_cell *cells,
                       uint32_t count)
{
    fm_pack_text(packer, key);
    msgpack_pack_array(packer, (size_t)count * 2);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, fm_cell_x(cells[i]));
        msgpack_pack_uint64(packer, fm_cell_y(cells[i]));
    }
}

bool fm_value_is(const fm_value *value, const char *word)
{
    return value->size == strlen(word) && memcmp(value->bytes, word, value->size) == 0;
}

static void refuse(fm_session *session, const fm_request *request, fm_status status,
                   const char *error)
{
    if (!request->is_notification) {
        fm_reply_error(session, request->id, status, error[0] == '\0' ? NULL : error);
    }
}

// ---- hello -------------------------------------------------------------------------------------

// In the same time whatever the bytes are, so that a secret cannot be guessed byte by byte.
static bool secrets_equal(const char *secret, const char *guess, size_t guess_size)
{
    size_t secret_size = strlen(secret);
    uint32_t difference = secret_size != guess_size;
    for (size_t i = 0; i < guess_size; i++) {
        difference |= (uint8_t)(secret[secret_size == 0 ? 0 : i % secret_size] ^ guess[i]);
    }
    return difference == 0;
}

static fm_role decide_role(const fm_session *session, const fm_value *token)
{
    const char *secret = session->hub->config->token;
    if (secret[0] != '\0') {
        bool knows = token->present && secrets_equal(secret, token->bytes, token->size);
        return knows ? FM_ROLE_ADMIN : FM_ROLE_NONE;
    }
    return session->transport->is_loopback ? FM_ROLE_ADMIN : FM_ROLE_NONE;
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

static void welcome(fm_session *session, const fm_request *request)
{
    if (request->is_notification) {
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 5);
    fm_pack_key_text(&reply.packer, "server", "fogmarchd " FOGMARCH_VERSION);
    fm_pack_key_uint(&reply.packer, "protocol", FM_PROTOCOL_NUMBER);
    fm_pack_key_uint(&reply.packer, "session", session->number);
    fm_pack_key_text(&reply.packer, "role", fm_role_name(session->role));
    pack_limits(&reply.packer, session->hub->config);
    fm_reply_send(session, &reply);
}

static fm_status take_hello(fm_session *session, const fm_request *request, char *error)
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
    session->role = decide_role(session, &request->values[FM_FIELD_TOKEN]);
    if (session->role == FM_ROLE_NONE) {
        refuse(session, request, FM_ERR_DENIED, "the token is missing or wrong");
        fm_session_finish(session, "wrong token");
        return FM_OK;
    }
    session->state = FM_SESSION_READY;
    fm_log(FM_LOG_INFO, "session opened", fm_log_uint("session", session->number),
           fm_log_text("client", session->client), fm_log_text("peer", session->transport->peer),
           fm_log_text("role", fm_role_name(session->role)));
    welcome(session, request);
    return FM_OK;
}

static fm_status take_ping(fm_session *session, const fm_request *request, char *error)
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

// ---- subscribe, unsubscribe --------------------------------------------------------------------

static fm_status take_subscribe(fm_session *session, const fm_request *request, char *error)
{
    fm_stream_request wanted = {
        .team = (uint32_t)request->values[FM_FIELD_TEAM].number,
        .every = 1,
        .number = request->id,
        .is_notification = request->is_notification,
    };
    fm_status status = fm_handlers_host(session, request, &wanted.host);
    if (status != FM_OK) {
        return status;
    }
    if (!fm_handlers_may_see(session, wanted.team)) {
        return FM_ERR_DENIED;
    }
    status = fm_handlers_rect(wanted.host, request, &wanted.rect, error);
    if (status != FM_OK) {
        return status;
    }
    if (request->values[FM_FIELD_EVERY].present) {
        wanted.every = (uint32_t)request->values[FM_FIELD_EVERY].number;
    }
    return fm_stream_subscribe(session, &wanted);
}

static fm_status take_unsubscribe(fm_session *session, const fm_request *request, char *error)
{
    if (!fm_stream_unsubscribe(session, request->values[FM_FIELD_SUBSCRIPTION].number)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such subscription");
        return FM_ERR_BAD_VALUE;
    }
    if (!request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 0);
        fm_reply_send(session, &reply);
    }
    return FM_OK;
}

// ---- stats -------------------------------------------------------------------------------------

static void pack_server_stats(msgpack_packer *packer, const fm_hub *hub)
{
    size_t rss_size = 0;
    uv_resident_set_memory(&rss_size);
    fm_pack_text(packer, "server");
    msgpack_pack_map(packer, 11);
    fm_pack_key_uint(packer, "uptime_ms", (fm_clock_now_ns() - hub->start_ns) / FM_NS_PER_MS);
    fm_pack_key_uint(packer, "worlds", hub->host_count);
    fm_pack_key_uint(packer, "sessions", hub->session_count);
    fm_pack_key_uint(packer, "workers", fm_conductor_worker_count(hub->conductor));
    fm_pack_key_uint(packer, "rss_bytes", rss_size);
    fm_pack_key_uint(packer, "messages", hub->counts.messages);
    fm_pack_key_uint(packer, "bytes_in", hub->counts.bytes_in);
    fm_pack_key_uint(packer, "bytes_out", hub->counts.bytes_out);
    fm_pack_key_uint(packer, "deltas_merged", hub->counts.deltas_merged);
    fm_pack_key_uint(packer, "keyframes_forced", hub->counts.keyframes_forced);
    fm_pack_key_uint(packer, "protocol_errors", hub->counts.protocol_errors);
}

static void pack_quantiles(msgpack_packer *packer, const char *key, const fm_quantiles *quantiles)
{
    fm_pack_text(packer, key);
    msgpack_pack_map(packer, 5);
    fm_pack_key_uint(packer, "count", quantiles->count);
    fm_pack_key_real(packer, "p50", quantiles->p50);
    fm_pack_key_real(packer, "p99", quantiles->p99);
    fm_pack_key_real(packer, "p999", quantiles->p999);
    fm_pack_key_real(packer, "max", quantiles->max);
}

static void pack_by_name(msgpack_packer *packer, const fm_world_stats *stats)
{
    static const char *const states[] = {
#define X(enumerator, name) name,
        FM_AGENT_STATE_LIST(X)
#undef X
    };
    static const char *const ends[] = {
#define X(enumerator, name) name,
        FM_ORDER_END_LIST(X)
#undef X
    };
    fm_pack_text(packer, "states");
    msgpack_pack_map(packer, FM_COUNT_OF(states));
    for (uint32_t i = 0; i < FM_COUNT_OF(states); i++) {
        fm_pack_key_uint(packer, states[i], stats->counts.agents_by_state[i]);
    }
    fm_pack_text(packer, "orders_ended");
    msgpack_pack_map(packer, FM_COUNT_OF(ends));
    for (uint32_t i = 0; i < FM_COUNT_OF(ends); i++) {
        fm_pack_key_uint(packer, ends[i], stats->counts.orders_ended[i]);
    }
    fm_pack_text(packer, "stages_ms");
    msgpack_pack_map(packer, FM_STAGE_COUNT);
    for (uint32_t i = 0; i < FM_STAGE_COUNT; i++) {
        fm_pack_key_real(packer, fm_stage_name((fm_stage)i), stats->stages_ms[i]);
    }
}

static void pack_world_stats(msgpack_packer *packer, const fm_world_stats *stats)
{
    const fm_world_counts *counts = &stats->counts;
    fm_pack_text(packer, "world");
    msgpack_pack_map(packer, 19);
    fm_pack_key_uint(packer, "tick", counts->tick);
    fm_pack_key_uint(packer, "agents", counts->agents);
    fm_pack_key_uint(packer, "planners", counts->planners);
    fm_pack_key_uint(packer, "orders_given", counts->orders_given);
    fm_pack_key_uint(packer, "expansions", counts->expansions);
    fm_pack_key_uint(packer, "moves", counts->moves);
    fm_pack_key_uint(packer, "cells_edited", counts->cells_edited);
    fm_pack_key_uint(packer, "search_bytes", counts->search_bytes);
    fm_pack_key_uint(packer, "knowledge_bytes", counts->knowledge_bytes);
    pack_quantiles(packer, "tick_ms", &stats->tick_ms);
    pack_quantiles(packer, "overrun_ms", &stats->overrun_ms);
    pack_quantiles(packer, "order_to_first_move_ticks", &stats->order_to_first_move_ticks);
    fm_pack_key_uint(packer, "late_ticks", stats->late_ticks);
    fm_pack_key_uint(packer, "skipped_ticks", stats->skipped_ticks);
    fm_pack_key_uint(packer, "degraded_ticks", stats->degraded_ticks);
    fm_pack_key_real(packer, "ns_per_expansion", stats->ns_per_expansion);
    pack_by_name(packer, stats);
}

// With a world the server's part is packed at the same moment as the world's, when the job is back.
static void send_stats(fm_session *session, uint64_t request, const fm_world_stats *world)
{
    fm_reply reply;
    fm_reply_begin(&reply, request);
    msgpack_pack_map(&reply.packer, world == NULL ? 1 : 2);
    pack_server_stats(&reply.packer, session->hub);
    if (world != NULL) {
        pack_world_stats(&reply.packer, world);
    }
    fm_reply_send(session, &reply);
}

static fm_status take_stats(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    bool reset = request->values[FM_FIELD_RESET].number != 0;
    if (reset && session->role < FM_ROLE_ADMIN) {
        return FM_ERR_DENIED;
    }
    if (!request->values[FM_FIELD_WORLD].present) {
        if (!request->is_notification) {
            send_stats(session, request->id, NULL);
        }
        return FM_OK;
    }
    fm_host *host;
    fm_status status = fm_handlers_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_handlers_make_job(session, request, FM_JOB_STATS, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->stats.reset = reset;
    return fm_handlers_post(session, job);
}

// ---- the table ---------------------------------------------------------------------------------

static const fm_handler handlers[FM_METHOD_COUNT] = {
    [FM_METHOD_HELLO] = {.take = take_hello},
    [FM_METHOD_PING] = {.take = take_ping},
    [FM_METHOD_MAP_UPLOAD] = {.take = fm_take_map_upload},
    [FM_METHOD_WORLD_CREATE] = {.take = fm_take_world_create},
    [FM_METHOD_WORLD_LIST] = {.take = fm_take_world_list},
    [FM_METHOD_WORLD_INFO] = {.take = fm_take_world_info},
    [FM_METHOD_WORLD_DESTROY] = {.take = fm_take_world_destroy},
    [FM_METHOD_WORLD_PAUSE] = {.take = fm_take_world_pause, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_RESUME] = {.take = fm_take_world_resume, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_STEP] = {.take = fm_take_world_step, .answer = fm_answer_step},
    [FM_METHOD_TEAM_CREATE] = {.take = fm_take_team_create, .answer = fm_answer_team_create},
    [FM_METHOD_AGENT_SPAWN] = {.take = fm_take_agent_spawn, .answer = fm_answer_agent_spawn},
    [FM_METHOD_AGENT_REMOVE] = {.take = fm_take_agent_remove, .answer = fm_answer_agent_remove},
    [FM_METHOD_AGENT_ORDER] = {.take = fm_take_agent_order, .answer = fm_answer_agent_order},
    [FM_METHOD_TERRAIN_SET] = {.take = fm_take_terrain_set, .answer = fm_answer_terrain_set},
    [FM_METHOD_PATH_QUERY] = {.take = fm_take_path_query, .answer = fm_answer_path_query},
    [FM_METHOD_SUBSCRIBE] = {.take = take_subscribe},
    [FM_METHOD_UNSUBSCRIBE] = {.take = take_unsubscribe},
    [FM_METHOD_STATS] = {.take = take_stats},
    [FM_METHOD_DEBUG_INSPECT] = {.take = fm_take_debug_inspect, .answer = fm_answer_debug_inspect},
};

void fm_handlers_check(void)
{
    for (uint32_t method = 0; method < FM_METHOD_COUNT; method++) {
        FM_ASSERT(handlers[method].take != NULL);
    }
}

// ---- requests ----------------------------------------------------------------------------------

static fm_status take(fm_session *session, const fm_request *request, char *error)
{
    if (session->role < fm_method_role(request->method)) {
        if (session->state == FM_SESSION_GREETING) {
            snprintf(error, FM_ERROR_TEXT_SIZE, "say hello first");
        }
        return FM_ERR_DENIED;
    }
    if (session->hub->going_down) {
        return FM_ERR_GOING_DOWN;
    }
    return handlers[request->method].take(session, request, error);
}

static void hang_up_on_nonsense(fm_session *session, const char *error)
{
    static fm_log_site refused;
    fm_log_limited(&refused, FM_LOG_WARNING, "message refused",
                   fm_log_uint("session", session->number),
                   fm_log_text("peer", session->transport->peer), fm_log_text("reason", error));
    fm_session_finish(session, "bad message");
}

void fm_handlers_receive(fm_session *session, const msgpack_object *message)
{
    fm_request request = {.is_notification = true};
    char error[FM_ERROR_TEXT_SIZE] = "";
    fm_status status = fm_request_check(message, &request, error);
    if (status != FM_OK) {
        session->hub->counts.protocol_errors++;
    } else {
        status = take(session, &request, error);
    }
    if (status == FM_ERR_BAD_MESSAGE) {
        hang_up_on_nonsense(session, error);
    } else if (status != FM_OK) {
        refuse(session, &request, status, error);
    }
}

// ---- jobs that come back -----------------------------------------------------------------------

static bool is_about_an_entry(fm_status status)
{
    return status == FM_ERR_NO_AGENT || status == FM_ERR_OFF_GRID || status == FM_ERR_BLOCKED_CELL;
}

// Says which part of a command was refused.
static void describe_failure(const fm_job *job, char *error)
{
    if (job->kind == FM_JOB_COMMAND && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->command.result.failed_index,
                 fm_status_text(job->status));
    } else if (job->kind == FM_JOB_STEP && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world is not paused");
    }
}

static void answer_job(fm_session *session, const fm_job *job)
{
    if (job->is_notification) {
        return;
    }
    if (job->status != FM_OK) {
        char error[FM_ERROR_TEXT_SIZE] = "";
        describe_failure(job, error);
        fm_reply_error(session, job->request, job->status, error[0] == '\0' ? NULL : error);
        return;
    }
    if (job->method == FM_METHOD_STATS) {
        send_stats(session, job->request, job->stats.world);
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, job->request);
    handlers[job->method].answer(&reply.packer, job);
    fm_reply_send(session, &reply);
}

void fm_handlers_job_done(fm_hub *hub, fm_job *job)
{
    fm_session *session = job->session == 0 ? NULL : fm_hub_find_session(hub, job->session);
    if (session != NULL) {
        answer_job(session, job);
        fm_session_job_done(session);
    }
    fm_job_destroy(job);
}
