// core/orders/detour.c: see detour.h.

#include "core/orders/detour.h"

#include "core/orders/order_kinds.h"
#include "core/world/agent.h"
#include "core/world/planner_table.h"

void fm_detour_measure(const struct fm_planner *planner, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    uint32_t cells = planner->spec.ops->path(planner->self, agent->cell, NULL, 0);
    if (cells == 0) {
        return;
    }
    uint64_t steps = agent->moves - order->leg_moves + cells - 1;
    if (order->move.first_steps == 0) {
        order->move.first_steps = (uint32_t)steps;
    }
    order->is_too_long = steps * 100 > (uint64_t)order->move.first_steps * order->max_detour;
    agent->next = order->is_too_long ? FM_CELL_NONE : agent->next;
}

void fm_detour_face(fm_world *world, struct fm_agent *agent)
{
    if (!fm_order_give_up_leg(world, agent, FM_END_NEAREST)) {
        fm_agent_set_state(world, agent, FM_AGENT_BLOCKED);
    }
}
