// server/handlers_agent.c: the methods that act inside a world: teams, agents, terrain, paths. See
// handlers.h.
//
// Numbers become cells and ids here, and nowhere else: what the conductor gets lies inside the map
// or is refused with the entry's position.

#include "server/handlers.h"

#include <stdlib.h>
#include <string.h>

// ---- numbers into cells, ids, rectangles -------------------------------------------------------

static fm_status no_cell(const fm_host *host, fm_field field, uint32_t index, uint64_t x,
                         uint64_t y, char *error)
{
    snprintf(error, FM_ERROR_TEXT_SIZE, "%s, entry %u: (%llu, %llu) is outside the map of %u x %u",
             fm_field_name(field), index, (unsigned long long)x, (unsigned long long)y, host->width,
             host->height);
    return FM_ERR_OFF_GRID;
}

// Reads x, y pairs. Room for value->count / 2 cells.
static fm_status read_cells(const fm_host *host, const fm_request *request, fm_field field,
                            fm_cell *cells, char *error)
{
    const fm_value *value = &request->values[field];
    for (uint32_t i = 0; i < value->count / 2; i++) {
        uint64_t x = fm_value_at(value, 2 * i), y = fm_value_at(value, 2 * i + 1);
        if (x >= host->width || y >= host->height) {
            return no_cell(host, field, i, x, y, error);
        }
        cells[i] = fm_cell_at((uint32_t)x, (uint32_t)y);
    }
    return FM_OK;
}

static fm_status wrong_count(fm_field field, const char *wanted, char *error)
{
    snprintf(error, FM_ERROR_TEXT_SIZE, "field '%s': %s", fm_field_name(field), wanted);
    return FM_ERR_BAD_FIELD;
}

// The cells of a field as an array of the job's.
static fm_status take_cells(const fm_request *request, fm_field field, fm_job *job, char *error)
{
    const fm_value *value = &request->values[field];
    if (value->count % 2 != 0) {
        return wrong_count(field, "an even count of numbers is wanted", error);
    }
    uint32_t count = value->count / 2;
    job->command.cells = malloc((size_t)count * sizeof *job->command.cells);
    if (job->command.cells == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->command.command.cells = job->command.cells;
    job->command.command.cell_count = count;
    return read_cells(job->host, request, field, job->command.cells, error);
}

static fm_status take_agents(const fm_request *request, fm_job *job)
{
    const fm_value *value = &request->values[FM_FIELD_AGENTS];
    job->command.agents = malloc((size_t)value->count * sizeof *job->command.agents);
    if (job->command.agents == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        job->command.agents[i] = fm_agent_id_unpack(fm_value_at(value, i));
    }
    job->command.command.agents = job->command.agents;
    job->command.command.agent_count = value->count;
    return FM_OK;
}

static fm_status take_rects(const fm_request *request, fm_job *job, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_RECTS];
    if (value->count % 4 != 0) {
        return wrong_count(FM_FIELD_RECTS, "4 numbers for each rectangle are wanted", error);
    }
    const fm_host *host = job->host;
    uint32_t count = value->count / 4;
    fm_rect *rects = malloc((size_t)count * sizeof *rects);
    if (rects == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->command.rects = rects;
    job->command.command.rects = rects;
    job->command.command.rect_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t x = fm_value_at(value, 4 * i), y = fm_value_at(value, 4 * i + 1);
        uint64_t width = fm_value_at(value, 4 * i + 2), height = fm_value_at(value, 4 * i + 3);
        if (x >= host->width || y >= host->height || width == 0 || height == 0 ||
            width > host->width - x || height > host->height - y) {
            snprintf(error, FM_ERROR_TEXT_SIZE,
                     "rects, entry %u: not inside the map of %u x %u, or empty", i, host->width,
                     host->height);
            return FM_ERR_OFF_GRID;
        }
        rects[i] = (fm_rect){(uint32_t)x, (uint32_t)y, (uint32_t)width, (uint32_t)height};
    }
    return FM_OK;
}

static fm_status take_planner(const fm_request *request, fm_planner_spec *planner, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_PLANNER];
    if (!value->present) {
        return FM_OK;
    }
    char text[129];
    memcpy(text, value->bytes, value->size);
    text[value->size] = '\0';
    return fm_planner_spec_parse(text, planner, error, FM_ERROR_TEXT_SIZE);
}

// ---- commands ----------------------------------------------------------------------------------

// Fills in a command from the fields of its method.
typedef fm_status fill_fn(const fm_request *request, fm_job *job, char *error);

static fm_status post_command(fm_session *session, const fm_request *request, fm_command_kind kind,
                              fill_fn *fill, char *error)
{
    fm_host *host;
    fm_status status = fm_handlers_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_handlers_make_job(session, request, FM_JOB_COMMAND, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->command.command.kind = kind;
    job->command.command.team = (uint32_t)request->values[FM_FIELD_TEAM].number;
    status = fill(request, job, error);
    if (status != FM_OK) {
        fm_job_destroy(job);
        return status;
    }
    return fm_handlers_post(session, job);
}

static fm_status fill_team(const fm_request *request, fm_job *job, char *error)
{
    return take_planner(request, &job->command.command.planner, error);
}

static fm_status fill_spawn(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = take_cells(request, FM_FIELD_CELLS, job, error);
    if (status != FM_OK) {
        return status;
    }
    job->command.spawned = malloc(job->command.command.cell_count * sizeof *job->command.spawned);
    if (job->command.spawned == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    return take_planner(request, &job->command.command.planner, error);
}

static fm_status fill_remove(const fm_request *request, fm_job *job, char *error)
{
    (void)error;
    return take_agents(request, job);
}

static fm_status read_order_kind(const fm_request *request, fm_command *command, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_ORDER_KIND_LIST(X)
#undef X
    };
    const fm_value *value = &request->values[FM_FIELD_KIND];
    command->order = FM_ORDER_MOVE;
    for (uint32_t i = 0; value->present && i < FM_COUNT_OF(names); i++) {
        if (fm_value_is(value, names[i])) {
            command->order = (fm_order_kind)i;
            return FM_OK;
        }
    }
    if (value->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "kind must be move or stop");
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status read_on_unreachable(const fm_request *request, fm_command *command, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_ON_UNREACHABLE_LIST(X)
#undef X
    };
    const fm_value *value = &request->values[FM_FIELD_ON_UNREACHABLE];
    command->on_unreachable = FM_UNREACHABLE_NEAREST;
    for (uint32_t i = 0; value->present && i < FM_COUNT_OF(names); i++) {
        if (fm_value_is(value, names[i])) {
            command->on_unreachable = (fm_on_unreachable)i;
            return FM_OK;
        }
    }
    if (value->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "on_unreachable must be nearest, fail or wait");
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status read_goals(const fm_request *request, fm_job *job, char *error)
{
    bool one = request->values[FM_FIELD_GOAL].present;
    if (one == request->values[FM_FIELD_GOALS].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: either goal or goals is wanted");
        return FM_ERR_BAD_FIELD;
    }
    if (one) {
        return take_cells(request, FM_FIELD_GOAL, job, error);
    }
    fm_status status = take_cells(request, FM_FIELD_GOALS, job, error);
    if (status == FM_OK && job->command.command.cell_count != job->command.command.agent_count) {
        return wrong_count(FM_FIELD_GOALS, "one x, y for each agent is wanted", error);
    }
    return status;
}

static fm_status fill_order(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    fm_status status = read_order_kind(request, command, error);
    if (status == FM_OK) {
        status = read_on_unreachable(request, command, error);
    }
    if (status == FM_OK) {
        status = take_agents(request, job);
    }
    if (status == FM_OK && command->order == FM_ORDER_MOVE) {
        status = read_goals(request, job, error);
    }
    return status;
}

static fm_status read_set(const fm_request *request, fm_command *command, char *error)
{
    const fm_value *set = &request->values[FM_FIELD_SET];
    const fm_value *cost = &request->values[FM_FIELD_COST];
    if (fm_value_is(set, "blocked")) {
        command->terrain = FM_TERRAIN_WALL;
    } else if (fm_value_is(set, "free")) {
        command->terrain = FM_TERRAIN_GROUND;
        command->cost = FM_COST_FLOOR;
    } else if (!fm_value_is(set, "cost")) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "set must be blocked, free or cost");
        return FM_ERR_BAD_VALUE;
    } else if (!cost->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "terrain.set: set = cost needs 'cost'");
        return FM_ERR_BAD_FIELD;
    } else {
        command->cost = (uint8_t)cost->number;
    }
    return FM_OK;
}

static fm_status fill_terrain(const fm_request *request, fm_job *job, char *error)
{
    bool has_cells = request->values[FM_FIELD_CELLS].present;
    bool has_rects = request->values[FM_FIELD_RECTS].present;
    if (!has_cells && !has_rects) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "terrain.set: cells or rects are wanted");
        return FM_ERR_BAD_FIELD;
    }
    fm_status status = read_set(request, &job->command.command, error);
    if (status == FM_OK && has_cells) {
        status = take_cells(request, FM_FIELD_CELLS, job, error);
    }
    if (status == FM_OK && has_rects) {
        status = take_rects(request, job, error);
    }
    return status;
}

fm_status fm_take_team_create(fm_session *session, const fm_request *request, char *error)
{
    return post_command(session, request, FM_COMMAND_TEAM, fill_team, error);
}

fm_status fm_take_agent_spawn(fm_session *session, const fm_request *request, char *error)
{
    return post_command(session, request, FM_COMMAND_SPAWN, fill_spawn, error);
}

fm_status fm_take_agent_remove(fm_session *session, const fm_request *request, char *error)
{
    return post_command(session, request, FM_COMMAND_REMOVE, fill_remove, error);
}

fm_status fm_take_agent_order(fm_session *session, const fm_request *request, char *error)
{
    return post_command(session, request, FM_COMMAND_ORDER, fill_order, error);
}

fm_status fm_take_terrain_set(fm_session *session, const fm_request *request, char *error)
{
    return post_command(session, request, FM_COMMAND_TERRAIN, fill_terrain, error);
}

void fm_answer_team_create(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "team", job->command.result.team);
}

void fm_answer_agent_spawn(msgpack_packer *packer, const fm_job *job)
{
    uint32_t count = job->command.command.cell_count;
    msgpack_pack_map(packer, 1);
    fm_pack_text(packer, "agents");
    msgpack_pack_array(packer, count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, fm_agent_id_pack(job->command.spawned[i]));
    }
}

void fm_answer_agent_remove(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "removed", job->command.result.changed_count);
}

void fm_answer_agent_order(msgpack_packer *packer, const fm_job *job)
{
    bool moves = job->command.command.order == FM_ORDER_MOVE;
    msgpack_pack_map(packer, moves ? 2 : 1);
    if (moves) {
        fm_pack_key_uint(packer, "order", job->command.result.first_order);
    }
    fm_pack_key_uint(packer, "count", job->command.result.changed_count);
}

void fm_answer_terrain_set(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "changed", job->command.result.changed_count);
}

// ---- path.query --------------------------------------------------------------------------------

fm_status fm_take_path_query(fm_session *session, const fm_request *request, char *error)
{
    fm_host *host;
    fm_status status = fm_handlers_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job_query query = {
        .team = (uint32_t)request->values[FM_FIELD_TEAM].number,
        .expansions_max = UINT64_MAX,
    };
    if (!fm_handlers_may_see(session, query.team)) {
        return FM_ERR_DENIED;
    }
    if (request->values[FM_FIELD_EXPANSIONS_MAX].present) {
        query.expansions_max = request->values[FM_FIELD_EXPANSIONS_MAX].number;
    }
    status = read_cells(host, request, FM_FIELD_FROM, &query.from, error);
    if (status == FM_OK) {
        status = read_cells(host, request, FM_FIELD_TO, &query.to, error);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_handlers_make_job(session, request, FM_JOB_QUERY, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->query = query;
    return fm_handlers_post(session, job);
}

static const char *query_reason(fm_query_state state)
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
    case FM_QUERY_RUNNING:
        break;
    }
    FM_UNREACHABLE(); // running queries are not answered
}

void fm_answer_path_query(msgpack_packer *packer, const fm_job *job)
{
    const fm_query_answer *answer = &job->query.answer;
    msgpack_pack_map(packer, 6);
    fm_pack_key_bool(packer, "complete", answer->state == FM_QUERY_FOUND);
    fm_pack_key_text(packer, "reason", query_reason(answer->state));
    fm_pack_key_cells(packer, "cells", answer->cells, answer->cell_count);
    fm_pack_key_uint(packer, "cost", answer->cost);
    fm_pack_key_real(packer, "length", answer->length);
    fm_pack_key_uint(packer, "expansions", answer->expansions);
}

// ---- debug.inspect -----------------------------------------------------------------------------

fm_status fm_take_debug_inspect(fm_session *session, const fm_request *request, char *error)
{
    fm_host *host;
    fm_status status = fm_handlers_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_rect rect;
    status = fm_handlers_rect(host, request, &rect, error);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_handlers_make_job(session, request, FM_JOB_INSPECT, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->inspect.agent = fm_agent_id_unpack(request->values[FM_FIELD_AGENT].number);
    job->inspect.has_rect = request->values[FM_FIELD_RECT].present;
    job->inspect.rect = rect;
    return fm_handlers_post(session, job);
}

static const char *state_name(fm_agent_state state)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_AGENT_STATE_LIST(X)
#undef X
    };
    return names[state];
}

static const char *plan_name(const fm_agent_report *report)
{
    static const char *const names[] = {
        [FM_PLAN_RUNNING] = "running",     [FM_PLAN_FOUND] = "found",
        [FM_PLAN_PARTIAL] = "partial",     [FM_PLAN_UNREACHABLE] = "unreachable",
        [FM_PLAN_EXHAUSTED] = "exhausted",
    };
    return report->planner_agents > 0 ? names[report->plan_state] : "none";
}

static void pack_search(msgpack_packer *packer, const fm_job_inspect *inspect)
{
    fm_pack_text(packer, "search");
    msgpack_pack_array(packer, (size_t)inspect->search_count * 6);
    for (uint32_t i = 0; i < inspect->search_count; i++) {
        const fm_inspection *cell = &inspect->search[i];
        msgpack_pack_uint64(packer, fm_cell_x(cell->cell));
        msgpack_pack_uint64(packer, fm_cell_y(cell->cell));
        msgpack_pack_uint64(packer, (uint64_t)cell->open | (uint64_t)cell->closed << 1);
        msgpack_pack_uint64(packer, cell->g);
        msgpack_pack_uint64(packer, cell->h);
        msgpack_pack_uint64(packer, cell->rhs);
    }
}

void fm_answer_debug_inspect(msgpack_packer *packer, const fm_job *job)
{
    const fm_agent_report *report = &job->inspect.report;
    bool substitute = report->has_order && report->goal_substitute != FM_CELL_NONE;
    msgpack_pack_map(packer, job->inspect.has_rect ? 20 : 19);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(report->id));
    fm_pack_key_uint(packer, "team", report->team);
    fm_pack_key_cells(packer, "cell", &report->cell, 1);
    fm_pack_key_text(packer, "state", state_name(report->state));
    fm_pack_key_uint(packer, "order", report->has_order ? report->order : 0);
    fm_pack_key_cells(packer, "goal", &report->goal, report->has_order);
    fm_pack_key_cells(packer, "substitute", &report->goal_substitute, substitute);
    fm_pack_key_text(packer, "planner", report->planner);
    fm_pack_key_text(packer, "plan", plan_name(report));
    fm_pack_key_uint(packer, "sharers", report->planner_agents);
    fm_pack_key_cells(packer, "path", job->inspect.path, job->inspect.path_count);
    fm_pack_key_uint(packer, "open", report->open_count);
    fm_pack_key_uint(packer, "closed", report->closed_count);
    fm_pack_key_uint(packer, "expansions", report->planner_expansions);
    fm_pack_key_uint(packer, "bytes", report->planner_bytes);
    fm_pack_key_uint(packer, "knowledge_bytes", report->knowledge_bytes);
    fm_pack_key_uint(packer, "known", report->known_count);
    fm_pack_key_uint(packer, "moves", report->moves);
    fm_pack_key_uint(packer, "replans", report->replans);
    if (job->inspect.has_rect) {
        pack_search(packer, &job->inspect);
    }
}
