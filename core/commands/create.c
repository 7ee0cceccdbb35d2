// core/commands/create.c: see create.h.

#include "core/commands/create.h"

#include "core/commands/order_command.h"
#include "core/commands/permit.h"
#include "core/crowd/crowd.h"
#include "core/map/free_places.h"
#include "core/orders/order_end.h"
#include "core/views/presence.h"
#include "core/views/view_delta.h"
#include "core/world/due.h"
#include "core/world/planner_table.h"
#include "core/world/view_surveys.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

static bool rules_fit(const fm_world_rules *rules)
{
    bool four = rules->connectivity == FM_CONNECT_4;
    return rules->planner.ops != NULL && four == (rules->steps == FM_STEPS_1) &&
           rules->sense.radius >= 1 && rules->sense.radius <= FM_SENSE_RADIUS_MAX &&
           (four || rules->sense.shape != FM_SENSE_DIAMOND) && rules->agents_max >= 1 &&
           rules->agents_max <= FM_AGENTS_MAX && rules->teams_max >= 1 &&
           rules->teams_max <= FM_TEAMS_MAX && rules->landmarks.count <= FM_LANDMARKS_MAX &&
           rules->tick_millihertz >= 1 && rules->tick_millihertz <= FM_TICK_MILLIHERTZ_MAX &&
           rules->saved_ticks <= FM_SAVED_TICKS_MAX &&
           rules->players_build <= FM_PERMIT_COUNT_MAX && fm_world_classes_are_valid(rules);
}

// ---- memory -------------------------------------------------------------------------------------

static void *allocate_counted(void *context, size_t size)
{
    fm_world *world = context;
    void *block = fm_memory_allocate(&world->allocations.source, size);
    if (block == NULL) {
        atomic_fetch_add_explicit(&world->allocations.refusals, 1, memory_order_relaxed);
    }
    return block;
}

static void release_counted(void *context, void *block, size_t size)
{
    const fm_world *world = context;
    fm_memory_release(&world->allocations.source, block, size);
}

// ---- making and ending --------------------------------------------------------------------------

fm_status fm_world_create(const fm_world_rules *rules, fm_grid *grid, const fm_memory *memory,
                          fm_world **out)
{
    if (!rules_fit(rules)) {
        return FM_ERR_BAD_VALUE;
    }
    fm_world *world = fm_memory_allocate_zeroed(memory, 1, sizeof *world);
    if (world == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    world->rules = *rules;
    world->allocations.source = *memory;
    world->memory =
        (fm_memory){.allocate = allocate_counted, .release = release_counted, .context = world};
    world->planners.free = FM_SLOT_NONE;
    fm_world_expect_workers(world, 1);
    world->settled = true;
    world->map.grid = grid;
    world->map.truth = fm_view_of_grid(grid, rules->connectivity, rules->steps);
    fm_buildings_init(&world->map.buildings, grid->width, grid->height, &world->memory);
    fm_status status = fm_world_classes_create(world);
    if (status == FM_OK && !fm_world_some_class_fits(world, &rules->planner)) {
        status = FM_ERR_BAD_VALUE;
    }
    if (status == FM_OK) {
        status = fm_line_of_sight_create(rules->sense, &world->memory, &world->map.sight);
        world->map.sight_reach = rules->sense.radius;
    }
    if (status == FM_OK && rules->occupancy == FM_OCCUPANCY_EXCLUSIVE) {
        status =
            fm_occupancy_create(grid->width, grid->height, &world->memory, &world->crowd.occupancy);
    }
    if (status != FM_OK) {
        fm_line_of_sight_destroy(world->map.sight);
        fm_world_classes_destroy(world);
        fm_history_destroy(&world->history, &world->memory);
        fm_memory_release(memory, world, sizeof *world);
        return status;
    }
    *out = world;
    return FM_OK;
}

void fm_world_destroy(fm_world *world)
{
    if (world == NULL) {
        return;
    }
    fm_memory memory = world->memory;
    fm_orders_drop_rest(world);
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        fm_agent_release_queue(world, &world->agents.slots[slot]);
        fm_agent_drop_tag(world, &world->agents.slots[slot]);
    }
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        if (world->planners.slots[slot].in_use) {
            fm_planner_end(world, slot);
        }
    }
    fm_crowd_fini(world); // its jams stand in the teams
    fm_view_surveys_destroy(world);
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        fm_view_delta_destroy(world, team->delta);
        fm_team_labels_fini(&team->labels);
        fm_knowledge_destroy(team->knowledge);
        fm_seekers_fini(&team->seekers, &memory);
        fm_memory_release(&memory, team->members, team->member_capacity * sizeof *team->members);
    }
    fm_history_destroy(&world->history, &memory);
    fm_receipts_fini(&world->receipts, &memory);
    fm_view_delta_destroy(world, world->interval.delta_all);
    for (uint32_t map = 0; map < FM_LABELED_MAPS; map++) {
        fm_labels_destroy(world->map.labels[map]);
    }
    fm_world_release_workers(world);
#define RELEASE(array, capacity) fm_memory_release(&memory, array, (capacity) * sizeof *(array))
    fm_agents_fini(world);
    fm_presence_fini(world);
    RELEASE(world->teams.list, world->teams.capacity);
    RELEASE(world->planners.slots, world->planners.capacity);
    RELEASE(world->planners.table, (size_t)world->planners.table_mask + 1);
    RELEASE(world->crowd.placed, world->crowd.placed_capacity);
    fm_free_places_destroy(world->crowd.free_places);
    fm_due_fini(world);
    RELEASE(world->lists.starts, world->lists.starts_capacity);
    RELEASE(world->lists.searching, world->lists.searching_capacity);
    RELEASE(world->lists.by_team, world->lists.by_team_capacity);
    RELEASE(world->lists.sensing, world->lists.sensing_capacity);
    RELEASE(world->lists.cuts, world->lists.cut_capacity);
    RELEASE(world->interval.removed, world->interval.removed_capacity);
    RELEASE(world->interval.removed_table, world->interval.removed_table_capacity);
    RELEASE(world->interval.ended, world->interval.ended_capacity);
    RELEASE(world->interval.ended_by_team, world->interval.ended_by_team_capacity);
    RELEASE(world->interval.alerts, world->interval.alert_capacity);
    RELEASE(world->interval.edited, world->interval.edited_capacity);
#undef RELEASE
    fm_world_classes_destroy(world);
    fm_buildings_fini(&world->map.buildings);
    fm_buildings_seen_fini(&world->map.buildings_shown, &memory);
    fm_unit_index_fini(&world->orders.unit_index, &memory);
    fm_lookouts_fini(&world->orders.lookouts, &memory);
    fm_cells_of_tiles_fini(&world->orders.cells_of_tiles, &memory);
    fm_enemy_tiles_fini(&world->orders.enemy_tiles, &memory);
    fm_line_of_sight_destroy(world->map.sight);
    for (uint32_t radius = 0; radius <= FM_SENSE_RADIUS_MAX; radius++) {
        fm_line_of_sight_destroy(world->map.other_sights[radius]);
    }
    fm_grid_destroy(world->map.grid);
    fm_memory_release(&memory, world, sizeof *world);
}
