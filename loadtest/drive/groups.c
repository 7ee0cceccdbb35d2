// loadtest/drive/groups.c: see groups.h.

#include "loadtest/drive/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw_size(const fm_scenario *scenario, fm_ground *ground)
{
    fm_range sizes = scenario->group_size;
    if (strcmp(scenario->group_sizes, "log-uniform") != 0) {
        return (uint32_t)floor(fm_ground_draw(ground, sizes) + 0.5);
    }
    // Up to high + 1, so that the largest size is drawn as well.
    double drawn = exp(fm_ground_draw(ground, (fm_range){log(sizes.low), log(sizes.high + 1)}));
    return (uint32_t)fmin(floor(drawn), sizes.high);
}

// Divides members first..end into groups; the last of them are singles.
static void divide(fm_groups *groups, const fm_scenario *scenario, fm_ground *ground,
                   const fm_cell *starts, uint32_t first, uint32_t end)
{
    uint32_t single_count =
        (uint32_t)floor((end - first) * scenario->singles_percent / 100.0 + 0.5);
    uint32_t grouped_end = end - single_count;
    for (uint32_t at = first; at < end;) {
        uint32_t count = 1;
        if (at < grouped_end) {
            count = draw_size(scenario, ground);
            count = count > grouped_end - at ? grouped_end - at : count;
        }
        for (uint32_t i = 0; i < count; i++) {
            groups->members[at + i].group = groups->group_count;
        }
        groups->groups[groups->group_count++] =
            (fm_group){.first = at, .count = count, .goal = starts[at], .due_ns = UINT64_MAX};
        at += count;
    }
}

fm_status fm_groups_init(fm_groups *groups, const fm_scenario *scenario, fm_ground *ground,
                         const fm_cell *starts)
{
    uint32_t agents = (uint32_t)scenario->agents, teams = fm_scenario_team_count(scenario);
    *groups = (fm_groups){.member_count = agents};
    groups->members = calloc(agents, sizeof(fm_member));
    groups->groups = calloc(agents, sizeof(fm_group));
    if (groups->members == NULL || groups->groups == NULL) {
        fm_groups_fini(groups);
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t team = 0; team < teams; team++) {
        divide(groups, scenario, ground, starts, (uint32_t)((uint64_t)agents * team / teams),
               (uint32_t)((uint64_t)agents * (team + 1) / teams));
    }
    return FM_OK;
}

void fm_groups_fini(fm_groups *groups)
{
    free(groups->members);
    free(groups->groups);
    free(groups->members_by_slot);
    *groups = (fm_groups){0};
}

fm_status fm_groups_name(fm_groups *groups, uint32_t member, uint64_t id)
{
    uint32_t slot = fm_agent_id_unpack(id).index1;
    if (slot > FM_AGENTS_MAX) {
        return FM_ERR_NO_MEMORY; // more than any server hands out
    }
    if (!fm_reserve_zeroed(&fm_memory_libc, (void **)&groups->members_by_slot,
                           &groups->slot_capacity, slot + 1, sizeof *groups->members_by_slot)) {
        return FM_ERR_NO_MEMORY;
    }
    groups->members_by_slot[slot] = member + 1;
    groups->members[member].id = id;
    return FM_OK;
}

void fm_groups_begin(fm_groups *groups, uint32_t index, fm_cell goal)
{
    fm_group *group = &groups->groups[index];
    group->turn++;
    group->goal = goal;
    group->open_count = group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        groups->members[group->first + i].order = 0;
    }
}

// The member's order is over. Says whether it was the group's last.
static bool close_order(fm_groups *groups, fm_member *member)
{
    member->order = 0;
    return --groups->groups[member->group].open_count == 0;
}

bool fm_groups_answered(fm_groups *groups, uint32_t index, uint32_t turn, uint64_t first_order)
{
    fm_group *group = &groups->groups[index];
    bool over = false;
    for (uint32_t i = 0; turn == group->turn && i < group->count; i++) {
        fm_member *member = &groups->members[group->first + i];
        member->order = first_order + i;
        if (member->last_ended >= member->order) {
            over = close_order(groups, member);
        }
    }
    return over;
}

static fm_member *find(fm_groups *groups, uint64_t agent)
{
    uint32_t slot = fm_agent_id_unpack(agent).index1;
    uint32_t member = slot < groups->slot_capacity ? groups->members_by_slot[slot] : 0;
    return member == 0 || groups->members[member - 1].id != agent ? NULL
                                                                  : &groups->members[member - 1];
}

uint32_t fm_groups_ended(fm_groups *groups, uint64_t agent, uint64_t order)
{
    fm_member *member = find(groups, agent);
    if (member == NULL) {
        return FM_GROUP_NONE;
    }
    member->last_ended = order > member->last_ended ? order : member->last_ended;
    return member->order == order && order != 0 && close_order(groups, member) ? member->group
                                                                               : FM_GROUP_NONE;
}

uint32_t fm_groups_idle(fm_groups *groups, uint64_t agent)
{
    fm_member *member = find(groups, agent);
    return member != NULL && member->order != 0 && close_order(groups, member) ? member->group
                                                                               : FM_GROUP_NONE;
}
