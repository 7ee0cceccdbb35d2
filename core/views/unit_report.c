// core/views/unit_report.c: see unit_report.h.

#include "core/views/unit_report.h"

#include "core/views/inspect.h"
#include "core/world/agent.h"
#include "core/world/names.h"
#include "core/world/team.h"
#include "core/world/watched_view.h"

#include <string.h>

// The name by which a team knows an agent: one of its own, or one that its watched view shows. All
// zero when it knows none.
static fm_agent_id name_for(const fm_world *world, uint32_t team, fm_agent_id id)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    if (agent == NULL) {
        return (fm_agent_id){0};
    }
    if (agent->team == team) {
        return fm_agent_own_name(agent);
    }
    const struct fm_view_delta *delta = fm_team_of(world, team)->delta;
    uint32_t slot = id.index1 - 1;
    if (delta == NULL || slot >= delta->sightings.of_slot_capacity) {
        return (fm_agent_id){0};
    }
    // The sighting of an agent that is not in view may be out of date.
    uint32_t index = delta->sightings.of_slot[slot];
    bool in_view = index < delta->sightings.count && delta->sightings.list[index].taken &&
                   delta->sightings.list[index].slot == slot;
    return in_view ? fm_sightings_name(&delta->sightings, slot) : (fm_agent_id){0};
}

static fm_cell goal_of(const struct fm_order *order)
{
    if (fm_order_marches(order)) {
        return order->move.own_goal;
    }
    if (order->goal == FM_CELL_NONE && order->kind == FM_ORDER_PATROL) {
        return order->route->cells[0]; // its turn has not come
    }
    bool leads_to_post = fm_order_follows(order) && order->kind != FM_ORDER_KEEP_DISTANCE;
    return order->goal == FM_CELL_NONE && leads_to_post ? order->follow.post : order->goal;
}

static void add_order(fm_unit_report *report, const struct fm_order *order, uint32_t ticks_left)
{
    report->orders[report->order_count++] = (fm_unit_order){.id = order->id,
                                                            .number = order->number,
                                                            .kind = order->kind,
                                                            .goal = goal_of(order),
                                                            .ticks_left = ticks_left};
}

static void add_orders(const fm_world *world, const struct fm_agent *agent, fm_unit_report *report)
{
    report->has_order = agent->order.id != 0;
    report->substitute = agent->order.substitute;
    if (report->has_order) {
        add_order(report, &agent->order, fm_order_ticks_left(&agent->order, fm_world_tick(world)));
    }
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        add_order(report, &agent->queue[i], agent->queue[i].deadline);
    }
    if (report->has_order && fm_order_follows(&agent->order)) {
        report->target_name = name_for(world, agent->team, agent->order.follow.target);
        report->target =
            report->target_name.index1 == 0 ? (fm_agent_id){0} : agent->order.follow.target;
    }
}

// Nothing is reported of an agent that the team cannot name.
static void add_reason(const fm_world *world, const struct fm_agent *agent, fm_unit_report *report)
{
    fm_explanation now;
    fm_status status = fm_world_explain_now(world, report->agent, &now);
    FM_ASSERT(status == FM_OK);
    report->why = now.why;
    report->blocked_at = now.blocked_at;
    report->waits_ticks = now.waits_ticks;
    if (now.why != FM_WHY_OCCUPIED) {
        return;
    }
    report->blocker_name = name_for(world, agent->team, now.blocker);
    if (report->blocker_name.index1 != 0) {
        report->blocker = now.blocker;
    } else {
        report->why = FM_WHY_MOVES;
        report->blocked_at = FM_CELL_NONE;
    }
}

static void add_passengers(const fm_world *world, const struct fm_agent *agent,
                           fm_unit_report *report)
{
    for (uint32_t next = agent->passengers; next != 0;) {
        const struct fm_agent *passenger = fm_agent_at(world, next - 1);
        report->passengers[report->passenger_count] = fm_agent_id_of(world, passenger);
        report->passenger_names[report->passenger_count] = fm_agent_own_name(passenger);
        report->passenger_count += 1;
        next = passenger->next_passenger;
    }
}

static void add_carrier(const fm_world *world, const struct fm_agent *carrier,
                        fm_unit_report *report)
{
    report->carrier = fm_agent_id_of(world, carrier);
    report->carrier_name = fm_agent_own_name(carrier);
    report->cell = carrier->cell;
    report->why = FM_WHY_CARRIED;
    report->blocked_at = FM_CELL_NONE;
}

fm_status fm_world_report_unit(const fm_world *world, fm_agent_id id, fm_unit_report *report,
                               fm_cell *cells, uint32_t capacity)
{
    const struct fm_agent *agent = fm_world_find_any(world, id);
    if (agent == NULL) {
        return FM_ERR_NO_AGENT;
    }
    *report = (fm_unit_report){
        .agent = id,
        .name = fm_agent_own_name(agent),
        .team = agent->team,
        .cell = agent->cell,
        .class_index = agent->class_index,
        .speed = agent->speed,
        .frozen = agent->frozen,
        .sight = agent->sight,
        .is_alerted = agent->order.is_alerted,
        .state = (fm_agent_state)agent->state,
    };
    add_orders(world, agent, report);
    add_passengers(world, agent, report);
    if (agent->carrier != 0) {
        add_carrier(world, fm_agent_at(world, agent->carrier - 1), report);
        return FM_OK;
    }
    add_reason(world, agent, report);
    uint32_t count = fm_world_agent_path(world, id, cells, capacity);
    if (count > 0 && cells[0] == agent->cell) {
        count -= 1;
        memmove(cells, cells + 1, count * sizeof *cells);
    }
    report->path_count = count;
    return FM_OK;
}
