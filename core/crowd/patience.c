// core/crowd/patience.c: see patience.h.

#include "core/crowd/patience.h"

#include "core/orders/order_kinds.h"
#include "core/world/agent.h"

static void count(struct fm_agent *agent, const fm_mover *mover)
{
    uint32_t left = mover->distance + 1; // 0 is for not known
    bool moves = mover->next != mover->cell;
    bool as_wanted =
        moves && fm_cell_direction(mover->cell, mover->next) == (mover->preferences & 15);
    if (agent->nearest == 0 || left < agent->nearest) {
        agent->nearest = left;
        agent->hindered = 0;
    } else if (as_wanted && !mover->strays && mover->passing == 0 && mover->around == 0) {
        agent->hindered -= agent->hindered > 0;
    } else if (agent->hindered < 2 * FM_PATIENCE_TICKS) {
        agent->hindered += as_wanted ? 1 : 2; // off its way: that may lead nowhere
    }
}

bool fm_patience_count(fm_world *world, struct fm_agent *agent, const fm_mover *mover)
{
    // Who keeps to the right, or meets others, may rather wait than make its planner's step.
    bool wants_on = (mover->preferences & 15) < FM_PREFERENCE_STAY || mover->strays;
    bool is_under_way = (mover->yields || !mover->aside) && wants_on;
    if (!is_under_way) {
        return false;
    }
    count(agent, mover);
    if ((agent->hindered < 2 * FM_PATIENCE_TICKS && !mover->shut) ||
        agent->order.on_unreachable == FM_UNREACHABLE_WAIT) {
        return false;
    }
    agent->nearest = agent->hindered = 0;
    fm_order_give_up_leg(world, agent, FM_END_CROWDED);
    agent->settled = false; // it may block others
    return true;
}
