// core/crowd/flow.c: see flow.h.

#include "core/crowd/flow.h"

#include "core/crowd/lanes.h"
#include "core/crowd/sight.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#include <string.h>

#define HELD_UP    2u // see patience.h: a tick
#define FAR_STEPS  8u
#define BIAS_PARTS 6u  // of ten of a straight step
#define LARGE      16u // in a note: is larger than one cell
#define LOOK       2   // cells

static void forget(struct fm_world_crowd *crowd, uint32_t begin)
{
    if (begin < crowd->way_capacity) {
        memset(crowd->ways + begin, FM_DIRECTION_COUNT, crowd->way_capacity - begin);
    }
}

bool fm_flow_reserve(fm_world *world, uint32_t agent_count)
{
    struct fm_world_crowd *crowd = &world->crowd;
    uint32_t before = crowd->way_capacity;
    if (!FM_RESERVE(world, crowd->ways, crowd->way_capacity, 2 * agent_count)) {
        return false;
    }
    forget(crowd, before);
    return true;
}

void fm_flow_drop_all(fm_world *world)
{
    forget(&world->crowd, 0);
}

void fm_flow_fini(fm_world *world)
{
    struct fm_world_crowd *crowd = &world->crowd;
    fm_memory_release(&world->memory, crowd->ways, crowd->way_capacity * sizeof *crowd->ways);
}

void fm_flow_forget(const fm_world *world, uint32_t slot)
{
    memset(&world->crowd.ways[fm_crowd_turn(slot, 0)], FM_DIRECTION_COUNT, 2);
}

void fm_flow_note(const fm_world *world, const struct fm_agent *agent, uint32_t way)
{
    uint32_t slot = fm_agent_id_of(world, agent).index1 - 1;
    bool is_large = fm_world_class_size(world, agent->class_index) > 1;
    world->crowd.ways[fm_crowd_turn(slot, world->tick)] = (uint8_t)(way | (is_large ? LARGE : 0));
}

uint32_t fm_flow_way(const fm_world *world, uint32_t slot, uint64_t tick)
{
    return world->crowd.ways[fm_crowd_turn(slot, tick)] & (LARGE - 1);
}

// Positive: who stands in a cell wants the same way; negative: against it; 0: neither, or nobody is
// there.
static int32_t likeness(const fm_world *world, fm_cell cell, uint32_t way)
{
    uint32_t unit = fm_occupancy_at(world->crowd.occupancy, cell)->now;
    uint32_t other = unit == 0 ? FM_DIRECTION_COUNT : fm_flow_way(world, unit - 1, world->tick - 1);
    return other >= FM_DIRECTION_COUNT ? 0 : fm_direction_product(way, other);
}

static bool has_large_classes(const fm_world *world)
{
    for (uint32_t i = 0; i < world->rules.class_count; i++) {
        if (world->rules.classes[i].size > 1) {
            return true;
        }
    }
    return false;
}

// Whether it sees a unit near it that is larger than one cell.
static bool is_near_large(const fm_world *world, const struct fm_agent *agent)
{
    int32_t look = (int32_t)fm_min(fm_crowd_sight(world, agent, LOOK), LOOK);
    int32_t side = has_large_classes(world) ? 2 * look + 1 : 0;
    for (int32_t i = 0; i < side * side; i++) {
        uint32_t x = fm_cell_x(agent->cell) + (uint32_t)(i % side - look);
        uint32_t y = fm_cell_y(agent->cell) + (uint32_t)(i / side - look);
        bool is_inside = x < world->crowd.occupancy->width && y < world->crowd.occupancy->height;
        uint32_t unit =
            is_inside ? fm_occupancy_at(world->crowd.occupancy, fm_cell_at(x, y))->now : 0;
        if (unit != 0 && world->crowd.ways[fm_crowd_turn(unit - 1, world->tick - 1)] >= LARGE) {
            return true;
        }
    }
    return false;
}

// A cell that is nearer to the goal by two and more stays so: see list_by_distance() in
// preferences.c.
static uint32_t behind_or_against(uint32_t distance, uint32_t left, uint32_t bias, int32_t alike)
{
    if (alike >= 0) {
        return alike == 0 ? distance : distance - fm_min(bias, distance);
    }
    uint32_t farther = distance + bias;
    return distance + 2 < left && farther + 2 > left ? left - 2 : farther;
}

static bool is_held_up(const fm_world *world, const struct fm_agent *agent, const fm_view *view,
                       uint32_t left)
{
    return agent->order.id != 0 && agent->hindered >= HELD_UP &&
           agent->plan_state == FM_PLAN_FOUND && world->teams.count > 1 &&
           fm_team_of(world, agent->team)->large_count == 0 && view->connectivity != FM_CONNECT_4 &&
           left > FAR_STEPS * view->step[0] && !fm_lanes_are_near(world, agent) &&
           !is_near_large(world, agent);
}

bool fm_flow_bias(const fm_world *world, const struct fm_agent *agent, uint32_t moves, uint32_t way,
                  uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const fm_view *view = fm_world_truth(world, agent->class_index);
    uint32_t left = distances[FM_DIRECTION_COUNT], bias = view->step[0] * BIAS_PARTS / 10;
    if (!is_held_up(world, agent, view, left)) {
        return false;
    }
    bool is_met = false;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        int32_t alike = likeness(world, fm_cell_step(agent->cell, d), way);
        if (d != way) {
            distances[d] = behind_or_against(distances[d], left, bias, alike);
        } else if (alike < 0) { // estimates may say of the planner's step that it leads away
            distances[d] = fm_min(distances[d] + bias, left - 2);
            is_met = true;
        }
    }
    return is_met;
}
