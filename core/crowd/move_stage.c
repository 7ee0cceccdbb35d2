// core/crowd/move_stage.c: see move_stage.h.

#include "core/crowd/move_stage.h"

#include "core/crowd/around.h"
#include "core/crowd/crowd.h"
#include "core/crowd/flow.h"
#include "core/crowd/preferences.h"
#include "core/crowd/step.h"
#include "core/orders/detour.h"
#include "core/orders/order_kinds.h"
#include "core/orders/unreachable.h"
#include "core/world/due.h"
#include "core/world/planner_fetch.h"
#include "core/world/world_state.h"

#define WORDS_A_TURN 4u // of marks, 64 agents each, that a worker takes at a time
#define FETCH_AHEAD  4u // agents

// ---- choose -------------------------------------------------------------------------------------

// While a group's search is not over, its units head straight for the goal (units of auto until the
// first search is over), and so do units of auto whose own search waits for its turn: by the legal
// step that brings them nearest, FM_CELL_NONE when none brings them nearer.
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

// While a group's search is being repaired, its units use the old distances: the legal step over
// which the goal was nearest, FM_CELL_NONE when the search has lost what it knew around them.
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
        uint32_t cost = distances[d] + fm_view_cost(view, agent->cell, d, cell);
        if (distances[d] < distances[FM_DIRECTION_COUNT] && cost < least) {
            least = cost;
            best = cell;
        }
    }
    return best;
}

// The next cell of an agent whose search has no answer yet. Agents that joined a group never wait
// for it.
static fm_cell step_meanwhile(const fm_world *world, const struct fm_agent *agent,
                              const struct fm_planner *planner)
{
    bool is_group = agent->spec.ops->joins_groups && planner->spec.ops->shared;
    // An agent whose search is postponed loses nothing by moving: its search has not begun.
    bool is_put_off = agent->spec.ops->joins_groups && planner->expansions == 0 &&
                      planner->goal == agent->order.goal && world->crowd.occupancy == NULL;
    if (fm_order_marches(&agent->order) || is_put_off || (is_group && !planner->has_answered)) {
        return step_ahead(world, agent);
    }
    // A field that has a distance for the cell has a step as well.
    return is_group && !planner->spec.ops->keeps_field ? step_on(world, agent, planner)
                                                       : FM_CELL_NONE;
}

// Notifies a planner that keeps a path, for one agent, that its agent has moved on.
static fm_plan_state walk(fm_world *world, const struct fm_agent *agent, struct fm_planner *planner)
{
    fm_plan_state state = planner->spec.ops->walk(planner->self, agent->cell, 1);
    if (state != FM_PLAN_FOUND) {
        planner->state = (uint8_t)state;
        planner->disturbed = true;
        planner->asked_tick = world->tick;
        planner->turns = 0;
        fm_planner_wake(world, agent->planner);
    }
    return state;
}

// Asks the planner for its state at the agent's cell, and for the next cell if it has an answer.
static fm_plan_state ask(fm_world *world, const struct fm_agent *agent, struct fm_planner *planner,
                         fm_cell *next)
{
    const fm_planner_ops *ops = planner->spec.ops;
    if (ops->answer != NULL) {
        return ops->answer(planner->self, agent->cell, next);
    }
    fm_plan_state state = fm_planner_walks(world, agent->planner)
                              ? walk(world, agent, planner)
                              : ops->state_at(planner->self, agent->cell);
    bool has_step = state == FM_PLAN_FOUND || state == FM_PLAN_PARTIAL;
    *next = has_step ? ops->next_step(planner->self, agent->cell) : FM_CELL_NONE;
    return state;
}

// Whether the step is legal by what the team knows. A planner may not have been notified of all
// that yet, unless it answers or walks: then it has looked just now.
static bool is_legal(const fm_world *world, const struct fm_agent *agent,
                     const struct fm_planner *planner, fm_cell next)
{
    if (planner->spec.ops->answer != NULL || fm_planner_walks(world, agent->planner)) {
        return true;
    }
    uint32_t d = fm_cell_direction(agent->cell, next);
    const fm_view *view =
        fm_knowledge_view(fm_team_of(world, agent->team)->knowledge, agent->class_index);
    return d >= FM_DIRECTION_COUNT || fm_view_moves(view, agent->cell) >> d & 1;
}

// Sets the agent's next cell. Returns the planner that said so, NULL when none did.
static const struct fm_planner *choose(fm_world *world, struct fm_agent *agent)
{
    agent->next = FM_CELL_NONE;
    if (agent->planner == FM_SLOT_NONE || agent->order.resting || agent->order.is_alerted ||
        agent->frozen) {
        return NULL;
    }
    struct fm_planner *planner = &world->planners.slots[agent->planner];
    fm_cell next;
    agent->plan_state = (uint8_t)ask(world, agent, planner, &next);
    if (agent->plan_state == FM_PLAN_RUNNING) {
        agent->next = step_meanwhile(world, agent, planner);
    }
    if (agent->plan_state == FM_PLAN_FOUND || agent->plan_state == FM_PLAN_PARTIAL) {
        agent->next = next;
        if (agent->next != FM_CELL_NONE && !is_legal(world, agent, planner, agent->next)) {
            agent->next = FM_CELL_NONE;
            fm_planner_wake(world, agent->planner);
        }
    }
    if (fm_order_max_detour(&agent->order) != 0 && agent->plan_state == FM_PLAN_FOUND &&
        agent->order.substitute == FM_CELL_NONE) {
        fm_detour_measure(planner, agent);
        fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    }
    if (fm_unreachable_wants_attention(agent, world->tick + 1)) {
        fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    }
    return agent->next == FM_CELL_NONE ? NULL : planner;
}

// Visits the marked agents of some words, prefetching each while others are handled.
typedef void visit_fn(fm_world *world, uint32_t slot);

static inline void visit_marked(fm_world *world, uint32_t begin, uint32_t end, fm_agent_mark mark,
                                visit_fn *visit)
{
    uint64_t visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint64_t bits = world->agents.marks[i].of[mark], ahead = bits;
        visits += (uint64_t)__builtin_popcountll(bits);
        for (uint32_t j = 0; j < FETCH_AHEAD && ahead != 0; j++, ahead &= ahead - 1) {
            fm_agent_fetch(world, i * 64 + (uint32_t)__builtin_ctzll(ahead));
        }
        for (; bits != 0; bits &= bits - 1, ahead &= ahead - 1) {
            if (ahead != 0) {
                fm_agent_fetch(world, i * 64 + (uint32_t)__builtin_ctzll(ahead));
            }
            visit(world, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
    fm_agents_note_visits(world, visits);
}

// `is_led`: its next cell is known already.
static const struct fm_planner *choose_agent(fm_world *world, struct fm_agent *agent, bool is_led)
{
    const struct fm_planner *planner =
        is_led ? &world->planners.slots[agent->planner] : choose(world, agent);
    int32_t credit = agent->credit;
    agent->is_ready = fm_agent_gain_credit(world, agent);
    if (agent->credit != credit) {
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    } else if (agent->planner == FM_SLOT_NONE && agent->state != FM_AGENT_MOVING) {
        fm_agent_mark_clear(world, agent, FM_MARK_UNDER_WAY);
    }
    return planner;
}

// Prefetches who stands on a cell and around it.
static void fetch_places(const fm_world *world, fm_cell cell)
{
    const fm_occupancy *occupancy = world->crowd.occupancy;
    const fm_place *place = fm_occupancy_at(occupancy, cell);
    __builtin_prefetch(place);
    if (fm_cell_y(cell) > 0) {
        __builtin_prefetch(place - occupancy->width);
    }
    if (fm_cell_y(cell) + 1 < occupancy->height) {
        __builtin_prefetch(place + occupancy->width);
    }
}

typedef void choose_fn(fm_world *world, const uint32_t *slots, uint32_t count);

static void choose_listed(fm_world *world, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_planners_fetch_ahead(&world->agents, &world->planners, slots, i, count);
        choose_agent(world, &world->agents.slots[slots[i]], false);
    }
}

static void choose_listed_among_others(fm_world *world, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_planners_fetch_ahead(&world->agents, &world->planners, slots, i, count);
        if (i + FETCH_AHEAD < count) {
            fetch_places(world, world->agents.slots[slots[i + FETCH_AHEAD]].cell);
        }
        struct fm_agent *agent = &world->agents.slots[slots[i]];
        fm_mover *mover = &world->crowd.movers[slots[i]];
        bool is_led = fm_around_follow(world, agent, mover);
        const struct fm_planner *planner = choose_agent(world, agent, is_led);
        if (planner != NULL && !is_led) {
            fm_around_note(world, agent);
        }
        fm_crowd_prefer(world, agent, planner, mover);
    }
}

// Chooses for the marked agents of some words, a list of them at a time.
static inline void choose_marked(fm_world *world, uint32_t begin, uint32_t end, fm_agent_mark mark,
                                 choose_fn *choose_listed_ones)
{
    uint32_t slots[WORDS_A_TURN * 64], count = 0, visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        for (uint64_t bits = world->agents.marks[i].of[mark]; bits != 0; bits &= bits - 1) {
            slots[count++] = i * 64 + (uint32_t)__builtin_ctzll(bits);
        }
        if (count + 64 > FM_COUNT_OF(slots) || i + 1 == end) {
            choose_listed_ones(world, slots, count);
            visits += count;
            count = 0;
        }
    }
    fm_agents_note_visits(world, visits);
}

static void choose_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    choose_marked(context, begin, end, FM_MARK_UNDER_WAY, choose_listed);
}

// Where a cell holds one unit, every agent is visited: standing ones may be pushed.
static void choose_among_others(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    uint32_t slot_end = end * 64 < world->agents.slot_count ? end * 64 : world->agents.slot_count;
    for (uint32_t slot = begin * 64; slot < slot_end; slot++) {
        if (!fm_agent_is_marked(world, slot, FM_MARK_LIVE)) {
            world->crowd.movers[slot].team = 0;
            world->crowd.movers[slot].passes_on = 0;
            world->crowd.movers[slot].around = 0;
            fm_flow_forget(world, slot);
        }
    }
    choose_marked(world, begin, end, FM_MARK_LIVE, choose_listed_among_others);
}

void fm_agents_choose(fm_world *world, fm_workers *workers)
{
    fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN,
                         world->crowd.occupancy != NULL ? choose_among_others : choose_agents,
                         world);
}

// ---- move ---------------------------------------------------------------------------------------

static void move_agent(fm_world *world, uint32_t slot)
{
    struct fm_agent *agent = &world->agents.slots[slot];
    if (agent->order.id == 0 || !agent->is_ready) {
        return;
    }
    const fm_view *truth = fm_world_truth(world, agent->class_index);
    fm_cell next = agent->next;
    uint32_t d = next == FM_CELL_NONE ? FM_DIRECTION_COUNT : fm_cell_direction(agent->cell, next);
    if (d < FM_DIRECTION_COUNT && fm_view_moves(truth, agent->cell) >> d & 1) {
        if (fm_agent_step(world, agent, d)) {
            fm_agent_mark_set(world, agent, FM_MARK_OVER);
        }
        return;
    }
    if (agent->state == FM_AGENT_MOVING) {
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
}

static void move_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    visit_marked(context, begin, end, FM_MARK_UNDER_WAY, move_agent);
}

// Ends the legs of those who have arrived, in slot order.
static void note_arrivals(fm_world *world)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        uint64_t bits = world->agents.marks[i].of[FM_MARK_OVER];
        world->agents.marks[i].of[FM_MARK_OVER] = 0;
        for (; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            fm_order_leg_over(world, &world->agents.slots[slot], FM_END_ARRIVED);
        }
    }
}

// Notes the effects of a step on others.
static void note_steps(fm_world *world)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        struct fm_agent_marks *marks = &world->agents.marks[i];
        uint64_t stepped = marks->of[FM_MARK_STEPPED];
        marks->of[FM_MARK_LOOK] |= stepped;
        marks->of[FM_MARK_CHANGED] |= stepped;
        world->counts.moves += (uint64_t)__builtin_popcountll(stepped);
    }
}

uint64_t fm_agents_move(fm_world *world, fm_workers *workers, uint64_t work)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        world->agents.marks[i].of[FM_MARK_STEPPED] = 0;
    }
    if (world->crowd.occupancy != NULL) {
        used = fm_crowd_move(world, workers, work);
        fm_agents_mark_all(world, FM_MARK_REHASH); // homes and waits change without a step
    } else {
        fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN, move_agents, world);
        note_arrivals(world);
    }
    note_steps(world);
    return used;
}
