// core/commands/command_agents.c: see command_agents.h.

#include "core/commands/command_agents.h"

#include "core/world/agent.h"
#include "core/world/given_orders.h"
#include "core/world/interval.h"

fm_status fm_command_check_owners(const fm_world *world, const fm_command *command,
                                  uint32_t *failed_index)
{
    bool takes_carried = command->kind == FM_COMMAND_REMOVE || command->kind == FM_COMMAND_UNBOARD;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find_any(world, command->agents[i]);
        bool is_own =
            agent != NULL && (command->team == FM_ALL_TEAMS || agent->team == command->team);
        if (!is_own || (agent->carrier != 0 && !takes_carried)) {
            *failed_index = i;
            return is_own ? FM_ERR_CARRIED : FM_ERR_NO_AGENT;
        }
    }
    return FM_OK;
}

fm_status fm_command_check_agents(fm_world *world, const fm_command *command,
                                  uint32_t *failed_index)
{
    fm_status status = fm_command_check_owners(world, command, failed_index);
    if (status != FM_OK) {
        return status;
    }
    // One ending for each order there is, and for each that the command gives.
    uint64_t endings = fm_world_orders(world)->live + command->agent_count;
    return fm_interval_reserve(world, endings, command->agent_count) ? FM_OK : FM_ERR_NO_MEMORY;
}

fm_status fm_command_check_named_once(fm_world *world, const fm_command *command,
                                      uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find_any(world, command->agents[i]);
        if (agent != NULL) {
            agent->queue_wanted = 0;
        }
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find_any(world, command->agents[i]);
        if (agent != NULL && agent->queue_wanted++ > 0) {
            *failed_index = i;
            return FM_ERR_BAD_VALUE;
        }
    }
    return FM_OK;
}
