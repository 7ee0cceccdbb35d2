// core/commands/unit_commands.c: see unit_commands.h.

#include "core/commands/unit_commands.h"

#include "core/commands/command_agents.h"
#include "core/commands/exchange.h"
#include "core/commands/placing.h"
#include "core/crowd/jam.h"
#include "core/orders/homecoming.h"
#include "core/views/presence.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

static void forget_search(struct fm_order *order)
{
    order->substitute = FM_CELL_NONE;
    order->retry = (fm_retry){0};
    if (fm_order_follows(order)) {
        order->follow.settled = false;
    }
    if (order->kind == FM_ORDER_MOVE) {
        order->move.first_steps = 0;
        order->is_too_long = false;
    }
}

// The agent has another cell, class or team: what its searches found is void, and how long others
// have held it up is not known.
static void start_over(fm_world *world, struct fm_agent *agent)
{
    fm_home_forget(world, agent);
    fm_planner_release(world, agent);
    agent->plan_state = FM_PLAN_RUNNING;
    agent->next = FM_CELL_NONE;
    agent->settled = false;
    agent->stalled_ticks = 0;
    agent->anchor = FM_CELL_NONE;
    agent->nearest = 0;
    agent->hindered = 0;
    agent->rest_ticks = 0;
    if (agent->order.id != 0) {
        forget_search(&agent->order);
    }
    if (agent->state == FM_AGENT_BLOCKED) {
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
    static const fm_agent_mark marks[] = {FM_MARK_LOOK, FM_MARK_ATTEND, FM_MARK_UNDER_WAY,
                                          FM_MARK_REHASH};
    for (uint32_t i = 0; i < FM_COUNT_OF(marks); i++) {
        fm_agent_mark_set(world, agent, marks[i]);
    }
}

// ---- set ----------------------------------------------------------------------------------------

static fm_status check_set(const fm_world *world, const fm_command *command)
{
    if (command->set == 0 || (command->set & ~FM_SET_ALL) != 0) {
        return FM_ERR_BAD_VALUE;
    }
    if (command->set & FM_SET_SPEED &&
        (uint64_t)command->speed * FM_SPEED_STRAIGHT >
            (uint64_t)fm_world_rules_get(world)->tick_millihertz * FM_SPEED_DIAGONAL) {
        return FM_ERR_BAD_VALUE;
    }
    if ((command->set & FM_SET_TAG && command->tag_size > FM_TAG_SIZE_MAX) ||
        (command->set & FM_SET_SIGHT && command->sight > FM_SENSE_RADIUS_MAX)) {
        return FM_ERR_BAD_VALUE;
    }
    return command->set & FM_SET_CLASS &&
                   command->class_index >= fm_world_rules_get(world)->class_count
               ? FM_ERR_NO_CLASS
               : FM_OK;
}

// Whether an agent can be of another class where it stands, as far as the ground is concerned.
static fm_status check_class(fm_world *world, const struct fm_agent *agent, uint32_t class_index)
{
    if (!fm_world_planner_fits(world, &agent->spec, agent->team, class_index)) {
        return FM_ERR_BAD_VALUE;
    }
    if (fm_view_is_blocked(fm_world_truth(world, class_index), agent->cell)) {
        return FM_ERR_BLOCKED_CELL;
    }
    return fm_world_prepare_class(world, agent->team, class_index);
}

static void change_class(fm_world *world, struct fm_agent *agent, uint32_t class_index)
{
    fm_agent_leave(world, agent);
    agent->class_index = (uint8_t)class_index;
    fm_agent_enter(world, agent);
}

static bool has_room(const fm_world *world, const struct fm_agent *agent, uint32_t class_index)
{
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    return occupancy == NULL ||
           fm_occupancy_is_free(occupancy, agent->cell, fm_world_class_size(world, class_index),
                                fm_agent_id_of(world, agent).index1);
}

// Agents that grow may need the same cells: they take them one after the other, and all give them
// back when one finds none. `placed` has the classes that they had.
static fm_status change_classes(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (!FM_RESERVE(world, crowd->placed, crowd->placed_capacity, command->agent_count)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = FM_OK;
    uint32_t i = 0;
    for (; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        status = check_class(world, agent, command->class_index);
        if (status == FM_OK && !has_room(world, agent, command->class_index)) {
            status = FM_ERR_OCCUPIED_CELL;
        }
        if (status != FM_OK) {
            *failed_index = i;
            break;
        }
        crowd->placed[i] = agent->class_index;
        change_class(world, agent, command->class_index);
    }
    while (status != FM_OK && i-- > 0) {
        change_class(world, fm_world_find(world, command->agents[i]), crowd->placed[i]);
    }
    return status;
}

// Makes room for all changes; after that nothing can be refused.
static fm_status reserve_set(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (command->set & FM_SET_SIGHT && command->sight != 0 &&
        fm_world_prepare_sight(world, command->sight) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0;
         command->set & FM_SET_TAG && command->tag_size > 0 && i < command->agent_count; i++) {
        if (!fm_agent_reserve_tag(world, fm_world_find(world, command->agents[i]))) {
            return FM_ERR_NO_MEMORY;
        }
    }
    return command->set & FM_SET_TEAM ? fm_exchange_prepare(world, command, failed_index) : FM_OK;
}

// What others are told of an agent's tag: 0 bytes where they may not know it.
static uint32_t shown_size(const struct fm_agent *agent)
{
    return agent->tag_shown ? agent->tag_size : 0;
}

// Returns whether it has other bytes now.
static bool replace_tag(const fm_command *command, struct fm_agent *agent)
{
    uint32_t size = command->tag_size;
    if (agent->tag_size == size &&
        (size == 0 || memcmp(agent->tag->bytes, command->tag, size) == 0)) {
        return false;
    }
    agent->tag_size = command->tag_size;
    if (size > 0) {
        memcpy(agent->tag->bytes, command->tag, size);
    }
    return true;
}

// tells_tag() in core/views/view_delta.c decides which views are told. Others must not be told of
// changes that they do not see.
static void set_tag(fm_world *world, const fm_command *command, struct fm_agent *agent)
{
    uint32_t size_before = shown_size(agent);
    if (command->set & FM_SET_TAG_SHOWN) {
        agent->tag_shown = command->tag_shown;
    }
    if (agent->tag == NULL) {
        return; // and gets none
    }
    bool is_other = command->set & FM_SET_TAG && replace_tag(command, agent);
    if (command->set & FM_SET_TAG) {
        agent->tag->own_tick = fm_world_tick(world) + 1;
        fm_agent_mark_set(world, agent, FM_MARK_STATE);
    }
    if (shown_size(agent) != size_before || (shown_size(agent) > 0 && is_other)) {
        agent->tag->other_tick = fm_world_tick(world) + 1;
        fm_agent_mark_set(world, agent, FM_MARK_CHANGED);
    }
}

static void set_one(fm_world *world, const fm_command *command, uint32_t i)
{
    struct fm_agent *agent = fm_world_find(world, command->agents[i]);
    bool turns = command->set & FM_SET_TEAM && agent->team != command->new_team;
    if (turns || (command->set & FM_SET_CLASS &&
                  fm_world_edit_crowd(world)->placed[i] != command->class_index)) {
        start_over(world, agent);
        fm_agent_mark_set(world, agent, FM_MARK_CHANGED);
    }
    if (turns) {
        fm_exchange_agent(world, agent, command->new_team);
    }
    if (command->set & (FM_SET_TAG | FM_SET_TAG_SHOWN)) {
        set_tag(world, command, agent);
    }
    if (command->set & FM_SET_SIGHT) {
        agent->sight = command->sight;
        fm_team_of(world, agent->team)->sights_set += 1;
        fm_agent_mark_set(world, agent, FM_MARK_LOOK);
    }
    if (command->set & FM_SET_SPEED) {
        agent->speed = command->speed;
    }
    if (command->set & FM_SET_FROZEN) {
        agent->frozen = command->frozen;
    }
    fm_presence_note_set(world, agent);
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_UNDER_WAY);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
}

// Joint plans are made for units as they are, and for all of a team.
static void drop_jams(fm_world *world, const fm_command *command)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        fm_jam_drop(world, fm_world_find(world, command->agents[i])->team);
    }
    if (command->set & FM_SET_TEAM) {
        fm_jam_drop(world, command->new_team);
    }
}

void fm_units_set(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_set(world, command);
    if (result->status == FM_OK) {
        result->status = command->set & FM_SET_TEAM
                             ? fm_command_check_agents(world, command, &result->failed_index)
                             : fm_command_check_owners(world, command, &result->failed_index);
    }
    if (result->status == FM_OK) {
        result->status = reserve_set(world, command, &result->failed_index);
    }
    if (result->status == FM_OK && command->set & FM_SET_CLASS) {
        result->status = change_classes(world, command, &result->failed_index);
    }
    if (result->status != FM_OK) {
        return;
    }
    if (command->set & (FM_SET_CLASS | FM_SET_TEAM)) {
        drop_jams(world, command);
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        set_one(world, command, i);
    }
    result->changed_count = command->agent_count;
}

// ---- place --------------------------------------------------------------------------------------

void fm_units_place(fm_world *world, const fm_command *command, fm_command_result *result)
{
    if (command->cell_count != command->agent_count) {
        result->status = FM_ERR_BAD_VALUE;
        return;
    }
    result->status = fm_command_check_owners(world, command, &result->failed_index);
    if (result->status == FM_OK) {
        result->status = fm_command_check_named_once(world, command, &result->failed_index);
    }
    if (result->status == FM_OK) {
        result->status = fm_placing_move(world, command, &result->failed_index);
    }
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        start_over(world, fm_world_find(world, command->agents[i]));
    }
    result->changed_count = command->agent_count;
}
