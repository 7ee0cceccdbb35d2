// core/world/interval.c: see interval.h.

#include "core/world/interval.h"

#include "core/base/random.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/watched_view.h"
#include "core/world/world_parts.h"

static void forget_divided(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    for (uint32_t i = 0; i < interval->ended_by_team_count; i++) {
        struct fm_team *team = fm_team_of(world, interval->ended_by_team[i].team);
        team->ended_count = team->ended_end = 0;
    }
    interval->ended_by_team_count = 0;
}

// Each list keeps what the last interval took, and those of ends what all orders may take.
static void shrink_lists(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    uint64_t live = fm_world_orders(world)->live;
    uint32_t ends = live > interval->ended_count ? (uint32_t)live : interval->ended_count;
    if (interval->ended_by_team_capacity / 4 > ends) {
        forget_divided(world);
    }
#define SHRINK(array, capacity, needed)                                                            \
    FM_SHRINK_EMPTY(fm_world_memory(world), array, capacity, needed)
    SHRINK(interval->ended, interval->ended_capacity, ends);
    SHRINK(interval->ended_by_team, interval->ended_by_team_capacity, ends);
    SHRINK(interval->removed, interval->removed_capacity, interval->removed_count);
    SHRINK(interval->removed_table, interval->removed_table_capacity, 4 * interval->removed_count);
    SHRINK(interval->edited, interval->edited_capacity, interval->edited_count);
#undef SHRINK
}

void fm_world_begin_interval(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    if (!interval->streamed) {
        return;
    }
    interval->streamed = false;
    if (fm_world_orders(world)->rest == NULL) { // else orders are to come that do not live yet
        shrink_lists(world);
    }
    interval->removed_count = 0;
    interval->removed_listed = 0;
    interval->ended_count = 0;
    interval->alert_count = 0;
    interval->edited_count = interval->edited_by_teams = 0;
    fm_world_edit_map(world)->buildings_shown.changed = false;
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        struct fm_team *of = fm_team_of(world, team);
        of->noted_count = of->edited_count = 0;
        if (of->delta != NULL) {
            fm_knowledge_forget_learned(of->knowledge);
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
    fm_team_of(world, ended->team)->noted_count += 1;
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
    fm_team_of(world, left->team)->noted_count += 1;
}

// ---- agents removed, by id ----------------------------------------------------------------------

#define TABLE_LEAST 64u

// The place that leads to an id, or where it would stand.
static uint32_t *find_place(struct fm_world_interval *interval, fm_agent_id id)
{
    uint32_t i = (uint32_t)fm_mix64(fm_agent_id_pack(id));
    for (;; i++) {
        uint32_t *place = &interval->removed_table[i & interval->removed_mask];
        if (*place == 0 ||
            fm_agent_id_pack(interval->removed[*place - 1].id) == fm_agent_id_pack(id)) {
            return place;
        }
    }
}

// Makes the table large enough, and empty if that has changed its size.
static bool reserve_table(fm_world *world, struct fm_world_interval *interval)
{
    uint64_t size = TABLE_LEAST;
    while (size < 2 * (uint64_t)interval->removed_count) {
        size *= 2;
    }
    if (interval->removed_listed > 0 && size <= (uint64_t)interval->removed_mask + 1) {
        return true;
    }
    if (size > UINT32_MAX || !FM_RESERVE(world, interval->removed_table,
                                         interval->removed_table_capacity, (uint32_t)size)) {
        return false;
    }
    memset(interval->removed_table, 0, size * sizeof *interval->removed_table);
    interval->removed_mask = (uint32_t)size - 1;
    interval->removed_listed = 0;
    return true;
}

static bool list_removed(fm_world *world, struct fm_world_interval *interval)
{
    if (interval->removed_listed == interval->removed_count) {
        return true;
    }
    if (!reserve_table(world, interval)) {
        return false;
    }
    for (; interval->removed_listed < interval->removed_count; interval->removed_listed++) {
        const fm_agent_left *left = &interval->removed[interval->removed_listed];
        if (left->reason == FM_LEAVE_REMOVED) {
            *find_place(interval, left->id) = interval->removed_listed + 1;
        }
    }
    return true;
}

fm_agent_left *fm_interval_find_removed(fm_world *world, fm_agent_id id)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    if (interval->removed_count == 0) {
        return NULL;
    }
    if (list_removed(world, interval)) {
        uint32_t place = *find_place(interval, id);
        return place == 0 ? NULL : &interval->removed[place - 1];
    }
    for (uint32_t i = 0; i < interval->removed_count; i++) { // out of memory
        fm_agent_left *left = &interval->removed[i];
        if (left->reason == FM_LEAVE_REMOVED &&
            fm_agent_id_pack(left->id) == fm_agent_id_pack(id)) {
            return left;
        }
    }
    return NULL;
}
