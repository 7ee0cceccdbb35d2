// server/methods/debug_methods.c: see debug_methods.h.

#include "server/methods/debug_methods.h"

#include "core/world/words.h"
#include "server/methods/path_methods.h"

#include <stdio.h>
#include <stdlib.h>

// ---- words -------------------------------------------------------------------------------------

// The next word of a text of words with spaces between them. False when there is none left.
static bool next_word(const fm_value *value, uint32_t *at, fm_value *word)
{
    while (*at < value->size && value->bytes[*at] == ' ') {
        *at += 1;
    }
    uint32_t begin = *at;
    while (*at < value->size && value->bytes[*at] != ' ') {
        *at += 1;
    }
    *word = *value;
    word->bytes = value->bytes + begin;
    word->size = *at - begin;
    return word->size > 0;
}

static uint32_t channel_named(const fm_value *word)
{
#define X(enumerator, bit, name)                                                                   \
    if (fm_value_is(word, name)) {                                                                 \
        return enumerator;                                                                         \
    }
    FM_CHANNEL_LIST(X)
#undef X
    return 0;
}

static fm_status read_channels(const fm_request *request, uint32_t *channels, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_CHANNELS];
    if (!value->present) {
        *channels = FM_CHANNEL_REPORT | FM_CHANNEL_PATH | FM_CHANNEL_SEARCH;
        return FM_OK;
    }
    *channels = 0;
    fm_value word;
    for (uint32_t at = 0; next_word(value, &at, &word);) {
        uint32_t channel = channel_named(&word);
        if (channel == 0) {
            snprintf(error, FM_ERROR_TEXT_SIZE,
                     "channels: '%.*s' is none; there are: report path search details",
                     (int)word.size, (const char *)word.bytes);
            return FM_ERR_BAD_VALUE;
        }
        *channels |= channel;
    }
    return FM_OK;
}

// ---- debug.inspect -----------------------------------------------------------------------------

// What debug.inspect and debug.subscribe have in common.
static fm_status make_inspection(fm_session *session, const fm_request *request, fm_job_kind kind,
                                 fm_job **out, char *error)
{
    fm_host *host;
    fm_rect rect;
    uint32_t channels = 0;
    fm_status status = fm_request_host(session, request, &host);
    if (status == FM_OK) {
        status = fm_request_rect(host, request, &rect, error);
    }
    if (status == FM_OK) {
        status = read_channels(request, &channels, error);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, kind, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->inspect.agent = fm_agent_id_unpack(request->values[FM_FIELD_AGENT].number);
    job->inspect.channels = channels;
    job->inspect.has_rect = request->values[FM_FIELD_RECT].present;
    job->inspect.rect = rect;
    *out = job;
    return FM_OK;
}

fm_status fm_take_debug_inspect(fm_session *session, const fm_request *request, char *error)
{
    fm_job *job;
    fm_status status = make_inspection(session, request, FM_JOB_INSPECT, &job, error);
    return status == FM_OK ? fm_request_post(session, job) : status;
}

static void pack_orders(msgpack_packer *packer, const fm_agent_report *report)
{
    fm_pack_key_uint(packer, "order", report->has_order ? report->order : 0);
    fm_pack_key_text(packer, "kind",
                     report->has_order ? fm_order_kind_names[report->order_kind] : "none");
    fm_pack_key_uint(packer, "target", fm_agent_id_pack(report->target));
    fm_pack_text(packer, "queue");
    msgpack_pack_array(packer, report->queue_count);
    for (uint32_t i = 0; i < report->queue_count; i++) {
        msgpack_pack_uint64(packer, report->queue_orders[i]);
    }
    fm_pack_text(packer, "queue_kinds");
    msgpack_pack_array(packer, report->queue_count);
    for (uint32_t i = 0; i < report->queue_count; i++) {
        fm_pack_text(packer, fm_order_kind_names[report->queue_kinds[i]]);
    }
}

static const char *plan_name(const fm_agent_report *report)
{
    return report->planner_agents > 0 ? fm_plan_state_names[report->plan_state] : "none";
}

// The six numbers of one cell.
static void pack_search_cell(msgpack_packer *packer, const fm_inspection *cell)
{
    msgpack_pack_uint64(packer, fm_cell_x(cell->cell));
    msgpack_pack_uint64(packer, fm_cell_y(cell->cell));
    msgpack_pack_uint64(packer, (uint64_t)cell->open | (uint64_t)cell->closed << 1 |
                                    (uint64_t)cell->stale << 2);
    msgpack_pack_uint64(packer, cell->g);
    msgpack_pack_uint64(packer, cell->h);
    msgpack_pack_uint64(packer, cell->rhs);
}

static void pack_search(msgpack_packer *packer, const fm_job_inspect *inspect)
{
    fm_pack_text(packer, "search");
    msgpack_pack_array(packer, (size_t)inspect->search_count * 6);
    for (uint32_t i = 0; i < inspect->search_count; i++) {
        pack_search_cell(packer, &inspect->search[i].seen);
    }
}

static void pack_details(msgpack_packer *packer, const fm_job_inspect *inspect)
{
    fm_pack_text(packer, "details");
    msgpack_pack_array(packer, (size_t)inspect->search_count * 5);
    for (uint32_t i = 0; i < inspect->search_count; i++) {
        const fm_inspection *cell = &inspect->search[i].seen;
        fm_cell parent = cell->parent == FM_CELL_NONE ? cell->cell : cell->parent;
        msgpack_pack_uint64(packer, cell->key >> 32);
        msgpack_pack_uint64(packer, cell->key & UINT32_MAX);
        msgpack_pack_uint64(packer, fm_cell_x(parent));
        msgpack_pack_uint64(packer, fm_cell_y(parent));
        msgpack_pack_uint64(packer, inspect->search[i].raised);
    }
}

static bool wants(const fm_job *job, fm_channel channel)
{
    bool needs_rect = channel == FM_CHANNEL_SEARCH || channel == FM_CHANNEL_DETAILS;
    return job->inspect.channels & channel && (job->inspect.has_rect || !needs_rect);
}

static uint32_t inspection_size(const fm_job *job)
{
    return 1u + (wants(job, FM_CHANNEL_REPORT) ? 25u : 0u) + wants(job, FM_CHANNEL_PATH) +
           wants(job, FM_CHANNEL_SEARCH) + wants(job, FM_CHANNEL_DETAILS);
}

static void pack_report(msgpack_packer *packer, const fm_job *job)
{
    const fm_agent_report *report = &job->inspect.report;
    bool substitute = report->has_order && report->goal_substitute != FM_CELL_NONE;
    double per_tick = (double)report->planner_recent / 256;
    fm_pack_key_uint(packer, "team", report->team);
    fm_pack_key_cells(packer, "cell", &report->cell, 1);
    fm_pack_key_text(packer, "state", fm_agent_state_names[report->state]);
    pack_orders(packer, report);
    bool goal = report->has_order && report->goal != FM_CELL_NONE;
    fm_pack_key_cells(packer, "goal", &report->goal, goal);
    fm_pack_key_cells(packer, "substitute", &report->goal_substitute, substitute);
    fm_pack_key_text(packer, "planner", report->planner);
    fm_pack_key_text(packer, "runs", report->planner_runs);
    fm_pack_key_text(packer, "class", job->host->rules.classes[report->class_index].name);
    fm_pack_key_text(packer, "plan", plan_name(report));
    fm_pack_key_uint(packer, "sharers", report->planner_agents);
    fm_pack_key_uint(packer, "open", report->open_count);
    fm_pack_key_uint(packer, "closed", report->closed_count);
    fm_pack_key_uint(packer, "expansions", report->planner_expansions);
    fm_pack_key_uint(packer, "bytes", report->planner_bytes);
    fm_pack_key_uint(packer, "knowledge_bytes", report->knowledge_bytes);
    fm_pack_key_uint(packer, "known", report->known_count);
    fm_pack_key_uint(packer, "moves", report->moves);
    fm_pack_key_uint(packer, "replans", report->replans);
    fm_pack_key_real(packer, "per_tick", per_tick);
    fm_pack_key_real(packer, "us_per_tick", per_tick * job->inspect.ns_per_expansion / 1e3);
}

static void pack_inspection(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_inspect *inspect = &job->inspect;
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(inspect->agent));
    if (wants(job, FM_CHANNEL_REPORT)) {
        pack_report(packer, job);
    }
    if (wants(job, FM_CHANNEL_PATH)) {
        fm_pack_key_cells(packer, "path", inspect->path, inspect->path_count);
    }
    if (wants(job, FM_CHANNEL_SEARCH)) {
        pack_search(packer, inspect);
    }
    if (wants(job, FM_CHANNEL_DETAILS)) {
        pack_details(packer, inspect);
    }
}

void fm_answer_debug_inspect(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, inspection_size(job));
    pack_inspection(packer, job);
}

// ---- debug.subscribe, debug.unsubscribe --------------------------------------------------------

fm_status fm_take_debug_subscribe(fm_session *session, const fm_request *request, char *error)
{
    fm_job *job;
    fm_status status = make_inspection(session, request, FM_JOB_TRACE, &job, error);
    if (status != FM_OK) {
        return status;
    }
    job->inspect.trace = ++session->subscription_last;
    return fm_request_post(session, job);
}

void fm_answer_debug_subscribe(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "subscription", job->inspect.trace);
}

fm_status fm_take_debug_unsubscribe(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_UNTRACE, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->inspect.trace = request->values[FM_FIELD_SUBSCRIPTION].number;
    return fm_request_post(session, job);
}

void fm_answer_debug_unsubscribe(msgpack_packer *packer, const fm_job *job)
{
    (void)job;
    msgpack_pack_map(packer, 0);
}

static void send_trace(fm_session *session, const fm_job *job)
{
    fm_reply reply;
    msgpack_sbuffer_init(&reply.buffer);
    msgpack_packer_init(&reply.packer, &reply.buffer, fm_frame_write);
    fm_pack_notification(&reply.packer, FM_NOTIFY_DEBUG);
    bool alive = job->status == FM_OK;
    msgpack_pack_map(&reply.packer, 3 + (alive ? inspection_size(job) : 1));
    fm_pack_key_uint(&reply.packer, "subscription", job->inspect.trace);
    fm_pack_key_uint(&reply.packer, "world", job->host->number);
    fm_pack_key_uint(&reply.packer, "tick", job->tick);
    if (alive) {
        pack_inspection(&reply.packer, job);
    } else {
        fm_pack_key_text(&reply.packer, "ended", fm_status_text(job->status));
    }
    fm_reply_send(session, &reply);
}

// A world that ends drops its traces and gets no more jobs.
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

// A client that does not read skips traces until it has room.
void fm_debug_send_trace(fm_hub *hub, fm_session *session, const fm_job *job)
{
    atomic_fetch_sub(&job->host->traces_unread, 1);
    if (session == NULL) {
        stop_trace(hub, job);
    } else if (fm_session_unsent_size(session) < hub->config->session_unsent_max / 4) {
        send_trace(session, job);
    }
}

// ---- debug.explain -----------------------------------------------------------------------------

fm_status fm_take_debug_explain(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_EXPLAIN, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->explain.agent = fm_agent_id_unpack(request->values[FM_FIELD_AGENT].number);
    return fm_request_post(session, job);
}

static const char *why_name(fm_why why)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_WHY_LIST(X)
#undef X
    };
    return names[why];
}

static const char *help_name(fm_agent_help help)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_AGENT_HELP_LIST(X)
#undef X
    };
    return names[help];
}

static void pack_order_history(msgpack_packer *packer, const fm_history_entry *entry)
{
    static const char *const events[] = {
        [FM_HISTORY_GIVEN] = "given", [FM_HISTORY_BEGUN] = "begun", [FM_HISTORY_ENDED] = "ended"};
    bool ended = entry->kind == FM_HISTORY_ENDED;
    msgpack_pack_map(packer, 5);
    fm_pack_key_uint(packer, "tick", entry->tick);
    fm_pack_key_uint(packer, "order", entry->order);
    fm_pack_key_text(packer, "event", events[entry->kind]);
    fm_pack_key_text(packer, ended ? "reason" : "kind",
                     ended ? fm_order_end_names[entry->detail]
                           : fm_order_kind_names[entry->detail]);
    fm_pack_key_cells(packer, "cell", &entry->cell, 1);
}

static void pack_chain(msgpack_packer *packer, const fm_explanation *explanation)
{
    fm_pack_text(packer, "waits_for");
    msgpack_pack_array(packer, 3 * (size_t)explanation->chain_count);
    for (uint32_t i = 0; i < explanation->chain_count; i++) {
        msgpack_pack_uint64(packer, fm_agent_id_pack(explanation->chain[i]));
        msgpack_pack_uint32(packer, fm_cell_x(explanation->chain_cells[i]));
        msgpack_pack_uint32(packer, fm_cell_y(explanation->chain_cells[i]));
    }
}

static void pack_passage(msgpack_packer *packer, const char *key, const fm_laned *lanes)
{
    fm_pack_text(packer, key);
    msgpack_pack_array(packer, lanes == NULL ? 0 : 4);
    if (lanes != NULL) {
        msgpack_pack_uint32(packer, lanes->passage.x);
        msgpack_pack_uint32(packer, lanes->passage.y);
        msgpack_pack_uint32(packer, lanes->passage.width);
        msgpack_pack_uint32(packer, lanes->passage.height);
    }
}

static void pack_lanes_of(msgpack_packer *packer, const fm_job *job)
{
    static const char *const headings[FM_DIRECTION_COUNT] = {
        [FM_NORTH] = "north", [FM_EAST] = "east", [FM_SOUTH] = "south", [FM_WEST] = "west"};
    bool has_lanes = job->explain.has_lanes;
    pack_passage(packer, "lanes", has_lanes ? &job->explain.lanes : NULL);
    fm_pack_key_text(packer, "lanes_to", has_lanes ? headings[job->explain.heading] : "none");
}

static void pack_meeting(msgpack_packer *packer, const fm_meeting *meeting)
{
    fm_pack_key_uint(packer, "passes_until", meeting->passes_until);
    fm_pack_key_uint(packer, "passes_team", meeting->passes_team);
    fm_pack_key_bool(packer, "concedes", meeting->concedes);
    fm_pack_key_cells(packer, "via", &meeting->via, meeting->via != FM_CELL_NONE);
}

void fm_answer_debug_explain(msgpack_packer *packer, const fm_job *job)
{
    const fm_explanation *explanation = job->explain.explanation;
    msgpack_pack_map(packer, 20);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(explanation->agent));
    fm_pack_key_text(packer, "state", fm_agent_state_names[explanation->state]);
    fm_pack_key_text(packer, "why", why_name(explanation->why));
    fm_pack_key_uint(packer, "blocker", fm_agent_id_pack(explanation->blocker));
    fm_pack_key_cells(packer, "blocked_at", &explanation->blocked_at,
                      explanation->blocked_at != FM_CELL_NONE);
    fm_pack_key_uint(packer, "waits_ticks", explanation->waits_ticks);
    fm_pack_key_bool(packer, "stuck", explanation->is_stuck);
    fm_pack_key_uint(packer, "kept_ticks", explanation->kept_ticks);
    fm_pack_key_text(packer, "help", help_name(explanation->help));
    fm_pack_key_uint(packer, "escort", fm_agent_id_pack(explanation->escort.agent));
    fm_pack_key_agents(packer, "stands", explanation->escort.standing,
                       explanation->escort.standing_count);
    pack_lanes_of(packer, job);
    pack_meeting(packer, &job->explain.meeting);
    pack_chain(packer, explanation);
    fm_pack_text(packer, "orders");
    msgpack_pack_array(packer, explanation->order_count);
    for (uint32_t i = 0; i < explanation->order_count; i++) {
        pack_order_history(packer, &explanation->orders[i]);
    }
    fm_pack_text(packer, "replans");
    msgpack_pack_array(packer, explanation->replan_count);
    for (uint32_t i = 0; i < explanation->replan_count; i++) {
        const fm_history_entry *entry = &explanation->replans[i];
        msgpack_pack_map(packer, 4);
        fm_pack_key_uint(packer, "tick", entry->tick);
        fm_pack_key_uint(packer, "expansions", entry->expansions);
        fm_pack_key_uint(packer, "changed", entry->count);
        fm_pack_key_cells(packer, "cell", &entry->cell, entry->cell != FM_CELL_NONE);
    }
}

// ---- debug.compare -----------------------------------------------------------------------------

static fm_status read_planners(const fm_value *value, fm_job_query *query, char *error)
{
    fm_value word;
    for (uint32_t at = 0; next_word(value, &at, &word);) {
        char text[FM_PLANNER_SPEC_SIZE];
        if (query->planner_count == FM_TRIALS_MAX || word.size >= sizeof text) {
            snprintf(error, FM_ERROR_TEXT_SIZE, "planners: at most %u, of %u bytes each",
                     FM_TRIALS_MAX, FM_PLANNER_SPEC_SIZE - 1);
            return FM_ERR_LIMIT;
        }
        memcpy(text, word.bytes, word.size);
        text[word.size] = '\0';
        fm_status status = fm_planner_spec_parse(text, &query->planners[query->planner_count++],
                                                 error, FM_ERROR_TEXT_SIZE);
        if (status != FM_OK) {
            return status;
        }
    }
    if (query->planner_count == 0) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "planners: names with spaces between them are wanted");
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status read_trial(const fm_request *request, fm_job *job, char *error)
{
    fm_job_query *query = &job->query;
    query->cells = malloc(2 * sizeof *query->cells);
    if (query->cells == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    query->cell_count = 2;
    query->goal = FM_CELL_NONE;
    query->agent = fm_agent_id_unpack(request->values[FM_FIELD_AGENT].number);
    query->has_rect = request->values[FM_FIELD_RECT].present;
    fm_status status = fm_request_rect(job->host, request, &query->rect, error);
    if (status == FM_OK && request->values[FM_FIELD_GOAL].present) {
        status = fm_request_cells(job->host, request, FM_FIELD_GOAL, &query->goal, error);
    }
    return status == FM_OK ? read_planners(&request->values[FM_FIELD_PLANNERS], query, error)
                           : status;
}

fm_status fm_take_debug_compare(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_TRIAL, read_trial, error);
}

static void pack_trial(msgpack_packer *packer, const fm_job_query *query, uint32_t i)
{
    const fm_query_item *item = &query->items[i];
    const fm_query_answer *answer = &item->answer;
    char planner[FM_PLANNER_SPEC_SIZE];
    fm_planner_spec_format(&query->planners[i], planner, sizeof planner);
    msgpack_pack_map(packer, query->has_rect ? 11 : 10);
    fm_pack_key_text(packer, "planner", planner);
    fm_pack_key_text(packer, "reason", item->is_unfit ? "unfit" : fm_query_reason(answer->state));
    fm_pack_key_cells(packer, "cells", answer->cells, answer->cell_count);
    fm_pack_key_uint(packer, "cost", answer->cost);
    fm_pack_key_real(packer, "length", answer->length);
    fm_pack_key_uint(packer, "expansions", answer->expansions);
    fm_pack_key_real(packer, "us", (double)item->work_ns / 1e3);
    fm_pack_key_uint(packer, "open", answer->open_count);
    fm_pack_key_uint(packer, "closed", answer->closed_count);
    fm_pack_key_uint(packer, "bytes", answer->bytes);
    if (query->has_rect) {
        fm_pack_text(packer, "search");
        msgpack_pack_array(packer, (size_t)answer->search_count * 6);
        for (uint32_t cell = 0; cell < answer->search_count; cell++) {
            pack_search_cell(packer, &answer->search[cell]);
        }
    }
}

void fm_answer_debug_compare(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_query *query = &job->query;
    msgpack_pack_map(packer, 6);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(query->agent));
    fm_pack_key_uint(packer, "team", query->team);
    fm_pack_key_cells(packer, "from", &query->cells[0], 1);
    fm_pack_key_cells(packer, "goal", &query->cells[1], 1);
    fm_pack_key_uint(packer, "tick", query->tick);
    fm_pack_text(packer, "answers");
    msgpack_pack_array(packer, query->item_count);
    for (uint32_t i = 0; i < query->item_count; i++) {
        pack_trial(packer, query, i);
    }
}

// ---- debug.top ---------------------------------------------------------------------------------

static const char *const top_names[] = {
#define X(enumerator, name) name,
    FM_TOP_LIST(X)
#undef X
};

fm_status fm_take_debug_top(fm_session *session, const fm_request *request, char *error)
{
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    const fm_value *by = &request->values[FM_FIELD_BY];
    uint32_t top = 0;
    while (by->present && top < FM_COUNT_OF(top_names) && !fm_value_is(by, top_names[top])) {
        top++;
    }
    if (top == FM_COUNT_OF(top_names)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "by must be one of: agents planners teams edits");
        return FM_ERR_BAD_VALUE;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_TOP, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->top.top = (fm_top)top;
    job->top.capacity = request->values[FM_FIELD_ROWS].present
                            ? (uint32_t)request->values[FM_FIELD_ROWS].number
                            : 10;
    return fm_request_post(session, job);
}

void fm_answer_debug_top(msgpack_packer *packer, const fm_job *job)
{
    bool edits = job->top.top == FM_TOP_EDITS;
    msgpack_pack_map(packer, 1);
    fm_pack_text(packer, "rows");
    msgpack_pack_array(packer, job->top.count);
    for (uint32_t i = 0; i < job->top.count; i++) {
        const fm_top_row *row = &job->top.rows[i];
        if (edits) {
            msgpack_pack_map(packer, 4);
            fm_pack_key_uint(packer, "tick", row->tick);
            fm_pack_key_uint(packer, "expansions", row->total);
            fm_pack_key_uint(packer, "cells", row->users);
            fm_pack_key_cells(packer, "cell", &row->cell, 1);
            continue;
        }
        msgpack_pack_map(packer, 9);
        fm_pack_key_real(packer, "per_tick", (double)row->cost / 256);
        fm_pack_key_uint(packer, "expansions", row->total);
        fm_pack_key_uint(packer, "agent", fm_agent_id_pack(row->agent));
        fm_pack_key_uint(packer, "team", row->team);
        fm_pack_key_uint(packer, "agents", row->users);
        fm_pack_key_uint(packer, "bytes", row->bytes);
        fm_pack_key_cells(packer, "goal", &row->cell, row->cell != FM_CELL_NONE);
        fm_pack_key_text(packer, "planner", row->planner);
        fm_pack_key_text(packer, "runs", row->runs == NULL ? "" : row->runs);
    }
}

// ---- debug.jams --------------------------------------------------------------------------------

fm_status fm_take_debug_jams(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_JAMS, host);
    return job == NULL ? FM_ERR_NO_MEMORY : fm_request_post(session, job);
}

static void pack_jammed(msgpack_packer *packer, const fm_jammed *unit)
{
    msgpack_pack_map(packer, 12);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(unit->agent));
    fm_pack_key_uint(packer, "team", unit->team);
    fm_pack_key_uint(packer, "size", unit->size);
    fm_pack_key_cells(packer, "cell", &unit->cell, 1);
    fm_pack_key_cells(packer, "goal", &unit->goal, unit->goal != FM_CELL_NONE);
    fm_pack_key_text(packer, "why", why_name(unit->why));
    fm_pack_key_uint(packer, "blocker", fm_agent_id_pack(unit->blocker));
    fm_pack_key_cells(packer, "blocker_cell", &unit->blocker_cell,
                      unit->blocker_cell != FM_CELL_NONE);
    fm_pack_key_uint(packer, "waits_ticks", unit->waits_ticks);
    fm_pack_key_uint(packer, "kept_ticks", unit->kept_ticks);
    fm_pack_key_text(packer, "help", help_name(unit->help));
    fm_pack_key_uint(packer, "group", unit->group);
}

static void pack_escorted(msgpack_packer *packer, const fm_escorted *escorted)
{
    msgpack_pack_map(packer, 7);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(escorted->agent));
    fm_pack_key_uint(packer, "team", escorted->team);
    fm_pack_key_uint(packer, "size", escorted->size);
    fm_pack_key_cells(packer, "cell", &escorted->cell, 1);
    fm_pack_key_cells(packer, "next", &escorted->place, escorted->place != FM_CELL_NONE);
    fm_pack_key_uint(packer, "since", escorted->tick);
    fm_pack_key_agents(packer, "stands", escorted->standing, escorted->standing_count);
}

static void pack_lanes(msgpack_packer *packer, const fm_laned *lanes)
{
    msgpack_pack_map(packer, 7);
    fm_pack_key_uint(packer, "team", lanes->team);
    pack_passage(packer, "passage", lanes);
    fm_pack_key_bool(packer, "vertical", lanes->is_vertical);
    fm_pack_key_bool(packer, "open", lanes->is_open);
    fm_pack_key_uint(packer, "ahead", lanes->counts[0]);
    fm_pack_key_uint(packer, "back", lanes->counts[1]);
    fm_pack_text(packer, "directions");
    msgpack_pack_array(packer, lanes->width);
    for (uint32_t i = 0; i < lanes->width; i++) {
        msgpack_pack_uint32(packer, lanes->back >> i & 1);
    }
}

void fm_answer_debug_jams(msgpack_packer *packer, const fm_job *job)
{
    const fm_jams *jams = job->jams.found;
    const fm_meetings *meetings = job->jams.meetings;
    msgpack_pack_map(packer, 7);
    fm_pack_key_uint(packer, "stuck", jams->stuck);
    fm_pack_key_uint(packer, "groups", jams->group_count);
    fm_pack_text(packer, "agents");
    msgpack_pack_array(packer, jams->count);
    for (uint32_t i = 0; i < jams->count; i++) {
        pack_jammed(packer, &jams->units[i]);
    }
    fm_pack_text(packer, "escorts");
    msgpack_pack_array(packer, jams->escort_count);
    for (uint32_t i = 0; i < jams->escort_count; i++) {
        pack_escorted(packer, &jams->escorts[i]);
    }
    fm_pack_text(packer, "lanes");
    msgpack_pack_array(packer, job->jams.lane_count);
    for (uint32_t i = 0; i < job->jams.lane_count; i++) {
        pack_lanes(packer, &job->jams.lanes[i]);
    }
    fm_pack_key_agents(packer, "passing", meetings->passing, meetings->passing_count);
    fm_pack_key_agents(packer, "conceding", meetings->conceding, meetings->conceding_count);
}
