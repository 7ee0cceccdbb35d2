// core/orders/order_end.c: see order_end.h.

#include "core/orders/order_end.h"

#include "core/world/names.h"
#include "core/world/planner_table.h"
#include "core/world/world_state.h"

#include <string.h>

void fm_order_note(fm_world *world, const struct fm_agent *agent, const struct fm_order *order,
                   fm_history_kind kind, uint8_t detail)
{
    fm_history_entry entry = {.tick = fm_world_tick(world),
                              .subject = fm_agent_id_pack(fm_agent_id_of(world, agent)),
                              .order = order->id,
                              .cell = agent->cell,
                              .kind = (uint8_t)kind,
                              .detail = detail};
    fm_world_note(world, &entry);
}

void fm_route_release(fm_world *world, struct fm_route **route)
{
    if (*route != NULL && --(*route)->users == 0) {
        size_t size = sizeof **route + (*route)->count * sizeof(fm_cell);
        fm_memory_release(fm_world_memory(world), *route, size);
    }
    *route = NULL;
}

// Notes the end of an order, under way or queued.
static void end(fm_world *world, const struct fm_agent *agent, struct fm_order *order,
                fm_order_end reason)
{
    fm_order_ended ended = {.order = order->id,
                            .number = order->number,
                            .agent = fm_agent_id_of(world, agent),
                            .name = fm_agent_own_name(agent),
                            .team = agent->team,
                            .reason = reason,
                            .cell = agent->cell};
    fm_interval_note_ended(world, &ended);
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    FM_ASSERT(orders->live > 0);
    orders->live -= 1;
    fm_world_edit_counts(world)->orders_ended[reason] += 1;
    fm_world_mix_digest(world, ended.order << 4 | (uint64_t)reason);
    fm_order_note(world, agent, order, FM_HISTORY_ENDED, (uint8_t)reason);
    fm_route_release(world, &order->route);
    *order = (struct fm_order){.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE};
}

// How the agent behaves among others from now on; see core/crowd/crowd.h.
static void settle(struct fm_agent *agent, fm_order_end reason)
{
    const struct fm_order *order = &agent->order;
    agent->settled =
        reason == FM_END_ARRIVED || reason == FM_END_NEAREST || reason == FM_END_CROWDED;
    agent->settled_aim = fm_order_aim(order);
    agent->stalled_ticks = 0;
    agent->asking_since = reason == FM_END_REPLACED ? agent->asking_since : 0;
}

void fm_agent_end_order(fm_world *world, struct fm_agent *agent, fm_order_end reason)
{
    if (agent->order.id == 0) {
        return;
    }
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_UNDER_WAY); // its speed may be another
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    settle(agent, reason);
    end(world, agent, &agent->order, reason);
    agent->next = FM_CELL_NONE;
    fm_planner_release(world, agent);
    fm_agent_set_state(world, agent, agent->queue_count == 0 ? FM_AGENT_IDLE : FM_AGENT_WAITING);
}

void fm_agent_end_all_orders(fm_world *world, struct fm_agent *agent, fm_order_end reason)
{
    fm_agent_end_order(world, agent, reason);
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        end(world, agent, &agent->queue[i], reason);
    }
    if (agent->queue_count > 0) {
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    }
    agent->queue_count = 0;
    fm_agent_set_state(world, agent, FM_AGENT_IDLE);
}

void fm_agent_end_queued(fm_world *world, struct fm_agent *agent, uint32_t at, fm_order_end reason)
{
    FM_ASSERT(at < agent->queue_count);
    end(world, agent, &agent->queue[at], reason);
    agent->queue_count -= 1;
    memmove(agent->queue + at, agent->queue + at + 1,
            (agent->queue_count - at) * sizeof *agent->queue);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    if (agent->order.id == 0 && agent->queue_count == 0) {
        fm_agent_set_state(world, agent, FM_AGENT_IDLE);
    }
}

void fm_agent_release_queue(fm_world *world, struct fm_agent *agent)
{
    fm_route_release(world, &agent->order.route);
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        fm_route_release(world, &agent->queue[i].route);
    }
    fm_memory_release(fm_world_memory(world), agent->queue,
                      agent->queue_capacity * sizeof *agent->queue);
    agent->queue = NULL;
    agent->queue_count = agent->queue_capacity = 0;
}
