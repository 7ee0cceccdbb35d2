// core/commands/planner_command.c: see planner_command.h.

#include "core/commands/planner_command.h"

#include "core/commands/command_agents.h"
#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"

// No agent is changed unless the planner can work for all.
static fm_status check_planner(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    fm_status status = fm_command_check_owners(world, command, failed_index);
    if (status != FM_OK) {
        return status;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        *failed_index = i;
        const fm_planner_spec *spec = command->planner.ops != NULL
                                          ? &command->planner
                                          : &fm_team_of(world, agent->team)->spec;
        if (!fm_world_planner_fits(world, spec, agent->team, agent->class_index)) {
            return FM_ERR_BAD_VALUE;
        }
    }
    *failed_index = 0;
    return FM_OK;
}

// Their orders stay. The next tick makes the new searches; until they have an answer the agents
// wait like those with new orders.
void fm_planner_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_planner(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        agent->spec =
            command->planner.ops != NULL ? command->planner : fm_team_of(world, agent->team)->spec;
        fm_planner_release(world, agent);
        fm_agent_mark_set(world, agent, FM_MARK_ATTEND); // also agents that had none
        agent->plan_state = FM_PLAN_RUNNING;
    }
    result->changed_count = command->agent_count;
}
