// core/commands/order_command.c: see order_command.h.

#include "core/commands/order_command.h"

#include "core/base/random.h"
#include "core/commands/command_agents.h"
#include "core/orders/detour.h"
#include "core/orders/group.h"
#include "core/orders/order_end.h"
#include "core/orders/order_kinds.h"
#include "core/orders/orders.h"
#include "core/orders/scatter.h"
#include "core/orders/target.h"
#include "core/world/agent.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

#include <string.h>

static fm_status check_cells(const fm_world *world, const fm_command *command,
                             uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->cell_count; i++) {
        if (!fm_world_contains(world, command->cells[i])) {
            *failed_index = i;
            return FM_ERR_OFF_GRID;
        }
    }
    return FM_OK;
}

// Makes room in the queue of every agent for what the command appends.
static fm_status reserve_queues(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        fm_world_find(world, command->agents[i])->queue_wanted = 0;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        agent->queue_wanted += 1;
        uint32_t wanted = agent->queue_count + agent->queue_wanted;
        bool is_first = agent->order.id == 0 && agent->queue_count == 0;
        if (wanted > FM_ORDER_QUEUE_MAX + is_first) {
            *failed_index = i;
            return FM_ERR_LIMIT;
        }
        if (!FM_RESERVE(world, agent->queue, agent->queue_capacity, wanted)) {
            return FM_ERR_NO_MEMORY;
        }
    }
    return FM_OK;
}

// Whether a command names an order of each agent.
static bool names_orders(const fm_command *command)
{
    return command->kind == FM_COMMAND_CANCEL || command->turn == FM_TURN_BEFORE ||
           command->turn == FM_TURN_INSTEAD;
}

static struct fm_order *order_at(struct fm_agent *agent, uint32_t at)
{
    return at == FM_TURN_NOW ? &agent->order : &agent->queue[at];
}

// Each agent has the order that the command names, and no order is named twice.
static fm_status check_orders(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    uint32_t at;
    for (uint32_t i = 0; i < command->order_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        bool may_be_under_way =
            command->kind == FM_COMMAND_CANCEL || command->turn == FM_TURN_INSTEAD;
        *failed_index = i;
        if (!fm_agent_find_order(agent, command->orders[i], &at) ||
            (at == FM_TURN_NOW && !may_be_under_way)) {
            return FM_ERR_NO_ORDER;
        }
        order_at(agent, at)->is_named = false;
    }
    for (uint32_t i = 0; i < command->order_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        *failed_index = i;
        (void)fm_agent_find_order(agent, command->orders[i], &at);
        if (order_at(agent, at)->is_named) {
            return FM_ERR_BAD_VALUE;
        }
        order_at(agent, at)->is_named = true;
    }
    *failed_index = 0;
    return FM_OK;
}

// Every team that gets the order must be able to name the target.
static fm_status check_target(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    uint32_t team = FM_ALL_TEAMS;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent->team != team &&
            !fm_target_may_name(world, agent->team, command->order, command->target)) {
            *failed_index = i;
            return FM_ERR_NO_TARGET;
        }
        team = agent->team;
    }
    return FM_OK;
}

static bool turn_fits(const fm_command *command)
{
    return (uint32_t)command->turn <= FM_TURN_INSTEAD &&
           (command->queue || command->turn == FM_TURN_LAST) &&
           command->order_count == (names_orders(command) ? command->agent_count : 0);
}

static bool alert_fits(const fm_command *command)
{
    return command->alert == 0 ||
           (command->alert <= FM_ORDER_RADIUS_MAX && fm_order_kind_may_alert(command->order));
}

static bool is_group(const fm_command *command)
{
    return command->spread || command->formation != FM_FORMATION_NONE;
}

static fm_status check_order(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (!fm_order_kind_accepts(command) || (command->queue && command->order == FM_ORDER_STOP) ||
        command->radius > FM_ORDER_RADIUS_MAX || !turn_fits(command) || !alert_fits(command) ||
        (command->once && command->order != FM_ORDER_FOLLOW &&
         command->order != FM_ORDER_KEEP_DISTANCE) ||
        (command->deadline != 0 && command->order == FM_ORDER_STOP)) {
        return FM_ERR_BAD_VALUE;
    }
    if ((is_group(command) && (command->order != FM_ORDER_MOVE || command->cell_count != 1)) ||
        (command->common_speed && command->order != FM_ORDER_MOVE)) {
        return FM_ERR_BAD_VALUE;
    }
    if (command->max_detour != 0 &&
        (command->order != FM_ORDER_MOVE || is_group(command) || command->max_detour < 100 ||
         command->max_detour > FM_DETOUR_PERCENT_MAX)) {
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = check_cells(world, command, failed_index);
    if (status == FM_OK) {
        status = fm_command_check_agents(world, command, failed_index);
    }
    if (status == FM_OK && fm_order_kind_has_target(command)) {
        status = check_target(world, command, failed_index);
    }
    if (status == FM_OK && names_orders(command)) {
        status = check_orders(world, command, failed_index);
    }
    if (status == FM_OK && command->queue && command->turn != FM_TURN_INSTEAD) {
        status = reserve_queues(world, command, failed_index);
    }
    return status;
}

// The cells of a command that all of its orders keep. NULL when out of memory.
static struct fm_route *make_route(fm_world *world, const fm_command *command)
{
    size_t size = command->cell_count * sizeof(fm_cell);
    struct fm_route *route = fm_memory_allocate(fm_world_memory(world), sizeof *route + size);
    if (route != NULL) {
        route->users = 1; // the command's own
        route->count = command->cell_count;
        memcpy(route->cells, command->cells, size);
    }
    return route;
}

// What the orders of one command have in common, besides the command.
struct common {
    struct fm_route *route; // NULL: none
    fm_cell *goals;         // of the agents of a group or a scatter; NULL: of neither
    fm_cell meeting;        // of the group; FM_CELL_NONE: a scatter
    uint32_t speed;         // of the group; 0: each its own
};

// Creates it. On failure nothing needs undoing.
static fm_status prepare(fm_world *world, const fm_command *command, struct common *common,
                         uint32_t *failed_index)
{
    *common = (struct common){0};
    if (command->agent_count == 0) {
        return FM_OK;
    }
    if (fm_order_kind_has_route(command)) {
        common->route = make_route(world, command);
        return common->route == NULL ? FM_ERR_NO_MEMORY : FM_OK;
    }
    common->speed = command->common_speed ? fm_group_speed(world, command) : 0;
    bool scatters = command->order == FM_ORDER_SCATTER;
    if (!is_group(command) && !scatters) {
        return FM_OK;
    }
    common->goals =
        fm_memory_allocate(fm_world_memory(world), command->agent_count * sizeof *common->goals);
    if (common->goals == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    common->meeting = FM_CELL_NONE;
    fm_status status =
        scatters ? fm_scatter_place(world, command, common->goals, failed_index)
                 : fm_group_place(world, command, common->goals, &common->meeting, failed_index);
    if (status != FM_OK) {
        fm_memory_release(fm_world_memory(world), common->goals,
                          command->agent_count * sizeof *common->goals);
    }
    return status;
}

static struct fm_order make_order(fm_world *world, const fm_command *command, uint32_t i,
                                  const struct common *common)
{
    struct fm_team *team = fm_team_of(world, fm_world_find(world, command->agents[i])->team);
    team->orders_given += 1;
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    orders->given += 1;
    orders->live += 1;
    struct fm_order order = {
        .id = orders->given,
        .number = team->orders_given,
        .kind = command->order == FM_ORDER_SCATTER ? FM_ORDER_MOVE : command->order,
        .on_unreachable = command->on_unreachable,
        .goal = FM_CELL_NONE,
        .substitute = FM_CELL_NONE,
        .route = common->route,
        .loop = command->loop,
        .radius = command->order == FM_ORDER_SCATTER ? 0 : command->radius,
        .deadline = command->deadline,
        .alert = command->alert,
    };
    if (fm_order_follows(&order)) {
        bool has_post = command->order == FM_ORDER_GUARD && command->cell_count == 1;
        order.follow.target = command->target;
        order.follow.once = command->once;
        order.follow.has_target =
            command->order == FM_ORDER_KEEP_DISTANCE && command->target.index1 != 0;
        order.follow.post = has_post ? command->cells[0] : FM_CELL_NONE;
    }
    if (command->order == FM_ORDER_SCATTER) {
        order.goal = common->goals[i];
        order.move.own_goal = FM_CELL_NONE;
    } else if (command->order == FM_ORDER_MOVE) {
        order.goal = command->cells[command->cell_count == 1 ? 0 : i];
        order.move.own_goal = FM_CELL_NONE;
        order.speed = common->speed;
        order.max_detour = command->max_detour;
    }
    if (common->meeting != FM_CELL_NONE && common->goals != NULL) { // of a move
        order.marches = true;
        order.goal = common->meeting;
        order.move.own_goal = common->goals[i];
    }
    if (common->route != NULL) {
        common->route->users += 1;
    }
    return order;
}

// ---- in parts -----------------------------------------------------------------------------------

// An order to tens of thousands of agents costs more than a tick may: each of them drops a search
// and needs another one in the next tick. So it goes to `agents_a_tick` at a time. The rest is part
// of the world's state, a function of the command and the ticks since; all checks and allocations
// were made for all agents at once.
struct fm_order_rest {
    fm_command command; // its arrays follow this struct
    struct common common;
    uint32_t next;       // agent
    uint64_t given_tick; // ticks completed when the command came
    size_t size;         // bytes of this block
    fm_agent_id agents[];
};

static void release_common(fm_world *world, uint32_t agent_count, struct common *common)
{
    fm_memory_release(fm_world_memory(world), common->goals, agent_count * sizeof *common->goals);
    common->goals = NULL;
    fm_route_release(world, &common->route);
}

// All that is left of a command before its first agent has got it.
static struct fm_order_rest *make_rest(fm_world *world, const fm_command *command,
                                       const struct common *common)
{
    uint32_t cell_count = command->order == FM_ORDER_PATROL || command->order == FM_ORDER_FLEE
                              ? 0 // the route has them
                              : command->cell_count;
    size_t agents_size = command->agent_count * sizeof *command->agents;
    size_t size = sizeof(struct fm_order_rest) + agents_size + cell_count * sizeof(fm_cell);
    struct fm_order_rest *rest = fm_memory_allocate(fm_world_memory(world), size);
    if (rest == NULL) {
        return NULL;
    }
    *rest = (struct fm_order_rest){
        .command = *command, .common = *common, .given_tick = fm_world_tick(world), .size = size};
    fm_cell *cells = (fm_cell *)(rest->agents + command->agent_count);
    memcpy(rest->agents, command->agents, agents_size);
    if (cell_count > 0) {
        memcpy(cells, command->cells, cell_count * sizeof *cells);
    }
    rest->command.agents = rest->agents;
    rest->command.cells = cells;
    rest->command.cell_count = cell_count;
    return rest;
}

static void queue_order(fm_world *world, const fm_command *command, uint32_t i,
                        struct fm_order order)
{
    struct fm_agent *agent = fm_world_find(world, command->agents[i]);
    uint32_t at = UINT32_MAX;
    switch (command->turn) {
    case FM_TURN_LAST:
        fm_agent_queue_order(world, agent, order, at);
        return;
    case FM_TURN_AT:
        fm_agent_queue_order(world, agent, order, command->at);
        return;
    case FM_TURN_BEFORE:
        (void)fm_agent_find_order(agent, command->orders[i], &at); // checked by check_orders()
        fm_agent_queue_order(world, agent, order, at);
        return;
    case FM_TURN_INSTEAD:
        (void)fm_agent_find_order(agent, command->orders[i], &at);
        fm_agent_replace_order(world, agent, order, at);
        return;
    }
    FM_UNREACHABLE();
}

// The order reaches one of the command's agents.
static void reach(fm_world *world, const fm_command *command, uint32_t i,
                  const struct common *common, uint64_t given_tick)
{
    struct fm_agent *agent = fm_world_find(world, command->agents[i]);
    if (command->order == FM_ORDER_STOP) {
        fm_agent_end_all_orders(world, agent, FM_END_CANCELLED);
        return;
    }
    struct fm_order order = make_order(world, command, i, common);
    if (command->queue) {
        queue_order(world, command, i, order);
    } else {
        fm_agent_give_order(world, agent, order);
    }
    if (agent->order.id == order.id) {
        agent->order.given_tick = given_tick;
    }
}

static void carry_on(fm_world *world, uint32_t count)
{
    struct fm_order_rest *rest = fm_world_orders(world)->rest;
    uint32_t left = rest->command.agent_count - rest->next;
    uint32_t end = rest->next + (count < left ? count : left);
    for (; rest->next < end; rest->next++) {
        reach(world, &rest->command, rest->next, &rest->common, rest->given_tick);
    }
    if (rest->next == rest->command.agent_count) {
        fm_orders_drop_rest(world);
    }
}

void fm_orders_carry_on(fm_world *world)
{
    if (fm_world_orders(world)->rest != NULL) {
        carry_on(world, fm_world_orders(world)->rest->command.agents_a_tick);
    }
}

void fm_orders_finish(fm_world *world)
{
    if (fm_world_orders(world)->rest != NULL) {
        carry_on(world, UINT32_MAX);
    }
}

void fm_orders_drop_rest(fm_world *world)
{
    struct fm_order_rest *rest = fm_world_orders(world)->rest;
    if (rest != NULL) {
        release_common(world, rest->command.agent_count, &rest->common);
        fm_memory_release(fm_world_memory(world), rest, rest->size);
        fm_world_edit_orders(world)->rest = NULL;
    }
}

uint32_t fm_world_left_to_do(const fm_world *world)
{
    const struct fm_order_rest *rest = fm_world_orders(world)->rest;
    return rest == NULL ? 0 : rest->command.agent_count - rest->next;
}

void fm_orders_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_order(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    struct common common;
    result->status = prepare(world, command, &common, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    uint32_t count = command->agent_count;
    if (command->agents_a_tick != 0 && command->agents_a_tick < count && !names_orders(command)) {
        struct fm_world_orders *orders = fm_world_edit_orders(world);
        orders->rest = make_rest(world, command, &common);
        if (orders->rest == NULL) {
            release_common(world, count, &common);
            result->status = FM_ERR_NO_MEMORY;
            return;
        }
    }
    result->first_order = fm_world_orders(world)->given + 1;
    result->changed_count = count;
    if (count > 0 && command->order != FM_ORDER_STOP) {
        const struct fm_agent *first = fm_world_find(world, command->agents[0]);
        result->first_number = fm_team_of(world, first->team)->orders_given + 1;
    }
    if (fm_world_orders(world)->rest != NULL) {
        fm_orders_carry_on(world);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        reach(world, command, i, &common, fm_world_tick(world));
    }
    release_common(world, count, &common);
}

// ---- cancel -------------------------------------------------------------------------------------

static fm_status check_cancel(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (command->order_count != command->agent_count) {
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = fm_command_check_agents(world, command, failed_index);
    return status == FM_OK ? check_orders(world, command, failed_index) : status;
}

void fm_orders_cancel(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_cancel(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->order_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        uint32_t at = 0;
        (void)fm_agent_find_order(agent, command->orders[i], &at);
        if (at == FM_TURN_NOW) {
            fm_agent_end_order(world, agent, FM_END_CANCELLED);
        } else {
            fm_agent_end_queued(world, agent, at, FM_END_CANCELLED);
        }
    }
    result->changed_count = command->order_count;
}

uint64_t fm_world_order_numbered(const fm_world *world, fm_agent_id id, uint64_t number)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL || number == 0) {
        return 0;
    }
    if (agent->order.number == number) {
        return agent->order.id;
    }
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        if (agent->queue[i].number == number) {
            return agent->queue[i].id;
        }
    }
    return 0;
}

uint64_t fm_orders_mix_rest(const fm_world *world, uint64_t digest)
{
    uint32_t left = fm_world_left_to_do(world);
    return left == 0 ? digest : fm_digest_mix(digest, left);
}
