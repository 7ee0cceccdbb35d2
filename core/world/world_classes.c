// core/world/world_classes.c: the movement classes of a world: what the true map is for each, and
// which views of a team's knowledge are kept.
//
// The rules name the classes; without any there is one, "ground". An agent's class never changes.
// The true map as each class sees it is made with the world. A team's view of a class is made when
// the first agent of the class is spawned or a query asks for it: it follows from what the team
// knows, so it makes no difference to the simulation when that is.

#include "core/world/world_classes.h"

#include "core/world/world_state.h"

fm_status fm_world_classes_create(fm_world *world)
{
    fm_world_rules *rules = &world->rules;
    if (rules->class_count == 0) {
        rules->classes[0] = fm_movement_class_ground();
        rules->class_count = 1;
    }
    for (uint32_t i = 0; i < rules->class_count; i++) {
        const fm_movement_class *movement = &rules->classes[i];
        if (fm_movement_class_is_ground(movement)) {
            continue; // the map itself
        }
        if (fm_class_map_of_grid(movement, world->map.grid, rules->connectivity, rules->steps,
                                 &world->memory, &world->map.class_truth[i]) != FM_OK) {
            return FM_ERR_NO_MEMORY; // fm_world_classes_destroy() undoes the others
        }
    }
    return FM_OK;
}

void fm_world_classes_destroy(fm_world *world)
{
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        fm_class_map_destroy(world->map.class_truth[i]);
        world->map.class_truth[i] = NULL;
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
    fm_class_map *map = world->map.class_truth[class_index];
    if (map != NULL) {
        size_t i = fm_grid_index(world->map.grid, cell);
        fm_terrain terrain = (fm_terrain)world->map.grid->terrain[i];
        fm_class_map_set(map, cell,
                         fm_movement_weight(map->movement, terrain, world->map.grid->cost[i]));
    }
}

fm_status fm_world_classes_prepare_for_weights(fm_world *world)
{
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < world->rules.class_count; i++) {
        if (world->map.class_truth[i] != NULL) {
            status = fm_class_map_prepare_for_weights(world->map.class_truth[i]);
        }
    }
    return status;
}

void fm_world_classes_use_weights(fm_world *world)
{
    for (uint32_t i = 0; i < world->rules.class_count; i++) {
        if (world->map.class_truth[i] != NULL) {
            fm_class_map_use_weights(world->map.class_truth[i]);
        }
    }
}

bool fm_world_planner_fits(const fm_world *world, const fm_planner_spec *spec, uint32_t class_index)
{
    return fm_planner_spec_fits(spec, world->rules.connectivity,
                                fm_world_truth(world, class_index)->weights != NULL);
}

bool fm_world_some_class_fits(const fm_world *world, const fm_planner_spec *spec)
{
    for (uint32_t i = 0; i < world->rules.class_count; i++) {
        if (fm_world_planner_fits(world, spec, i)) {
            return true;
        }
    }
    return false;
}

uint32_t fm_agent_eyes(const fm_world *world, const struct fm_agent *agent, fm_cell *cells)
{
    uint32_t size = world->rules.classes[agent->class_index].size, count = 0;
    // From its corners a unit sees all cells around it, unless the sight is a diamond.
    uint32_t stride = world->rules.sense.shape == FM_SENSE_DIAMOND || size == 1 ? 1 : size - 1;
    for (uint32_t dy = 0; dy < size; dy += stride) {
        for (uint32_t dx = 0; dx < size; dx += stride) {
            cells[count++] = fm_cell_at(fm_cell_x(agent->cell) + dx, fm_cell_y(agent->cell) + dy);
        }
    }
    return count;
}

bool fm_agent_touches(const fm_world *world, const struct fm_agent *agent, const fm_bitmap *cells)
{
    uint32_t size = world->rules.classes[agent->class_index].size;
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

fm_status fm_world_prepare_class(fm_world *world, uint32_t team, uint32_t class_index)
{
    FM_ASSERT(class_index < world->rules.class_count);
    if (team == FM_ALL_TEAMS) {
        return FM_OK;
    }
    if (!fm_world_has_team(world, team)) {
        return FM_ERR_NO_TEAM;
    }
    return fm_knowledge_prepare_class(fm_team_of(world, team)->knowledge, class_index,
                                      &world->rules.classes[class_index]);
}

const fm_view *fm_world_class_view(const fm_world *world, uint32_t team, uint32_t class_index)
{
    FM_ASSERT(class_index < world->rules.class_count);
    if (!fm_world_has_team(world, team)) {
        return NULL;
    }
    return team == FM_ALL_TEAMS
               ? fm_world_truth(world, class_index)
               : fm_knowledge_view(fm_team_of(world, team)->knowledge, class_index);
}
