// core/crowd/step.c: see step.h.

#include "core/crowd/step.h"

#include "core/orders/order_kinds.h"
#include "core/world/due.h"
#include "core/world/world_state.h"

// In a group with a common speed the slowest one's counts. 0: a step a tick.
static uint32_t speed_of(const struct fm_agent *agent)
{
    uint32_t common = fm_order_speed(&agent->order);
    return common != 0 ? common : agent->speed;
}

bool fm_agent_gain_credit(const fm_world *world, struct fm_agent *agent)
{
    uint32_t speed = speed_of(agent);
    if (speed == 0) {
        return true;
    }
    int64_t straight = world->rules.tick_millihertz;
    int64_t credit = (int64_t)agent->credit + speed, most = straight + speed - 1;
    agent->credit = (int32_t)(credit < most ? credit : most);
    return agent->credit >= straight;
}

static void add(uint64_t *count, uint64_t more)
{
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

static void note_first_move(fm_world *world, struct fm_agent *agent)
{
    uint64_t ticks = world->tick + 1 - agent->order.given_tick;
    agent->order.has_moved = true;
    add(&world->counts.first_move_ticks_sum, ticks);
    add(&world->counts.first_move_count, 1);
    __atomic_fetch_add(&world->counts.first_move_histogram[ticks < 64 ? ticks : 64], 1,
                       __ATOMIC_RELAXED);
}

static void pay_for_step(const fm_world *world, struct fm_agent *agent, uint32_t d)
{
    if (speed_of(agent) != 0) {
        int64_t straight = world->rules.tick_millihertz;
        agent->credit -=
            (int32_t)(d & 1 ? straight * FM_SPEED_DIAGONAL / FM_SPEED_STRAIGHT : straight);
    }
}

bool fm_agent_step(fm_world *world, struct fm_agent *agent, uint32_t d)
{
    pay_for_step(world, agent, d);
    agent->cell = fm_cell_step(agent->cell, d);
    bool as_chosen = agent->cell == agent->next;
    if (agent->planner != FM_SLOT_NONE &&
        (!as_chosen || !fm_planner_walks(world, agent->planner))) {
        fm_planner_wake(world, agent->planner);
    }
    agent->heading = (uint8_t)d;
    agent->moves += 1;
    agent->stepped_tick = world->tick + 1;
    fm_agent_mark_set(world, agent, FM_MARK_STEPPED);
    if (agent->order.id == 0 || agent->next == FM_CELL_NONE) {
        fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
        return false; // pushed
    }
    fm_agent_set_state(world, agent, FM_AGENT_MOVING);
    if (!agent->order.has_moved) {
        note_first_move(world, agent);
    }
    return agent->cell == agent->order.goal;
}
