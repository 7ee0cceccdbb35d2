// core/crowd/meeting.c: see meeting.h.

#include "core/crowd/meeting.h"

#include "core/crowd/crowd.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/planner_table.h"
#include "core/world/world_parts.h"

// What an agent did in the last tick. NULL: it took no part in it under the order that it has.
static const fm_mover *mover_of(const fm_world *world, const struct fm_agent *agent)
{
    if (fm_world_occupancy(world) == NULL || !agent->alive || agent->order.id == 0 ||
        agent->order.given_tick >= fm_world_tick(world)) {
        return NULL;
    }
    const fm_mover *mover = fm_crowd_mover(world, fm_agent_id_of(world, agent).index1 - 1);
    return mover->team == agent->team ? mover : NULL;
}

static bool passes(const fm_mover *mover)
{
    return mover != NULL && mover->to_right && !mover->planned;
}

static fm_cell via_of(const fm_world *world, const struct fm_agent *agent)
{
    if (agent->planner == FM_SLOT_NONE) {
        return FM_CELL_NONE;
    }
    const struct fm_planner *planner = &fm_world_planners(world)->slots[agent->planner];
    const fm_planner_ops *ops = planner->spec.ops;
    return ops->via == NULL ? FM_CELL_NONE : ops->via(planner->self);
}

fm_meeting fm_world_meeting_of(const fm_world *world, fm_agent_id id)
{
    fm_meeting meeting = {.via = FM_CELL_NONE};
    const struct fm_agent *agent = fm_world_find(world, id);
    const fm_mover *mover = agent == NULL ? NULL : mover_of(world, agent);
    if (mover == NULL) {
        return meeting;
    }
    meeting.concedes = mover->concedes;
    fm_cell around = fm_crowd_via(world, id.index1 - 1);
    meeting.via = around != FM_CELL_NONE ? around : via_of(world, agent);
    if (passes(mover)) {
        meeting.passes_until = fm_world_tick(world) + mover->passes_on;
        meeting.passes_team = fm_crowd_passed_team(world, id.index1 - 1);
    }
    return meeting;
}

void fm_world_list_meetings(const fm_world *world, fm_meetings *meetings)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    meetings->passing_count = meetings->conceding_count = 0;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        const fm_mover *mover = mover_of(world, agent);
        if (passes(mover) && meetings->passing_count < FM_MEETINGS_MAX) {
            meetings->passing[meetings->passing_count++] = fm_agent_id_of(world, agent);
        }
        if (mover != NULL && mover->concedes && meetings->conceding_count < FM_MEETINGS_MAX) {
            meetings->conceding[meetings->conceding_count++] = fm_agent_id_of(world, agent);
        }
    }
}
