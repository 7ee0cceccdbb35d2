// core/views/escorted.c: see escorted.h.

#include "core/views/escorted.h"

#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"

static bool is_same(fm_agent_id a, fm_agent_id b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

static bool concerns(const struct fm_escort *escort, fm_agent_id agent)
{
    uint32_t i = 0;
    while (i < escort->standing_count && !is_same(escort->standing[i], agent)) {
        i++;
    }
    return i < escort->standing_count || is_same(escort->agent, agent);
}

// Returns false when the unit is gone: then the escort ends in the next tick.
static bool describe(const fm_world *world, const struct fm_escort *escort, fm_escorted *escorted)
{
    const struct fm_agent *agent = fm_world_find(world, escort->agent);
    if (agent == NULL) {
        return false;
    }
    *escorted = (fm_escorted){.agent = escort->agent,
                              .team = agent->team,
                              .size = fm_world_class_size(world, agent->class_index),
                              .cell = agent->cell,
                              .place = escort->place,
                              .tick = escort->begun_tick};
    for (uint32_t i = 0; i < escort->standing_count; i++) {
        if (fm_world_find(world, escort->standing[i]) != NULL) {
            escorted->standing[escorted->standing_count++] = escort->standing[i];
        }
    }
    return true;
}

bool fm_world_escort_of(const fm_world *world, fm_agent_id id, fm_escorted *escorted)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    const struct fm_escort *escort = agent == NULL ? NULL : fm_team_of(world, agent->team)->escorts;
    while (escort != NULL && !concerns(escort, id)) {
        escort = escort->next;
    }
    return escort != NULL && describe(world, escort, escorted);
}

uint32_t fm_world_list_escorts(const fm_world *world, fm_escorted *list)
{
    const struct fm_world_teams *teams = fm_world_teams(world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < teams->count; i++) {
        const struct fm_escort *escort = teams->list[i].escorts;
        for (; escort != NULL && count < FM_ESCORTED_MAX; escort = escort->next) {
            count += describe(world, escort, &list[count]);
        }
    }
    return count;
}
