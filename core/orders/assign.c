// core/orders/assign.c: see assign.h.

#include "core/orders/assign.h"

#include "core/orders/alert.h"
#include "core/orders/detour.h"
#include "core/orders/homecoming.h"
#include "core/orders/order_end.h"
#include "core/orders/order_kinds.h"
#include "core/orders/orders.h"
#include "core/orders/goal_search.h"
#include "core/orders/unreachable.h"
#include "core/world/planner_table.h"
#include "core/world/team_labels.h"
#include "core/world/world_state.h"

#define WORDS_A_TURN 8u // of marks, 64 agents each, that a worker takes at a time
#define TURNS_MAX    (FM_ORDER_QUEUE_MAX + 2) // of one agent in one tick

static void take_planner(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    agent->plan_state = fm_planner_take(world, agent, goal) ? FM_PLAN_RUNNING : FM_PLAN_EXHAUSTED;
}

static void assign(fm_world *world, struct fm_agent *agent)
{
    if (agent->order.is_alerted) {
        return;
    }
    fm_order_progress(world, agent);
    if (agent->order.id == 0 || agent->order.goal == FM_CELL_NONE || agent->order.resting ||
        fm_order_is_listed(&agent->order)) {
        return;
    }
    if (agent->cell == agent->order.goal) {
        fm_order_leg_over(world, agent, FM_END_ARRIVED);
        return;
    }
    if (!fm_unreachable_attend(world, agent)) {
        return;
    }
    if (fm_order_is_too_long(&agent->order)) {
        fm_detour_face(world, agent);
        if (agent->order.id == 0) {
            return;
        }
    }
    if (agent->planner == FM_SLOT_NONE && agent->plan_state != FM_PLAN_EXHAUSTED) {
        bool detour = agent->order.substitute != FM_CELL_NONE;
        take_planner(world, agent, detour ? agent->order.substitute : agent->order.goal);
    }
    if (agent->plan_state == FM_PLAN_EXHAUSTED) {
        fm_order_leg_over(world, agent, FM_END_EXHAUSTED);
    }
}

// When an order or a leg ends here, the next one begins and moves in this tick. Each turn of the
// loop ends an order, or continues to a leg that leads somewhere else.
static void assign_orders(fm_world *world, struct fm_agent *agent)
{
    for (uint32_t turn = 0; turn < TURNS_MAX; turn++) {
        if (agent->order.id == 0 && !fm_agent_begin_queued(world, agent)) {
            fm_home_progress(world, agent);
            return;
        }
        uint64_t order = agent->order.id;
        fm_cell goal = agent->order.goal;
        assign(world, agent);
        if (agent->order.id == order && agent->order.goal == goal) {
            return;
        }
    }
}

// Whether the agent's order needs no more attention until something marks it again: see what
// fm_order_progress() and fm_unreachable_attend() do in each tick.
static bool is_quiet(const fm_world *world, const struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    if (order->id == 0) {
        return agent->queue_count == 0 && !fm_agent_is_away(agent);
    }
    if (order->is_alerted) {
        return true;
    }
    switch (order->kind) {
    case FM_ORDER_HOLD:
        return true;
    case FM_ORDER_MOVE:
        break;
    case FM_ORDER_PATROL:
        if (order->resting || world->tick < order->pause_end) {
            return false;
        }
        break;
    case FM_ORDER_STOP:
    case FM_ORDER_SCATTER:
    case FM_ORDER_FOLLOW:
    case FM_ORDER_GUARD:
    case FM_ORDER_EXPLORE:
    case FM_ORDER_FLEE:
    case FM_ORDER_KEEP_DISTANCE:
    case FM_ORDER_KIND_COUNT:
        return false;
    }
    bool is_asked = !agent->frozen && !order->resting; // in every choose stage
    return agent->planner != FM_SLOT_NONE && is_asked &&
           !fm_unreachable_wants_attention(agent, world->tick) &&
           order->substitute == FM_CELL_NONE && agent->state != FM_AGENT_BLOCKED &&
           !fm_order_marches(order) && !fm_order_is_too_long(order) && agent->cell != order->goal;
}

// Whether all that attending to the agent could do is ask whether its goal can still be reached,
// and it would be quiet after a yes. It is that of nearly all agents of large groups in fog, whose
// field is repaired every few ticks.
static bool only_asks(const struct fm_agent *agent)
{
    const struct fm_order *order = &agent->order;
    bool has_step = agent->plan_state == FM_PLAN_FOUND || agent->plan_state == FM_PLAN_PARTIAL;
    return agent->planner != FM_SLOT_NONE && order->id != 0 && order->kind == FM_ORDER_MOVE &&
           has_step && agent->cell != order->goal && order->goal != FM_CELL_NONE &&
           order->substitute == FM_CELL_NONE && agent->state != FM_AGENT_BLOCKED &&
           !agent->frozen && !order->resting && !order->is_alerted && !order->marches &&
           !order->is_too_long;
}

static void walk_on(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    uint64_t visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        uint64_t *attend = &world->agents.marks[i].of[FM_MARK_ATTEND], left = *attend;
        uint64_t ahead = i + 1 < end ? attend[FM_MARK_COUNT] : 0;
        for (uint64_t bits = *attend; bits != 0; bits &= bits - 1) {
            if (ahead != 0) {
                fm_agent_fetch(world, (i + 1) * 64 + (uint32_t)__builtin_ctzll(ahead));
                ahead &= ahead - 1;
            }
            struct fm_agent *agent = &world->agents.slots[i * 64 + (uint32_t)__builtin_ctzll(bits)];
            bool is_done = only_asks(agent) && fm_unreachable_walk_on(world, agent);
            left &= ~(is_done ? bits & -bits : 0);
            visits += is_done;
        }
        *attend = left;
    }
    fm_agents_note_visits(world, visits);
}

// On all workers, those whose labels are up to date; then all others, once theirs are.
static void walk_on_all(fm_world *world, fm_workers *workers)
{
    fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN, walk_on, world);
    if (fm_team_labels_serve(world)) {
        fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN, walk_on, world);
        fm_team_labels_serve(world); // what could not be brought up to date
    }
}

// What may happen to an order in any tick, whatever its agent does. When one ends, the next begins
// and moves in this tick.
static void watch(fm_world *world, uint32_t slot)
{
    struct fm_agent *agent = &world->agents.slots[slot];
    world->agents_visited += 1;
    if (!fm_order_is_watched(&agent->order)) {
        fm_agent_mark_clear(world, agent, FM_MARK_WATCH);
    } else if (fm_order_is_over(&agent->order, world->tick)) {
        fm_agent_end_order(world, agent, FM_END_DEADLINE);
    } else if (agent->order.alert != 0) {
        fm_alert_look(world, agent);
    }
}

static void attend(fm_world *world, uint32_t slot)
{
    struct fm_agent *agent = &world->agents.slots[slot];
    world->agents_visited += 1;
    fm_agent_mark_set(world, agent, FM_MARK_ATTENDED);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    assign_orders(world, agent);
    if (is_quiet(world, agent)) {
        fm_agent_mark_clear(world, agent, FM_MARK_ATTEND);
    }
}

// Calls a function for each agent with a mark, in slot order. Those of the next word are prefetched
// meanwhile.
static void for_all_marked(fm_world *world, fm_agent_mark mark,
                           void (*fn)(fm_world *world, uint32_t slot))
{
    uint32_t words = fm_mark_words(world);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t ahead = i + 1 < words ? world->agents.marks[i + 1].of[mark] : 0;
        for (uint64_t bits = world->agents.marks[i].of[mark]; bits != 0; bits &= bits - 1) {
            if (ahead != 0) {
                fm_agent_fetch(world, (i + 1) * 64 + (uint32_t)__builtin_ctzll(ahead));
                ahead &= ahead - 1;
            }
            fn(world, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

// Agents whose next leg was searched for get it, and their planners.
static void assign_found(fm_world *world)
{
    for (uint32_t i = 0; i < world->teams.count; i++) {
        fm_seekers *seekers = &world->teams.list[i].seekers;
        uint32_t count = seekers->count;
        for (uint32_t j = 0; j < count; j++) {
            fm_goal_search_take(world, &world->agents.slots[seekers->slots[j]]);
            attend(world, seekers->slots[j]);
        }
        // Orders whose turn has come just now look in the next tick.
        for (uint32_t j = count; j < seekers->count; j++) {
            struct fm_order *order = &world->agents.slots[seekers->slots[j]].order;
            FM_ASSERT(fm_order_searches(order));
            order->search.state = FM_GOAL_SEARCH_IDLE;
        }
        seekers->count = 0;
    }
}

// The first agents of a group got planners of their own before there were enough for a group. These
// have not searched yet in the tick in which the group sets out, so all switch to the shared one.
static void join_group(fm_world *world, uint32_t slot, uint64_t planners_made_before)
{
    struct fm_agent *agent = &world->agents.slots[slot];
    if (agent->planner != FM_SLOT_NONE &&
        world->planners.slots[agent->planner].serial > planners_made_before &&
        fm_planner_belongs_to_group(world, agent)) {
        fm_cell goal = world->planners.slots[agent->planner].goal;
        fm_planner_release(world, agent);
        take_planner(world, agent, goal);
    }
}

static void join_groups(fm_world *world, uint64_t planners_made_before)
{
    bool any_made = world->planners.made != planners_made_before;
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        uint64_t bits = world->agents.marks[i].of[FM_MARK_ATTENDED];
        world->agents.marks[i].of[FM_MARK_ATTENDED] = 0;
        for (; any_made && bits != 0; bits &= bits - 1) {
            join_group(world, i * 64 + (uint32_t)__builtin_ctzll(bits), planners_made_before);
        }
    }
}

uint64_t fm_orders_assign(fm_world *world, fm_workers *workers, uint64_t budget)
{
    uint64_t planners_made_before = world->planners.made;
    for_all_marked(world, FM_MARK_WATCH, watch);
    walk_on_all(world, workers);
    for_all_marked(world, FM_MARK_ATTEND, attend);
    uint64_t used = fm_goal_search_run(world, workers, budget);
    assign_found(world);
    join_groups(world, planners_made_before);
    return used;
}
