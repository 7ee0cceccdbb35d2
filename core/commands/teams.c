// core/commands/teams.c: see teams.h.

#include "core/commands/teams.h"

#include "core/world/world_classes.h"
#include "core/world/world_state.h"

void fm_teams_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    const fm_planner_spec *spec =
        command->planner.ops != NULL ? &command->planner : &world->rules.planner;
    if (world->teams.count >= world->rules.teams_max) {
        result->status = FM_ERR_LIMIT;
        return;
    }
    if (!fm_world_some_class_fits(world, spec) || command->weight > FM_TEAM_WEIGHT_MAX) {
        result->status = FM_ERR_BAD_VALUE;
        return;
    }
    struct fm_team team = {.account = {.weight = command->weight == 0 ? 1 : command->weight},
                           .spec = *spec,
                           .agent_free = FM_SLOT_NONE};
    if (!FM_RESERVE(world, world->teams.list, world->teams.capacity, world->teams.count + 1) ||
        fm_knowledge_create(world->map.grid, world->map.sight, world->rules.connectivity,
                            world->rules.steps, world->rules.omniscient, &world->memory,
                            &team.knowledge) != FM_OK) {
        result->status = FM_ERR_NO_MEMORY;
        return;
    }
    if (world->counts.cells_edited > 0 && fm_knowledge_prepare_for_edits(team.knowledge) != FM_OK) {
        fm_knowledge_destroy(team.knowledge);
        result->status = FM_ERR_NO_MEMORY;
        return;
    }
    fm_knowledge_use_buildings(team.knowledge, &world->map.buildings);
    world->teams.list[world->teams.count++] = team;
    result->team = world->teams.count;
}
