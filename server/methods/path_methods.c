// server/methods/path_methods.c: see path_methods.h.

#include "server/methods/path_methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_CELLS_MAX 16384u // as in proto/protocol.def

// ---- taking -------------------------------------------------------------------------------------

static fm_asker *hold_asker(fm_session *session)
{
    if (session->asker == NULL) {
        session->asker = fm_asker_create(fm_request_holder(session));
    }
    if (session->asker != NULL) {
        atomic_fetch_add(&session->asker->users, 1);
    }
    return session->asker;
}

void fm_path_end_session(fm_session *session)
{
    if (session->asker != NULL) {
        atomic_store(&session->asker->is_gone, true);
        fm_asker_release(session->asker);
        session->asker = NULL;
    }
}

// Reads the common fields, then those that `read` knows.
fm_status fm_path_ask(fm_session *session, const fm_request *request, fm_ask_kind kind,
                      fm_read_fn *read, char *error)
{
    fm_host *host;
    fm_job_query query = {.kind = kind, .expansions_max = UINT64_MAX};
    fm_status status = fm_request_host(session, request, &host);
    if (status == FM_OK) {
        status = fm_request_team(session, request, &query.team);
    }
    if (status == FM_OK) {
        status = fm_request_class(host, request, &query.class_index, error);
    }
    if (status != FM_OK) {
        return status;
    }
    if (session->queries_waiting >= session->hub->config->session_queries_max) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%u queries of this session are under way",
                 session->queries_waiting);
        return FM_ERR_BUSY;
    }
    if (request->values[FM_FIELD_EXPANSIONS_MAX].present) {
        query.expansions_max = request->values[FM_FIELD_EXPANSIONS_MAX].number;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_QUERY, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->query = query;
    job->query.asker = hold_asker(session);
    status = job->query.asker == NULL ? FM_ERR_NO_MEMORY : read(request, job, error);
    if (status != FM_OK) {
        fm_job_destroy(job);
        return status;
    }
    status = fm_request_post(session, job);
    session->queries_waiting += status == FM_OK;
    return status;
}

static fm_status allocate_cells(fm_job *job, uint32_t count)
{
    job->query.cells = malloc(count * sizeof *job->query.cells);
    job->query.cell_count = count;
    return job->query.cells == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

// `from` and `to`, or `pairs` of them.
static fm_status read_pairs(const fm_request *request, fm_job *job, char *error)
{
    const fm_value *pairs = &request->values[FM_FIELD_PAIRS];
    const fm_value *from = &request->values[FM_FIELD_FROM], *to = &request->values[FM_FIELD_TO];
    job->query.many = pairs->present;
    if (pairs->present == (from->present || to->present) || from->present != to->present ||
        pairs->count % 4 != 0) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "wanted are 'from' and 'to', or 'pairs' of four numbers each");
        return FM_ERR_BAD_FIELD;
    }
    fm_status status = allocate_cells(job, pairs->present ? pairs->count / 2 : 2);
    if (status == FM_OK && pairs->present) {
        return fm_request_cells(job->host, request, FM_FIELD_PAIRS, job->query.cells, error);
    }
    if (status == FM_OK) {
        status = fm_request_cells(job->host, request, FM_FIELD_FROM, job->query.cells, error);
    }
    return status == FM_OK
               ? fm_request_cells(job->host, request, FM_FIELD_TO, job->query.cells + 1, error)
               : status;
}

static fm_status read_goals(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = allocate_cells(job, 1 + request->values[FM_FIELD_GOALS].count / 2);
    if (status == FM_OK) {
        status = fm_request_cells(job->host, request, FM_FIELD_FROM, job->query.cells, error);
    }
    return status == FM_OK
               ? fm_request_cells(job->host, request, FM_FIELD_GOALS, job->query.cells + 1, error)
               : status;
}

static fm_status read_field(const fm_request *request, fm_job *job, char *error)
{
    fm_rect *rect = &job->query.rect;
    fm_status status = fm_request_rect(job->host, request, rect, error);
    if (status == FM_OK && (uint64_t)rect->width * rect->height > FIELD_CELLS_MAX) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "a field has at most %u cells", FIELD_CELLS_MAX);
        status = FM_ERR_LIMIT;
    }
    if (status == FM_OK) {
        status = allocate_cells(job, 1);
    }
    return status == FM_OK
               ? fm_request_cells(job->host, request, FM_FIELD_GOAL, job->query.cells, error)
               : status;
}

static fm_status read_paths(const fm_request *request, fm_job *job, char *error)
{
    const fm_planner_spec *planner = &job->query.planner;
    fm_status status = fm_request_planner(request, &job->query.planner, error);
    if (status != FM_OK) {
        return status;
    }
    if (planner->ops != NULL && !fm_query_takes_planner(planner->ops)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "planner '%s' does not answer queries",
                 planner->ops->name);
        return FM_ERR_BAD_VALUE;
    }
    return read_pairs(request, job, error);
}

fm_status fm_take_path_query(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_PATH, read_paths, error);
}

fm_status fm_take_path_distance(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_DISTANCE, read_pairs, error);
}

fm_status fm_take_path_reachable(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_REACHABLE, read_pairs, error);
}

fm_status fm_take_path_nearest(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_NEAREST, read_goals, error);
}

fm_status fm_take_path_field(fm_session *session, const fm_request *request, char *error)
{
    return fm_path_ask(session, request, FM_ASK_FIELD, read_field, error);
}

// ---- answering ----------------------------------------------------------------------------------

const char *fm_query_reason(fm_query_state state)
{
    switch (state) {
    case FM_QUERY_FOUND:
        return "found";
    case FM_QUERY_UNREACHABLE:
        return "unreachable";
    case FM_QUERY_LIMIT:
        return "limit";
    case FM_QUERY_EXHAUSTED:
        return "out_of_memory";
    case FM_QUERY_PARTIAL:
        return "partial";
    case FM_QUERY_RUNNING:
        break;
    }
    FM_UNREACHABLE(); // running queries are not answered
}

static void pack_outcome(msgpack_packer *packer, fm_query_state state, uint64_t expansions)
{
    fm_pack_key_bool(packer, "complete", state == FM_QUERY_FOUND);
    fm_pack_key_text(packer, "reason", fm_query_reason(state));
    fm_pack_key_uint(packer, "expansions", expansions);
}

// The state of all questions together: that of the first that failed.
static void pack_summary(msgpack_packer *packer, const fm_job_query *query)
{
    fm_query_state state = FM_QUERY_FOUND;
    uint64_t expansions = 0;
    for (uint32_t i = query->item_count; i-- > 0;) {
        const fm_query_answer *answer = &query->items[i].answer;
        state = answer->state == FM_QUERY_FOUND ? state : answer->state;
        expansions += answer->expansions;
    }
    pack_outcome(packer, state, expansions);
    fm_pack_key_uint(packer, "tick", query->tick);
}

// Three entries for a path, two for a distance.
static void pack_way(msgpack_packer *packer, const fm_job_query *query,
                     const fm_query_answer *answer)
{
    if (query->kind != FM_ASK_DISTANCE) {
        fm_pack_key_cells(packer, "cells", answer->cells, answer->cell_count);
    }
    fm_pack_key_uint(packer, "cost", answer->cost);
    fm_pack_key_real(packer, "length", answer->length);
}

void fm_answer_path(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_query *query = &job->query;
    uint32_t way_count = query->kind == FM_ASK_DISTANCE ? 2 : 3;
    if (!query->many) {
        msgpack_pack_map(packer, 4 + way_count);
        pack_summary(packer, query);
        pack_way(packer, query, &query->items[0].answer);
        return;
    }
    msgpack_pack_map(packer, 5);
    pack_summary(packer, query);
    fm_pack_text(packer, "answers");
    msgpack_pack_array(packer, query->item_count);
    for (uint32_t i = 0; i < query->item_count; i++) {
        const fm_query_answer *answer = &query->items[i].answer;
        msgpack_pack_map(packer, 3 + way_count);
        pack_outcome(packer, answer->state, answer->expansions);
        pack_way(packer, query, answer);
    }
}

void fm_answer_reachable(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_query *query = &job->query;
    msgpack_pack_map(packer, query->many ? 5 : 4);
    pack_summary(packer, query);
    if (query->many) {
        fm_pack_text(packer, "reachable");
        msgpack_pack_array(packer, query->item_count);
        for (uint32_t i = 0; i < query->item_count; i++) {
            msgpack_pack_uint8(packer, query->items[i].answer.state == FM_QUERY_FOUND);
        }
    }
}

void fm_answer_nearest(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_query *query = &job->query;
    const fm_query_answer *answer = &query->items[0].answer;
    bool found = answer->target != FM_CELL_NONE; // though the path may be too long for the answer
    uint32_t place = 1;
    while (found && query->cells[place] != answer->target) {
        place++;
    }
    msgpack_pack_map(packer, found ? 9 : 8);
    pack_summary(packer, query);
    pack_way(packer, query, answer);
    fm_pack_key_cells(packer, "goal", &answer->target, found);
    if (found) {
        fm_pack_key_uint(packer, "index", place - 1);
    }
}

void fm_answer_field(msgpack_packer *packer, const fm_job *job)
{
    const fm_job_query *query = &job->query;
    const fm_rect *rect = &query->rect;
    const uint32_t numbers[] = {rect->x, rect->y, rect->width, rect->height};
    msgpack_pack_map(packer, 6);
    pack_summary(packer, query);
    fm_pack_text(packer, "rect");
    msgpack_pack_array(packer, FM_COUNT_OF(numbers));
    for (uint32_t i = 0; i < FM_COUNT_OF(numbers); i++) {
        msgpack_pack_uint32(packer, numbers[i]);
    }
    fm_pack_text(packer, "costs");
    msgpack_pack_array(packer, rect->width * rect->height);
    for (uint32_t i = 0; i < rect->width * rect->height; i++) {
        msgpack_pack_uint32(packer, query->items[0].answer.costs[i]);
    }
}
