// clients/c/mirror_agents.h: finds an agent in a mirror.

#pragma once

#include <fogmarch/mirror.h>

/// Its position in `agents`; agent_count: it is not in view.
static inline uint32_t fm_mirror_index_of(const fm_mirror *mirror, uint64_t id)
{
    uint32_t slot = fm_agent_id_unpack(id).index1;
    uint32_t place = slot < mirror->slot_capacity ? mirror->slots[slot] : 0;
    return place != 0 && mirror->agents[place - 1].id == id ? place - 1 : mirror->agent_count;
}
