// core/views/inspect.c: see inspect.h.

#include "core/views/inspect.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/view_surveys.h"
#include "core/world/world_parts.h"

#include <string.h>

static void count_cell(const fm_inspection *cell, void *context)
{
    fm_agent_report *report = context;
    report->open_count += cell->open;
    report->closed_count += cell->closed;
}

// The planner that leads the agent now: to its goal, or to the substitute.
static const struct fm_planner *leading_planner(const fm_world *world, const struct fm_agent *agent)
{
    return agent->planner == FM_SLOT_NONE ? NULL : &fm_world_planners(world)->slots[agent->planner];
}

fm_status fm_world_describe(const fm_world *world, fm_agent_id id, fm_agent_report *report)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL) {
        return fm_world_find_any(world, id) != NULL ? FM_ERR_CARRIED : FM_ERR_NO_AGENT;
    }
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    *report = (fm_agent_report){
        .id = id,
        .team = agent->team,
        .cell = agent->cell,
        .class_index = agent->class_index,
        .state = (fm_agent_state)agent->state,
        .has_order = agent->order.id != 0,
        .order = agent->order.id,
        .order_kind = agent->order.kind,
        .target = fm_order_follows(&agent->order) ? agent->order.follow.target : (fm_agent_id){0},
        .queue_count = agent->queue_count,
        .goal = agent->order.id == 0              ? FM_CELL_NONE
                : fm_order_marches(&agent->order) ? agent->order.move.own_goal
                                                  : agent->order.goal,
        .goal_substitute = agent->order.substitute,
        .on_unreachable = agent->order.on_unreachable,
        .plan_state = (fm_plan_state)agent->plan_state,
        .knowledge_bytes = fm_knowledge_bytes(knowledge),
        .known_count = knowledge->known_count,
        .moves = agent->moves,
    };
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        report->queue_orders[i] = agent->queue[i].id;
        report->queue_kinds[i] = agent->queue[i].kind;
    }
    fm_planner_spec_format(&agent->spec, report->planner, sizeof report->planner);
    report->planner_runs = "";
    const struct fm_planner *planner = leading_planner(world, agent);
    if (planner != NULL) {
        report->planner_runs = fm_planner_runs(planner);
        report->planner_agents = planner->users;
        report->planner_expansions = planner->expansions;
        report->planner_recent = fm_planner_recent(planner, fm_world_tick(world));
        report->replans = planner->replans;
    }
    return FM_OK;
}

fm_status fm_world_inspect(const fm_world *world, fm_agent_id id, fm_agent_report *report)
{
    fm_status status = fm_world_describe(world, id, report);
    if (status != FM_OK) {
        return status;
    }
    const struct fm_planner *planner = leading_planner(world, fm_world_find(world, id));
    if (planner != NULL) {
        report->planner_bytes = planner->spec.ops->bytes(planner->self);
        planner->spec.ops->inspect(planner->self, count_cell, report);
    }
    return FM_OK;
}

fm_status fm_world_inspect_search(const fm_world *world, fm_agent_id id, fm_inspect_fn *visit,
                                  void *context)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL) {
        return FM_ERR_NO_AGENT;
    }
    const struct fm_planner *planner = leading_planner(world, agent);
    if (planner == NULL) {
        return FM_ERR_NOT_READY;
    }
    planner->spec.ops->inspect(planner->self, visit, context);
    return FM_OK;
}

// Most searches learn of a step when they are asked for the next one: between ticks their path
// still begins at the cell before.
static uint32_t path_from_before(const fm_world *world, const struct fm_agent *agent,
                                 fm_cell *cells, uint32_t capacity)
{
    if (agent->heading >= FM_DIRECTION_COUNT || capacity < 2) {
        return 0;
    }
    fm_cell before = fm_cell_step(agent->cell, (agent->heading + 4u) % FM_DIRECTION_COUNT);
    if (!fm_world_contains(world, before)) {
        return 0; // it was placed elsewhere since
    }
    const struct fm_planner *planner = leading_planner(world, agent);
    uint32_t length = planner->spec.ops->path(planner->self, before, cells, capacity);
    if (length < 2 || cells[1] != agent->cell) {
        return 0;
    }
    uint32_t count = (length < capacity ? length : capacity) - 1;
    memmove(cells, cells + 1, count * sizeof *cells);
    return count;
}

uint32_t fm_world_agent_path(const fm_world *world, fm_agent_id id, fm_cell *cells,
                             uint32_t capacity)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    const struct fm_planner *planner = agent == NULL ? NULL : leading_planner(world, agent);
    if (planner == NULL) {
        return 0;
    }
    uint32_t length = planner->spec.ops->path(planner->self, agent->cell, cells, capacity);
    if (length == 0) {
        return path_from_before(world, agent, cells, capacity);
    }
    return length < capacity ? length : capacity;
}

void fm_world_counts_get(const fm_world *world, fm_world_counts *counts)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    const struct fm_world_planners *planners = fm_world_planners(world);
    const fm_grid *grid = fm_world_grid(world);
    *counts = *fm_world_counted(world);
    counts->tick = fm_world_tick(world);
    counts->teams = fm_world_team_count(world);
    counts->agents = agents->count;
    counts->planners = planners->count;
    counts->orders_given = fm_world_orders(world)->given;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        if (agents->slots[slot].alive || agents->slots[slot].carrier != 0) {
            counts->agents_by_state[agents->slots[slot].state] += 1;
        }
        counts->agent_bytes += agents->slots[slot].queue_capacity * sizeof(struct fm_order);
    }
    counts->agent_bytes += fm_agents_bytes(world);
    for (uint32_t slot = 0; slot < planners->slot_count; slot++) {
        const struct fm_planner *planner = &planners->slots[slot];
        if (planner->in_use) {
            uint64_t bytes = planner->spec.ops->bytes(planner->self);
            counts->search_bytes += bytes;
            counts->search_bytes_by_kind[planner->kind] += bytes;
            counts->planners_by_kind[planner->kind] += 1;
        }
    }
    for (uint32_t id = 1; id <= counts->teams; id++) {
        const struct fm_team *team = fm_team_of(world, id);
        counts->known_cells += team->knowledge->known_count;
        counts->knowledge_bytes +=
            fm_knowledge_bytes(team->knowledge) + fm_team_labels_bytes(&team->labels);
    }
    counts->knowledge_bytes += fm_view_surveys_bytes(world);
    counts->map_cells = (uint64_t)grid->width * grid->height;
}

uint32_t fm_world_team_counts(const fm_world *world, fm_team_counts *counts, uint32_t capacity)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t team_count = fm_world_team_count(world);
    uint32_t count = team_count < capacity ? team_count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        const fm_account *account = &fm_team_of(world, i + 1)->account;
        counts[i] = (fm_team_counts){.team = i + 1,
                                     .weight = account->weight,
                                     .share = account->share,
                                     .saved = account->saved,
                                     .used = account->used,
                                     .used_total = account->used_total};
    }
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        if ((agent->alive || agent->carrier != 0) && agent->team <= count) {
            counts[agent->team - 1].agents += 1;
            counts[agent->team - 1].waiting += agent->state == FM_AGENT_WAITING;
        }
    }
    return team_count;
}
