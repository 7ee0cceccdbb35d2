// core/commands/construction.c: see construction.h.

#include "core/commands/construction.h"

#include "core/base/random.h"
#include "core/commands/edits.h"
#include "core/commands/placing.h"
#include "core/world/agent_marks.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

// Calls a function for every cell of a rectangle on the map.
typedef void cell_fn(fm_edits *edits, fm_cell cell, uint32_t place, const fm_building *building);

static void for_each_cell(fm_world *world, const fm_building *building, cell_fn *visit)
{
    fm_rect rect = building->rect;
    fm_edits edits;
    fm_edits_begin(&edits, world);
    for (uint32_t y = 0; y < rect.height; y++) {
        for (uint32_t x = 0; x < rect.width; x++) {
            visit(&edits, fm_cell_at(rect.x + x, rect.y + y), y * rect.width + x, building);
        }
    }
    fm_edits_end(&edits);
}

static void note_digest(fm_world *world, const fm_building *building, uint32_t kind)
{
    uint64_t who = (uint64_t)building->id << 32 | building->team;
    fm_world_mix_digest(world, fm_mix64(who + kind));
}

// The owner knows its own buildings at once, seen or not.
static void notify_owner(fm_edits *edits, fm_cell cell, uint32_t place, const fm_building *building)
{
    (void)place;
    if (building->team != FM_ALL_TEAMS) {
        fm_knowledge_learn(fm_team_of(edits->world, building->team)->knowledge, cell);
    }
}

static fm_status check_rect(const fm_world *world, const fm_command *command)
{
    if (command->rect_count != 1 || command->rects[0].width == 0 || command->rects[0].height == 0) {
        return FM_ERR_BAD_VALUE;
    }
    const fm_rect *rect = &command->rects[0];
    if (!fm_grid_contains(fm_world_grid(world), (int64_t)rect->x + rect->width - 1,
                          (int64_t)rect->y + rect->height - 1)) {
        return FM_ERR_OFF_GRID;
    }
    return (uint64_t)rect->width * rect->height <= FM_BUILDING_CELLS_MAX ? FM_OK : FM_ERR_LIMIT;
}

static fm_status check_site(const fm_world *world, const fm_rect *rect, uint32_t *in_the_way)
{
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            *in_the_way = fm_buildings_at(&fm_world_map(world)->buildings, fm_cell_at(x, y));
            if (*in_the_way != 0) {
                return FM_ERR_BUILDING;
            }
        }
    }
    return FM_OK;
}

static bool stands_in(const fm_world *world, const struct fm_agent *agent, const fm_rect *rect)
{
    uint32_t size = fm_world_class_size(world, agent->class_index);
    uint32_t x = fm_cell_x(agent->cell), y = fm_cell_y(agent->cell);
    return x < rect->x + rect->width && rect->x < x + size && y < rect->y + rect->height &&
           rect->y < y + size;
}

// Units on the site; `first` receives one of them.
static uint32_t count_units(const fm_world *world, const fm_rect *rect, fm_agent_id *first)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        if (agent->alive && stands_in(world, agent, rect)) {
            *first = count == 0 ? fm_agent_id_of(world, agent) : *first;
            count += 1;
        }
    }
    return count;
}

static fm_status check_build(const fm_world *world, const fm_command *command,
                             fm_command_result *result)
{
    if (!fm_world_has_team(world, command->team)) {
        return FM_ERR_NO_TEAM;
    }
    fm_status status = check_rect(world, command);
    if (status == FM_OK) {
        status = check_site(world, &command->rects[0], &result->building);
    }
    if (status != FM_OK) {
        return status;
    }
    result->changed_count = count_units(world, &command->rects[0], &result->in_the_way);
    return result->changed_count > 0 && command->on_units == FM_UNITS_REFUSE ? FM_ERR_OCCUPIED_CELL
                                                                             : FM_OK;
}

static void raise(fm_edits *edits, fm_cell cell, uint32_t place, const fm_building *building)
{
    struct fm_world_map *map = fm_world_edit_map(edits->world);
    size_t i = fm_grid_index(map->grid, cell);
    building->under[place] = map->grid->terrain[i];
    fm_edits_set_cell(edits, cell, FM_TERRAIN_BUILDING, map->grid->cost[i]);
    fm_buildings_seen_note(&map->buildings_shown, &map->buildings, cell);
}

void fm_construction_build(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_build(world, command, result);
    if (result->status != FM_OK) {
        result->changed_count = 0;
        return;
    }
    fm_rect rect = command->rects[0];
    size_t cell_count = (size_t)rect.width * rect.height;
    fm_buildings *buildings = &fm_world_edit_map(world)->buildings;
    result->status = fm_buildings_reserve(buildings);
    if (result->status == FM_OK) {
        result->status =
            fm_edits_reserve(world, &(fm_edit_area){.rects = &rect, .rect_count = 1}, false);
    }
    uint8_t *under =
        result->status == FM_OK ? fm_memory_allocate(fm_world_memory(world), cell_count) : NULL;
    if (under == NULL) {
        result->status = result->status == FM_OK ? FM_ERR_NO_MEMORY : result->status;
        result->changed_count = 0;
        return;
    }
    const fm_building *building = fm_buildings_add(buildings, command->team, rect, under);
    for_each_cell(world, building, raise);
    for_each_cell(world, building, notify_owner);
    note_digest(world, building, 0);
    fm_placing_push_out(world);
    result->building = building->id;
}

static void restore(fm_edits *edits, fm_cell cell, uint32_t place, const fm_building *building)
{
    struct fm_world_map *map = fm_world_edit_map(edits->world);
    uint8_t cost = map->grid->cost[fm_grid_index(map->grid, cell)];
    fm_edits_set_cell(edits, cell, (fm_terrain)building->under[place], cost);
    fm_buildings_seen_note(&map->buildings_shown, &map->buildings, cell);
}

void fm_construction_demolish(fm_world *world, const fm_command *command, fm_command_result *result)
{
    fm_buildings *buildings = &fm_world_edit_map(world)->buildings;
    const fm_building *building = fm_buildings_find(buildings, command->building);
    if (building == NULL || (command->team != FM_ALL_TEAMS && building->team != command->team)) {
        result->status = FM_ERR_NO_BUILDING;
        return;
    }
    size_t cell_count = (size_t)building->rect.width * building->rect.height;
    result->status =
        fm_edits_reserve(world, &(fm_edit_area){.rects = &building->rect, .rect_count = 1}, false);
    if (result->status != FM_OK) {
        return;
    }
    fm_building gone = fm_buildings_take(buildings, command->building);
    for_each_cell(world, &gone, restore);
    for_each_cell(world, &gone, notify_owner);
    note_digest(world, &gone, 1);
    fm_memory_release(fm_world_memory(world), gone.under, cell_count);
    fm_placing_push_out(world); // units that were walled in are free
    result->changed_count = (uint32_t)cell_count;
}
