// core/world/world_classes.c: the movement classes of a world: what the true map is for each, and
// which views of a team's knowledge are kept.
//
// The rules name the classes; without any there is one, "ground". An agent's class never changes.
// The true map as each class sees it is made with the world. A team's view of a class is made when
// the first agent of the class is spawned or a query asks for it: it follows from what the team
// knows, so it makes no difference to the simulation when that is.

#include "core/world/world_classes.h"

#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

fm_status fm_world_classes_create(fm_world *world)
{
    fm_world_rules *rules = fm_world_edit_rules(world);
    struct fm_world_map *map = fm_world_edit_map(world);
    if (rules->class_count == 0) {
        rules->classes[0] = fm_movement_class_ground();
        rules->class_count = 1;
    }
    for (uint32_t i = 0; i < rules->class_count; i++) {
        const fm_movement_class *movement = &rules->classes[i];
        if (fm_movement_class_is_ground(movement)) {
            continue; // the map itself
        }
        if (fm_class_map_of_grid(movement, map->grid, rules->connectivity, rules->steps,
                                 fm_world_memory(world), &map->class_truth[i]) != FM_OK) {
            return FM_ERR_NO_MEMORY; // fm_world_classes_destroy() undoes the others
        }
    }
    return FM_OK;
}

void fm_world_classes_destroy(fm_world *world)
{
    struct fm_world_map *map = fm_world_edit_map(world);
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        fm_class_map_destroy(map->class_truth[i]);
        map->class_truth[i] = NULL;
    }
}

bool fm_world_classes_are_valid(const fm_world_rules *rules)
{
    if (rules->class_count > FM_CLASSES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < rules->class_count; i++) {
        if (!fm_movement_class_is_valid(&rules->classes[i])) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(rules->classes[i].name, rules->classes[j].name) == 0) {
                return false;
            }
        }
    }
    return true;
}

void fm_world_class_note_edit(fm_world *world, uint32_t class_index, fm_cell cell)
{
    fm_class_map *map = fm_world_map(world)->class_truth[class_index];
    if (map != NULL) {
        const fm_grid *grid = fm_world_grid(world);
        size_t i = fm_grid_index(grid, cell);
        fm_terrain terrain = (fm_terrain)grid->terrain[i];
        fm_class_map_set(map, cell, fm_movement_weight(map->movement, terrain, grid->cost[i]));
    }
}

fm_status fm_world_classes_prepare_for_weights(fm_world *world)
{
    const struct fm_world_map *map = fm_world_map(world);
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < fm_world_rules_get(world)->class_count; i++) {
        if (map->class_truth[i] != NULL) {
            status = fm_class_map_prepare_for_weights(map->class_truth[i]);
        }
    }
    return status;
}

void fm_world_classes_use_weights(fm_world *world)
{
    const struct fm_world_map *map = fm_world_map(world);
    for (uint32_t i = 0; i < fm_world_rules_get(world)->class_count; i++) {
        if (map->class_truth[i] != NULL) {
            fm_class_map_use_weights(map->class_truth[i]);
        }
    }
}

bool fm_world_planner_fits(const fm_world *world, const fm_planner_spec *spec, uint32_t team,
                           uint32_t class_index)
{
    bool is_weighted =
        fm_world_truth(world, class_index)->weights != NULL ||
        (team != FM_ALL_TEAMS && fm_team_of(world, team)->knowledge->layer.added != NULL);
    return fm_planner_spec_fits(spec, fm_world_rules_get(world)->connectivity, is_weighted);
}

bool fm_world_some_class_fits(const fm_world *world, const fm_planner_spec *spec)
{
    for (uint32_t i = 0; i < fm_world_rules_get(world)->class_count; i++) {
        if (fm_world_planner_fits(world, spec, FM_ALL_TEAMS, i)) {
            return true;
        }
    }
    return false;
}

uint32_t fm_agent_eyes(const fm_world *world, const struct fm_agent *agent, fm_cell *cells)
{
    const fm_world_rules *rules = fm_world_rules_get(world);
    uint32_t size = rules->classes[agent->class_index].size, count = 0;
    // From its corners a unit sees all cells around it, unless the sight is a diamond.
    uint32_t stride = rules->sense.shape == FM_SENSE_DIAMOND || size == 1 ? 1 : size - 1;
    for (uint32_t dy = 0; dy < size; dy += stride) {
        for (uint32_t dx = 0; dx < size; dx += stride) {
            cells[count++] = fm_cell_at(fm_cell_x(agent->cell) + dx, fm_cell_y(agent->cell) + dy);
        }
    }
    return count;
}

bool fm_agent_touches(const fm_world *world, const struct fm_agent *agent, const fm_bitmap *cells)
{
    uint32_t size = fm_world_class_size(world, agent->class_index);
    for (uint32_t dy = 0; dy < size; dy++) {
        for (uint32_t dx = 0; dx < size; dx++) {
            fm_cell cell = fm_cell_at(fm_cell_x(agent->cell) + dx, fm_cell_y(agent->cell) + dy);
            if (fm_bitmap_get(cells, cell)) {
                return true;
            }
        }
    }
    return false;
}

// ---- interface ----------------------------------------------------------------------------------

static fm_status prepare(fm_world *world, uint32_t team, uint32_t class_index, uint32_t rows_max)
{
    FM_ASSERT(class_index < fm_world_rules_get(world)->class_count);
    if (team == FM_ALL_TEAMS) {
        return FM_OK;
    }
    if (!fm_world_has_team(world, team)) {
        return FM_ERR_NO_TEAM;
    }
    return fm_knowledge_prepare_class(fm_team_of(world, team)->knowledge, class_index,
                                      &fm_world_rules_get(world)->classes[class_index], rows_max);
}

fm_status fm_world_prepare_class(fm_world *world, uint32_t team, uint32_t class_index)
{
    return prepare(world, team, class_index, UINT32_MAX);
}

fm_status fm_world_prepare_class_part(fm_world *world, uint32_t team, uint32_t class_index,
                                      uint32_t cells_max)
{
    uint32_t rows = cells_max / fm_world_grid(world)->width;
    return prepare(world, team, class_index, rows > 0 ? rows : 1);
}

const fm_view *fm_world_class_view(const fm_world *world, uint32_t team, uint32_t class_index)
{
    FM_ASSERT(class_index < fm_world_rules_get(world)->class_count);
    if (!fm_world_has_team(world, team)) {
        return NULL;
    }
    return team == FM_ALL_TEAMS
               ? fm_world_truth(world, class_index)
               : fm_knowledge_view(fm_team_of(world, team)->knowledge, class_index);
}
