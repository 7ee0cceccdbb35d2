// core/views/explain.c: see explain.h.

#include "core/views/explain.h"

#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

// ---- why ---------------------------------------------------------------------------------------

static const struct fm_planner *planner_of(const fm_world *world, const struct fm_agent *agent)
{
    return agent->planner == FM_SLOT_NONE ? NULL : &fm_world_planners(world)->slots[agent->planner];
}

// The step that its search wants an agent to make, if the agent has not moved since.
static fm_cell wanted_step(const struct fm_planner *planner, const struct fm_agent *agent)
{
    return planner->spec.ops->next_step(planner->self, agent->cell);
}

// Another unit on one of the cells that the agent would cover on a cell, where a cell holds one
// unit.
static const struct fm_agent *holder_of(const fm_world *world, const struct fm_agent *agent,
                                        fm_cell cell)
{
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    if (occupancy == NULL || cell == FM_CELL_NONE || cell == agent->cell) {
        return NULL;
    }
    uint32_t size = fm_world_class_size(world, agent->class_index);
    for (uint32_t i = 0; i < size * size; i++) {
        fm_cell part = cell + fm_cell_at(i % size, i / size);
        uint32_t unit = fm_world_contains(world, part) ? fm_occupancy_at(occupancy, part)->now : 0;
        if (unit != 0 && fm_agent_at(world, unit - 1) != agent) {
            return fm_agent_at(world, unit - 1);
        }
    }
    return NULL;
}

static void find_reason(const fm_world *world, const struct fm_agent *agent,
                        fm_explanation *explanation)
{
    const struct fm_planner *planner = planner_of(world, agent);
    const struct fm_order *order = &agent->order;
    explanation->blocked_at = FM_CELL_NONE;
    if (order->id == 0) {
        explanation->why = FM_WHY_NO_ORDER;
        return;
    }
    if (agent->frozen) {
        explanation->why = FM_WHY_FROZEN;
        return;
    }
    if (order->is_alerted) {
        explanation->why = FM_WHY_ALERTED;
        return;
    }
    if (agent->state == FM_AGENT_BLOCKED) {
        explanation->why = FM_WHY_UNREACHABLE;
        explanation->blocked_at = order->goal;
        return;
    }
    if (order->resting || order->goal == FM_CELL_NONE) {
        explanation->why = FM_WHY_RESTS;
        return;
    }
    bool has_answer = planner != NULL &&
                      (agent->plan_state == FM_PLAN_FOUND || agent->plan_state == FM_PLAN_PARTIAL);
    if (!has_answer) {
        explanation->why = planner != NULL && planner->state == FM_PLAN_EXHAUSTED ? FM_WHY_NO_MEMORY
                                                                                  : FM_WHY_SEARCHES;
        return;
    }
    explanation->why = order->substitute != FM_CELL_NONE ? FM_WHY_SUBSTITUTE : FM_WHY_MOVES;
    if (explanation->waits_ticks == 0) {
        return;
    }
    fm_cell step = wanted_step(planner, agent);
    const struct fm_agent *blocker = holder_of(world, agent, step);
    if (blocker != NULL) {
        explanation->why = FM_WHY_OCCUPIED;
        explanation->blocker = fm_agent_id_of(world, blocker);
        explanation->blocked_at = step;
    } else if (!agent->is_ready) {
        explanation->why = FM_WHY_SLOW;
    }
}

static void collect(const fm_world *world, const struct fm_agent *agent,
                    fm_explanation *explanation)
{
    const struct fm_planner *planner = planner_of(world, agent);
    uint64_t id = fm_agent_id_pack(explanation->agent);
    const fm_history *history = fm_world_history(world);
    const fm_history_entry *entry;
    for (uint64_t age = 0; (entry = fm_history_at(history, age)) != NULL; age++) {
        if (entry->kind == FM_HISTORY_REPLAN) {
            if (planner != NULL && entry->subject == planner->serial &&
                explanation->replan_count < FM_EXPLAINED_REPLANS_MAX) {
                explanation->replans[explanation->replan_count++] = *entry;
            }
        } else if (entry->kind != FM_HISTORY_EDIT && entry->subject == id &&
                   explanation->order_count < FM_EXPLAINED_ORDERS_MAX) {
            explanation->orders[explanation->order_count++] = *entry;
        }
    }
}

static uint64_t waits_of(const fm_world *world, const struct fm_agent *agent)
{
    uint64_t since = agent->stepped_tick;
    if (agent->order.id != 0 && agent->order.given_tick > since) {
        since = agent->order.given_tick;
    }
    return agent->order.id == 0 ? 0 : fm_world_tick(world) - since;
}

static void note_escort(const fm_world *world, fm_explanation *explanation)
{
    if (fm_world_escort_of(world, explanation->agent, &explanation->escort)) {
        bool is_own = explanation->escort.agent.index1 == explanation->agent.index1;
        explanation->help = is_own ? FM_HELP_ESCORT : FM_HELP_STANDS;
    }
}

static bool is_in_chain(const fm_explanation *explanation, fm_agent_id id)
{
    for (uint32_t i = 0; i < explanation->chain_count; i++) {
        if (explanation->chain[i].index1 == id.index1) {
            return true;
        }
    }
    return id.index1 == explanation->agent.index1;
}

static void follow_chain(const fm_world *world, fm_explanation *explanation)
{
    fm_agent_id next = explanation->blocker;
    while (next.index1 != 0 && explanation->chain_count < FM_EXPLAINED_CHAIN_MAX) {
        const struct fm_agent *agent = fm_world_find(world, next);
        bool is_circle = is_in_chain(explanation, next);
        explanation->chain[explanation->chain_count] = next;
        explanation->chain_cells[explanation->chain_count++] = agent->cell;
        fm_explanation link = {.waits_ticks = waits_of(world, agent)};
        find_reason(world, agent, &link);
        next = is_circle ? (fm_agent_id){0} : link.blocker;
    }
}

fm_status fm_world_explain_now(const fm_world *world, fm_agent_id id, fm_explanation *explanation)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL) {
        return fm_world_find_any(world, id) != NULL ? FM_ERR_CARRIED : FM_ERR_NO_AGENT;
    }
    *explanation = (fm_explanation){.agent = id, .state = (fm_agent_state)agent->state};
    explanation->waits_ticks = waits_of(world, agent);
    explanation->is_stuck = agent->jammed;
    explanation->kept_ticks = agent->hindered / 2u;
    explanation->help = (fm_agent_help)agent->help;
    find_reason(world, agent, explanation);
    return FM_OK;
}

fm_status fm_world_explain(const fm_world *world, fm_agent_id id, fm_explanation *explanation)
{
    fm_status status = fm_world_explain_now(world, id, explanation);
    if (status == FM_OK) {
        follow_chain(world, explanation);
        note_escort(world, explanation);
        collect(world, fm_world_find(world, id), explanation);
    }
    return status;
}

// ---- top ---------------------------------------------------------------------------------------

// Keeps the rows sorted, the most expensive first; the last one is dropped.
static uint32_t insert(fm_top_row *rows, uint32_t count, uint32_t capacity, const fm_top_row *row)
{
    if (capacity == 0 || (count == capacity && rows[count - 1].cost >= row->cost)) {
        return count;
    }
    uint32_t place = count < capacity ? count++ : count - 1;
    while (place > 0 && rows[place - 1].cost < row->cost) {
        rows[place] = rows[place - 1];
        place--;
    }
    rows[place] = *row;
    return count;
}

static fm_top_row row_of_planner(const fm_world *world, const struct fm_planner *planner)
{
    fm_top_row row = {
        .cost = fm_planner_recent(planner, fm_world_tick(world)),
        .total = planner->expansions,
        .team = planner->team,
        .users = planner->users,
        .cell = planner->goal,
    };
    return row;
}

// Fills in what is costly to find out, for the rows that stay.
static void fill_in(const struct fm_planner *planner, fm_top_row *row)
{
    row->bytes = planner->spec.ops->bytes(planner->self);
    fm_planner_spec_format(&planner->spec, row->planner, sizeof row->planner);
    row->runs = fm_planner_runs(planner);
}

static uint32_t top_planners(const fm_world *world, fm_top_row *rows, uint32_t capacity)
{
    const struct fm_world_planners *planners = fm_world_planners(world);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < planners->slot_count; slot++) {
        if (planners->slots[slot].in_use) {
            fm_top_row row = row_of_planner(world, &planners->slots[slot]);
            row.tick = slot;
            count = insert(rows, count, capacity, &row);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)rows[i].tick;
        rows[i].tick = 0;
        fill_in(&planners->slots[slot], &rows[i]);
        rows[i].agent =
            fm_agent_id_of(world, fm_agent_at(world, planners->slots[slot].first_agent));
    }
    return count;
}

// Whether one of the rows is of that search; `tick` holds the slot.
static bool is_listed(const fm_top_row *rows, uint32_t count, uint32_t slot)
{
    uint32_t i = 0;
    while (i < count && rows[i].tick != slot) {
        i++;
    }
    return i < count;
}

// An agent's cost is its part of its search's. Agents that share one search would fill the list
// with the same row: the first of them stands for all.
static uint32_t top_agents(const fm_world *world, fm_top_row *rows, uint32_t capacity)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        const struct fm_planner *planner = agent->alive ? planner_of(world, agent) : NULL;
        if (planner != NULL) {
            fm_top_row row = row_of_planner(world, planner);
            row.cost /= planner->users;
            row.agent = fm_agent_id_of(world, agent);
            row.tick = agent->planner;
            if (planner->users == 1 || !is_listed(rows, count, agent->planner)) {
                count = insert(rows, count, capacity, &row);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        rows[i].tick = 0;
        fill_in(planner_of(world, fm_world_find(world, rows[i].agent)), &rows[i]);
    }
    return count;
}

// What the searches of a team cost and hold.
struct team_sum {
    uint64_t cost;
    size_t bytes;
};

static void add_searches(const fm_world *world, struct team_sum *sums)
{
    const struct fm_world_planners *planners = fm_world_planners(world);
    for (uint32_t slot = 0; slot < planners->slot_count; slot++) {
        const struct fm_planner *planner = &planners->slots[slot];
        if (planner->in_use) {
            sums[planner->team - 1].cost += fm_planner_recent(planner, fm_world_tick(world));
            sums[planner->team - 1].bytes += planner->spec.ops->bytes(planner->self);
        }
    }
}

static uint32_t top_teams(const fm_world *world, fm_top_row *rows, uint32_t capacity)
{
    const fm_memory *memory = fm_world_memory(world);
    uint32_t count = 0, team_count = fm_world_team_count(world);
    struct team_sum *sums = fm_memory_allocate_zeroed(memory, team_count, sizeof *sums);
    if (sums == NULL) {
        return 0;
    }
    add_searches(world, sums);
    for (uint32_t team = 1; team <= team_count; team++) {
        const struct fm_team *entry = fm_team_of(world, team);
        fm_top_row row = {
            .cost = sums[team - 1].cost,
            .total = entry->account.used_total,
            .team = team,
            .users = entry->account.agents,
            .bytes = sums[team - 1].bytes + fm_knowledge_bytes(entry->knowledge),
            .cell = FM_CELL_NONE,
        };
        count = insert(rows, count, capacity, &row);
    }
    fm_memory_release(memory, sums, team_count * sizeof *sums);
    return count;
}

static uint32_t top_edits(const fm_world *world, fm_top_row *rows, uint32_t capacity)
{
    uint32_t count = 0;
    const fm_history *history = fm_world_history(world);
    const fm_history_entry *entry;
    for (uint64_t age = 0; (entry = fm_history_at(history, age)) != NULL; age++) {
        if (entry->kind == FM_HISTORY_EDIT) {
            fm_top_row row = {
                .cost = entry->expansions,
                .total = entry->expansions,
                .users = entry->count,
                .tick = entry->tick,
                .cell = entry->cell,
            };
            count = insert(rows, count, capacity, &row);
        }
    }
    return count;
}

uint32_t fm_world_top(const fm_world *world, fm_top top, fm_top_row *rows, uint32_t capacity)
{
    FM_ASSERT(capacity <= FM_TOP_MAX);
    switch (top) {
    case FM_TOP_AGENTS:
        return top_agents(world, rows, capacity);
    case FM_TOP_PLANNERS:
        return top_planners(world, rows, capacity);
    case FM_TOP_TEAMS:
        return top_teams(world, rows, capacity);
    case FM_TOP_EDITS:
        return top_edits(world, rows, capacity);
    }
    FM_UNREACHABLE();
}
