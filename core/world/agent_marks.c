// core/world/agent_marks.c: see agent_marks.h.

#include "core/world/agent_marks.h"

#include "core/world/world_parts.h"

bool fm_agents_reserve(fm_world *world, uint32_t slots)
{
    const fm_memory *memory = fm_world_memory(world);
    struct fm_world_agents *agents = fm_world_edit_agents(world);
    return FM_RESERVE(world, agents->slots, agents->capacity, slots) &&
           fm_reserve_zeroed(memory, (void **)&agents->marks, &agents->mark_capacity,
                             fm_mark_words_for(slots), sizeof *agents->marks) &&
           fm_reserve_zeroed(memory, (void **)&agents->hashes, &agents->hash_capacity, slots,
                             sizeof *agents->hashes) &&
           FM_RESERVE(world, agents->mates, agents->mate_capacity, slots);
}

size_t fm_agents_bytes(const fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    return agents->capacity * sizeof *agents->slots +
           agents->mark_capacity * sizeof *agents->marks +
           agents->hash_capacity * sizeof *agents->hashes +
           agents->mate_capacity * sizeof *agents->mates;
}

void fm_agents_mark_all(fm_world *world, fm_agent_mark mark)
{
    struct fm_agent_marks *marks = fm_world_agents(world)->marks;
    uint32_t words = fm_mark_words(world);
    for (uint32_t i = 0; i < words; i++) {
        marks[i].of[mark] |= marks[i].of[FM_MARK_LIVE];
    }
}

void fm_agent_be_born(fm_world *world, const struct fm_agent *agent)
{
    static const fm_agent_mark marks[] = {FM_MARK_LIVE,      FM_MARK_LOOK,    FM_MARK_ATTEND,
                                          FM_MARK_UNDER_WAY, FM_MARK_CHANGED, FM_MARK_REHASH};
    for (uint32_t i = 0; i < FM_COUNT_OF(marks); i++) {
        fm_agent_mark_set(world, agent, marks[i]);
    }
}

void fm_agent_be_gone(fm_world *world, const struct fm_agent *agent)
{
    struct fm_world_agents *agents = fm_world_edit_agents(world);
    uint32_t slot = (uint32_t)(agent - agents->slots);
    struct fm_agent_marks *marks = &agents->marks[slot / 64];
    for (uint32_t i = 0; i < FM_MARK_COUNT; i++) {
        marks->of[i] &= ~((uint64_t)1 << slot % 64);
    }
    agents->hash_sum -= agents->hashes[slot].whole;
    agents->hashes[slot] = (struct fm_agent_hash){0};
}

void fm_agents_fini(fm_world *world)
{
    const fm_memory *memory = fm_world_memory(world);
    struct fm_world_agents *agents = fm_world_edit_agents(world);
    fm_memory_release(memory, agents->slots, agents->capacity * sizeof *agents->slots);
    fm_memory_release(memory, agents->marks, agents->mark_capacity * sizeof *agents->marks);
    fm_memory_release(memory, agents->hashes, agents->hash_capacity * sizeof *agents->hashes);
    fm_memory_release(memory, agents->mates, agents->mate_capacity * sizeof *agents->mates);
}
