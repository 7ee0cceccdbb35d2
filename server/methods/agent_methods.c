// server/methods/agent_methods.c: see agent_methods.h.

#include "server/methods/agent_methods.h"

#include "core/orders/order_kinds.h"
#include "core/world/words.h"

#include <stdlib.h>
#include <string.h>

// ---- numbers into cells, ids, rectangles -------------------------------------------------------

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
    return fm_request_cells(job->host, request, field, job->command.cells, error);
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

// ---- commands ----------------------------------------------------------------------------------

static fm_status fill_team(const fm_request *request, fm_job *job, char *error)
{
    job->command.command.weight = (uint32_t)request->values[FM_FIELD_WEIGHT].number;
    return fm_request_planner(request, &job->command.command.planner, error);
}

static fm_status read_speed(const fm_request *request, const fm_host *host, fm_command *command,
                            char *error)
{
    const fm_value *speed = &request->values[FM_FIELD_SPEED];
    uint32_t tick_millihertz = host->rules.tick_millihertz;
    command->speed = speed->present ? (uint32_t)(speed->real * 1000 + 0.5) : 0;
    if ((uint64_t)command->speed * FM_SPEED_STRAIGHT >
        (uint64_t)tick_millihertz * FM_SPEED_DIAGONAL) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "speed: more than one step a tick; at most %g cells per second here",
                 tick_millihertz / 1000.0 * FM_SPEED_DIAGONAL / FM_SPEED_STRAIGHT);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static fm_status read_place(const fm_request *request, fm_command *command, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_PLACING_LIST(X)
#undef X
    };
    uint32_t index = FM_PLACE_EXACT;
    fm_status status =
        fm_request_choose(request, FM_FIELD_PLACE, names, FM_COUNT_OF(names), &index, error);
    command->placing = (fm_placing)index;
    return status;
}

static fm_status fill_spawn(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = take_cells(request, FM_FIELD_CELLS, job, error);
    if (status == FM_OK) {
        status = read_speed(request, job->host, &job->command.command, error);
    }
    if (status == FM_OK) {
        status = read_place(request, &job->command.command, error);
    }
    if (status != FM_OK) {
        return status;
    }
    job->command.spawned = malloc(job->command.command.cell_count * sizeof *job->command.spawned);
    job->command.names = malloc(job->command.command.cell_count * sizeof *job->command.names);
    if (job->command.spawned == NULL || job->command.names == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    status = fm_request_class(job->host, request, &job->command.command.class_index, error);
    return status == FM_OK ? fm_request_planner(request, &job->command.command.planner, error)
                           : status;
}

static fm_status fill_remove(const fm_request *request, fm_job *job, char *error)
{
    (void)error;
    return take_agents(request, job);
}

static fm_status fill_planner(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = take_agents(request, job);
    return status == FM_OK ? fm_request_planner(request, &job->command.command.planner, error)
                           : status;
}

// Which of its fields a request sets.
static uint8_t read_set_mask(const fm_request *request)
{
    static const struct {
        fm_field field;
        fm_set set;
    } fields[] = {
        {FM_FIELD_CLASS, FM_SET_CLASS},   {FM_FIELD_SPEED, FM_SET_SPEED},
        {FM_FIELD_FROZEN, FM_SET_FROZEN}, {FM_FIELD_TAG, FM_SET_TAG},
        {FM_FIELD_SIGHT, FM_SET_SIGHT},   {FM_FIELD_TAG_SHOWN, FM_SET_TAG_SHOWN},
        {FM_FIELD_TEAM, FM_SET_TEAM},
    };
    uint8_t set = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(fields); i++) {
        set |= request->values[fields[i].field].present ? (uint8_t)fields[i].set : 0;
    }
    return set;
}

// The team is the agents' new one, not their present one.
static fm_status fill_set(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    const fm_value *tag = &request->values[FM_FIELD_TAG];
    command->set = read_set_mask(request);
    if (command->set == 0) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "agent.set: class, speed, frozen, tag, tag_shown, sight or team is wanted");
        return FM_ERR_BAD_FIELD;
    }
    command->team = FM_ALL_TEAMS;
    command->new_team = (uint32_t)request->values[FM_FIELD_TEAM].number;
    command->frozen = request->values[FM_FIELD_FROZEN].number != 0;
    command->tag_shown = request->values[FM_FIELD_TAG_SHOWN].number != 0;
    command->sight = (uint8_t)request->values[FM_FIELD_SIGHT].number;
    if (tag->present && tag->size > 0) {
        memcpy(job->command.tag, tag->bytes, tag->size);
        command->tag = job->command.tag;
        command->tag_size = (uint8_t)tag->size;
    }
    fm_status status = take_agents(request, job);
    if (status == FM_OK) {
        status = read_speed(request, job->host, command, error);
    }
    return status == FM_OK ? fm_request_class(job->host, request, &command->class_index, error)
                           : status;
}

static fm_status fill_place(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    fm_status status = take_agents(request, job);
    if (status == FM_OK) {
        status = take_cells(request, FM_FIELD_CELLS, job, error);
    }
    if (status == FM_OK && command->cell_count != command->agent_count) {
        status = wrong_count(FM_FIELD_CELLS, "one x, y for each agent is wanted", error);
    }
    return status == FM_OK ? read_place(request, command, error) : status;
}

static fm_status read_order_kind(const fm_request *request, fm_command *command, char *error)
{
    uint32_t index = FM_ORDER_MOVE;
    fm_status status = fm_request_choose(request, FM_FIELD_KIND, fm_order_kind_names,
                                         FM_ORDER_KIND_COUNT, &index, error);
    command->order = (fm_order_kind)index;
    return status;
}

static fm_status read_on_unreachable(const fm_request *request, fm_command *command, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_ON_UNREACHABLE_LIST(X)
#undef X
    };
    uint32_t index = FM_UNREACHABLE_NEAREST;
    fm_status status = fm_request_choose(request, FM_FIELD_ON_UNREACHABLE, names,
                                         FM_COUNT_OF(names), &index, error);
    command->on_unreachable = (fm_on_unreachable)index;
    return status;
}

// The cells of a kind that takes either one, `goal`, or several, `goals`.
static fm_status read_goals(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    bool one = request->values[FM_FIELD_GOAL].present;
    if (one == request->values[FM_FIELD_GOALS].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: either goal or goals is wanted");
        return FM_ERR_BAD_FIELD;
    }
    fm_status status = take_cells(request, one ? FM_FIELD_GOAL : FM_FIELD_GOALS, job, error);
    if (status != FM_OK || one) {
        return status;
    }
    if (command->order == FM_ORDER_MOVE && command->cell_count != command->agent_count) {
        return wrong_count(FM_FIELD_GOALS, "one x, y for each agent is wanted", error);
    }
    if (command->order == FM_ORDER_PATROL && command->cell_count > FM_WAYPOINTS_MAX) {
        return wrong_count(FM_FIELD_GOALS, "a patrol has at most 32 waypoints", error);
    }
    return FM_OK;
}

static fm_status read_target(const fm_request *request, fm_command *command, char *error)
{
    const fm_value *target = &request->values[FM_FIELD_TARGET];
    if (!target->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: field 'target' is missing");
        return FM_ERR_BAD_FIELD;
    }
    command->target = fm_agent_id_unpack(target->number);
    return FM_OK;
}

static fm_status read_guarded(const fm_request *request, fm_job *job, char *error)
{
    bool place = request->values[FM_FIELD_GOAL].present;
    if (place == request->values[FM_FIELD_TARGET].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: either goal or target is wanted");
        return FM_ERR_BAD_FIELD;
    }
    return place ? take_cells(request, FM_FIELD_GOAL, job, error)
                 : read_target(request, &job->command.command, error);
}

// Reads the fields that the kind of order needs besides agents.
static fm_status read_places(const fm_request *request, fm_job *job, char *error)
{
    switch (job->command.command.order) {
    case FM_ORDER_MOVE:
    case FM_ORDER_PATROL:
        return read_goals(request, job, error);
    case FM_ORDER_FOLLOW:
        return read_target(request, &job->command.command, error);
    case FM_ORDER_KEEP_DISTANCE:
        job->command.command.target =
            fm_agent_id_unpack(request->values[FM_FIELD_TARGET].number); // 0: none
        return FM_OK;
    case FM_ORDER_SCATTER:
        return request->values[FM_FIELD_GOAL].present
                   ? take_cells(request, FM_FIELD_GOAL, job, error)
                   : FM_OK;
    case FM_ORDER_GUARD:
        return read_guarded(request, job, error);
    case FM_ORDER_FLEE:
        return request->values[FM_FIELD_CELLS].present
                   ? take_cells(request, FM_FIELD_CELLS, job, error)
                   : FM_OK;
    case FM_ORDER_STOP:
    case FM_ORDER_HOLD:
    case FM_ORDER_EXPLORE:
        return FM_OK;
    case FM_ORDER_KIND_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

static fm_status read_formation(const fm_request *request, fm_command *command, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_FORMATION_LIST(X)
#undef X
    };
    uint32_t index = FM_FORMATION_NONE;
    fm_status status =
        fm_request_choose(request, FM_FIELD_FORMATION, names, FM_COUNT_OF(names), &index, error);
    command->formation = (fm_formation)index;
    return status;
}

static fm_status read_group(const fm_request *request, fm_command *command, char *error)
{
    command->spread = request->values[FM_FIELD_SPREAD].number != 0;
    command->common_speed = request->values[FM_FIELD_COMMON_SPEED].number != 0;
    fm_status status = read_formation(request, command, error);
    bool grouped = command->spread || command->formation != FM_FORMATION_NONE;
    if (status == FM_OK && grouped &&
        (command->order != FM_ORDER_MOVE || !request->values[FM_FIELD_GOAL].present)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "agent.order: spread and formation are for a move with goal");
        return FM_ERR_BAD_VALUE;
    }
    if (status == FM_OK && command->common_speed && command->order != FM_ORDER_MOVE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: common_speed is for a move");
        return FM_ERR_BAD_VALUE;
    }
    return status;
}

// One order for each agent; the agents were read before.
static fm_status take_orders(const fm_request *request, fm_field field, fm_job *job, char *error)
{
    const fm_value *value = &request->values[field];
    fm_command *command = &job->command.command;
    if (value->count != command->agent_count) {
        return wrong_count(field, "one order for each agent is wanted", error);
    }
    job->command.orders = malloc((size_t)value->count * sizeof *job->command.orders);
    if (job->command.orders == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < value->count; i++) {
        job->command.orders[i] = fm_value_at(value, i);
    }
    command->orders = job->command.orders;
    command->order_count = value->count;
    return FM_OK;
}

// Where in the queue the order goes.
static fm_status read_turn(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    bool queue = request->values[FM_FIELD_QUEUE].number != 0;
    bool at = request->values[FM_FIELD_AT].present;
    bool before = request->values[FM_FIELD_BEFORE].present;
    bool replaces = request->values[FM_FIELD_REPLACES].present;
    if (queue + at + before + replaces > 1) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "agent.order: only one of queue, at, before and replaces can be");
        return FM_ERR_BAD_FIELD;
    }
    command->queue = queue || at || before || replaces;
    command->at = (uint32_t)request->values[FM_FIELD_AT].number;
    command->turn = at         ? FM_TURN_AT
                    : before   ? FM_TURN_BEFORE
                    : replaces ? FM_TURN_INSTEAD
                               : FM_TURN_LAST;
    return before     ? take_orders(request, FM_FIELD_BEFORE, job, error)
           : replaces ? take_orders(request, FM_FIELD_REPLACES, job, error)
                      : FM_OK;
}

static fm_status read_order_options(const fm_request *request, fm_command *command, char *error)
{
    command->loop = request->values[FM_FIELD_LOOP].number != 0;
    command->radius = (uint32_t)request->values[FM_FIELD_RADIUS].number;
    if (command->queue && command->order == FM_ORDER_STOP) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: a stop cannot be queued");
        return FM_ERR_BAD_VALUE;
    }
    command->deadline = (uint32_t)request->values[FM_FIELD_DEADLINE].number;
    if (command->deadline != 0 && command->order == FM_ORDER_STOP) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: a stop has no deadline");
        return FM_ERR_BAD_VALUE;
    }
    command->once = request->values[FM_FIELD_ONCE].number != 0;
    if (command->once && command->order != FM_ORDER_FOLLOW &&
        command->order != FM_ORDER_KEEP_DISTANCE) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.order: once is for follow and keep_distance");
        return FM_ERR_BAD_VALUE;
    }
    command->alert = (uint32_t)request->values[FM_FIELD_ALERT].number;
    if (command->alert != 0 && !fm_order_kind_may_alert(command->order)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "agent.order: alert is for move, scatter, patrol, guard, explore and hold");
        return FM_ERR_BAD_VALUE;
    }
    command->max_detour = (uint32_t)request->values[FM_FIELD_MAX_DETOUR].number;
    fm_status status = read_group(request, command, error);
    bool grouped = command->spread || command->formation != FM_FORMATION_NONE;
    if (status == FM_OK && command->max_detour != 0 &&
        (command->order != FM_ORDER_MOVE || grouped)) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "agent.order: max_detour is for a move without spread and formation");
        return FM_ERR_BAD_VALUE;
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
    if (status == FM_OK) {
        status = read_places(request, job, error);
    }
    if (status == FM_OK) {
        status = read_turn(request, job, error);
    }
    if (status == FM_OK) {
        status = read_order_options(request, command, error);
    }
    return status;
}

static fm_status fill_cancel(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = take_agents(request, job);
    return status == FM_OK ? take_orders(request, FM_FIELD_ORDERS, job, error) : status;
}

// FM_TERRAIN_UNKNOWN for a name that is no terrain of maps.
static fm_terrain read_terrain(const fm_value *name)
{
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        if (fm_value_is(name, fm_terrain_name((fm_terrain)terrain))) {
            return (fm_terrain)terrain;
        }
    }
    return FM_TERRAIN_UNKNOWN;
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
    } else if (read_terrain(set) != FM_TERRAIN_UNKNOWN) {
        command->terrain = read_terrain(set);
        command->cost = (uint8_t)cost->number; // 0 when absent: unchanged
    } else if (!fm_value_is(set, "cost")) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "set must be blocked, free, cost, or a terrain: ground, out_of_bounds, trees, "
                 "swamp, water, wall");
        return FM_ERR_BAD_VALUE;
    } else if (!cost->present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "terrain.set: set = cost needs 'cost'");
        return FM_ERR_BAD_FIELD;
    } else {
        command->cost = (uint8_t)cost->number;
    }
    return FM_OK;
}

static fm_status take_area(const fm_request *request, fm_job *job, char *error)
{
    bool has_cells = request->values[FM_FIELD_CELLS].present;
    bool has_rects = request->values[FM_FIELD_RECTS].present;
    if (!has_cells && !has_rects) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s: cells or rects are wanted",
                 fm_method_name(request->method));
        return FM_ERR_BAD_FIELD;
    }
    fm_status status = FM_OK;
    if (has_cells) {
        status = take_cells(request, FM_FIELD_CELLS, job, error);
    }
    if (status == FM_OK && has_rects) {
        status = take_rects(request, job, error);
    }
    return status;
}

static fm_status fill_terrain(const fm_request *request, fm_job *job, char *error)
{
    fm_status status = take_area(request, job, error);
    return status == FM_OK ? read_set(request, &job->command.command, error) : status;
}

static fm_status fill_cost(const fm_request *request, fm_job *job, char *error)
{
    job->command.command.cost = (uint8_t)request->values[FM_FIELD_COST].number;
    return take_area(request, job, error);
}

fm_status fm_take_team_cost(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_COST, fill_cost, error);
}

fm_status fm_take_team_create(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_TEAM, fill_team, error);
}

fm_status fm_take_agent_spawn(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_SPAWN, fill_spawn, error);
}

fm_status fm_take_agent_remove(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_REMOVE, fill_remove, error);
}

fm_status fm_take_agent_order(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_ORDER, fill_order, error);
}

fm_status fm_take_agent_cancel(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_CANCEL, fill_cancel, error);
}

static fm_status fill_resume(const fm_request *request, fm_job *job, char *error)
{
    (void)error;
    job->command.command.ticks = (uint32_t)request->values[FM_FIELD_TICKS].number;
    return take_agents(request, job);
}

fm_status fm_take_agent_resume(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_RESUME, fill_resume, error);
}

fm_status fm_take_agent_planner(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_PLANNER, fill_planner, error);
}

fm_status fm_take_agent_set(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_SET, fill_set, error);
}

fm_status fm_take_agent_place(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_PLACE, fill_place, error);
}

static void read_carrier(const fm_request *request, fm_command *command)
{
    command->target = fm_agent_id_unpack(request->values[FM_FIELD_CARRIER].number);
    command->radius = (uint32_t)request->values[FM_FIELD_RADIUS].number;
}

static fm_status fill_board(const fm_request *request, fm_job *job, char *error)
{
    (void)error;
    read_carrier(request, &job->command.command);
    return take_agents(request, job);
}

static fm_status fill_unboard(const fm_request *request, fm_job *job, char *error)
{
    bool has_carrier = request->values[FM_FIELD_CARRIER].present;
    if (has_carrier == request->values[FM_FIELD_AGENTS].present) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "agent.unboard: either agents or carrier is wanted");
        return FM_ERR_BAD_FIELD;
    }
    read_carrier(request, &job->command.command);
    return has_carrier ? FM_OK : take_agents(request, job);
}

fm_status fm_take_agent_board(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_BOARD, fill_board, error);
}

fm_status fm_take_agent_unboard(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_UNBOARD, fill_unboard, error);
}

fm_status fm_take_terrain_set(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_TERRAIN, fill_terrain, error);
}

void fm_answer_team_create(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "team", job->command.result.team);
}

void fm_answer_agent_spawn(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 2);
    fm_pack_key_agents(packer, "agents", job->command.spawned, job->command.command.cell_count);
    fm_pack_key_agents(packer, "names", job->command.names, job->command.command.cell_count);
}

void fm_answer_agent_remove(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "removed", job->command.result.changed_count);
}

void fm_answer_agent_order(msgpack_packer *packer, const fm_job *job)
{
    bool moves = job->command.command.order != FM_ORDER_STOP;
    msgpack_pack_map(packer, moves ? 2 : 1);
    if (moves) {
        fm_pack_key_uint(packer, "order",
                         job->command.by_name ? job->command.result.first_number
                                              : job->command.result.first_order);
    }
    fm_pack_key_uint(packer, "count", job->command.result.changed_count);
}

void fm_answer_agent_count(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "count", job->command.result.changed_count);
}

void fm_answer_terrain_set(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "changed", job->command.result.changed_count);
}
