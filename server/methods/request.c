// server/methods/request.c: see request.h.

#include "server/methods/request.h"

#include "server/methods/failure.h"
#include "server/relay/relay.h"

#include <string.h>

fm_status fm_request_take(fm_take_fn *take, fm_session *session, const fm_request *request,
                          char *error)
{
    return take(session, request, error);
}

// ---- worlds and teams --------------------------------------------------------------------------

static bool is_seat(const fm_session *session, const fm_host *host)
{
    const fm_seat *seat = &session->seat;
    return seat->world[0] == '\0' ? host->number == seat->number
                                  : strcmp(host->name, seat->world) == 0;
}

bool fm_request_may_know(const fm_session *session, const fm_host *host)
{
    return session->role != FM_ROLE_PLAYER || (!fm_host_is_replay(host) && is_seat(session, host));
}

fm_host *fm_request_seat_host(const fm_session *session)
{
    const fm_seat *seat = &session->seat;
    return seat->world[0] == '\0'
               ? fm_hub_find_host(session->hub, seat->number)
               : fm_hub_find_host_by_name(session->hub, seat->world, strlen(seat->world));
}

bool fm_request_may_locate(const fm_session *session, const fm_node_world *world)
{
    const fm_seat *seat = &session->seat;
    return session->role != FM_ROLE_PLAYER ||
           (seat->world[0] == '\0' ? seat->number == world->number
                                   : strcmp(seat->world, world->name) == 0);
}

bool fm_request_is_in_doubt(const fm_session *session, const fm_host *host)
{
    fm_world_log_store *store = session->hub->log_store;
    return store != NULL && fm_world_log_knows(store, host->number) &&
           !fm_world_log_is_sure(store, host->number);
}

fm_status fm_request_missing(const fm_session *session, uint64_t number)
{
    fm_node_world world;
    fm_node_entry entry;
    bool elsewhere = session->hub->node != NULL && number != 0 &&
                     fm_node_locate(session->hub->node, number, NULL, &world, &entry) &&
                     fm_request_may_locate(session, &world);
    return elsewhere ? FM_ERR_MOVED : FM_ERR_NO_WORLD;
}

fm_status fm_request_host(fm_session *session, const fm_request *request, fm_host **out)
{
    fm_host *host = fm_hub_find_host(session->hub, request->values[FM_FIELD_WORLD].number);
    if (host == NULL) {
        return fm_request_missing(session, request->values[FM_FIELD_WORLD].number);
    }
    if (!fm_request_may_know(session, host)) {
        return FM_ERR_NO_WORLD;
    }
    if (host->state == FM_HOST_DESTROYING) {
        return FM_ERR_NOT_READY; // whether it is gone will be known soon
    }
    *out = host;
    return FM_OK;
}

fm_status fm_request_team(const fm_session *session, const fm_request *request, uint32_t *team)
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

// ---- jobs ---------------------------------------------------------------------------------------

uint64_t fm_request_holder(const fm_session *session)
{
    uint64_t holder = session->number;
    if (session->role == FM_ROLE_PLAYER) {
        return session->seat.team;
    }
    if (session->has_token) {
        memcpy(&holder, session->token_hash, sizeof holder);
    }
    return holder | UINT64_C(1) << 63;
}

fm_job *fm_request_make_job(fm_session *session, const fm_request *request, fm_job_kind kind,
                            fm_host *host)
{
    fm_job *job = fm_job_create(kind, host);
    if (job != NULL) {
        job->session = session->number;
        job->request = request->id;
        job->holder = session->role == FM_ROLE_ADMIN ? 0 : fm_request_holder(session);
        job->method = request->method;
        job->is_notification = request->is_notification;
    }
    return job;
}

fm_status fm_request_post(fm_session *session, fm_job *job)
{
    fm_status status = fm_conductor_post(fm_hub_conductor(session->hub, job->host), job);
    if (status == FM_OK) {
        session->jobs_waiting++;
    } else {
        fm_job_destroy(job);
    }
    return status;
}

// The world that a request names by number or name.
static void name_world(const fm_request *request, fm_status status, char *error)
{
    const fm_value *number = &request->values[FM_FIELD_WORLD];
    const fm_value *name = &request->values[FM_FIELD_NAME];
    if (number->present) {
        fm_failure_name(error, "world", number->number, status);
    } else if (name->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world '%.*s': %s", (int)name->size,
                 (const char *)name->bytes, fm_status_text(status));
    }
}

// A relay may lack a world because it lacks the server that has it.
static void add_missing(const fm_relay *relay, char *error)
{
    char missing[FM_ERROR_TEXT_SIZE];
    size_t size = strlen(error);
    fm_relay_describe_missing(relay, missing);
    if (missing[0] != '\0' && size > 0) {
        snprintf(error + size, FM_ERROR_TEXT_SIZE - size, " here; %.180s", missing);
    }
}

// Says what a refusal is about that has no text of its own. A player gets the same bytes for every
// world but its own.
static void describe(const fm_session *session, const fm_request *request, fm_status status,
                     char *error)
{
    bool plays = session->role == FM_ROLE_PLAYER;
    if (!plays && (status == FM_ERR_NO_WORLD || status == FM_ERR_EXISTS)) {
        name_world(request, status, error);
        add_missing(session->hub->relay, error);
    } else if (status == FM_ERR_NOT_READY && request->values[FM_FIELD_WORLD].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu is ending",
                 (unsigned long long)request->values[FM_FIELD_WORLD].number);
    } else if (plays && status == FM_ERR_DENIED && request->values[FM_FIELD_TEAM].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "team %llu: a player's team is that of its seat",
                 (unsigned long long)request->values[FM_FIELD_TEAM].number);
    }
}

void fm_request_refuse(fm_session *session, const fm_request *request, fm_status status,
                       const char *error)
{
    const fm_value *world = &request->values[FM_FIELD_WORLD];
    if (request->is_notification) {
        return;
    }
    if (status == FM_ERR_MOVED && world->present) {
        fm_reply_moved(session, request->id, world->number);
    } else {
        char text[FM_ERROR_TEXT_SIZE];
        snprintf(text, sizeof text, "%s", error);
        if (text[0] == '\0') {
            describe(session, request, status, text);
        }
        fm_reply_error(session, request->id, status, text[0] == '\0' ? NULL : text);
    }
}

void fm_request_done(fm_session *session, const fm_request *request)
{
    if (!request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        msgpack_pack_map(&reply.packer, 0);
        fm_reply_send(session, &reply);
    }
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x9e3779b97f4a7c15u ^ sum >> 29;
}

static uint64_t mix_value(uint64_t sum, const fm_value *value)
{
    uint64_t bits;
    memcpy(&bits, &value->real, sizeof bits);
    sum = mix(mix(sum, value->number), bits);
    if (value->bytes != NULL) {
        sum = mix(sum, fm_bytes_checksum(value->bytes, value->size));
    }
    for (uint32_t i = 0; i < value->count; i++) {
        sum = mix(sum, fm_value_at(value, i));
    }
    return mix(sum, value->count);
}

// A checksum of a request, independent of the order of its fields. It is kept in journals, so it
// uses fields' names: their numbers may change with the protocol.
static uint64_t sum_of(const fm_request *request)
{
    uint64_t sum = 0;
    for (uint32_t field = 0; field < FM_FIELD_COUNT; field++) {
        const char *name = fm_field_name((fm_field)field);
        if (request->values[field].present && field != FM_FIELD_WORLD) {
            sum += mix_value(fm_bytes_checksum(name, strlen(name)), &request->values[field]);
        }
    }
    return sum;
}

static void give_id(const fm_session *session, const fm_request *request, fm_job *job)
{
    const fm_value *value = &request->values[FM_FIELD_COMMAND_ID];
    if (value->present) {
        uint32_t seat = session->role == FM_ROLE_PLAYER ? session->seat.team : FM_ALL_TEAMS;
        job->command.id =
            (fm_command_id){.seat = seat, .id = value->number, .request = sum_of(request)};
        job->command.command.id = &job->command.id;
    }
}

fm_status fm_request_post_command(fm_session *session, const fm_request *request,
                                  fm_command_kind kind, fm_fill_fn *fill, char *error)
{
    fm_host *host;
    uint32_t team;
    fm_status status = fm_request_host(session, request, &host);
    if (status == FM_OK) {
        status = fm_request_team(session, request, &team);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_COMMAND, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->command.command.kind = kind;
    job->command.command.team = team;
    job->command.by_name = session->role == FM_ROLE_PLAYER;
    give_id(session, request, job);
    status = fill(request, job, error);
    if (status != FM_OK) {
        fm_job_destroy(job);
        return status;
    }
    return fm_request_post(session, job);
}

// ---- fields -------------------------------------------------------------------------------------

fm_status fm_request_rect(const fm_host *host, const fm_request *request, fm_rect *rect,
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

static fm_status no_cell(const fm_host *host, fm_field field, uint32_t index, uint64_t x,
                         uint64_t y, char *error)
{
    snprintf(error, FM_ERROR_TEXT_SIZE, "%s, entry %u: (%llu, %llu) is outside the map of %u x %u",
             fm_field_name(field), index, (unsigned long long)x, (unsigned long long)y, host->width,
             host->height);
    return FM_ERR_OFF_GRID;
}

// Reads x, y pairs. Room for value->count / 2 cells.
fm_status fm_request_cells(const fm_host *host, const fm_request *request, fm_field field,
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

bool fm_value_is(const fm_value *value, const char *word)
{
    return value->size == strlen(word) && memcmp(value->bytes, word, value->size) == 0;
}

fm_status fm_request_choose(const fm_request *request, fm_field field, const char *const *names,
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

fm_status fm_request_planner(const fm_request *request, fm_planner_spec *planner, char *error)
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

// A movement class by name; without one the world's first.
fm_status fm_request_class(const fm_host *host, const fm_request *request, uint32_t *class_index,
                           char *error)
{
    const fm_value *value = &request->values[FM_FIELD_CLASS];
    const fm_world_rules *rules = &host->rules;
    *class_index = 0;
    for (uint32_t i = 0; value->present && i < rules->class_count; i++) {
        if (fm_value_is(value, rules->classes[i].name)) {
            *class_index = i;
            return FM_OK;
        }
    }
    if (!value->present) {
        return FM_OK;
    }
    int size = snprintf(error, FM_ERROR_TEXT_SIZE,
                        "there is no movement class '%.*s', only:", (int)value->size, value->bytes);
    for (uint32_t i = 0; i < rules->class_count && size < (int)FM_ERROR_TEXT_SIZE; i++) {
        size += snprintf(error + size, FM_ERROR_TEXT_SIZE - (size_t)size, " %s",
                         rules->classes[i].name);
    }
    return FM_ERR_NO_CLASS;
}
