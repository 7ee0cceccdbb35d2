// core/orders/legs.c: what comes after each leg of an order, by kind. See orders.h.
//
//   kind    legs                                              ends
//   move    one; in a group, see group.h, two                 when it is over
//   patrol  waypoint after waypoint, there and back or round  when one cannot be reached and
//                                                             on_unreachable is fail
//   hold    none; the agent stays where it is                 never by itself
//   follow  to the target, as follow.h tells                  when the target is lost or dies
//   explore to frontier after frontier, as seek.h tells       when none can be reached
//   flee    away from dangers, likewise                       when none is near, or cornered
//   guard   back to the post, likewise                        when the friend it guards dies
//
// Any order ends when memory is out, and as replaced, cancelled or died.

#include "core/orders/follow.h"
#include "core/orders/group.h"
#include "core/orders/orders.h"
#include "core/world/planner_table.h"

#define PATROL_PAUSE 16u // ticks before a patrol that came to nothing goes on to the next waypoint

void fm_order_set_goal(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    struct fm_order *order = &agent->order;
    if (goal != order->goal || order->substitute != FM_CELL_NONE) {
        fm_planner_redirect(world, agent, goal);
    }
    order->goal = goal;
    order->substitute = FM_CELL_NONE;
    order->retry = (fm_retry){0};
    order->resting = false;
    order->leg_moves = agent->moves;
    agent->plan_state = FM_PLAN_RUNNING;
}

// ---- patrol -------------------------------------------------------------------------------------

// From a single waypoint the way back leads home, which then counts as a waypoint before it.
static uint32_t waypoint_count(const struct fm_order *order)
{
    return order->route->count == 1 ? 2 : order->route->count;
}

static fm_cell waypoint_cell(const struct fm_order *order)
{
    if (order->route->count == 1) {
        return order->waypoint == 0 ? order->home : order->route->cells[0];
    }
    return order->route->cells[order->waypoint];
}

static void go_to_next_waypoint(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    struct fm_order *order = &agent->order;
    uint32_t last = waypoint_count(order) - 1;
    if (order->loop) {
        order->waypoint = order->waypoint == last ? 0 : order->waypoint + 1;
    } else {
        order->backwards = order->backwards ? order->waypoint > 0 : order->waypoint == last;
        order->waypoint = order->backwards ? order->waypoint - 1 : order->waypoint + 1;
    }
    // Where nothing can be reached, no search is made in every tick.
    if (how == FM_END_NEAREST && order->leg_moves == agent->moves) {
        order->pause_end = world->tick + PATROL_PAUSE;
    }
    fm_order_set_goal(world, agent, waypoint_cell(order));
}

// ---- by kind ------------------------------------------------------------------------------------

void fm_order_begin_legs(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    order->leg_moves = agent->moves;
    switch (order->kind) {
    case FM_ORDER_MOVE:
        return;
    case FM_ORDER_PATROL:
        order->waypoint = order->route->count == 1 ? 1 : 0;
        fm_order_set_goal(world, agent, waypoint_cell(order));
        return;
    case FM_ORDER_HOLD:
        fm_agent_set_state(agent, FM_AGENT_HOLDING);
        return;
    case FM_ORDER_FOLLOW:
    case FM_ORDER_GUARD:
        fm_follow_begin(world, agent);
        return;
    case FM_ORDER_EXPLORE:
    case FM_ORDER_FLEE:
        fm_seek_begin(agent);
        return;
    case FM_ORDER_STOP:
    case FM_ORDER_KIND_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

static void pause_or_go_on(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    bool paused = world->tick < order->pause_end;
    if (paused != order->resting) {
        order->resting = paused;
        fm_agent_set_state(agent, FM_AGENT_WAITING);
    }
}

void fm_order_progress(fm_world *world, struct fm_agent *agent)
{
    switch (agent->order.kind) {
    case FM_ORDER_MOVE:
        if (agent->order.marches) {
            fm_group_progress(world, agent);
        }
        return;
    case FM_ORDER_HOLD:
        return;
    case FM_ORDER_PATROL:
        pause_or_go_on(world, agent);
        return;
    case FM_ORDER_FOLLOW:
    case FM_ORDER_GUARD:
        fm_follow_progress(world, agent);
        return;
    case FM_ORDER_EXPLORE:
    case FM_ORDER_FLEE:
        fm_seek_progress(world, agent);
        return;
    case FM_ORDER_STOP:
    case FM_ORDER_KIND_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

void fm_order_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    bool reached = how == FM_END_ARRIVED || how == FM_END_NEAREST;
    switch (agent->order.kind) {
    case FM_ORDER_PATROL:
        if (reached) {
            go_to_next_waypoint(world, agent, how);
            return;
        }
        break;
    case FM_ORDER_FOLLOW:
    case FM_ORDER_GUARD:
        fm_follow_leg_over(world, agent, how);
        return;
    case FM_ORDER_EXPLORE:
    case FM_ORDER_FLEE:
        fm_seek_leg_over(world, agent, how);
        return;
    case FM_ORDER_MOVE:
        if (agent->order.marches && how != FM_END_EXHAUSTED) {
            agent->order.marches = false;
            fm_order_set_goal(world, agent, agent->order.own_goal);
            return;
        }
        break;
    case FM_ORDER_HOLD:
    case FM_ORDER_STOP:
    case FM_ORDER_KIND_COUNT:
        break;
    }
    fm_agent_end_order(world, agent, how);
}
