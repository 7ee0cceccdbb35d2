// core/crowd/move_stage.c: see move_stage.h.

#include "core/crowd/move_stage.h"

#include "core/crowd/crowd.h"
#include "core/crowd/preferences.h"
#include "core/crowd/step.h"
#include "core/orders/detour.h"
#include "core/orders/order_kinds.h"
#include "core/world/due.h"

// ---- choose -------------------------------------------------------------------------------------

// While a group's search is not over, its units go straight ahead (those of auto while it never
// was): the legal step that brings most, FM_CELL_NONE when none brings them nearer.
static fm_cell step_ahead(const fm_world *world, const struct fm_agent *agent)
{
    const fm_view *view =
        fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
    uint32_t least = fm_view_distance(view, agent->cell, agent->order.goal);
    fm_cell best = FM_CELL_NONE;
    for (uint32_t moves = fm_view_moves(view, agent->cell); moves != 0; moves &= moves - 1) {
        fm_cell cell = fm_cell_step(agent->cell, (uint32_t)__builtin_ctz(moves));
        uint32_t distance = fm_view_distance(view, cell, agent->order.goal);
        if (distance < least) {
            least = distance;
            best = cell;
        }
    }
    return best;
}

// While a group's search is being repaired, its units go by what it knew: the legal step over which
// the goal was nearest, FM_CELL_NONE when the search has lost what it knew around them.
static fm_cell step_on(const fm_world *world, const struct fm_agent *agent,
                       const struct fm_planner *planner)
{
    const fm_view *view =
        fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
    uint32_t moves = fm_view_moves(view, agent->cell);
    uint32_t distances[FM_DIRECTION_COUNT + 1], least = FM_COST_INFINITE;
    planner->spec.ops->distances(planner->self, agent->cell, moves, distances);
    fm_cell best = FM_CELL_NONE;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell cell = fm_cell_step(agent->cell, d);
        uint32_t way = distances[d] + fm_view_cost(view, agent->cell, d, cell);
        if (distances[d] < distances[FM_DIRECTION_COUNT] && way < least) {
            least = way;
            best = cell;
        }
    }
    return best;
}

// Where an agent goes whose search has no answer yet. Agents that joined a group never wait for it.
static fm_cell step_meanwhile(const fm_world *world, const struct fm_agent *agent,
                              const struct fm_planner *planner)
{
    bool is_group = agent->spec.ops->joins_groups && planner->spec.ops->shared;
    if (fm_order_marches(&agent->order) || (is_group && !planner->has_answered)) {
        return step_ahead(world, agent);
    }
    // A field that has a distance for the cell has a step as well.
    return is_group && !planner->spec.ops->keeps_field ? step_on(world, agent, planner)
                                                       : FM_CELL_NONE;
}

// Asks the planner how it is with the agent's cell. Where it keeps a path, which nobody else goes
// by, it is told here that the agent has gone on.
static fm_plan_state ask(fm_world *world, const struct fm_agent *agent, struct fm_planner *planner)
{
    const fm_planner_ops *ops = planner->spec.ops;
    if (!fm_planner_walks(world, agent->planner)) {
        return ops->state_at(planner->self, agent->cell);
    }
    fm_plan_state state = ops->walk(planner->self, agent->cell, 1);
    if (state != FM_PLAN_FOUND) {
        planner->state = (uint8_t)state;
        planner->disturbed = true;
        planner->asked_tick = world->tick;
        planner->turns = 0;
        fm_planner_wake(world, agent->planner);
    }
    return state;
}

// Whether the team knows of nothing that forbids the step. A planner that has not been told of all
// that was learned may not know.
static bool is_legal(const fm_world *world, const struct fm_agent *agent, fm_cell next)
{
    uint32_t d = fm_cell_direction(agent->cell, next);
    const fm_view *view =
        fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
    return d >= FM_DIRECTION_COUNT || fm_view_moves(view, agent->cell) >> d & 1;
}

// Sets the agent's next cell. Returns the planner that said so, NULL when none did.
static const struct fm_planner *choose(fm_world *world, struct fm_agent *agent)
{
    agent->next = FM_CELL_NONE;
    if (agent->planner == FM_SLOT_NONE || agent->order.resting) {
        return NULL;
    }
    struct fm_planner *planner = &world->planners.slots[agent->planner];
    const fm_planner_ops *ops = planner->spec.ops;
    agent->plan_state = (uint8_t)ask(world, agent, planner);
    if (agent->plan_state == FM_PLAN_RUNNING) {
        agent->next = step_meanwhile(world, agent, planner);
    }
    if (agent->plan_state == FM_PLAN_FOUND || agent->plan_state == FM_PLAN_PARTIAL) {
        agent->next = ops->next_step(planner->self, agent->cell);
        if (agent->next != FM_CELL_NONE && !is_legal(world, agent, agent->next)) {
            agent->next = FM_CELL_NONE;
            fm_planner_wake(world, agent->planner);
        }
    }
    if (fm_order_max_detour(&agent->order) != 0 && agent->plan_state == FM_PLAN_FOUND &&
        agent->order.substitute == FM_CELL_NONE) {
        fm_detour_measure(planner, agent);
    }
    return agent->next == FM_CELL_NONE ? NULL : planner;
}

static void choose_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t slot = begin; slot < end; slot++) {
        struct fm_agent *agent = &world->agents.slots[slot];
        const struct fm_planner *planner = agent->alive ? choose(world, agent) : NULL;
        agent->is_ready = agent->alive && fm_agent_gain_credit(world, agent);
        if (world->crowd.occupancy != NULL) {
            fm_crowd_prefer(world, agent, planner, &world->crowd.movers[slot]);
        }
    }
}

void fm_agents_choose(fm_world *world, fm_workers *workers)
{
    fm_workers_run(workers, world->agents.slot_count, 256, choose_agents, world);
}

// ---- move ---------------------------------------------------------------------------------------

static void move_agent(fm_world *world, struct fm_agent *agent)
{
    if (agent->order.id == 0 || !agent->is_ready) {
        return;
    }
    const fm_view *truth = fm_world_truth(world, agent->class_index);
    fm_cell next = agent->next;
    uint32_t d = next == FM_CELL_NONE ? FM_DIRECTION_COUNT : fm_cell_direction(agent->cell, next);
    if (d < FM_DIRECTION_COUNT && fm_view_moves(truth, agent->cell) >> d & 1) {
        fm_agent_step(world, agent, d);
        return;
    }
    if (agent->state == FM_AGENT_MOVING) {
        fm_agent_set_state(agent, FM_AGENT_WAITING);
    }
}

void fm_agents_move(fm_world *world)
{
    if (world->crowd.occupancy != NULL) {
        fm_crowd_move(world);
        return;
    }
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        if (world->agents.slots[slot].alive) {
            move_agent(world, &world->agents.slots[slot]);
        }
    }
}
