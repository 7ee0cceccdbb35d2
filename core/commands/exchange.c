// core/commands/exchange.c: see exchange.h.

#include "core/commands/exchange.h"

#include "core/commands/placing.h"
#include "core/crowd/crowd.h"
#include "core/orders/order_end.h"
#include "core/world/agent_marks.h"
#include "core/world/interval.h"
#include "core/world/names.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

static uint32_t count_free_slots(const fm_world *world, const struct fm_team *team, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t slot = team->agent_free; slot != FM_SLOT_NONE && count < most;
         slot = fm_agent_at(world, slot)->planner) {
        count += 1;
    }
    return count;
}

// Also whether their planners can work for the new team, which may have costs of its own.
static fm_status prepare_passengers(fm_world *world, const struct fm_agent *carrier, uint32_t team)
{
    fm_status status = FM_OK;
    for (uint32_t next = carrier->passengers; next != 0 && status == FM_OK;) {
        const struct fm_agent *agent = fm_agent_at(world, next - 1);
        bool fits = fm_world_planner_fits(world, &agent->spec, team, agent->class_index);
        status = fits ? fm_world_prepare_class(world, team, agent->class_index) : FM_ERR_BAD_VALUE;
        next = agent->next_passenger;
    }
    return status;
}

static fm_status prepare_classes(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < command->agent_count && status == FM_OK; i++) {
        *failed_index = i;
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        uint32_t class_index =
            command->set & FM_SET_CLASS ? command->class_index : agent->class_index;
        bool fits = fm_world_planner_fits(world, &agent->spec, command->new_team, class_index);
        status =
            fits ? fm_world_prepare_class(world, command->new_team, class_index) : FM_ERR_BAD_VALUE;
        if (status == FM_OK) {
            status = prepare_passengers(world, agent, command->new_team);
        }
    }
    *failed_index = status == FM_OK ? 0 : *failed_index;
    return status;
}

// With those that they carry.
static uint32_t count_coming(const fm_world *world, const fm_command *command)
{
    uint32_t count = command->agent_count;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        count += fm_world_find(world, command->agents[i])->passenger_count;
    }
    return count;
}

fm_status fm_exchange_prepare(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (command->new_team == FM_ALL_TEAMS || !fm_world_has_team(world, command->new_team)) {
        return FM_ERR_NO_TEAM;
    }
    struct fm_team *team = fm_team_of(world, command->new_team);
    uint32_t coming = count_coming(world, command);
    uint32_t new_slots = coming - count_free_slots(world, team, coming);
    uint32_t slot_count = fm_world_agents(world)->slot_count;
    if (new_slots > FM_AGENTS_MAX - slot_count) {
        return FM_ERR_LIMIT;
    }
    if (!fm_agents_reserve(world, slot_count + new_slots) ||
        !fm_crowd_reserve(world, slot_count + new_slots) ||
        !FM_RESERVE(world, team->members, team->member_capacity, team->member_count + new_slots)) {
        return FM_ERR_NO_MEMORY;
    }
    return prepare_classes(world, command, failed_index);
}

// An empty slot of the team, which the agent takes: that of a dead agent, or a new one.
static uint32_t take_empty_slot(fm_world *world, struct fm_team *team, uint32_t number)
{
    uint32_t slot = team->agent_free;
    if (slot != FM_SLOT_NONE) {
        team->agent_free = fm_agent_at(world, slot)->planner;
        fm_agent_at(world, slot)->name_generation += 1;
        return slot;
    }
    slot = fm_world_edit_agents(world)->slot_count++;
    *fm_agent_at(world, slot) = (struct fm_agent){
        .team = number,
        .next = FM_CELL_NONE,
        .planner = FM_SLOT_NONE,
        .home = FM_CELL_NONE,
        .anchor = FM_CELL_NONE,
        .order = {.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE},
        .member = team->member_count,
    };
    team->members[team->member_count++] = slot;
    return slot;
}

static void exchange_places(fm_world *world, struct fm_agent *agent, uint32_t empty)
{
    struct fm_agent *other = fm_agent_at(world, empty);
    struct fm_team *from = fm_team_of(world, agent->team), *to = fm_team_of(world, other->team);
    uint32_t team = agent->team, member = agent->member, generation = agent->name_generation;
    from->members[member] = empty;
    to->members[other->member] = fm_agent_id_of(world, agent).index1 - 1;
    agent->team = other->team;
    agent->member = other->member;
    agent->name_generation = other->name_generation;
    other->team = team;
    other->member = member;
    other->name_generation = generation;
    if (fm_agent_slot_can_return(other)) {
        other->planner = from->agent_free;
        from->agent_free = empty;
    }
    from->exchanges += 1;
    to->exchanges += 1;
}

static void change_team(fm_world *world, struct fm_agent *agent, uint32_t new_team)
{
    fm_team_of(world, agent->team)->account.agents -= 1;
    fm_team_of(world, new_team)->account.agents += 1;
    uint32_t empty = take_empty_slot(world, fm_team_of(world, new_team), new_team);
    exchange_places(world, agent, empty);
    fm_world_mix_digest(world, (uint64_t)fm_agent_id_of(world, agent).index1 << 32 | new_team);
}

void fm_exchange_agent(fm_world *world, struct fm_agent *agent, uint32_t new_team)
{
    FM_ASSERT(agent->team != new_team && agent->carrier == 0);
    fm_agent_end_all_orders(world, agent, FM_END_CANCELLED);
    fm_interval_note_removed(world, &(fm_agent_left){.id = fm_agent_id_of(world, agent),
                                                     .name = fm_agent_own_name(agent),
                                                     .team = agent->team,
                                                     .new_team = new_team,
                                                     .cell = agent->cell,
                                                     .reason = FM_LEAVE_TURNED});
    fm_agent_leave(world, agent);
    change_team(world, agent, new_team);
    fm_agent_enter(world, agent);
    for (uint32_t next = agent->passengers; next != 0;) {
        struct fm_agent *passenger = fm_agent_at(world, next - 1);
        change_team(world, passenger, new_team);
        fm_agent_mark_set(world, passenger, FM_MARK_REHASH); // it has another name
        next = passenger->next_passenger;
    }
}
