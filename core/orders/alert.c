// core/orders/alert.c: see alert.h.

#include "core/orders/alert.h"

#include "core/world/agent_marks.h"
#include "core/world/enemy_near.h"
#include "core/world/interval.h"
#include "core/world/names.h"
#include "core/world/unit_index.h"

// Out of memory for the alert: it stops in a later tick.
void fm_alert_look(fm_world *world, struct fm_agent *agent)
{
    struct fm_order *order = &agent->order;
    if (order->is_alerted || fm_world_tick(world) < order->alert_from) {
        return;
    }
    fm_unit_index_refresh(world);
    const struct fm_agent *enemy = fm_enemy_near(world, agent->team, agent->cell, order->alert);
    if (enemy == NULL) {
        return;
    }
    fm_alert alert = {.order = order->id,
                      .number = order->number,
                      .agent = fm_agent_id_of(world, agent),
                      .name = fm_agent_own_name(agent),
                      .team = agent->team,
                      .seen = fm_agent_id_of(world, enemy),
                      .cell = enemy->cell};
    if (!fm_interval_note_alert(world, &alert)) {
        return;
    }
    order->is_alerted = true;
    agent->next = FM_CELL_NONE;
    fm_agent_set_state(world, agent, FM_AGENT_HOLDING);
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
}

static void resume(fm_world *world, struct fm_agent *agent, uint32_t ticks)
{
    static const fm_agent_mark marks[] = {FM_MARK_WATCH, FM_MARK_ATTEND, FM_MARK_UNDER_WAY,
                                          FM_MARK_REHASH};
    struct fm_order *order = &agent->order;
    if (order->is_alerted && order->kind != FM_ORDER_HOLD) {
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
    order->is_alerted = false;
    order->alert_from = fm_world_tick(world) + ticks;
    for (uint32_t i = 0; i < FM_COUNT_OF(marks); i++) {
        fm_agent_mark_set(world, agent, marks[i]);
    }
}

void fm_alert_resume(fm_world *world, const fm_command *command, fm_command_result *result)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find_any(world, command->agents[i]);
        bool is_own =
            agent != NULL && (command->team == FM_ALL_TEAMS || agent->team == command->team);
        if (!is_own || agent->carrier != 0) {
            result->status = is_own ? FM_ERR_CARRIED : FM_ERR_NO_AGENT;
            result->failed_index = i;
            return;
        }
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent->order.id != 0 && agent->order.alert != 0) {
            resume(world, agent, command->ticks);
            result->changed_count += 1;
        }
    }
}
