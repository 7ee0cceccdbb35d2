// core/world/interval.c: see interval.h.

#include "core/world/interval.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/watched_view.h"
#include "core/world/world_parts.h"

#define KEPT_MIN 4096u // entries that a list keeps, however few it needs

// A list that is empty gives back most of its room when it needed less than a quarter of it. Out of
// memory it stays as it is.
static void shrink(fm_world *world, void **list, uint32_t *capacity, uint32_t needed, size_t size)
{
    uint32_t kept = needed > KEPT_MIN ? needed : KEPT_MIN;
    if (*capacity / 4 <= kept) {
        return;
    }
    void *smaller = fm_memory_allocate(fm_world_memory(world), kept * size);
    if (smaller != NULL) {
        fm_memory_release(fm_world_memory(world), *list, *capacity * size);
        *list = smaller;
        *capacity = kept;
    }
}

static uint32_t larger(uint64_t a, uint32_t b)
{
    return a > b ? (uint32_t)a : b;
}

// Each list keeps what the last interval took, and those of ends what all orders may take.
static void shrink_lists(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    uint32_t ends = larger(fm_world_orders(world)->live, interval->ended_count);
#define SHRINK(array, capacity, needed)                                                            \
    shrink(world, (void **)&(array), &(capacity), (needed), sizeof *(array))
    SHRINK(interval->ended, interval->ended_capacity, ends);
    SHRINK(interval->removed, interval->removed_capacity, interval->removed_count);
    SHRINK(interval->edited, interval->edited_capacity, interval->edited_count);
    if (interval->ended_by_team_capacity > interval->ended_capacity) {
        for (uint32_t i = 0; i < interval->ended_by_team_count; i++) {
            struct fm_team *team = fm_team_of(world, interval->ended_by_team[i].team);
            team->ended_count = team->ended_end = 0;
        }
        interval->ended_by_team_count = 0;
        SHRINK(interval->ended_by_team, interval->ended_by_team_capacity, ends);
    }
#undef SHRINK
}

void fm_world_begin_interval(fm_world *world)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    if (!interval->streamed) {
        return;
    }
    interval->streamed = false;
    shrink_lists(world);
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

static fm_status admit(struct fm_world_interval *interval, bool fits)
{
    interval->is_full = !fits;
    return fits ? FM_OK : FM_ERR_LIMIT;
}

fm_status fm_interval_admit_agents(fm_world *world, uint32_t agent_count)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    uint64_t ended_max =
        FM_ENDED_MAX + (uint64_t)FM_ENDED_PER_AGENT_MAX * fm_world_agents(world)->count;
    bool ends_fit =
        interval->ended_count == 0 || (uint64_t)interval->ended_count + agent_count <= ended_max;
    bool removed_fit = interval->removed_count == 0 ||
                       (uint64_t)interval->removed_count + agent_count <= FM_REMOVED_MAX;
    return admit(interval, ends_fit && removed_fit);
}

fm_status fm_interval_admit_edits(fm_world *world, uint64_t cell_count)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    return admit(interval, interval->edited_count == 0 ||
                               interval->edited_count + cell_count <= FM_EDITED_MAX);
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
