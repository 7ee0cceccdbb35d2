// core/settle.c: brings a living world to where loading its file puts it (world_file.h).
//
// Three kinds of things are not in a file. What follows from the rest (views of classes, labels) is
// brought to the one state that it has when it is made anew. What searches hold is given up. And
// what belongs to a tick under way is empty between ticks anyway.

#include "core/planner_table.h"
#include "core/world_file.h"

bool fm_world_is_settled(const fm_world *world)
{
    return world->settled;
}

void fm_world_settle(fm_world *world)
{
    if (world->settled) {
        return;
    }
    fm_planners_settle(world);
    fm_surveys_settle(world); // after the planners that read their tables
    for (uint32_t i = 0; i < world->team_count; i++) {
        struct fm_team *team = &world->teams[i];
        fm_team_labels_settle(team);
        team->seekers.frontier.job = 0; // the wave for the nearest frontier begins anew
    }
    world->settled = true;
}
