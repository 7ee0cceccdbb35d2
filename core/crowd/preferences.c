// core/crowd/preferences.c: see preferences.h.

#include "core/crowd/preferences.h"

#include "core/crowd/crowd.h"
#include "core/orders/orders.h"

// A cell that could be next, so that smaller is better: distance to the goal, then what breaks
// ties, then the direction. Bits from the lowest: 8 direction, 1 to the left, 3 turn, 1 taken.
typedef uint64_t option;

static option make_option(uint32_t distance, uint32_t ties, uint32_t d)
{
    return (uint64_t)distance << 16 | ties << 8 | d;
}

static uint32_t ties_of(const fm_world *world, const struct fm_agent *agent, uint32_t ahead,
                        uint32_t d)
{
    uint32_t turn = (d - ahead) % FM_DIRECTION_COUNT; // clockwise
    uint32_t left = turn > 4;
    turn = left ? FM_DIRECTION_COUNT - turn : turn;
    bool taken = !fm_occupancy_is_free(world->crowd.occupancy, fm_cell_step(agent->cell, d),
                                       world->rules.classes[agent->class_index].size,
                                       fm_agent_id_of(world, agent).index1);
    return 16u + ((uint32_t)taken << 4 | turn << 1 | left); // 0 is for staying
}

static uint64_t list_of(option *options, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        option moved = options[i];
        uint32_t j = i;
        for (; j > 0 && options[j - 1] > moved; j--) {
            options[j] = options[j - 1];
        }
        options[j] = moved;
    }
    uint64_t list = FM_PREFERENCES_NONE;
    while (count > 0) {
        list = list << 4 | (options[--count] & 15);
    }
    return list;
}

// The planner's next step, then everything else by distance.
static uint64_t preferences_under_way(const fm_world *world, const struct fm_agent *agent,
                                      const struct fm_planner *planner, uint32_t moves)
{
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    fm_planner_distances(planner->spec.ops, planner->self,
                         fm_world_truth(world, agent->class_index), planner->goal, agent->cell,
                         moves, distances);
    uint32_t next = fm_cell_direction(agent->cell, agent->next);
    uint32_t ahead = agent->heading < FM_DIRECTION_COUNT ? agent->heading : next;
    option options[FM_DIRECTION_COUNT + 1];
    uint32_t count = 0;
    options[count++] = make_option(distances[FM_DIRECTION_COUNT], 0, (uint32_t)FM_PREFERENCE_STAY);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        options[count++] = d == next
                               ? make_option(0, 0, d)
                               : make_option(distances[d] + 1, ties_of(world, agent, ahead, d), d);
    }
    return list_of(options, count);
}

static uint64_t preferences_without_way(const fm_world *world, const struct fm_agent *agent,
                                        uint32_t moves)
{
    uint64_t list = FM_PREFERENCES_NONE << 4 | FM_PREFERENCE_STAY;
    if (agent->order.id != 0 || agent->trail_count == 0 ||
        world->tick + 1 < agent->pushed_tick + FM_RETURN_TICKS) {
        return list;
    }
    uint64_t back = (agent->trail & 7) ^ 4;
    return moves >> back & 1 ? list << 4 | back : list;
}

static uint16_t age_of(const fm_world *world, const struct fm_agent *agent)
{
    uint64_t age = agent->order.id == 0 ? 0 : world->tick + 2 - agent->asking_since;
    return age < FM_MOVER_AGE_MAX ? (uint16_t)age : FM_MOVER_AGE_MAX;
}

void fm_crowd_prefer(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, fm_mover *mover)
{
    if (!agent->alive) {
        mover->team = 0;
        return;
    }
    bool ready = agent->is_ready;
    uint32_t moves = fm_view_moves(fm_world_truth(world, agent->class_index), agent->cell);
    bool under_way = planner != NULL && agent->next != FM_CELL_NONE && agent->next != agent->cell;
    *mover = (fm_mover){
        .cell = agent->cell,
        .next = agent->cell,
        .aim = agent->order.id == 0                      ? agent->settled_aim
               : agent->order.substitute != FM_CELL_NONE ? agent->order.substitute
                                                         : agent->order.goal,
        .age = age_of(world, agent),
        .team = agent->team,
        .size = world->rules.classes[agent->class_index].size,
        .progress = ready ? FM_MOVER_UNDECIDED : FM_MOVER_DECIDED,
        .moves = (uint8_t)moves,
        .aside = !under_way,
        .settled = agent->settled && agent->order.id == 0,
        .pushable = !fm_agent_holds_ground(agent),
    };
    mover->preferences = !ready      ? FM_PREFERENCES_NONE
                         : under_way ? preferences_under_way(world, agent, planner, moves)
                                     : preferences_without_way(world, agent, moves);
}
