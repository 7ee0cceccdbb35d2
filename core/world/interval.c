// core/world/interval.c: see interval.h.

#include "core/world/interval.h"

#include "core/world/world_state.h"

void fm_world_begin_interval(fm_world *world)
{
    if (!world->interval.streamed) {
        return;
    }
    world->interval.streamed = false;
    world->interval.removed_count = 0;
    world->interval.ended_count = 0;
    world->interval.edited_count = 0;
    world->map.buildings_shown.changed = false;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        if (world->teams.list[i].delta != NULL) {
            fm_knowledge_forget_learned(world->teams.list[i].knowledge);
        }
    }
}
