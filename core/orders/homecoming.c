// core/orders/homecoming.c: see homecoming.h.

#include "core/orders/homecoming.h"

#include "core/world/agent_marks.h"
#include "core/world/world_classes.h"
#include "core/world/planner_table.h"

void fm_home_pushed(fm_world *world, struct fm_agent *agent)
{
    if (fm_world_rules_get(world)->pushed_stay) {
        agent->settled = false; // it no longer stands where its order ended
        return;
    }
    if (agent->home == FM_CELL_NONE) {
        agent->home = agent->cell;
        agent->asking_since = fm_world_tick(world) + 1;
    }
    agent->pushed_tick = fm_world_tick(world) + 1;
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
}

void fm_home_forget(fm_world *world, struct fm_agent *agent)
{
    if (agent->home != FM_CELL_NONE) {
        fm_planner_release(world, agent);
        agent->home = FM_CELL_NONE;
        agent->asking_since = 0;
    }
}

void fm_home_stepped(fm_world *world, struct fm_agent *agent)
{
    if (agent->cell == agent->home) {
        fm_home_forget(world, agent);
    }
}

// A large unit needs several steps to clear the way, so it waits longer.
void fm_home_progress(fm_world *world, struct fm_agent *agent)
{
    uint32_t wait = FM_RETURN_TICKS << (fm_world_class_size(world, agent->class_index) - 1);
    if (!fm_agent_is_away(agent) || fm_world_tick(world) + 1 < agent->pushed_tick + wait) {
        return;
    }
    if (agent->planner == FM_SLOT_NONE) {
        agent->plan_state =
            fm_planner_take_exact(world, agent, agent->home) ? FM_PLAN_RUNNING : FM_PLAN_EXHAUSTED;
    }
    if (agent->plan_state == FM_PLAN_EXHAUSTED || agent->plan_state == FM_PLAN_UNREACHABLE) {
        agent->settled = false;
        fm_home_forget(world, agent);
    }
}
