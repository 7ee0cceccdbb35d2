// core/commands/placing.c: see placing.h.

#include "core/commands/placing.h"

#include "core/map/free_places.h"
#include "core/orders/homecoming.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/due.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define UNIT_TO_COME UINT32_MAX // in cells that an agent of the command under way will get

void fm_agent_enter(fm_world *world, const struct fm_agent *agent)
{
    fm_occupancy *occupancy = fm_world_occupancy(world);
    if (occupancy != NULL) {
        uint32_t size = fm_world_class_size(world, agent->class_index);
        fm_occupancy_enter(occupancy, agent->cell, size, fm_agent_id_of(world, agent).index1);
        fm_team_of(world, agent->team)->large_count += size > 1;
    }
}

void fm_agent_leave(fm_world *world, const struct fm_agent *agent)
{
    fm_occupancy *occupancy = fm_world_occupancy(world);
    if (occupancy != NULL) {
        uint32_t size = fm_world_class_size(world, agent->class_index);
        fm_occupancy_leave(occupancy, agent->cell, size, fm_agent_id_of(world, agent).index1);
        fm_team_of(world, agent->team)->large_count -= size > 1;
    }
}

#define SEARCHES_MAX 16u // places around which the agents of one command are put in turn

// The rings around a cell that the agents of one command have filled so far, and the cells that
// come next.
struct search {
    fm_cell from;
    uint32_t ring;
    fm_nearest_cells cells;
};

// A command that names a few places in turn goes on at each where it was: beginning again for each
// agent would take time by the square of their number.
struct searches {
    struct search list[SEARCHES_MAX];
    uint32_t count, next;
    const fm_memory *memory;
};

static struct search *search_from(struct searches *searches, fm_cell from)
{
    for (uint32_t i = 0; i < searches->count; i++) {
        if (searches->list[i].from == from) {
            return &searches->list[i];
        }
    }
    struct search *search = &searches->list[searches->next];
    searches->next = (searches->next + 1) % SEARCHES_MAX;
    if (searches->count < SEARCHES_MAX) {
        searches->count++;
    } else {
        fm_nearest_cells_fini(&search->cells);
    }
    *search = (struct search){.from = from, .cells = {.memory = searches->memory}};
    return search;
}

static void end_searches(struct searches *searches)
{
    for (uint32_t i = 0; i < searches->count; i++) {
        fm_nearest_cells_fini(&searches->list[i].cells);
    }
    searches->count = searches->next = 0;
}

static fm_cell nearest_free(const fm_world *world, uint32_t class_index, fm_cell from,
                            uint32_t *ring)
{
    return fm_occupancy_nearest_free(fm_world_occupancy(world),
                                     fm_world_truth(world, class_index)->blocked, from,
                                     fm_world_class_size(world, class_index), ring);
}

static fm_status choose_one(fm_world *world, fm_placing placing, uint32_t class_index, fm_cell cell,
                            struct searches *searches, fm_cell *chosen)
{
    if (!fm_world_contains(world, cell)) {
        return FM_ERR_OFF_GRID;
    }
    fm_occupancy *occupancy = fm_world_occupancy(world);
    const fm_view *truth = fm_world_truth(world, class_index);
    uint32_t size = fm_world_class_size(world, class_index);
    if (placing == FM_PLACE_NEAREST && occupancy != NULL) {
        fm_status status = fm_nearest_cells_next(&search_from(searches, cell)->cells, occupancy,
                                                 truth->blocked, cell, size, chosen);
        return status == FM_OK && *chosen == FM_CELL_NONE ? FM_ERR_OCCUPIED_CELL : status;
    }
    if (placing == FM_PLACE_NEAREST) {
        *chosen = nearest_free(world, class_index, cell, &search_from(searches, cell)->ring);
        return *chosen == FM_CELL_NONE ? FM_ERR_OCCUPIED_CELL : FM_OK;
    }
    if (fm_view_is_blocked(truth, cell)) {
        return FM_ERR_BLOCKED_CELL;
    }
    *chosen = cell;
    return occupancy == NULL || fm_occupancy_is_free(occupancy, cell, size, 0)
               ? FM_OK
               : FM_ERR_OCCUPIED_CELL;
}

fm_status fm_placing_choose(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (!FM_RESERVE(world, crowd->placed, crowd->placed_capacity, command->cell_count)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = FM_OK;
    uint32_t size = fm_world_class_size(world, command->class_index), count = 0;
    struct searches searches = {.memory = fm_world_memory(world)};
    while (count < command->cell_count) {
        status = choose_one(world, command->placing, command->class_index, command->cells[count],
                            &searches, &crowd->placed[count]);
        if (status != FM_OK) {
            *failed_index = count;
            break;
        }
        if (crowd->occupancy != NULL) {
            fm_occupancy_enter(crowd->occupancy, crowd->placed[count], size, UNIT_TO_COME);
        }
        count += 1;
    }
    for (uint32_t i = 0; crowd->occupancy != NULL && i < count; i++) {
        fm_occupancy_leave(crowd->occupancy, crowd->placed[i], size, UNIT_TO_COME);
    }
    end_searches(&searches);
    return status;
}

// ---- agents that are there ----------------------------------------------------------------------

// Chooses for all agents of a command; none of them occupies a cell meanwhile.
static fm_status choose_others(fm_world *world, const fm_command *command, uint32_t *count)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    fm_status status = FM_OK;
    uint32_t class_before = FM_CLASS_NONE;
    struct searches searches = {.memory = fm_world_memory(world)};
    for (*count = 0; *count < command->agent_count; *count += 1) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[*count]);
        if (agent->class_index != class_before) { // whether it is free is checked later
            class_before = agent->class_index;
            end_searches(&searches);
        }
        fm_cell *chosen = &crowd->placed[*count];
        status = choose_one(world, command->placing, agent->class_index, command->cells[*count],
                            &searches, chosen);
        if (status != FM_OK) {
            break;
        }
        if (crowd->occupancy != NULL) {
            fm_occupancy_enter(crowd->occupancy, *chosen,
                               fm_world_class_size(world, agent->class_index), UNIT_TO_COME);
        }
    }
    end_searches(&searches);
    return status;
}

fm_status fm_placing_move(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    if (!FM_RESERVE(world, crowd->placed, crowd->placed_capacity, command->agent_count)) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        fm_agent_leave(world, fm_world_find(world, command->agents[i]));
    }
    uint32_t count;
    fm_status status = choose_others(world, command, &count);
    for (uint32_t i = 0; crowd->occupancy != NULL && i < count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        fm_occupancy_leave(crowd->occupancy, crowd->placed[i],
                           fm_world_class_size(world, agent->class_index), UNIT_TO_COME);
    }
    *failed_index = status == FM_OK ? 0 : count;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (status == FM_OK && agent->cell != crowd->placed[i]) {
            agent->cell = crowd->placed[i];
            fm_agent_mark_set(world, agent, FM_MARK_CHANGED);
        }
        fm_agent_enter(world, agent);
    }
    return status;
}

// ---- agents under a new wall --------------------------------------------------------------------

fm_status fm_placing_prepare_to_push(fm_world *world)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    const fm_grid *grid = fm_world_grid(world);
    return crowd->free_places != NULL
               ? FM_OK
               : fm_free_places_create(grid->width, grid->height, fm_world_memory(world),
                                       &crowd->free_places);
}

static bool must_go(const fm_world *world, const struct fm_agent *agent)
{
    return agent->alive &&
           fm_view_is_blocked(fm_world_truth(world, agent->class_index), agent->cell);
}

static void put_elsewhere(fm_world *world, struct fm_agent *agent, fm_cell cell)
{
    fm_agent_leave(world, agent);
    agent->cell = cell;
    fm_agent_enter(world, agent);
    fm_agent_mark_set(world, agent, FM_MARK_LOOK);
    fm_agent_mark_set(world, agent, FM_MARK_CHANGED);
    fm_agent_mark_set(world, agent, FM_MARK_REHASH);
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    fm_home_forget(world, agent);
    if (agent->planner != FM_SLOT_NONE) {
        fm_planner_wake(world, agent->planner);
    }
}

static void push_out_class(fm_world *world, uint32_t class_index)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    fm_free_places *places = fm_world_edit_crowd(world)->free_places;
    uint32_t size = fm_world_class_size(world, class_index);
    fm_free_places_begin(places, occupancy, fm_world_truth(world, class_index)->blocked, size);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        struct fm_agent *agent = &agents->slots[slot];
        if (agent->class_index != class_index || !must_go(world, agent)) {
            continue;
        }
        fm_cell before = agent->cell, cell = fm_free_places_nearest(places, before);
        if (cell == FM_CELL_NONE) {
            continue; // it stays where it is, walled in, until the wall goes
        }
        put_elsewhere(world, agent, cell);
        if (occupancy != NULL) {
            fm_free_places_note(places, before, size);
            fm_free_places_note(places, cell, size);
        }
    }
}

void fm_placing_push_out(fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    uint32_t classes = 0; // a bit for each that has agents under a wall
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        classes |= (uint32_t)must_go(world, agent) << agent->class_index;
    }
    FM_ASSERT(classes == 0 || fm_world_edit_crowd(world)->free_places != NULL);
    for (uint32_t class_index = 0; classes >> class_index != 0; class_index++) {
        if ((classes >> class_index & 1) != 0) {
            push_out_class(world, class_index);
        }
    }
}
