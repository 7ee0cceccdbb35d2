// core/orders/patrol.c: see patrol.h.

#include "core/orders/patrol.h"

#include "core/orders/leg.h"
#include "core/orders/order_end.h"
#include "core/world/agent.h"

#define PATROL_PAUSE 16u // ticks before a patrol skips a waypoint that it could not reach

// From a single waypoint the path back leads home, which then counts as a waypoint before it.
static uint32_t waypoint_count(const struct fm_order *order)
{
    return order->route->count == 1 ? 2 : order->route->count;
}

static fm_cell waypoint_cell(const struct fm_order *order)
{
    if (order->route->count == 1) {
        return order->patrol.waypoint == 0 ? order->home : order->route->cells[0];
    }
    return order->route->cells[order->patrol.waypoint];
}

static void go_to_next_waypoint(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    struct fm_order *order = &agent->order;
    uint32_t last = waypoint_count(order) - 1;
    if (order->loop) {
        order->patrol.waypoint = order->patrol.waypoint == last ? 0 : order->patrol.waypoint + 1;
    } else {
        order->patrol.backwards =
            order->patrol.backwards ? order->patrol.waypoint > 0 : order->patrol.waypoint == last;
        order->patrol.waypoint =
            order->patrol.backwards ? order->patrol.waypoint - 1 : order->patrol.waypoint + 1;
    }
    // Where nothing can be reached, not every tick makes a search.
    if (how != FM_END_ARRIVED && order->leg_moves == agent->moves) {
        order->pause_end = fm_world_tick(world) + PATROL_PAUSE;
    }
    fm_order_set_out(world, agent, waypoint_cell(order));
}

void fm_patrol_begin(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    order->patrol.waypoint = order->route->count == 1 ? 1 : 0;
    fm_order_set_goal(world, agent, waypoint_cell(order));
}

void fm_patrol_progress(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    bool paused = fm_world_tick(world) < order->pause_end;
    if (paused != order->resting) {
        order->resting = paused;
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
}

void fm_patrol_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    if (how == FM_END_ARRIVED || how == FM_END_NEAREST || how == FM_END_CROWDED) {
        go_to_next_waypoint(world, agent, how);
    } else {
        fm_agent_end_order(world, agent, how);
    }
}
