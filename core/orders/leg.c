// core/orders/leg.c: see leg.h.

#include "core/orders/leg.h"

#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"

void fm_order_set_goal(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    struct fm_order *order = &agent->order;
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    if (goal != order->goal || order->substitute != FM_CELL_NONE) {
        fm_planner_redirect(world, agent, goal);
    }
    order->goal = goal;
    order->substitute = FM_CELL_NONE;
    order->retry = (fm_retry){0};
    order->resting = false;
    order->leg_moves = agent->moves;
    agent->nearest = agent->hindered = 0;
    agent->plan_state = FM_PLAN_RUNNING;
}
