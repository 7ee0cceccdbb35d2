// core/orders/keep_distance.c: see keep_distance.h.

#include "core/orders/keep_distance.h"

#include "core/orders/goal_search.h"
#include "core/orders/leg.h"
#include "core/orders/order_end.h"
#include "core/orders/target.h"
#include "core/world/agent.h"
#include "core/world/enemy_near.h"
#include "core/world/lookouts.h"
#include "core/world/team.h"
#include "core/world/unit_index.h"

#define RADIUS 6u // cells, when the order names none

static const fm_view *view_of(const fm_world *world, const struct fm_agent *agent)
{
    return fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
}

static bool is_near(const fm_world *world, const struct fm_agent *agent, fm_cell cell)
{
    const fm_view *view = view_of(world, agent);
    return cell != FM_CELL_NONE &&
           fm_view_distance(view, cell, agent->cell) < agent->order.radius * view->step[0];
}

// Sets the post to where the nearest enemy is, or was seen last.
static void look_for_enemies(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    fm_unit_index_refresh(world);
    fm_lookouts_refresh(world);
    const struct fm_agent *enemy = fm_enemy_near(world, agent->team, agent->cell, order->radius);
    if (enemy != NULL) {
        order->follow.post = enemy->cell;
    } else if (order->follow.post != FM_CELL_NONE &&
               (!is_near(world, agent, order->follow.post) ||
                fm_lookouts_see(world, agent->team, order->follow.post))) {
        order->follow.post = FM_CELL_NONE;
    }
}

static void be_far(fm_world *world, struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    if (order->follow.has_target && fm_target_is_lost(order)) {
        fm_agent_end_order(world, agent, FM_END_TARGET_LOST);
    } else if (order->follow.once) {
        fm_agent_end_order(world, agent, FM_END_ARRIVED);
    } else {
        fm_order_rest(world, agent);
    }
}

void fm_keep_distance_begin(fm_world *world, struct fm_agent *agent)
{
    (void)world;
    agent->order.radius = agent->order.radius == 0 ? RADIUS : agent->order.radius;
}

void fm_keep_distance_progress(fm_world *world, struct fm_agent *agent)
{
    if (agent->order.follow.has_target) {
        if (!fm_target_track(world, agent)) {
            return;
        }
    } else {
        look_for_enemies(world, agent);
    }
    if (is_near(world, agent, agent->order.follow.post)) {
        fm_goal_search_progress(world, agent);
    } else {
        be_far(world, agent);
    }
}
