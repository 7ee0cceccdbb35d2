// core/commands/command_agents.c: see command_agents.h.

#include "core/commands/command_agents.h"

#include "core/world/agent.h"
#include "core/world/given_orders.h"
#include "core/world/interval.h"

fm_status fm_command_check_agents(fm_world *world, const fm_command *command,
                                  uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent == NULL || (command->team != FM_ALL_TEAMS && agent->team != command->team)) {
            *failed_index = i;
            return FM_ERR_NO_AGENT;
        }
    }
    // One ending for each order there is, and for each that the command gives.
    uint64_t endings = fm_world_orders(world)->live + command->agent_count;
    return fm_interval_reserve(world, endings, command->agent_count) ? FM_OK : FM_ERR_NO_MEMORY;
}
