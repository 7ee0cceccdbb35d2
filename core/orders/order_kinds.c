// core/orders/order_kinds.c: see order_kinds.h.

#include "core/orders/order_kinds.h"

#include "core/orders/follow.h"
#include "core/orders/keep_distance.h"
#include "core/orders/march.h"
#include "core/orders/order_end.h"
#include "core/orders/patrol.h"
#include "core/orders/goal_search.h"

// One kind of order.
struct kind {
    // Whether the command has as many cells as the kind wants.
    bool (*accepts)(const fm_command *command);
    // Its orders keep the cells of the command, if it has any.
    bool has_route;
    // They may stop for enemies.
    bool may_alert;
    // The order's turn has come. NULL: nothing to do.
    void (*begin)(fm_world *world, struct fm_agent *agent);
    // As fm_order_progress(). NULL: nothing to do.
    void (*progress)(fm_world *world, struct fm_agent *agent);
    // As fm_order_leg_over(). NULL: the order ends.
    void (*leg_over)(fm_world *world, struct fm_agent *agent, fm_order_end how);
};

// ---- cells of the command -----------------------------------------------------------------------

static bool takes_one_or_each(const fm_command *command)
{
    return command->cell_count == 1 || command->cell_count == command->agent_count;
}

static bool takes_waypoints(const fm_command *command)
{
    return command->cell_count >= 1 && command->cell_count <= FM_WAYPOINTS_MAX;
}

static bool takes_dangers(const fm_command *command)
{
    return command->cell_count <= FM_WAYPOINTS_MAX;
}

static bool takes_post_or_target(const fm_command *command)
{
    return command->cell_count == 0 || (command->cell_count == 1 && command->target.index1 == 0);
}

static bool takes_none_or_one(const fm_command *command)
{
    return command->cell_count <= 1;
}

static bool takes_any(const fm_command *command)
{
    (void)command;
    return true;
}

// ---- the table ----------------------------------------------------------------------------------

static void hold(fm_world *world, struct fm_agent *agent)
{
    (void)world;
    fm_agent_set_state(world, agent, FM_AGENT_HOLDING);
}

static const struct kind kinds[FM_ORDER_KIND_COUNT] = {
    [FM_ORDER_MOVE] = {.accepts = takes_one_or_each,
                       .may_alert = true,
                       .progress = fm_march_progress,
                       .leg_over = fm_march_leg_over},
    [FM_ORDER_STOP] = {.accepts = takes_any}, // ends other orders and is none itself
    [FM_ORDER_PATROL] = {.accepts = takes_waypoints,
                         .may_alert = true,
                         .has_route = true,
                         .begin = fm_patrol_begin,
                         .progress = fm_patrol_progress,
                         .leg_over = fm_patrol_leg_over},
    [FM_ORDER_HOLD] = {.accepts = takes_any, .may_alert = true, .begin = hold},
    [FM_ORDER_FOLLOW] = {.accepts = takes_any,
                         .begin = fm_follow_begin,
                         .progress = fm_follow_progress,
                         .leg_over = fm_follow_leg_over},
    [FM_ORDER_GUARD] = {.accepts = takes_post_or_target,
                        .may_alert = true,
                        .begin = fm_follow_begin,
                        .progress = fm_follow_progress,
                        .leg_over = fm_follow_leg_over},
    [FM_ORDER_EXPLORE] = {.accepts = takes_any,
                          .may_alert = true,
                          .begin = fm_goal_search_begin,
                          .progress = fm_goal_search_progress,
                          .leg_over = fm_goal_search_leg_over},
    [FM_ORDER_FLEE] = {.accepts = takes_dangers,
                       .has_route = true,
                       .begin = fm_goal_search_begin,
                       .progress = fm_goal_search_progress,
                       .leg_over = fm_goal_search_leg_over},
    [FM_ORDER_KEEP_DISTANCE] = {.accepts = takes_any,
                                .begin = fm_keep_distance_begin,
                                .progress = fm_keep_distance_progress,
                                .leg_over = fm_goal_search_leg_over},
    [FM_ORDER_SCATTER] = {.accepts = takes_none_or_one, .may_alert = true}, // gives moves
};

// ---- what others call ---------------------------------------------------------------------------

bool fm_order_kind_accepts(const fm_command *command)
{
    return (uint32_t)command->order < FM_ORDER_KIND_COUNT && kinds[command->order].accepts(command);
}

bool fm_order_kind_has_route(const fm_command *command)
{
    return kinds[command->order].has_route && command->cell_count > 0;
}

bool fm_order_kind_has_target(const fm_command *command)
{
    return command->order == FM_ORDER_FOLLOW ||
           (command->order == FM_ORDER_GUARD && command->cell_count == 0) ||
           (command->order == FM_ORDER_KEEP_DISTANCE && command->target.index1 != 0);
}

bool fm_order_kind_may_alert(fm_order_kind kind)
{
    return kinds[kind].may_alert;
}

void fm_order_begin_legs(fm_world *world, struct fm_agent *agent)
{
    const struct kind *kind = &kinds[agent->order.kind];
    agent->order.leg_moves = agent->moves;
    if (kind->begin != NULL) {
        kind->begin(world, agent);
    }
}

void fm_order_progress(fm_world *world, struct fm_agent *agent)
{
    const struct kind *kind = &kinds[agent->order.kind];
    if (agent->order.id != 0 && kind->progress != NULL) {
        kind->progress(world, agent);
    }
}

void fm_order_leg_over(fm_world *world, struct fm_agent *agent, fm_order_end how)
{
    const struct kind *kind = &kinds[agent->order.kind];
    if (kind->leg_over != NULL) {
        kind->leg_over(world, agent, how);
    } else {
        fm_agent_end_order(world, agent, how);
    }
}

bool fm_order_give_up_leg(fm_world *world, struct fm_agent *agent, fm_order_end as_nearest)
{
    switch ((fm_on_unreachable)agent->order.on_unreachable) {
    case FM_UNREACHABLE_NEAREST:
        fm_order_leg_over(world, agent, as_nearest);
        return true;
    case FM_UNREACHABLE_FAIL:
        fm_order_leg_over(world, agent, FM_END_UNREACHABLE);
        return true;
    case FM_UNREACHABLE_WAIT:
        return false;
    }
    FM_UNREACHABLE();
}
