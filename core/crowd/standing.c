// core/crowd/standing.c: see standing.h.

#include "core/crowd/standing.h"

#include "core/crowd/sight.h"
#include "core/orders/homecoming.h"
#include "core/orders/orders.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"

// It will not go by itself.
static bool rests(const struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    return fm_agent_holds_ground(agent) || order->resting || order->is_alerted || order->id == 0;
}

// Who was pushed from home goes back there, unless somebody stands in its way for long.
static uint32_t ticks_to_stand(const struct fm_agent *agent)
{
    return agent->order.id == 0 && fm_agent_is_away(agent) ? FM_STANDING_AWAY : FM_STANDING_TICKS;
}

static bool is_standing(const fm_world *world, const struct fm_agent *agent,
                        const struct fm_agent *other)
{
    bool leaves = other->team == agent->team && !fm_agent_holds_ground(other);
    if (other == agent || leaves || !rests(other) ||
        other->stepped_tick + ticks_to_stand(other) > fm_world_tick(world)) {
        return false;
    }
    uint32_t sight = fm_crowd_sight(world, agent, UINT32_MAX);
    return other->team == agent->team || (fm_cell_dx(agent->cell, other->cell) <= sight &&
                                          fm_cell_dy(agent->cell, other->cell) <= sight);
}

uint32_t fm_standing_at(const fm_world *world, const struct fm_agent *agent, fm_cell cell)
{
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    uint32_t size = fm_world_class_size(world, agent->class_index);
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell part = cell + fm_cell_at(i % size, i / size);
        uint32_t unit = fm_world_contains(world, part) ? fm_occupancy_at(occupancy, part)->now : 0;
        if (unit != 0 && is_standing(world, agent, &fm_world_agents(world)->slots[unit - 1])) {
            return unit;
        }
    }
    return 0;
}
