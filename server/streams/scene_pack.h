// server/streams/scene_pack.h: what scene.c and scene_pack.c share.

#pragma once

#include "server/streams/scene.h"

// How an agent was before a change.
typedef struct fm_agent_before {
    uint64_t name, id;
    fm_cell cell;
    uint16_t team; // its lower 16 bits, which are enough to tell teams apart
    uint8_t state;
    uint8_t class_index : 7, in_view : 1;
} fm_agent_before;

_Static_assert(FM_TEAMS_MAX <= 1u << 16, "fm_agent_before.team tells teams apart");

/// An agent as it is, before it changes.
static inline fm_agent_before fm_agent_as_before(const fm_scene_agent *agent)
{
    return (fm_agent_before){.name = agent->name,
                             .id = agent->id,
                             .cell = agent->cell,
                             .team = (uint16_t)agent->team,
                             .state = agent->state,
                             .class_index = agent->class_index & 127,
                             .in_view = agent->in_view};
}

/// Drops the packed answers: the scene is about to change.
void fm_scene_forget_bodies(fm_scene *scene);
