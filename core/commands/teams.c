// core/commands/teams.c: see teams.h.

#include "core/commands/teams.h"

#include "core/crowd/busy.h"
#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

void fm_teams_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    const fm_world_rules *rules = fm_world_rules_get(world);
    const struct fm_world_map *map = fm_world_map(world);
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    const fm_planner_spec *spec =
        command->planner.ops != NULL ? &command->planner : &rules->planner;
    if (teams->count >= rules->teams_max) {
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
    if (!FM_RESERVE(world, teams->list, teams->capacity, teams->count + 1) ||
        !fm_busy_reserve(world, teams->count + 1) ||
        fm_knowledge_create(map->grid, map->sight, rules->connectivity, rules->steps,
                            rules->omniscient, fm_world_memory(world), &team.knowledge) != FM_OK) {
        result->status = FM_ERR_NO_MEMORY;
        return;
    }
    fm_knowledge_use_buildings(team.knowledge, &map->buildings);
    teams->list[teams->count++] = team;
    result->team = teams->count;
}
