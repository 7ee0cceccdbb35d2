// core/commands/spawning.c: see spawning.h.

#include "core/commands/spawning.h"

#include "core/commands/command_agents.h"
#include "core/commands/placing.h"
#include "core/crowd/crowd.h"
#include "core/orders/homecoming.h"
#include "core/orders/order_end.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/interval.h"
#include "core/world/names.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

static const fm_planner_spec *spawned_spec(const fm_world *world, const fm_command *command)
{
    return command->planner.ops != NULL ? &command->planner
                                        : &fm_team_of(world, command->team)->spec;
}

static fm_status check_spawn(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    const fm_world_rules *rules = fm_world_rules_get(world);
    const struct fm_world_agents *agents = fm_world_agents(world);
    if (!fm_world_has_team(world, command->team) || command->team == FM_ALL_TEAMS) {
        return FM_ERR_NO_TEAM;
    }
    if (command->class_index >= rules->class_count) {
        return FM_ERR_NO_CLASS;
    }
    const fm_planner_spec *spec = spawned_spec(world, command);
    if (!fm_world_planner_fits(world, spec, command->team, command->class_index)) {
        return FM_ERR_BAD_VALUE;
    }
    if ((uint64_t)command->speed * FM_SPEED_STRAIGHT >
        (uint64_t)rules->tick_millihertz * FM_SPEED_DIAGONAL) {
        return FM_ERR_BAD_VALUE;
    }
    if (command->cell_count > rules->agents_max - agents->count) {
        return FM_ERR_LIMIT;
    }
    fm_status status = fm_placing_choose(world, command, failed_index);
    if (status != FM_OK) {
        return status;
    }
    struct fm_team *team = fm_team_of(world, command->team);
    if (command->cell_count > FM_AGENTS_MAX - agents->slot_count) {
        return FM_ERR_LIMIT;
    }
    if (!fm_agents_reserve(world, agents->slot_count + command->cell_count) ||
        !FM_RESERVE(world, team->members, team->member_capacity,
                    team->member_count + command->cell_count) ||
        !fm_crowd_reserve(world, agents->slot_count + command->cell_count)) {
        return FM_ERR_NO_MEMORY;
    }
    return fm_world_prepare_class(world, command->team, command->class_index);
}

static fm_agent_id spawn_one(fm_world *world, const fm_command *command, fm_cell cell)
{
    struct fm_world_agents *agents = fm_world_edit_agents(world);
    struct fm_team *owner = fm_team_of(world, command->team);
    uint32_t slot = owner->agent_free;
    uint32_t generation = 0, name_generation = 0, member = owner->member_count;
    if (slot != FM_SLOT_NONE) {
        owner->agent_free = agents->slots[slot].planner;
        generation = agents->slots[slot].generation + 1;
        name_generation = agents->slots[slot].name_generation + 1;
        member = agents->slots[slot].member;
    } else {
        slot = agents->slot_count++;
        owner->members[owner->member_count++] = slot;
    }
    struct fm_agent *agent = &agents->slots[slot];
    *agent = (struct fm_agent){
        .generation = generation,
        .name_generation = name_generation,
        .alive = true,
        .class_index = (uint8_t)command->class_index,
        .team = command->team,
        .cell = cell,
        .next = FM_CELL_NONE,
        .planner = FM_SLOT_NONE,
        .home = FM_CELL_NONE,
        .anchor = FM_CELL_NONE,
        .spec = *spawned_spec(world, command),
        .order = {.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE},
        .member = member,
        .born = agents->born++,
        .speed = command->speed,
        .credit = (int32_t)fm_world_rules_get(world)->tick_millihertz,
        .heading = FM_DIRECTION_COUNT,
    };
    fm_agent_be_born(world, agent);
    fm_agent_enter(world, agent);
    agents->count += 1;
    owner->account.agents += 1;
    return fm_agent_id_of(world, agent);
}

void fm_spawning_spawn(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_spawn(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    const fm_cell *placed = fm_world_edit_crowd(world)->placed;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        fm_agent_id id = spawn_one(world, command, placed[i]);
        if (result->spawned != NULL) {
            result->spawned[i] = id;
        }
    }
    result->changed_count = command->cell_count;
}

// All that it has is gone; the slot stays as it is for its next agent.
static void remove_one(fm_world *world, struct fm_agent *agent)
{
    fm_agent_drop_tag(world, agent);
    agent->alive = false;
    fm_agent_be_gone(world, agent);
    // A slot goes back to its team, so that the order of a team's slots depends on nothing but
    // the team's own births and deaths. A slot whose generations are used up is never reused:
    // ids stay below 2^53.
    struct fm_team *team = fm_team_of(world, agent->team);
    if (fm_agent_slot_can_return(agent)) {
        agent->planner = team->agent_free;
        team->agent_free = fm_agent_id_of(world, agent).index1 - 1;
    }
    fm_world_edit_agents(world)->count -= 1;
    team->account.agents -= 1;
}

// One that was carried was out of the world: nobody sees it die, and its own team is told.
static void remove_carried(fm_world *world, struct fm_agent *agent)
{
    fm_interval_note_removed(world, &(fm_agent_left){.id = fm_agent_id_of(world, agent),
                                                     .name = fm_agent_own_name(agent),
                                                     .team = agent->team,
                                                     .reason = FM_LEAVE_DIED});
    fm_agent_mark_set(world, fm_agent_at(world, agent->carrier - 1), FM_MARK_REHASH);
    fm_agent_put_ashore(world, agent);
    remove_one(world, agent);
}

static void remove_from_map(fm_world *world, struct fm_agent *agent)
{
    fm_home_forget(world, agent);
    fm_agent_end_all_orders(world, agent, FM_END_DIED);
    fm_agent_release_queue(world, agent);
    fm_interval_note_removed(world, &(fm_agent_left){.id = fm_agent_id_of(world, agent),
                                                     .name = fm_agent_own_name(agent),
                                                     .team = agent->team,
                                                     .cell = agent->cell,
                                                     .reason = FM_LEAVE_REMOVED});
    fm_agent_leave(world, agent);
    remove_one(world, agent);
}

// Room for the deaths of those whom the agents carry.
static fm_status reserve_deaths(fm_world *world, const fm_command *command)
{
    uint32_t deaths = command->agent_count;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        deaths += fm_world_find_any(world, command->agents[i])->passenger_count;
    }
    deaths = fm_min(deaths, fm_world_agents(world)->count); // a carrier may be named twice
    return fm_interval_reserve(world, 0, deaths) ? FM_OK : FM_ERR_NO_MEMORY;
}

void fm_spawning_remove(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = fm_command_check_agents(world, command, &result->failed_index);
    if (result->status == FM_OK) {
        result->status = reserve_deaths(world, command);
    }
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find_any(world, command->agents[i]);
        if (agent == NULL) {
            continue; // named twice, or died with its carrier
        }
        while (agent->passengers != 0) {
            remove_carried(world, fm_agent_at(world, agent->passengers - 1));
            result->changed_count += 1;
        }
        if (agent->carrier != 0) {
            remove_carried(world, agent);
        } else {
            remove_from_map(world, agent);
        }
        result->changed_count += 1;
    }
}
