// server/sessions/handlers.c: see handlers.h. Here: the table, and the methods that need no world.

#include "server/sessions/handlers.h"

#include "core/world/permit.h"
#include "core/world/words.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/sessions/stream.h"
#include "server/worlds/playback.h"

#include <string.h>

// ---- what handlers share -----------------------------------------------------------------------

static bool is_seat(const fm_session *session, const fm_host *host)
{
    const fm_seat *seat = &session->seat;
    return seat->world[0] == '\0' ? host->number == seat->number
                                  : strcmp(host->name, seat->world) == 0;
}

bool fm_handlers_may_know(const fm_session *session, const fm_host *host)
{
    return session->role != FM_ROLE_PLAYER || (!fm_playback_is(host) && is_seat(session, host));
}

fm_host *fm_handlers_seat_host(const fm_session *session)
{
    const fm_seat *seat = &session->seat;
    return seat->world[0] == '\0'
               ? fm_hub_find_host(session->hub, seat->number)
               : fm_hub_find_host_by_name(session->hub, seat->world, strlen(seat->world));
}

fm_status fm_handlers_host(fm_session *session, const fm_request *request, fm_host **out)
{
    fm_host *host = fm_hub_find_host(session->hub, request->values[FM_FIELD_WORLD].number);
    if (host == NULL || !fm_handlers_may_know(session, host)) {
        return FM_ERR_NO_WORLD;
    }
    *out = host;
    return FM_OK;
}

fm_status fm_handlers_team(const fm_session *session, const fm_request *request, uint32_t *team)
{
    const fm_value *value = &request->values[FM_FIELD_TEAM];
    uint32_t named = (uint32_t)value->number;
    if (session->role != FM_ROLE_PLAYER) {
        *team = named;
        return FM_OK;
    }
    if (named != FM_ALL_TEAMS && named != session->seat.team) {
        return FM_ERR_DENIED;
    }
    *team = session->seat.team;
    return FM_OK;
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
    fm_status status = fm_conductor_post(fm_hub_conductor(session->hub, job->host), job);
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

fm_status fm_handlers_choose(const fm_request *request, fm_field field, const char *const *names,
                             uint32_t name_count, uint32_t *index, char *error)
{
    const fm_value *value = &request->values[field];
    if (!value->present) {
        return FM_OK;
    }
    for (uint32_t i = 0; i < name_count; i++) {
        if (fm_value_is(value, names[i])) {
            *index = i;
            return FM_OK;
        }
    }
    int size = snprintf(error, FM_ERROR_TEXT_SIZE, "%s must be one of:", fm_field_name(field));
    for (uint32_t i = 0; i < name_count; i++) {
        size += snprintf(error + size, FM_ERROR_TEXT_SIZE - (size_t)size, " %s", names[i]);
    }
    return FM_ERR_BAD_VALUE;
}

void fm_handlers_refuse(fm_session *session, const fm_request *request, fm_status status,
                        const char *error)
{
    if (!request->is_notification) {
        fm_reply_error(session, request->id, status, error[0] == '\0' ? NULL : error);
    }
}

#define FOLLOW_SIDE 33u // cells

// ---- subscribe, unsubscribe --------------------------------------------------------------------

// A view that follows an agent has a side of its own when none is asked for.
static void shrink_to_follow(const fm_request *request, fm_rect *rect)
{
    if (!request->values[FM_FIELD_RECT].present) {
        rect->width = rect->width < FOLLOW_SIDE ? rect->width : FOLLOW_SIDE;
        rect->height = rect->height < FOLLOW_SIDE ? rect->height : FOLLOW_SIDE;
    }
}

// Where an earlier subscription stopped; what its client shows must be said, unless it is all.
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

static fm_status take_subscribe(fm_session *session, const fm_request *request, char *error)
{
    fm_stream_request wanted = {
        .every = 1,
        .number = request->id,
        .is_notification = request->is_notification,
    };
    fm_status status = fm_handlers_host(session, request, &wanted.host);
    if (status == FM_OK) {
        status = fm_handlers_team(session, request, &wanted.team);
    }
    if (status != FM_OK) {
        return status;
    }
    status = fm_handlers_rect(wanted.host, request, &wanted.rect, error);
    if (status != FM_OK) {
        return status;
    }
    if (request->values[FM_FIELD_FOLLOW].present) {
        wanted.follow = request->values[FM_FIELD_FOLLOW].number;
        shrink_to_follow(request, &wanted.rect);
    }
    if (request->values[FM_FIELD_EVERY].present) {
        wanted.every = (uint32_t)request->values[FM_FIELD_EVERY].number;
    }
    status = take_resumption(request, &wanted, error);
    return status == FM_OK ? fm_stream_subscribe(session, &wanted) : status;
}

static fm_status take_move(fm_session *session, const fm_request *request, char *error)
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
    msgpack_pack_map(packer, 17);
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
    fm_pack_key_uint(packer, "streams_resumed", hub->counts.streams_resumed);
    fm_pack_key_uint(packer, "protocol_errors", hub->counts.protocol_errors);
    fm_pack_key_uint(packer, "turned_away", hub->counts.turned_away);
    fm_pack_key_uint(packer, "too_fast", hub->counts.too_fast);
    fm_pack_key_uint(packer, "wrong_tokens", hub->counts.wrong_tokens);
    fm_pack_key_uint(packer, "rate_refusals", hub->counts.rate_refusals);
    fm_pack_key_uint(packer, "client_lag_ticks", fm_stream_lag_max(hub));
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
    fm_pack_text(packer, "states");
    msgpack_pack_map(packer, FM_AGENT_STATE_COUNT);
    for (uint32_t i = 0; i < FM_AGENT_STATE_COUNT; i++) {
        fm_pack_key_uint(packer, fm_agent_state_names[i], stats->counts.agents_by_state[i]);
    }
    fm_pack_text(packer, "orders_ended");
    msgpack_pack_map(packer, FM_END_COUNT);
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        fm_pack_key_uint(packer, fm_order_end_names[i], stats->counts.orders_ended[i]);
    }
    fm_pack_text(packer, "stages_ms");
    msgpack_pack_map(packer, FM_STAGE_COUNT + 1);
    fm_pack_key_real(packer, "commands", stats->commands_ms);
    for (uint32_t i = 0; i < FM_STAGE_COUNT; i++) {
        fm_pack_key_real(packer, fm_stage_name((fm_stage)i), stats->stages_ms[i]);
    }
}

static void pack_searches(msgpack_packer *packer, const fm_world_counts *counts)
{
    fm_pack_text(packer, "expansions_by_planner");
    msgpack_pack_map(packer, FM_SEARCH_KINDS);
    for (uint32_t i = 0; i < FM_SEARCH_KINDS; i++) {
        fm_pack_key_uint(packer, fm_search_kind_name(i), counts->expansions_by_kind[i]);
    }
    fm_pack_text(packer, "replans");
    msgpack_pack_map(packer, FM_REPLAN_COUNT);
    for (uint32_t i = 0; i < FM_REPLAN_COUNT; i++) {
        fm_pack_key_uint(packer, fm_replan_names[i], counts->replans[i]);
    }
    fm_pack_text(packer, "conflicts");
    msgpack_pack_map(packer, FM_CONFLICT_COUNT);
    for (uint32_t i = 0; i < FM_CONFLICT_COUNT; i++) {
        fm_pack_key_uint(packer, fm_conflict_names[i], counts->conflicts[i]);
    }
}

static void pack_journal_stats(msgpack_packer *packer, const fm_world_stats *stats)
{
    const fm_journal_numbers *numbers = &stats->journal_numbers;
    fm_pack_text(packer, "journal");
    msgpack_pack_map(packer, 9);
    fm_pack_key_text(packer, "state", stats->journal);
    fm_pack_key_text(packer, "error", stats->journal_error);
    fm_pack_key_uint(packer, "commits", numbers->commits);
    fm_pack_key_uint(packer, "rows", numbers->rows);
    fm_pack_key_uint(packer, "bytes", numbers->bytes);
    fm_pack_key_uint(packer, "keyframes", numbers->keyframes);
    fm_pack_key_uint(packer, "errors", numbers->errors);
    fm_pack_key_uint(packer, "waiting_bytes", numbers->waiting_size);
    fm_pack_key_uint(packer, "waiting_ticks", numbers->waiting_ticks);
}

static void pack_world_stats(msgpack_packer *packer, const fm_world_stats *stats)
{
    const fm_world_counts *counts = &stats->counts;
    fm_pack_text(packer, "world");
    msgpack_pack_map(packer, 24);
    fm_pack_key_uint(packer, "tick", counts->tick);
    fm_pack_key_uint(packer, "agents", counts->agents);
    fm_pack_key_uint(packer, "planners", counts->planners);
    fm_pack_key_uint(packer, "orders_given", counts->orders_given);
    fm_pack_key_uint(packer, "expansions", counts->expansions);
    fm_pack_key_uint(packer, "moves", counts->moves);
    fm_pack_key_uint(packer, "cells_edited", counts->cells_edited);
    fm_pack_key_uint(packer, "search_bytes", counts->search_bytes);
    fm_pack_key_uint(packer, "knowledge_bytes", counts->knowledge_bytes);
    fm_pack_key_uint(packer, "known_cells", counts->known_cells);
    pack_quantiles(packer, "tick_ms", &stats->tick_ms);
    pack_quantiles(packer, "overrun_ms", &stats->overrun_ms);
    pack_quantiles(packer, "order_to_first_move_ticks", &stats->order_to_first_move_ticks);
    fm_pack_key_uint(packer, "late_ticks", stats->late_ticks);
    fm_pack_key_uint(packer, "skipped_ticks", stats->skipped_ticks);
    fm_pack_key_uint(packer, "degraded_ticks", stats->degraded_ticks);
    fm_pack_key_real(packer, "ns_per_expansion", stats->ns_per_expansion);
    pack_by_name(packer, stats);
    pack_searches(packer, counts);
    pack_journal_stats(packer, stats);
}

static void pack_team_stats(msgpack_packer *packer, const fm_world_stats *stats)
{
    fm_pack_text(packer, "teams");
    msgpack_pack_array(packer, 8 * (size_t)stats->team_count);
    for (uint32_t i = 0; i < stats->team_count; i++) {
        const fm_team_counts *counts = &stats->teams[i];
        const uint64_t numbers[] = {counts->team,    counts->weight,    counts->agents,
                                    counts->waiting, counts->share,     counts->saved,
                                    counts->used,    counts->used_total};
        for (uint32_t k = 0; k < FM_COUNT_OF(numbers); k++) {
            msgpack_pack_uint64(packer, numbers[k]);
        }
    }
}

// With a world the server's part is packed at the same moment as the world's, when the job is back.
static void send_stats(fm_session *session, uint64_t request, const fm_world_stats *world)
{
    fm_reply reply;
    fm_reply_begin(&reply, request);
    bool teams = world != NULL && world->teams != NULL;
    msgpack_pack_map(&reply.packer, world == NULL ? 1 : teams ? 3 : 2);
    pack_server_stats(&reply.packer, session->hub);
    if (world != NULL) {
        pack_world_stats(&reply.packer, world);
    }
    if (teams) {
        pack_team_stats(&reply.packer, world);
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
    job->stats.teams = request->values[FM_FIELD_TEAMS].number != 0;
    return fm_handlers_post(session, job);
}

// ---- the table ---------------------------------------------------------------------------------

static uint64_t count_orders(const fm_request *request)
{
    return request->values[FM_FIELD_AGENTS].count;
}

static uint64_t count_edits(const fm_request *request)
{
    return request->values[FM_FIELD_CELLS].count / 2 + request->values[FM_FIELD_RECTS].count / 4;
}

static uint64_t count_one(const fm_request *request)
{
    (void)request;
    return 1;
}

static uint64_t count_questions(const fm_request *request)
{
    uint64_t pairs = request->values[FM_FIELD_PAIRS].count / 4;
    return pairs > 0 ? pairs : 1;
}

// At most: planners are words.
static uint64_t count_planners(const fm_request *request)
{
    const fm_value *value = &request->values[FM_FIELD_PLANNERS];
    uint64_t count = 1;
    for (uint32_t i = 0; i < value->size; i++) {
        count += value->bytes[i] == ' ';
    }
    return count;
}

static const fm_handler handlers[FM_METHOD_COUNT] = {
    [FM_METHOD_HELLO] = {.take = fm_take_hello},
    [FM_METHOD_PING] = {.take = fm_take_ping},
    [FM_METHOD_TOKEN_CREATE] = {.take = fm_take_token_create},
    [FM_METHOD_TOKEN_REVOKE] = {.take = fm_take_token_revoke},
    [FM_METHOD_MAP_UPLOAD] = {.take = fm_take_map_upload},
    [FM_METHOD_WORLD_CREATE] = {.take = fm_take_world_create},
    [FM_METHOD_WORLD_LIST] = {.take = fm_take_world_list},
    [FM_METHOD_WORLD_INFO] = {.take = fm_take_world_info, .worlds = FM_WORLDS_ALL},
    [FM_METHOD_WORLD_DESTROY] = {.take = fm_take_world_destroy},
    [FM_METHOD_WORLD_PAUSE] = {.take = fm_take_world_pause, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_RESUME] = {.take = fm_take_world_resume, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_STEP] = {.take = fm_take_world_step, .answer = fm_answer_step},
    [FM_METHOD_TEAM_CREATE] = {.take = fm_take_team_create, .answer = fm_answer_team_create},
    [FM_METHOD_AGENT_SPAWN] = {.take = fm_take_agent_spawn, .answer = fm_answer_agent_spawn},
    [FM_METHOD_AGENT_REMOVE] = {.take = fm_take_agent_remove, .answer = fm_answer_agent_remove},
    [FM_METHOD_AGENT_ORDER] = {.take = fm_take_agent_order,
                               .answer = fm_answer_agent_order,
                               .amount = count_orders,
                               .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_PLANNER] = {.take = fm_take_agent_planner,
                                 .answer = fm_answer_agent_planner,
                                 .amount = count_orders,
                                 .meter = FM_METER_ORDERS},
    [FM_METHOD_TERRAIN_SET] = {.take = fm_take_terrain_set,
                               .answer = fm_answer_terrain_set,
                               .amount = count_edits,
                               .meter = FM_METER_EDITS},
    [FM_METHOD_BUILDING_PLACE] = {.take = fm_take_building_place,
                                  .answer = fm_answer_building_place,
                                  .amount = count_one,
                                  .meter = FM_METER_EDITS},
    [FM_METHOD_BUILDING_REMOVE] = {.take = fm_take_building_remove,
                                   .answer = fm_answer_building_remove,
                                   .amount = count_one,
                                   .meter = FM_METER_EDITS},
    [FM_METHOD_PATH_QUERY] = {.take = fm_take_path_query,
                              .answer = fm_answer_path,
                              .amount = count_questions,
                              .meter = FM_METER_QUERIES,
                              .worlds = FM_WORLDS_ALL},
    [FM_METHOD_PATH_DISTANCE] = {.take = fm_take_path_distance,
                                 .answer = fm_answer_path,
                                 .amount = count_questions,
                                 .meter = FM_METER_QUERIES,
                                 .worlds = FM_WORLDS_ALL},
    [FM_METHOD_PATH_REACHABLE] = {.take = fm_take_path_reachable,
                                  .answer = fm_answer_reachable,
                                  .amount = count_questions,
                                  .meter = FM_METER_QUERIES,
                                  .worlds = FM_WORLDS_ALL},
    [FM_METHOD_PATH_NEAREST] = {.take = fm_take_path_nearest,
                                .answer = fm_answer_nearest,
                                .amount = count_questions,
                                .meter = FM_METER_QUERIES,
                                .worlds = FM_WORLDS_ALL},
    [FM_METHOD_PATH_FIELD] = {.take = fm_take_path_field,
                              .answer = fm_answer_field,
                              .amount = count_questions,
                              .meter = FM_METER_QUERIES,
                              .worlds = FM_WORLDS_ALL},
    [FM_METHOD_SUBSCRIBE] = {.take = take_subscribe, .worlds = FM_WORLDS_ALL},
    [FM_METHOD_SUBSCRIPTION_MOVE] = {.take = take_move},
    [FM_METHOD_UNSUBSCRIBE] = {.take = take_unsubscribe},
    [FM_METHOD_STATS] = {.take = take_stats, .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_INSPECT] = {.take = fm_take_debug_inspect,
                                 .answer = fm_answer_debug_inspect,
                                 .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_SUBSCRIBE] = {.take = fm_take_debug_subscribe,
                                   .answer = fm_answer_debug_subscribe,
                                   .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_UNSUBSCRIBE] = {.take = fm_take_debug_unsubscribe,
                                     .answer = fm_answer_debug_unsubscribe,
                                     .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_EXPLAIN] = {.take = fm_take_debug_explain,
                                 .answer = fm_answer_debug_explain,
                                 .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_COMPARE] = {.take = fm_take_debug_compare,
                                 .answer = fm_answer_debug_compare,
                                 .amount = count_planners,
                                 .meter = FM_METER_QUERIES,
                                 .worlds = FM_WORLDS_ALL},
    [FM_METHOD_DEBUG_TOP] = {.take = fm_take_debug_top,
                             .answer = fm_answer_debug_top,
                             .worlds = FM_WORLDS_ALL},
    [FM_METHOD_WORLD_SAVE] = {.take = fm_take_world_save},
    [FM_METHOD_SAVE_DOWNLOAD] = {.take = fm_take_save_download},
    [FM_METHOD_WORLD_LOAD] = {.take = fm_take_world_load},
    [FM_METHOD_REPLAY_LIST] = {.take = fm_take_replay_list,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES},
    [FM_METHOD_REPLAY_OPEN] = {.take = fm_take_replay_open,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES},
    [FM_METHOD_REPLAY_SEEK] = {.take = fm_take_replay_seek,
                               .answer = fm_answer_replay_seek,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES,
                               .worlds = FM_WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_PLAY] = {.take = fm_take_replay_play,
                               .answer = fm_answer_tick,
                               .worlds = FM_WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_PAUSE] = {.take = fm_take_replay_pause,
                                .answer = fm_answer_tick,
                                .worlds = FM_WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_CLOSE] = {.take = fm_take_replay_close, .worlds = FM_WORLDS_REPLAYS},
};

void fm_handlers_check(void)
{
    for (uint32_t method = 0; method < FM_METHOD_COUNT; method++) {
        FM_ASSERT(handlers[method].take != NULL);
    }
}

// ---- requests ----------------------------------------------------------------------------------

// Every message costs its session, also one that will be refused.
static fm_status pay_for_message(fm_session *session, char *error)
{
    fm_status status = fm_session_meter(session, FM_METER_MESSAGES, 1, error);
    return status == FM_OK ? fm_session_meter(session, FM_METER_BYTES, session->message_size, error)
                           : status;
}

static fm_status pay_for_work(fm_session *session, const fm_request *request, char *error)
{
    const fm_handler *handler = &handlers[request->method];
    return handler->amount == NULL
               ? FM_OK
               : fm_session_meter(session, handler->meter, handler->amount(request), error);
}

// Replays cannot be changed, and worlds cannot go back in time. Who may not know of a world hears
// from the handler that there is none.
static fm_status check_world(fm_session *session, const fm_request *request, char *error)
{
    const fm_value *number = &request->values[FM_FIELD_WORLD];
    const fm_host *host = number->present ? fm_hub_find_host(session->hub, number->number) : NULL;
    fm_handler_worlds worlds = handlers[request->method].worlds;
    if (host == NULL || !fm_handlers_may_know(session, host)) {
        return FM_OK;
    }
    if (fm_playback_is(host) && worlds == FM_WORLDS_LIVE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "world %llu is a replay of %.100s, which cannot be changed",
                 (unsigned long long)host->number, host->playback.file);
        return FM_ERR_READ_ONLY;
    }
    if (!fm_playback_is(host) && worlds == FM_WORLDS_REPLAYS) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu is no replay; replay.open makes one",
                 (unsigned long long)host->number);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status take(fm_session *session, const fm_request *request, char *error)
{
    if (!fm_role_may(session->role, request->method)) {
        if (session->state == FM_SESSION_GREETING) {
            snprintf(error, FM_ERROR_TEXT_SIZE, "say hello first");
        }
        return FM_ERR_DENIED;
    }
    if (session->hub->going_down) {
        return FM_ERR_GOING_DOWN;
    }
    fm_status status = check_world(session, request, error);
    if (status == FM_OK) {
        status = pay_for_work(session, request, error);
    }
    return status == FM_OK ? handlers[request->method].take(session, request, error) : status;
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
    session->hub->counts.protocol_errors += status != FM_OK;
    if (status != FM_ERR_BAD_MESSAGE) {
        char busy[FM_ERROR_TEXT_SIZE];
        fm_status paid = pay_for_message(session, busy);
        if (paid != FM_OK) {
            fm_handlers_refuse(session, &request, paid, busy);
            return;
        }
    }
    if (status == FM_OK) {
        status = take(session, &request, error);
    }
    if (status == FM_ERR_BAD_MESSAGE) {
        hang_up_on_nonsense(session, error);
    } else if (status != FM_OK) {
        fm_handlers_refuse(session, &request, status, error);
    }
}

// ---- jobs that come back -----------------------------------------------------------------------

static bool is_about_an_entry(fm_status status)
{
    return status == FM_ERR_NO_AGENT || status == FM_ERR_OFF_GRID ||
           status == FM_ERR_BLOCKED_CELL || status == FM_ERR_OCCUPIED_CELL ||
           status == FM_ERR_BUILDING;
}

// What stands where a building was to be placed.
static void describe_site(const fm_job *job, char *error)
{
    const fm_command_result *result = &job->command.result;
    if (job->status == FM_ERR_BUILDING) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "building %u stands there", result->building);
    } else if (job->status == FM_ERR_OCCUPIED_CELL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent %llu stands there",
                 (unsigned long long)fm_agent_id_pack(result->in_the_way));
    } else if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "a building has %u cells at most, a world %u of them",
                 FM_BUILDING_CELLS_MAX, FM_BUILDINGS_MAX);
    }
}

// Likewise for a player, who hears what its team sees or knows and no more.
static void describe_permit(const fm_job *job, char *error)
{
    if (job->status == FM_ERR_DENIED) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "players do not build in this world");
    } else if (job->status == FM_ERR_BLOCKED_CELL) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "all of it must be free ground that your team sees now");
    } else if (job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "your team does not see all of it now");
    } else if (job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "a player's building has %u cells at most, and a team %u of them",
                 FM_PERMIT_CELLS_MAX, job->host->rules.players_build);
    }
}

// Says which part of a command was refused.
static void describe_failure(const fm_job *job, char *error)
{
    const fm_job_command *command = &job->command;
    if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_SPAWN &&
        job->status == FM_ERR_BLOCKED_CELL) {
        const fm_movement_class *movement = &job->host->rules.classes[command->command.class_index];
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: no place for class '%s' (%u x %u cells)",
                 command->result.failed_index, movement->name, movement->size, movement->size);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_ORDER &&
               job->status == FM_ERR_LIMIT) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %u orders are waiting already",
                 command->result.failed_index, FM_ORDER_QUEUE_MAX);
    } else if (job->kind == FM_JOB_COMMAND && command->by_name &&
               (command->command.kind == FM_COMMAND_BUILD ||
                command->command.kind == FM_COMMAND_DEMOLISH)) {
        describe_permit(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_PLANNER &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "entry %u: this planner cannot work by the rules of the world",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_BUILD) {
        describe_site(job, error);
    } else if (job->kind == FM_JOB_COMMAND && command->command.kind == FM_COMMAND_ORDER &&
               job->status == FM_ERR_BAD_VALUE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: the agents of a group are of one team",
                 command->result.failed_index);
    } else if (job->kind == FM_JOB_COMMAND && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->command.result.failed_index,
                 fm_status_text(job->status));
    } else if (job->kind == FM_JOB_QUERY && job->query.many && is_about_an_entry(job->status)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "entry %u: %s", job->query.failed_index,
                 fm_status_text(job->status));
    } else if (job->kind == FM_JOB_SEEK) {
        memcpy(error, job->seek.error, FM_ERROR_TEXT_SIZE);
    } else if (job->status == FM_ERR_IO && fm_playback_is(job->host)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the journal cannot be read here: seek another tick");
    } else if (job->status == FM_ERR_IO) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world's journal cannot be written now");
    } else if (job->kind == FM_JOB_QUERY && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the agent has no goal: name one");
    } else if (job->kind == FM_JOB_STEP && job->status == FM_ERR_NOT_READY) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "the world is not paused");
    }
}

static void answer_job(fm_session *session, fm_job *job)
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
    if (job->method == FM_METHOD_WORLD_SAVE) {
        fm_handlers_keep_save(session, job);
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, job->request);
    handlers[job->method].answer(&reply.packer, job);
    fm_reply_send(session, &reply);
}

// A world that ends, which takes its traces along, gets no more jobs.
static void stop_trace(fm_hub *hub, const fm_job *job)
{
    fm_job *end =
        job->host->state == FM_HOST_LIVE ? fm_job_create(FM_JOB_UNTRACE, job->host) : NULL;
    if (end != NULL) {
        end->session = job->session;
        end->inspect.trace = job->inspect.trace;
        end->is_notification = true;
        if (fm_conductor_post(fm_hub_conductor(hub, end->host), end) != FM_OK) {
            fm_job_destroy(end); // the next tick's trace asks again
        }
    }
}

// A client that does not read gets the next one that it has room for.
static void deliver_trace(fm_hub *hub, fm_session *session, const fm_job *job)
{
    atomic_fetch_sub(&job->host->traces_unread, 1);
    if (session == NULL) {
        stop_trace(hub, job);
    } else if (fm_session_unsent_size(session) < hub->config->session_unsent_max / 4) {
        fm_handlers_send_trace(session, job);
    }
}

void fm_handlers_job_done(fm_hub *hub, fm_job *job)
{
    fm_session *session = job->session == 0 ? NULL : fm_hub_find_session(hub, job->session);
    if (job->kind == FM_JOB_INSPECT && job->inspect.trace != 0) {
        deliver_trace(hub, session, job);
        fm_job_destroy(job);
        return;
    }
    if (job->kind == FM_JOB_SAVE) {
        fm_handlers_end_save(hub, session);
    }
    if (session != NULL) {
        session->queries_waiting -= job->kind == FM_JOB_QUERY;
        answer_job(session, job);
        fm_session_job_done(session);
    }
    fm_job_destroy(job);
}
