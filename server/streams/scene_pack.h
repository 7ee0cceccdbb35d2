// server/streams/scene_pack.h: what scene.c and scene_pack.c share.

#pragma once

#include "server/streams/scene.h"

// How an agent was before a change.
typedef struct fm_agent_before {
    uint64_t name, id;
    fm_cell cell;
    uint8_t state;
    uint8_t class_index;
    bool in_view;
} fm_agent_before;

/// Drops the packed answers: the scene is about to change.
void fm_scene_forget_bodies(fm_scene *scene);
