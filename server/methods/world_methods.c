// server/methods/world_methods.c: see world_methods.h.

#include "server/methods/world_methods.h"

#include "core/generate/generate.h"
#include "server/base/log.h"
#include "server/methods/cluster_methods.h"
#include "server/methods/creation.h"
#include "server/methods/issuance.h"
#include "server/relay/relay.h"
#include "server/streams/shipping.h"
#include "server/streams/stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- names of rules ----------------------------------------------------------------------------

static const char *const generator_names[] = {
#define X(enumerator, name) name,
    FM_GENERATOR_LIST(X)
#undef X
};

static const char *const step_names[] = {
    [FM_STEPS_1] = "1",
    [FM_STEPS_10_14] = "10/14",
    [FM_STEPS_70_99] = "70/99",
};

static const char *const shape_names[] = {
    [FM_SENSE_SQUARE] = "square",
    [FM_SENSE_DIAMOND] = "diamond",
    [FM_SENSE_DISC] = "disc",
};

static const char *const occupancy_names[] = {
#define X(enumerator, name) [enumerator] = name,
    FM_OCCUPANCY_LIST(X)
#undef X
};
static const char *const stale_names[] = {"refuse", "allow"};

static uint32_t number_or(const fm_request *request, fm_field field, uint32_t otherwise)
{
    const fm_value *value = &request->values[field];
    return value->present ? (uint32_t)value->number : otherwise;
}

// ---- reading world.create ----------------------------------------------------------------------

fm_status fm_request_new_name(const fm_session *session, const char *bytes, size_t size, char *name,
                              char *error)
{
    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)bytes[i]) && memchr("._-", bytes[i], 3) == NULL) {
            snprintf(error, FM_ERROR_TEXT_SIZE, "name: letters, digits, '.', '_' and '-' only");
            return FM_ERR_BAD_VALUE;
        }
    }
    memmove(name, bytes, size);
    name[size] = '\0';
    bool taken = fm_hub_find_host_by_name(session->hub, name, size) != NULL ||
                 fm_creation_has_name(session->hub, name);
    return taken ? FM_ERR_EXISTS : FM_OK;
}

static fm_status read_generator(const fm_request *request, fm_host_options *options, char *error)
{
    fm_generate_options *generate = &options->generate;
    uint32_t generator = FM_GENERATOR_SKIRMISH;
    fm_status status = fm_request_choose(request, FM_FIELD_GENERATOR, generator_names,
                                         FM_COUNT_OF(generator_names), &generator, error);
    *generate = fm_generate_options_default();
    generate->generator = (fm_generator)generator;
    generate->width = number_or(request, FM_FIELD_WIDTH, generate->width);
    generate->height = number_or(request, FM_FIELD_HEIGHT, generate->height);
    generate->players = number_or(request, FM_FIELD_PLAYERS, generate->players);
    generate->walls_removed = number_or(request, FM_FIELD_WALLS_REMOVED, generate->walls_removed);
    generate->room_side = number_or(request, FM_FIELD_ROOM_SIDE, generate->room_side);
    generate->blocked_permille =
        number_or(request, FM_FIELD_BLOCKED_PERMILLE, generate->blocked_permille);
    if (request->values[FM_FIELD_SEED].present) {
        generate->seed = request->values[FM_FIELD_SEED].number;
    }
    return status;
}

static fm_status read_rules(const fm_request *request, fm_world_rules *rules, char *error)
{
    uint32_t neighbours = number_or(request, FM_FIELD_NEIGHBOURS, 8);
    bool corners = request->values[FM_FIELD_CORNER_CUTTING].number != 0;
    if (neighbours != 4 && neighbours != 8) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "neighbours must be 4 or 8");
        return FM_ERR_BAD_VALUE;
    }
    if (neighbours == 4 && corners) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "corner_cutting needs 8 neighbours");
        return FM_ERR_BAD_VALUE;
    }
    bool four = neighbours == 4;
    uint32_t steps = four ? FM_STEPS_1 : FM_STEPS_10_14;
    uint32_t shape = four ? FM_SENSE_DIAMOND : FM_SENSE_SQUARE;
    fm_status status = fm_request_choose(request, FM_FIELD_STEP_COSTS, step_names,
                                         FM_COUNT_OF(step_names), &steps, error);
    if (status == FM_OK) {
        status = fm_request_choose(request, FM_FIELD_SENSE_SHAPE, shape_names,
                                   FM_COUNT_OF(shape_names), &shape, error);
    }
    uint32_t occupancy = FM_OCCUPANCY_NONE;
    if (status == FM_OK) {
        status = fm_request_choose(request, FM_FIELD_OCCUPANCY, occupancy_names,
                                   FM_COUNT_OF(occupancy_names), &occupancy, error);
    }
    rules->occupancy = (fm_occupancy_rule)occupancy;
    rules->pushed_stay = request->values[FM_FIELD_PUSHED_STAY].number != 0;
    rules->blocked_ticks = number_or(request, FM_FIELD_BLOCKED_TICKS, 0);
    rules->connectivity = four ? FM_CONNECT_4 : corners ? FM_CONNECT_8_CORNERS : FM_CONNECT_8;
    rules->steps = (fm_step_costs)steps;
    rules->sense.shape = (fm_sense_shape)shape;
    rules->sense.radius = number_or(request, FM_FIELD_SENSE_RADIUS, rules->sense.radius);
    rules->sense.line_of_sight = request->values[FM_FIELD_LINE_OF_SIGHT].number != 0;
    rules->omniscient = request->values[FM_FIELD_OMNISCIENT].number != 0;
    rules->agents_max = number_or(request, FM_FIELD_AGENTS_MAX, rules->agents_max);
    rules->teams_max = number_or(request, FM_FIELD_TEAMS_MAX, rules->teams_max);
    rules->saved_ticks = number_or(request, FM_FIELD_SAVED_TICKS, rules->saved_ticks);
    rules->players_build = number_or(request, FM_FIELD_PLAYERS_BUILD, 0);
    return status;
}

static fm_status read_classes(const fm_request *request, fm_world_rules *rules, char *error)
{
    char text[FM_CLASSES_MAX * FM_CLASS_TEXT_SIZE];
    const fm_value *value = &request->values[FM_FIELD_CLASSES];
    if (!value->present) {
        return FM_OK;
    }
    FM_ASSERT(value->size < sizeof text); // the protocol's list says 1600
    memcpy(text, value->bytes, value->size);
    text[value->size] = '\0';
    uint32_t count;
    fm_status status =
        fm_movement_classes_parse(text, rules->classes, &count, error, FM_ERROR_TEXT_SIZE);
    rules->class_count = status == FM_OK ? count : 0;
    return status;
}

static fm_status read_landmarks(const fm_request *request, fm_landmark_rules *landmarks,
                                char *error)
{
    static const char *const placement_names[] = {
#define X(enumerator, name) name,
        FM_PLACEMENT_LIST(X)
#undef X
    };
    uint32_t placement = landmarks->placement, stale = landmarks->allow_stale;
    fm_status status = fm_request_choose(request, FM_FIELD_LANDMARK_PLACEMENT, placement_names,
                                         FM_COUNT_OF(placement_names), &placement, error);
    if (status == FM_OK) {
        status = fm_request_choose(request, FM_FIELD_STALE, stale_names, FM_COUNT_OF(stale_names),
                                   &stale, error);
    }
    landmarks->count = number_or(request, FM_FIELD_LANDMARKS, landmarks->count);
    landmarks->placement = (fm_placement)placement;
    landmarks->adaptive = request->values[FM_FIELD_LANDMARKS_MOVE].number != 0;
    landmarks->allow_stale = stale == 1;
    return status;
}

static fm_status read_planner(const fm_session *session, const fm_request *request,
                              fm_world_rules *rules, char *error)
{
    char text[FM_CONFIG_TEXT_MAX + 1];
    const fm_value *planner = &request->values[FM_FIELD_PLANNER];
    if (planner->present) {
        memcpy(text, planner->bytes, planner->size);
        text[planner->size] = '\0';
    } else {
        snprintf(text, sizeof text, "%s", session->hub->config->planner);
    }
    return fm_planner_spec_parse(text, &rules->planner, error, FM_ERROR_TEXT_SIZE);
}

fm_status fm_request_overload(const fm_request *request, fm_overload *overload, char *error)
{
    const fm_value *value = &request->values[FM_FIELD_OVERLOAD];
    if (value->present && !fm_overload_by_name(value->bytes, value->size, overload)) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "overload must be slip, skip or degrade");
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status read_pace(const fm_session *session, const fm_request *request,
                           fm_host_options *options, char *error)
{
    const fm_config *config = session->hub->config;
    const fm_value *hz = &request->values[FM_FIELD_TICK_HZ];
    const fm_value *budget = &request->values[FM_FIELD_BUDGET_MS];
    options->tick_hz = hz->present ? hz->real : config->tick_hz;
    options->rules.tick_millihertz = (uint32_t)(options->tick_hz * 1000 + 0.5);
    options->budget_ms = budget->present ? budget->real : config->budget_ms;
    options->overload = config->overload;
    options->paused = request->values[FM_FIELD_PAUSED].number != 0;
    return fm_request_overload(request, &options->overload, error);
}

fm_status fm_request_take_upload(fm_session *session, const fm_request *request, char **bytes,
                                 size_t *size, char *error)
{
    fm_upload *finished = &session->upload;
    if (finished->number != request->values[FM_FIELD_UPLOAD].number ||
        finished->received != finished->total) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such finished upload");
        return FM_ERR_BAD_VALUE;
    }
    *bytes = finished->bytes;
    *size = finished->total;
    session->hub->uploads_size -= finished->total;
    *finished = (fm_upload){0};
    return FM_OK;
}

// The map comes last, because from here on it must be released.
static fm_status read_map(fm_session *session, const fm_request *request, fm_host_options *options,
                          char *error)
{
    const fm_value *map = &request->values[FM_FIELD_MAP];
    const fm_value *upload = &request->values[FM_FIELD_UPLOAD];
    if (map->present + upload->present + request->values[FM_FIELD_GENERATOR].present != 1) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "world.create: exactly one of map, upload and generator is wanted");
        return FM_ERR_BAD_FIELD;
    }
    if (map->present) {
        options->map = malloc(map->size);
        if (options->map == NULL) {
            return FM_ERR_NO_MEMORY;
        }
        memcpy(options->map, map->bytes, map->size);
        options->map_size = map->size;
    }
    return upload->present
               ? fm_request_take_upload(session, request, &options->map, &options->map_size, error)
               : FM_OK;
}

static fm_status read_options(fm_session *session, const fm_request *request,
                              fm_host_options *options, char *error)
{
    options->rules = fm_world_rules_default();
    options->memory_max = session->hub->config->world_memory_max;
    const fm_value *name = &request->values[FM_FIELD_NAME];
    fm_status status = fm_request_new_name(session, name->bytes, name->size, options->name, error);
    if (status == FM_OK) {
        status = read_generator(request, options, error);
    }
    if (status == FM_OK) {
        status = read_rules(request, &options->rules, error);
    }
    if (status == FM_OK) {
        status = read_classes(request, &options->rules, error);
    }
    if (status == FM_OK) {
        status = read_landmarks(request, &options->rules.landmarks, error);
    }
    if (status == FM_OK) {
        status = read_planner(session, request, &options->rules, error);
    }
    if (status == FM_OK) {
        status = read_pace(session, request, options, error);
    }
    return status == FM_OK ? read_map(session, request, options, error) : status;
}

fm_status fm_request_new_world(const fm_session *session, char *error)
{
    const fm_hub *hub = session->hub;
    if (hub->host_count + hub->creation_count >= hub->config->worlds_max) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server holds %llu worlds at most",
                 (unsigned long long)hub->config->worlds_max);
        return FM_ERR_LIMIT;
    }
    return FM_OK;
}

fm_status fm_take_world_create(fm_session *session, const fm_request *request, char *error)
{
    fm_host_options options = {0};
    fm_status status = fm_request_new_world(session, error);
    if (status == FM_OK) {
        status = read_options(session, request, &options, error);
    }
    return status == FM_OK ? fm_creation_begin(session, request, &options) : status;
}

// ---- map.upload --------------------------------------------------------------------------------

static fm_status add_piece(fm_upload *upload, const fm_request *request, char *error)
{
    const fm_value *data = &request->values[FM_FIELD_DATA];
    uint64_t offset = request->values[FM_FIELD_OFFSET].number;
    if (offset != upload->received) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "offset must be %zu, the bytes received so far",
                 upload->received);
        return FM_ERR_BAD_VALUE;
    }
    if (data->size > upload->total - upload->received) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "more bytes than 'total' announced");
        return FM_ERR_BAD_VALUE;
    }
    memcpy(upload->bytes + upload->received, data->bytes, data->size);
    upload->received += data->size;
    return FM_OK;
}

// A new upload replaces an unfinished one, unless the request is refused.
static fm_status begin_upload(fm_session *session, const fm_request *request, char *error)
{
    fm_hub *hub = session->hub;
    const fm_value *total = &request->values[FM_FIELD_TOTAL];
    if (!total->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "map.upload: the first piece must have 'total'");
        return FM_ERR_BAD_FIELD;
    }
    size_t others_size = hub->uploads_size - session->upload.total;
    if (others_size + total->number > hub->config->uploads_max_bytes) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "too many uploads at once");
        return FM_ERR_LIMIT;
    }
    fm_upload begun = {.bytes = malloc(total->number), .total = total->number};
    if (begun.bytes == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = add_piece(&begun, request, error);
    if (status != FM_OK) {
        free(begun.bytes);
        return status;
    }
    begun.number = ++hub->upload_last;
    free(session->upload.bytes);
    session->upload = begun;
    hub->uploads_size = others_size + begun.total;
    return FM_OK;
}

fm_status fm_take_map_upload(fm_session *session, const fm_request *request, char *error)
{
    fm_upload *upload = &session->upload;
    const fm_value *number = &request->values[FM_FIELD_UPLOAD];
    fm_status status = FM_OK;
    if (!number->present) {
        status = begin_upload(session, request, error);
    } else if (upload->number != number->number) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such upload");
        status = FM_ERR_BAD_VALUE;
    } else {
        status = add_piece(upload, request, error);
    }
    if (status != FM_OK || request->is_notification) {
        return status;
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_key_uint(&reply.packer, "upload", upload->number);
    fm_pack_key_uint(&reply.packer, "received", upload->received);
    fm_reply_send(session, &reply);
    return FM_OK;
}

// ---- world.list, world.info --------------------------------------------------------------------

// A standby's world stands where the server that it follows is away.
static void describe_standby(const fm_hub *hub, fm_host_summary *summary)
{
    fm_standby_report report = {.peer = ""};
    hub->standby_calls->report(hub->standby, &report);
    if (report.error[0] != '\0') {
        snprintf(summary->halted, sizeof summary->halted, "%.80s is not followed: %.120s",
                 report.peer, report.error);
    }
}

// A primary's world is computed for 64 ticks more, of which nobody is told.
static void describe_primary(const fm_hub *hub, fm_host_summary *summary)
{
    if (strcmp(fm_shipping_durability(hub), "blocked") == 0) {
        snprintf(summary->halted, sizeof summary->halted,
                 "nothing is sent before a standby has it (replica_missing: block)");
    }
}

// A player must not learn how many worlds there are, and errors name files of the server.
static fm_host_summary summary_for(const fm_session *session, const fm_host *host)
{
    fm_host_summary summary = fm_conductor_summary(fm_hub_conductor(session->hub, host), host);
    if (session->hub->standby != NULL && !fm_host_is_replay(host)) {
        describe_standby(session->hub, &summary);
    } else if (!fm_host_is_replay(host) && summary.halted[0] == '\0') {
        describe_primary(session->hub, &summary);
    }
    if (session->role == FM_ROLE_PLAYER && summary.halted[0] != '\0') {
        snprintf(summary.halted, sizeof summary.halted, "the server cannot go on with it now");
    }
    if (session->role == FM_ROLE_PLAYER) {
        summary.agents = 0;
        summary.teams = 0;
    }
    return summary;
}

static void pack_list_entry(msgpack_packer *packer, const fm_session *session, const fm_host *host)
{
    fm_host_summary summary = summary_for(session, host);
    msgpack_pack_map(packer, 12);
    fm_pack_key_uint(packer, "world", host->number);
    fm_pack_key_text(packer, "name", host->name);
    fm_pack_key_uint(packer, "width", host->width);
    fm_pack_key_uint(packer, "height", host->height);
    fm_pack_key_uint(packer, "tick", summary.tick);
    fm_pack_key_uint(packer, "agents", summary.agents);
    fm_pack_key_uint(packer, "teams", summary.teams);
    fm_pack_key_bool(packer, "paused", summary.paused);
    fm_pack_key_real(packer, "tick_hz", summary.tick_hz);
    fm_pack_key_real(packer, "budget_ms", summary.budget_ms);
    fm_pack_key_text(packer, "journal", fm_host_journal_name(summary.journal));
    fm_pack_key_text(packer, "halted", summary.halted);
}

fm_status fm_take_world_list(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    if (request->is_notification) {
        return FM_OK;
    }
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    char missing[FM_ERROR_TEXT_SIZE];
    fm_relay_describe_missing(session->hub->relay, missing);
    msgpack_pack_map(&reply.packer, 4);
    fm_pack_seeds(&reply.packer, session->hub);
    fm_relay_pack_relays(session->hub->relay, &reply.packer);
    fm_pack_key_text(&reply.packer, "missing", missing);
    fm_pack_text(&reply.packer, "worlds");
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->hub->host_count; i++) {
        count += fm_request_may_know(session, session->hub->hosts[i]);
    }
    msgpack_pack_array(&reply.packer, count);
    for (uint32_t i = 0; i < session->hub->host_count; i++) {
        if (fm_request_may_know(session, session->hub->hosts[i])) {
            pack_list_entry(&reply.packer, session, session->hub->hosts[i]);
        }
    }
    fm_reply_send(session, &reply);
    return FM_OK;
}

static void pack_rules(msgpack_packer *packer, const fm_world_rules *rules)
{
    char planner[FM_CONFIG_TEXT_MAX];
    fm_planner_spec_format(&rules->planner, planner, sizeof planner);
    fm_pack_text(packer, "rules");
    msgpack_pack_map(packer, 20);
    fm_pack_key_uint(packer, "neighbours", rules->connectivity == FM_CONNECT_4 ? 4 : 8);
    fm_pack_key_bool(packer, "corner_cutting", rules->connectivity == FM_CONNECT_8_CORNERS);
    fm_pack_key_text(packer, "step_costs", step_names[rules->steps]);
    fm_pack_key_uint(packer, "sense_radius", rules->sense.radius);
    fm_pack_key_text(packer, "sense_shape", shape_names[rules->sense.shape]);
    fm_pack_key_bool(packer, "line_of_sight", rules->sense.line_of_sight);
    fm_pack_key_bool(packer, "omniscient", rules->omniscient);
    fm_pack_key_text(packer, "occupancy", occupancy_names[rules->occupancy]);
    fm_pack_key_bool(packer, "pushed_stay", rules->pushed_stay);
    fm_pack_key_uint(packer, "blocked_ticks", rules->blocked_ticks);
    fm_pack_key_text(packer, "planner", planner);
    fm_pack_key_uint(packer, "landmarks", rules->landmarks.count);
    fm_pack_key_text(packer, "landmark_placement", fm_placement_name(rules->landmarks.placement));
    fm_pack_key_bool(packer, "landmarks_move", rules->landmarks.adaptive);
    fm_pack_key_text(packer, "stale", stale_names[rules->landmarks.allow_stale]);
    fm_pack_key_uint(packer, "agents_max", rules->agents_max);
    fm_pack_key_uint(packer, "teams_max", rules->teams_max);
    fm_pack_key_uint(packer, "saved_ticks", rules->saved_ticks);
    fm_pack_key_uint(packer, "players_build", rules->players_build);
    fm_pack_text(packer, "classes");
    msgpack_pack_array(packer, rules->class_count);
    for (uint32_t i = 0; i < rules->class_count; i++) {
        char text[FM_CLASS_TEXT_SIZE];
        fm_movement_class_format(&rules->classes[i], text, sizeof text);
        fm_pack_text(packer, text);
    }
}

static void pack_replay(msgpack_packer *packer, const fm_host *host,
                        const fm_replay_summary *summary)
{
    fm_pack_text(packer, "replay");
    if (!fm_host_is_replay(host)) {
        msgpack_pack_map(packer, 0);
        return;
    }
    bool seeks = summary->seeks != FM_TICK_NONE;
    msgpack_pack_map(packer, seeks ? 6 : 5);
    fm_pack_key_text(packer, "file", host->playback.file);
    fm_pack_key_uint(packer, "first_tick", summary->first_tick);
    fm_pack_key_uint(packer, "last_tick", summary->last_tick);
    fm_pack_key_uint(packer, "differences", summary->differences);
    fm_pack_key_text(packer, "error", summary->error);
    if (seeks) {
        fm_pack_key_uint(packer, "seeks", summary->seeks);
    }
}

static void pack_info(msgpack_packer *packer, const fm_session *session, const fm_host *host)
{
    fm_host_summary summary = summary_for(session, host);
    const fm_relay *relay = session->hub->relay;
    if (relay != NULL && fm_relay_pack_info(relay, host, &summary, packer)) {
        return;
    }
    uint32_t base_count = session->role == FM_ROLE_PLAYER ? 0 : host->base_count;
    bool is_player = session->role == FM_ROLE_PLAYER;
    msgpack_pack_map(packer, is_player ? 16 : 17);
    fm_pack_key_uint(packer, "world", host->number);
    fm_pack_key_text(packer, "name", host->name);
    fm_pack_key_uint(packer, "width", host->width);
    fm_pack_key_uint(packer, "height", host->height);
    fm_pack_key_uint(packer, "tick", summary.tick);
    fm_pack_key_bool(packer, "paused", summary.paused);
    fm_pack_key_real(packer, "tick_hz", summary.tick_hz);
    fm_pack_key_real(packer, "budget_ms", summary.budget_ms);
    fm_pack_key_text(packer, "overload", fm_overload_name(host->overload));
    fm_pack_key_uint(packer, "agents", summary.agents);
    fm_pack_key_uint(packer, "teams", summary.teams);
    pack_rules(packer, &host->rules);
    fm_pack_key_cells(packer, "bases", host->bases, base_count);
    fm_pack_key_text(packer, "journal", fm_host_journal_name(summary.journal));
    fm_pack_key_text(packer, "halted", summary.halted);
    pack_replay(packer, host, &summary.replay);
    if (!is_player) { // it depends on what the player's team does not see
        fm_pack_key_digest(packer, summary.digest);
    }
}

fm_status fm_take_world_info(fm_session *session, const fm_request *request, char *error)
{
    const fm_value *number = &request->values[FM_FIELD_WORLD];
    const fm_value *name = &request->values[FM_FIELD_NAME];
    if (!number->present && !name->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world.info: 'world' or 'name' is wanted");
        return FM_ERR_BAD_FIELD;
    }
    const fm_host *host = number->present
                              ? fm_hub_find_host(session->hub, number->number)
                              : fm_hub_find_host_by_name(session->hub, name->bytes, name->size);
    if (host == NULL && number->present) {
        fm_host *ignored;
        return fm_request_host(session, request, &ignored); // reports whether it is on another node
    }
    if (host == NULL || !fm_request_may_know(session, host)) {
        return FM_ERR_NO_WORLD;
    }
    if (fm_request_is_in_doubt(session, host)) {
        return FM_ERR_MOVED; // or will have, before long
    }
    if (!request->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, request->id);
        pack_info(&reply.packer, session, host);
        fm_reply_send(session, &reply);
    }
    return FM_OK;
}

// ---- world.destroy, pause, resume, step --------------------------------------------------------

fm_status fm_take_world_destroy(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_REMOVE, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    status = fm_request_post(session, job);
    if (status == FM_OK && session->hub->log_store != NULL) {
        host->state = FM_HOST_DESTROYING; // fm_creation_removed() ends it, if it is still ours
    } else if (status == FM_OK) {
        host->state = FM_HOST_ENDING;
        fm_creation_end(session->hub, host);
    }
    return status;
}

static fm_status post_simple(fm_session *session, const fm_request *request, fm_job_kind kind)
{
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, kind, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    if (kind == FM_JOB_RESUME) {
        job->pace.tick_hz = request->values[FM_FIELD_TICK_HZ].real;
        job->pace.budget_ms = request->values[FM_FIELD_BUDGET_MS].real;
    }
    if (kind == FM_JOB_STEP) {
        job->step.left = number_or(request, FM_FIELD_TICKS, 1);
    }
    return fm_request_post(session, job);
}

fm_status fm_take_world_pause(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    return post_simple(session, request, FM_JOB_PAUSE);
}

fm_status fm_take_world_resume(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    return post_simple(session, request, FM_JOB_RESUME);
}

fm_status fm_take_world_step(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    return post_simple(session, request, FM_JOB_STEP);
}

void fm_answer_tick(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "tick", job->tick);
}

void fm_answer_step(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 2);
    fm_pack_key_uint(packer, "tick", job->tick);
    fm_pack_key_digest(packer, job->step.digest);
}
