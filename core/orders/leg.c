// core/orders/leg.c: see leg.h.

#include "core/orders/leg.h"

#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"

#define PLANNER_TICKS 8u // a planner is kept for so long while its agent rests

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

void fm_order_set_out(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    fm_order_set_goal(world, agent, goal);
    agent->asking_since = fm_world_tick(world) + 1;
}

void fm_order_begin_rest(fm_world *world, struct fm_agent *agent)
{
    agent->order.resting = true;
    agent->order.follow.rest_begin = fm_world_tick(world);
    fm_agent_set_state(world, agent, FM_AGENT_HOLDING);
}

void fm_order_rest(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    bool going = order->goal != FM_CELL_NONE && !order->resting;
    if (going || agent->state != FM_AGENT_HOLDING) {
        fm_order_begin_rest(world, agent);
    } else if (order->goal != FM_CELL_NONE &&
               fm_world_tick(world) - order->follow.rest_begin > PLANNER_TICKS) {
        fm_order_set_goal(world, agent, FM_CELL_NONE);
    }
}
