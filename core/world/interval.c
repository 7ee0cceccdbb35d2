// core/world/interval.c: see interval.h.

#include "core/world/interval.h"

#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/watched_view.h"
#include "core/world/world_parts.h"

void fm_world_begin_interval(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    if (!interval->streamed) {
        return;
    }
    interval->streamed = false;
    interval->removed_count = 0;
    interval->ended_count = 0;
    interval->alert_count = 0;
    interval->edited_count = 0;
    fm_world_edit_map(world)->buildings_shown.changed = false;
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        if (fm_team_of(world, team)->delta != NULL) {
            fm_knowledge_forget_learned(fm_team_of(world, team)->knowledge);
        }
    }
}

bool fm_interval_reserve(fm_world *world, uint64_t endings, uint32_t leaving)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    endings += interval->ended_count;
    return endings <= UINT32_MAX &&
           FM_RESERVE(world, interval->ended, interval->ended_capacity, (uint32_t)endings) &&
           FM_RESERVE(world, interval->ended_by_team, interval->ended_by_team_capacity,
                      (uint32_t)endings) &&
           FM_RESERVE(world, interval->removed, interval->removed_capacity,
                      interval->removed_count + leaving);
}

void fm_interval_note_ended(fm_world *world, const fm_order_ended *ended)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    FM_ASSERT(interval->ended_count < interval->ended_capacity);
    interval->ended[interval->ended_count++] = *ended;
}

static bool reserve_alerts(fm_world *world, struct fm_view_delta *delta, uint32_t count)
{
    return delta == NULL || FM_RESERVE(world, delta->alerts, delta->alert_capacity, count);
}

bool fm_interval_note_alert(fm_world *world, const fm_alert *alert)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    uint32_t count = interval->alert_count + 1;
    if (!FM_RESERVE(world, interval->alerts, interval->alert_capacity, count) ||
        !reserve_alerts(world, interval->delta_all, count) ||
        !reserve_alerts(world, fm_team_of(world, alert->team)->delta, count)) {
        return false;
    }
    interval->alerts[interval->alert_count++] = *alert;
    return true;
}

void fm_interval_note_removed(fm_world *world, const fm_agent_left *left)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    FM_ASSERT(interval->removed_count < interval->removed_capacity);
    interval->removed[interval->removed_count++] = *left;
}
