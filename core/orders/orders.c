// core/orders/orders.c: see orders.h.

#include "core/orders/orders.h"

#include "core/base/random.h"
#include "core/orders/homecoming.h"
#include "core/orders/order_end.h"
#include "core/orders/order_kinds.h"
#include "core/world/agent_marks.h"

#include <string.h>

// How the agent behaves among others from now on; see core/crowd/crowd.h.
static void set_out(fm_world *world, struct fm_agent *agent)
{
    fm_home_forget(world, agent);
    agent->settled = false;
    agent->nearest = agent->hindered = 0;
    agent->stalled_ticks = 0;
    agent->asking_since = agent->asking_since == 0 ? fm_world_tick(world) + 1 : agent->asking_since;
}

static void begin(fm_world *world, struct fm_agent *agent, struct fm_order order)
{
    agent->order = order;
    agent->order.given_tick = fm_world_tick(world);
    agent->order.home = agent->cell;
    fm_order_note(world, agent, &order, FM_HISTORY_BEGUN, (uint8_t)order.kind);
    agent->plan_state = FM_PLAN_RUNNING;
    set_out(world, agent);
    fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_UNDER_WAY); // its speed may be another
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    if (fm_order_is_watched(&order)) {
        fm_agent_mark_set(world, agent, FM_MARK_WATCH);
    }
    fm_order_begin_legs(world, agent);
}

bool fm_agent_begin_queued(fm_world *world, struct fm_agent *agent)
{
    if (agent->queue_count == 0) {
        return false;
    }
    struct fm_order order = agent->queue[0];
    agent->queue_count -= 1;
    memmove(agent->queue, agent->queue + 1, agent->queue_count * sizeof *agent->queue);
    begin(world, agent, order);
    return true;
}

void fm_agent_give_order(fm_world *world, struct fm_agent *agent, struct fm_order order)
{
    fm_agent_end_all_orders(world, agent, FM_END_REPLACED);
    fm_order_note(world, agent, &order, FM_HISTORY_GIVEN, (uint8_t)order.kind);
    begin(world, agent, order);
}

void fm_agent_queue_order(fm_world *world, struct fm_agent *agent, struct fm_order order,
                          uint32_t at)
{
    fm_order_note(world, agent, &order, FM_HISTORY_GIVEN, (uint8_t)order.kind);
    if (agent->order.id == 0 && agent->queue_count == 0) {
        begin(world, agent, order);
        return;
    }
    FM_ASSERT(agent->queue_count < agent->queue_capacity);
    at = at < agent->queue_count ? at : agent->queue_count;
    memmove(agent->queue + at + 1, agent->queue + at,
            (agent->queue_count - at) * sizeof *agent->queue);
    agent->queue[at] = order;
    agent->queue_count += 1;
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
}

void fm_agent_replace_order(fm_world *world, struct fm_agent *agent, struct fm_order order,
                            uint32_t at)
{
    if (at == FM_TURN_NOW) {
        fm_agent_end_order(world, agent, FM_END_REPLACED);
        fm_order_note(world, agent, &order, FM_HISTORY_GIVEN, (uint8_t)order.kind);
        begin(world, agent, order);
    } else {
        fm_agent_end_queued(world, agent, at, FM_END_REPLACED);
        fm_agent_queue_order(world, agent, order, at);
    }
}

bool fm_agent_find_order(const struct fm_agent *agent, uint64_t id, uint32_t *at)
{
    if (id != 0 && agent->order.id == id) {
        *at = FM_TURN_NOW;
        return true;
    }
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        if (agent->queue[i].id == id) {
            *at = i;
            return true;
        }
    }
    return false;
}

// ---- digest -------------------------------------------------------------------------------------

uint64_t fm_agent_mix_orders(const struct fm_agent *agent, uint64_t digest)
{
    const struct fm_order *order = &agent->order;
    if (order->id != 0) {
        digest = fm_digest_mix(digest, (uint64_t)order->goal << 32 | (uint64_t)order->kind << 1 |
                                           (uint64_t)order->resting);
        digest = fm_digest_mix(digest, order->pause_end);
    }
    if (order->deadline != 0) {
        digest = fm_digest_mix(digest, order->given_tick + order->deadline);
    }
    if (order->alert != 0) {
        digest = fm_digest_mix(digest, (uint64_t)order->alert << 1 | order->is_alerted);
        digest = fm_digest_mix(digest, order->alert_from);
    }
    if (order->kind == FM_ORDER_MOVE) {
        digest = fm_digest_mix(digest, (uint64_t)order->move.own_goal << 32 | order->speed << 1 |
                                           order->marches);
    }
    if (fm_order_follows(order)) {
        digest =
            fm_digest_mix(digest, (uint64_t)order->follow.post << 32 | order->follow.target.index1);
        digest = order->follow.once ? fm_digest_mix(digest, 1) : digest;
        digest = order->follow.has_target ? fm_digest_mix(digest, 2) : digest;
    }
    if (fm_order_max_detour(order) != 0) {
        digest = fm_digest_mix(digest, (uint64_t)order->move.first_steps << 1 | order->is_too_long);
    }
    if (order->route != NULL) {
        bool patrols = order->kind == FM_ORDER_PATROL;
        uint32_t waypoint = patrols ? order->patrol.waypoint << 1 | order->patrol.backwards : 0;
        digest = fm_digest_mix(digest, (uint64_t)order->home << 32 | waypoint);
    }
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        digest = fm_digest_mix(digest, agent->queue[i].id);
    }
    return digest;
}
