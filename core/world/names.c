// core/world/names.c: see names.h.

#include "core/world/names.h"

#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/watched_view.h"

// ---- own agents ---------------------------------------------------------------------------------

fm_agent_id fm_agent_own_name(const struct fm_agent *agent)
{
    return (fm_agent_id){.index1 = 2 * agent->member + 1, .generation = agent->name_generation};
}

fm_agent_id fm_world_own_name(const fm_world *world, fm_agent_id id)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    return agent == NULL ? (fm_agent_id){0} : fm_agent_own_name(agent);
}

static fm_agent_id own_agent_named(const fm_world *world, const struct fm_team *team,
                                   fm_agent_id name)
{
    uint32_t member = name.index1 / 2;
    if (member >= team->member_count) {
        return (fm_agent_id){0};
    }
    const struct fm_agent *agent = fm_agent_at(world, team->members[member]);
    bool is_there = agent->alive || agent->carrier != 0;
    return is_there && agent->name_generation == name.generation ? fm_agent_id_of(world, agent)
                                                                 : (fm_agent_id){0};
}

// Slot of the agent with a name, UINT32_MAX when there is no such sighting now.
static uint32_t find_sighting(const fm_sightings *sightings, fm_agent_id name)
{
    uint32_t index = name.index1 / 2 - 1;
    if (name.index1 == 0 || index >= sightings->count) {
        return FM_SLOT_NONE;
    }
    const struct fm_sighting *sighting = &sightings->list[index];
    return sighting->taken && sighting->generation == name.generation ? sighting->slot
                                                                      : FM_SLOT_NONE;
}

fm_agent_id fm_world_agent_named(const fm_world *world, uint32_t team, fm_agent_id name)
{
    FM_ASSERT(fm_world_has_team(world, team) && team != FM_ALL_TEAMS);
    const struct fm_team *own = fm_team_of(world, team);
    if (name.index1 % 2 == 1) {
        return own_agent_named(world, own, name);
    }
    if (own->delta == NULL) {
        return (fm_agent_id){0};
    }
    uint32_t slot = find_sighting(&own->delta->sightings, name);
    return slot != FM_SLOT_NONE && fm_agent_at(world, slot)->alive
               ? fm_agent_id_of(world, fm_agent_at(world, slot))
               : (fm_agent_id){0};
}

// ---- agents of others ---------------------------------------------------------------------------

void fm_sightings_init(fm_sightings *sightings)
{
    *sightings = (fm_sightings){.free = FM_SLOT_NONE};
}

void fm_sightings_fini(fm_sightings *sightings, const fm_memory *memory)
{
    fm_memory_release(memory, sightings->list, sightings->capacity * sizeof *sightings->list);
    fm_memory_release(memory, sightings->of_slot,
                      sightings->of_slot_capacity * sizeof *sightings->of_slot);
}

bool fm_sightings_reserve(fm_sightings *sightings, uint32_t more, uint32_t slot_count,
                          const fm_memory *memory)
{
    return fm_reserve(memory, (void **)&sightings->list, &sightings->capacity,
                      sightings->count + more, sizeof *sightings->list) &&
           fm_reserve(memory, (void **)&sightings->of_slot, &sightings->of_slot_capacity,
                      slot_count, sizeof *sightings->of_slot);
}

void fm_sightings_begin(fm_sightings *sightings, uint32_t slot)
{
    uint32_t index = sightings->free;
    uint32_t generation = 0;
    if (index != FM_SLOT_NONE) {
        sightings->free = sightings->list[index].slot;
        generation = sightings->list[index].generation + 1;
    } else {
        FM_ASSERT(sightings->count < sightings->capacity);
        index = sightings->count++;
    }
    sightings->list[index] =
        (struct fm_sighting){.slot = slot, .generation = generation, .taken = true};
    sightings->of_slot[slot] = index;
}

fm_agent_id fm_sightings_name(const fm_sightings *sightings, uint32_t slot)
{
    uint32_t index = sightings->of_slot[slot];
    return (fm_agent_id){.index1 = 2 * index + 2, .generation = sightings->list[index].generation};
}

fm_agent_id fm_sightings_end(fm_sightings *sightings, uint32_t slot)
{
    fm_agent_id name = fm_sightings_name(sightings, slot);
    uint32_t index = sightings->of_slot[slot];
    struct fm_sighting *sighting = &sightings->list[index];
    sighting->taken = false;
    if (sighting->generation < FM_AGENT_GENERATION_MAX) { // names stay below 2^53, as ids do
        sighting->slot = sightings->free;
        sightings->free = index;
    }
    return name;
}
