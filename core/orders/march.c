// core/orders/march.c: see march.h.

#include "core/orders/march.h"

#include "core/orders/leg.h"
#include "core/orders/order_end.h"
#include "core/world/agent.h"
#include "core/world/team.h"

void fm_march_progress(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    if (!order->marches) {
        return;
    }
    const fm_view *view =
        fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
    uint32_t near =
        fm_view_distance(view, order->goal, order->move.own_goal) + FM_MARCH_NEAR * view->step[0];
    if (fm_view_distance(view, agent->cell, order->move.own_goal) <= near) {
        order->marches = false;
        fm_order_set_goal(world, agent, order->move.own_goal);
    }
}

void fm_march_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    if (agent->order.marches && how != FM_END_EXHAUSTED) {
        agent->order.marches = false;
        fm_order_set_goal(world, agent, agent->order.move.own_goal);
    } else {
        fm_agent_end_order(world, agent, how);
    }
}
