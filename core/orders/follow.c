// core/orders/follow.c: see follow.h.

#include "core/orders/follow.h"

#include "core/orders/leg.h"
#include "core/orders/order_end.h"
#include "core/orders/target.h"
#include "core/world/agent.h"
#include "core/world/team.h"

#define FOLLOW_RADIUS 2u // cells, when the order names none
#define GUARD_RADIUS  4u

static const fm_view *view_of(const fm_world *world, const struct fm_agent *agent)
{
    return fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
}

static uint64_t version_of(const fm_world *world, const struct fm_agent *agent)
{
    return fm_knowledge_log(fm_team_of(world, agent->team)->knowledge, agent->class_index)->version;
}

// ---- near and far -------------------------------------------------------------------------------

// Whether a straight walk from one cell to another is free of walls.
static bool is_straight_way(const fm_view *view, fm_cell from, fm_cell to)
{
    while (from != to) {
        int32_t dx = (int32_t)fm_cell_x(to) - (int32_t)fm_cell_x(from);
        int32_t dy = (int32_t)fm_cell_y(to) - (int32_t)fm_cell_y(from);
        if (view->connectivity == FM_CONNECT_4 && dx != 0) {
            dy = 0;
        }
        fm_cell next = fm_cell_at(fm_cell_x(from) + (uint32_t)((dx > 0) - (dx < 0)),
                                  fm_cell_y(from) + (uint32_t)((dy > 0) - (dy < 0)));
        if (!(fm_view_moves(view, from) >> fm_cell_direction(from, next) & 1)) {
            return false;
        }
        from = next;
    }
    return true;
}

static bool is_within(const fm_view *view, fm_cell from, fm_cell to, uint32_t radius)
{
    return fm_view_distance(view, from, to) <= radius * view->step[0] &&
           is_straight_way(view, from, to);
}

static void stay_near(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    const fm_view *view = view_of(world, agent);
    // A guard comes back nearer than it must, or it would be under way all the time.
    uint32_t near = order->kind == FM_ORDER_GUARD ? order->radius / 2 : order->radius;
    bool going = order->goal != FM_CELL_NONE && !order->resting;
    if (is_within(view, agent->cell, order->follow.post, going ? near : order->radius)) {
        fm_order_rest(world, agent);
    } else if (!going) {
        fm_order_set_out(world, agent, order->follow.post);
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    } else if (4 * fm_view_distance(view, order->goal, order->follow.post) >
               fm_view_distance(view, agent->cell, order->goal)) {
        fm_order_set_goal(world, agent, order->follow.post);
    }
}

// ---- the order ----------------------------------------------------------------------------------

void fm_follow_begin(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    (void)world;
    if (order->radius == 0) {
        order->radius = order->kind == FM_ORDER_GUARD ? GUARD_RADIUS : FOLLOW_RADIUS;
    }
    if (order->follow.post == FM_CELL_NONE) {
        order->follow.post = agent->cell; // until the target has been searched for
    }
}

void fm_follow_progress(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    if (!fm_target_track(world, agent)) {
        return;
    }
    if (order->kind == FM_ORDER_FOLLOW && fm_target_is_lost(order)) {
        if (agent->cell == order->follow.post) {
            fm_agent_end_order(world, agent, FM_END_TARGET_LOST);
        } else if (order->goal != order->follow.post || order->resting) {
            fm_order_set_goal(world, agent, order->follow.post);
        }
        return;
    }
    if (order->follow.once &&
        is_within(view_of(world, agent), agent->cell, order->follow.post, order->radius)) {
        fm_agent_end_order(world, agent, FM_END_ARRIVED);
        return;
    }
    if (order->follow.settled && order->follow.settled_cell == agent->cell &&
        order->follow.settled_version == version_of(world, agent) &&
        order->follow.post == order->goal) {
        return;
    }
    order->follow.settled = false;
    stay_near(world, agent);
}

void fm_follow_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    struct fm_order *order = &agent->order;
    bool lost = order->kind == FM_ORDER_FOLLOW && fm_target_is_lost(order);
    if (how != FM_END_ARRIVED && how != FM_END_NEAREST && how != FM_END_CROWDED) {
        bool no_way = how == FM_END_UNREACHABLE;
        fm_agent_end_order(world, agent, lost && no_way ? FM_END_TARGET_LOST : how);
    } else if (lost) {
        fm_agent_end_order(world, agent, FM_END_TARGET_LOST);
    } else {
        order->follow.settled = how != FM_END_ARRIVED;
        order->follow.settled_cell = agent->cell;
        order->follow.settled_version = version_of(world, agent);
        fm_order_begin_rest(world, agent);
    }
}
