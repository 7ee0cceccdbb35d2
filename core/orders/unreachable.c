// core/orders/unreachable.c: see unreachable.h.

#include "core/orders/unreachable.h"

#include "core/orders/order_kinds.h"
#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/team_labels.h"

// The labels' answer for an order; asked at most once per order and tick.
struct question {
    fm_labels *labels; // NULL: no answer now
    uint64_t change;   // wakes retries
    uint32_t label;    // of the agent's cell
    bool connected;
};

static struct question ask(fm_world *world, const struct fm_agent *agent)
{
    struct question q = {.labels =
                             fm_team_labels_for_orders(world, agent->team, agent->class_index)};
    if (q.labels != NULL) {
        q.change = fm_labels_graph_version(q.labels);
        q.label = fm_labels_of(q.labels, agent->cell);
        q.connected =
            q.label != FM_LABEL_NONE && q.label == fm_labels_of(q.labels, agent->order.goal);
    }
    return q;
}

static void aim(fm_world *world, struct fm_agent *agent, fm_cell substitute)
{
    fm_planner_release(world, agent);
    if (agent->order.substitute != substitute) {
        agent->nearest = agent->hindered = 0;
    }
    agent->order.substitute = substitute;
    agent->plan_state = FM_PLAN_RUNNING;
}

static void rest(const fm_world *world, struct fm_agent *agent, const struct question *q)
{
    fm_retry_refuse(&agent->order.retry, fm_world_tick(world), q->change);
}

// The path to the goal is open again, or was open all along.
static bool walk(fm_world *world, struct fm_agent *agent)
{
    aim(world, agent, FM_CELL_NONE);
    agent->order.retry = (fm_retry){0};
    fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    return true;
}

// Waits without a planner for the labels to have time or memory again.
static bool hold(fm_world *world, struct fm_agent *agent, const struct question *q)
{
    aim(world, agent, agent->order.substitute);
    rest(world, agent, q);
    if (agent->state == FM_AGENT_MOVING) {
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
    return false;
}

// ---- nearest ------------------------------------------------------------------------------------

static bool is_nearer(const fm_world *world, const struct fm_agent *agent, fm_cell cell,
                      fm_cell than)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    const fm_view *view = fm_knowledge_view(knowledge, agent->class_index);
    return fm_view_distance(view, cell, agent->order.goal) <
           fm_view_distance(view, than, agent->order.goal);
}

// Goes, or continues, to the reachable cell nearest to the goal. A substitute that can still be
// reached is kept unless there is a strictly nearer one, so that no agent wavers between equals.
static bool go_to_nearest(fm_world *world, struct fm_agent *agent, const struct question *q)
{
    fm_cell substitute = agent->order.substitute;
    fm_cell cell = q->label == FM_LABEL_NONE ? agent->cell // walled in
                                             : fm_team_labels_nearest(world, agent->team, q->labels,
                                                                      agent->order.goal, q->label);
    if (cell == FM_CELL_NONE) {
        return hold(world, agent, q);
    }
    if (cell == agent->cell ||
        (agent->cell == substitute && !is_nearer(world, agent, cell, substitute))) {
        fm_order_leg_over(world, agent, FM_END_NEAREST);
        return false;
    }
    bool keeps = substitute != FM_CELL_NONE && substitute != agent->cell &&
                 fm_labels_of(q->labels, substitute) == q->label &&
                 !is_nearer(world, agent, cell, substitute);
    if (!keeps) {
        aim(world, agent, cell);
    }
    rest(world, agent, q);
    return true;
}

// ---- the states ---------------------------------------------------------------------------------

static bool face_unreachable(fm_world *world, struct fm_agent *agent, const struct question *q)
{
    switch ((fm_on_unreachable)agent->order.on_unreachable) {
    case FM_UNREACHABLE_FAIL:
        fm_order_leg_over(world, agent, FM_END_UNREACHABLE);
        return false;
    case FM_UNREACHABLE_WAIT:
        aim(world, agent, FM_CELL_NONE);
        agent->plan_state = FM_PLAN_UNREACHABLE;
        rest(world, agent, q);
        fm_agent_set_state(world, agent, FM_AGENT_BLOCKED);
        return false;
    case FM_UNREACHABLE_NEAREST:
        return go_to_nearest(world, agent, q);
    }
    FM_UNREACHABLE();
}

static bool attend_walk(fm_world *world, struct fm_agent *agent)
{
    fm_retry *retry = &agent->order.retry;
    bool has_planner = agent->planner != FM_SLOT_NONE;
    if (has_planner && agent->plan_state == FM_PLAN_FOUND) {
        *retry = (fm_retry){0};
        return true;
    }
    bool proven = has_planner && agent->plan_state == FM_PLAN_UNREACHABLE;
    if (has_planner && !proven && !fm_retry_is_due(retry, fm_world_tick(world))) {
        return true;
    }
    struct question q = ask(world, agent);
    if (q.labels == NULL || q.connected) {
        rest(world, agent, &q);
        return true;
    }
    return face_unreachable(world, agent, &q);
}

bool fm_unreachable_walk_on(fm_world *world, struct fm_agent *agent)
{
    fm_retry *retry = &agent->order.retry;
    if (agent->plan_state == FM_PLAN_FOUND) {
        *retry = (fm_retry){0};
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
        return true;
    }
    if (!fm_retry_is_due(retry, fm_world_tick(world))) {
        return true;
    }
    const fm_labels *labels =
        fm_team_labels_known(fm_team_of(world, agent->team), agent->class_index);
    if (labels == NULL) {
        fm_team_labels_want(world, agent->team, agent->class_index);
        return false;
    }
    if (!fm_labels_connect(labels, agent->cell, agent->order.goal)) {
        return false;
    }
    fm_retry_refuse(retry, fm_world_tick(world), fm_labels_graph_version(labels));
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    return true;
}

static bool attend_blocked(fm_world *world, struct fm_agent *agent)
{
    struct question q = ask(world, agent);
    fm_retry *retry = &agent->order.retry;
    if (q.labels != NULL && q.connected) {
        return walk(world, agent);
    }
    if (fm_retry_is_woken(retry, q.change) || fm_retry_is_due(retry, fm_world_tick(world))) {
        rest(world, agent, &q);
    }
    return false;
}

static bool attend_detour(fm_world *world, struct fm_agent *agent)
{
    struct question q = ask(world, agent);
    fm_retry *retry = &agent->order.retry;
    bool arrived = agent->cell == agent->order.substitute;
    bool proven = agent->planner != FM_SLOT_NONE && agent->plan_state == FM_PLAN_UNREACHABLE;
    if (q.labels == NULL) {
        return arrived || proven ? hold(world, agent, &q) : true;
    }
    if (q.connected) {
        return walk(world, agent);
    }
    if (arrived || proven || fm_retry_is_woken(retry, q.change) ||
        fm_retry_is_due(retry, fm_world_tick(world))) {
        return go_to_nearest(world, agent, &q);
    }
    return true;
}

bool fm_unreachable_attend(fm_world *world, struct fm_agent *agent)
{
    // One that waits for its path to be short enough (detour.h) keeps its planner, which measures
    // it.
    bool has_way = agent->planner != FM_SLOT_NONE && fm_order_is_too_long(&agent->order);
    if (agent->state == FM_AGENT_BLOCKED && !has_way) {
        return attend_blocked(world, agent);
    }
    return agent->order.substitute == FM_CELL_NONE ? attend_walk(world, agent)
                                                   : attend_detour(world, agent);
}
