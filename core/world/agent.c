// core/world/agent.c: see agent.h.

#include "core/world/agent.h"

#include "core/world/world_state.h"

struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id)
{
    if (id.index1 == 0 || id.index1 > world->agents.slot_count) {
        return NULL;
    }
    struct fm_agent *agent = &world->agents.slots[id.index1 - 1];
    return agent->alive && agent->generation == id.generation ? agent : NULL;
}

void fm_agent_set_state(fm_world *world, struct fm_agent *agent, fm_agent_state state)
{
    if (agent->state != state) {
        agent->state = (uint8_t)state;
        fm_agent_mark_set(world, agent, FM_MARK_CHANGED);
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
        fm_agent_mark_set(world, agent,
                          state == FM_AGENT_MOVING ? FM_MARK_UNDER_WAY : FM_MARK_ATTEND);
    }
}
