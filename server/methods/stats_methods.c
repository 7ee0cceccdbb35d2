// server/methods/stats_methods.c: see stats_methods.h.

#include "server/methods/stats_methods.h"

#include "core/world/words.h"
#include "proto/pack.h"
#include "server/base/clock.h"
#include "server/streams/stream.h"

static void pack_server_stats(msgpack_packer *packer, const fm_hub *hub)
{
    size_t rss_size = 0, unsent_size;
    size_t session_bytes = fm_stream_session_bytes(hub, &unsent_size);
    uv_resident_set_memory(&rss_size);
    fm_pack_text(packer, "server");
    msgpack_pack_map(packer, 19);
    fm_pack_key_uint(packer, "uptime_ms", (fm_clock_now_ns() - hub->start_ns) / FM_NS_PER_MS);
    fm_pack_key_uint(packer, "worlds", hub->host_count);
    fm_pack_key_uint(packer, "sessions", hub->session_count);
    fm_pack_key_uint(packer, "workers", fm_conductor_worker_count(hub->conductor));
    fm_pack_key_uint(packer, "rss_bytes", rss_size);
    fm_pack_key_uint(packer, "session_bytes", session_bytes);
    fm_pack_key_uint(packer, "unsent_bytes", unsent_size);
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
    fm_pack_text(packer, "escorts_ended");
    msgpack_pack_map(packer, FM_ESCORT_END_COUNT);
    for (uint32_t i = 0; i < FM_ESCORT_END_COUNT; i++) {
        fm_pack_key_uint(packer, fm_escort_end_names[i], counts->escorts_ended[i]);
    }
}

// Only kinds of planners in use are listed: there are more than twenty.
static void pack_memory(msgpack_packer *packer, const fm_world_stats *stats)
{
    const fm_world_counts *counts = &stats->counts;
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < FM_PLANNER_COUNT; i++) {
        kinds += counts->planners_by_kind[i] > 0;
    }
    fm_pack_text(packer, "memory");
    msgpack_pack_map(packer, 6);
    fm_pack_key_uint(packer, "bytes", stats->memory);
    fm_pack_key_uint(packer, "bytes_max", stats->memory_max);
    fm_pack_key_uint(packer, "agents", counts->agent_bytes);
    fm_pack_key_uint(packer, "knowledge", counts->knowledge_bytes);
    fm_pack_key_uint(packer, "searches", counts->search_bytes);
    fm_pack_text(packer, "planners");
    msgpack_pack_map(packer, kinds);
    for (uint32_t i = 0; i < FM_PLANNER_COUNT; i++) {
        if (counts->planners_by_kind[i] > 0) {
            fm_pack_text(packer, fm_search_kind_name(i));
            msgpack_pack_map(packer, 2);
            fm_pack_key_uint(packer, "count", counts->planners_by_kind[i]);
            fm_pack_key_uint(packer, "bytes", counts->search_bytes_by_kind[i]);
        }
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
    msgpack_pack_map(packer, 32);
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
    fm_pack_key_uint(packer, "stuck", counts->stuck);
    fm_pack_key_uint(packer, "escorts", counts->escorts);
    fm_pack_key_uint(packer, "lanes", counts->lanes);
    fm_pack_key_uint(packer, "passing", counts->passing);
    fm_pack_key_uint(packer, "conceding", counts->conceding);
    fm_pack_key_uint(packer, "bypasses", counts->bypasses);
    pack_quantiles(packer, "tick_ms", &stats->tick_ms);
    pack_quantiles(packer, "overrun_ms", &stats->overrun_ms);
    pack_quantiles(packer, "order_to_first_move_ticks", &stats->order_to_first_move_ticks);
    fm_pack_key_uint(packer, "late_ticks", stats->late_ticks);
    fm_pack_key_uint(packer, "skipped_ticks", stats->skipped_ticks);
    fm_pack_key_uint(packer, "degraded_ticks", stats->degraded_ticks);
    fm_pack_key_real(packer, "ns_per_expansion", stats->ns_per_expansion);
    pack_by_name(packer, stats);
    pack_searches(packer, counts);
    pack_memory(packer, stats);
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

fm_status fm_take_stats(fm_session *session, const fm_request *request, char *error)
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
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_STATS, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->stats.reset = reset;
    job->stats.teams = request->values[FM_FIELD_TEAMS].number != 0;
    return fm_request_post(session, job);
}

void fm_reply_stats(fm_session *session, fm_job *job)
{
    send_stats(session, job->request, job->stats.world);
}
