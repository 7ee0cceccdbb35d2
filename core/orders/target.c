// core/orders/target.c: see target.h.

#include "core/orders/target.h"

#include "core/orders/order_end.h"
#include "core/world/agent.h"
#include "core/world/interval.h"
#include "core/world/lookouts.h"
#include "core/world/unit_index.h"

static void look_again(fm_world *world)
{
    fm_unit_index_refresh(world);
    fm_lookouts_refresh(world);
}

static bool is_seen(fm_world *world, uint32_t team, const struct fm_agent *other)
{
    if (other->team == team) {
        return true;
    }
    look_again(world);
    return fm_lookouts_see_agent(world, team, other);
}

// An agent that is gone. It counts as seen to die if the team sees where it stood. What has become
// of its slot since does not count: that may depend on what the team cannot see.
static bool is_death_seen(fm_world *world, uint32_t team, fm_agent_id id)
{
    const fm_agent_left *left = fm_interval_find_removed(world, id);
    if (left == NULL) {
        return false; // it died before the order's turn came
    }
    look_again(world);
    return left->team == team || fm_lookouts_see(world, team, left->cell);
}

bool fm_target_may_name(fm_world *world, uint32_t team, fm_order_kind kind, fm_agent_id target)
{
    const struct fm_agent *agent = fm_world_find(world, target);
    if (agent == NULL || (kind == FM_ORDER_GUARD && agent->team != team)) {
        return false;
    }
    return is_seen(world, team, agent);
}

bool fm_target_is_lost(const struct fm_order *order)
{
    return order->follow.target.index1 == 0;
}

bool fm_target_track(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    if (fm_target_is_lost(order)) {
        return true;
    }
    const struct fm_agent *target = fm_world_find(world, order->follow.target);
    bool has_boarded = target == NULL && fm_world_find_any(world, order->follow.target) != NULL;
    if (has_boarded && order->kind == FM_ORDER_GUARD) {
        fm_agent_end_order(world, agent, FM_END_TARGET_LOST);
        return false;
    }
    // A friend to guard is never out of sight, so it has died even if that was before its turn.
    if (target == NULL && !has_boarded &&
        (order->kind == FM_ORDER_GUARD ||
         is_death_seen(world, agent->team, order->follow.target))) {
        fm_agent_end_order(world, agent, FM_END_TARGET_DIED);
        return false;
    }
    bool seen = target != NULL && is_seen(world, agent->team, target);
    if (seen) {
        order->follow.post = target->cell;
    } else {
        order->follow.target = (fm_agent_id){0};
    }
    return true;
}
