// core/commands/edits.c: see edits.h.

#include "core/commands/edits.h"

#include "core/commands/placing.h"
#include "core/world/agent_marks.h"
#include "core/world/interval.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/team_labels.h"
#include "core/world/true_map.h"
#include "core/world/view_surveys.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

// A building must be removed before the terrain under it can change.
static bool hides_terrain(const fm_world *world, const fm_command *command, fm_cell cell)
{
    return command->terrain != FM_TERRAIN_UNKNOWN &&
           fm_buildings_at(&fm_world_map(world)->buildings, cell) != 0;
}

static bool hides_terrain_in(const fm_world *world, const fm_command *command, const fm_rect *rect)
{
    for (uint32_t y = rect->y;
         fm_world_map(world)->buildings.count > 0 && y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            if (hides_terrain(world, command, fm_cell_at(x, y))) {
                return true;
            }
        }
    }
    return false;
}

static fm_status check_terrain(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (command->cost > FM_COST_MAX || command->terrain >= FM_TERRAIN_BUILDING) {
        return FM_ERR_BAD_VALUE;
    }
    uint64_t cell_count = command->cell_count;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        if (!fm_world_contains(world, command->cells[i])) {
            *failed_index = i;
            return FM_ERR_OFF_GRID;
        }
        if (hides_terrain(world, command, command->cells[i])) {
            *failed_index = i;
            return FM_ERR_BUILDING;
        }
    }
    for (uint32_t i = 0; i < command->rect_count; i++) {
        const fm_rect *rect = &command->rects[i];
        *failed_index = i;
        if (rect->width == 0 || rect->height == 0) {
            return FM_ERR_BAD_VALUE;
        }
        if (!fm_grid_contains(fm_world_grid(world), (int64_t)rect->x + rect->width - 1,
                              (int64_t)rect->y + rect->height - 1)) {
            return FM_ERR_OFF_GRID;
        }
        cell_count += (uint64_t)rect->width * rect->height;
        if (cell_count <= FM_COMMAND_CELLS_MAX && hides_terrain_in(world, command, rect)) {
            return FM_ERR_BUILDING;
        }
    }
    *failed_index = 0;
    return cell_count <= FM_COMMAND_CELLS_MAX ? FM_OK : FM_ERR_LIMIT;
}

void fm_edits_begin(fm_edits *edits, fm_world *world)
{
    edits->world = world;
    edits->is_plan = false;
    edits->failed = false;
    edits->count = 0;
}

static void tell_team(fm_edits *edits, fm_knowledge *knowledge)
{
    if (edits->is_plan) {
        edits->failed |=
            fm_knowledge_prepare_for_edits(knowledge, edits->words, edits->count) != FM_OK;
    } else {
        fm_knowledge_note_edits(knowledge, edits->words, edits->count);
    }
}

void fm_edits_end(fm_edits *edits)
{
    for (uint32_t team = 1; edits->count > 0 && team <= fm_world_team_count(edits->world); team++) {
        tell_team(edits, fm_team_of(edits->world, team)->knowledge);
    }
    edits->count = 0;
}

// Who sees everything sees each edit at once, also one that another of the same command undoes.
static void notify_omniscient(fm_world *world, fm_cell cell)
{
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        fm_knowledge_see_edit(fm_team_of(world, team)->knowledge, cell);
    }
}

static void note_for_teams(fm_edits *edits, fm_cell cell, fm_terrain before)
{
    uint32_t y = fm_cell_y(cell), word = fm_cell_x(cell) / 64, bit = fm_cell_x(cell) % 64;
    const fm_edited_word *last = edits->count == 0 ? NULL : &edits->words[edits->count - 1];
    if (last == NULL || last->y != y || last->word != word || (last->mask >> bit & 1) != 0) {
        if (edits->count == FM_EDITS_WORDS_MAX) {
            fm_edits_end(edits);
        }
        fm_edited_word *next = &edits->words[edits->count++];
        next->y = y;
        next->word = word;
        next->mask = 0;
    }
    fm_edited_word *edited = &edits->words[edits->count - 1];
    edited->mask |= UINT64_C(1) << bit;
    edited->terrain_before[bit] = (uint8_t)before;
}

// Calls a function for each cell of an area.
typedef void area_fn(fm_edits *edits, fm_cell cell, void *context);

static void for_each_cell(fm_edits *edits, const fm_edit_area *area, area_fn *visit, void *context)
{
    for (uint32_t i = 0; i < area->cell_count; i++) {
        visit(edits, area->cells[i], context);
    }
    for (uint32_t i = 0; i < area->rect_count; i++) {
        const fm_rect *rect = &area->rects[i];
        for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
            for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
                visit(edits, fm_cell_at(x, y), context);
            }
        }
    }
}

// How a cell looks after the command: what that leaves out stays as it is.
static void look_after(const fm_grid *grid, const fm_command *command, fm_cell cell,
                       fm_terrain *terrain, uint8_t *cost)
{
    size_t i = fm_grid_index(grid, cell);
    *terrain =
        command->terrain == FM_TERRAIN_UNKNOWN ? (fm_terrain)grid->terrain[i] : command->terrain;
    *cost = command->cost == 0 ? grid->cost[i] : command->cost;
}

// Teams make no room for cells that look so already: it would stay.
static bool changes(const fm_grid *grid, const fm_command *command, fm_cell cell)
{
    fm_terrain terrain;
    uint8_t cost;
    look_after(grid, command, cell, &terrain, &cost);
    size_t i = fm_grid_index(grid, cell);
    return grid->terrain[i] != terrain || grid->cost[i] != cost;
}

static void plan_cell(fm_edits *edits, fm_cell cell, void *context)
{
    const fm_edit_area *area = context;
    if (area->terrain_command == NULL ||
        changes(fm_world_grid(edits->world), area->terrain_command, cell)) {
        note_for_teams(edits, cell, FM_TERRAIN_UNKNOWN);
    }
}

// Who sees everything has nothing to remember.
static fm_status prepare_teams(fm_world *world, const fm_edit_area *area)
{
    fm_edits edits;
    fm_edits_begin(&edits, world);
    edits.is_plan = true;
    if (!fm_world_rules_get(world)->omniscient) {
        for_each_cell(&edits, area, plan_cell, (void *)area);
        fm_edits_end(&edits);
    }
    return edits.failed ? FM_ERR_NO_MEMORY : FM_OK;
}

static fm_status prepare_for_weights(fm_world *world)
{
    fm_status status = fm_world_classes_prepare_for_weights(world);
    for (uint32_t team = 1; team <= fm_world_team_count(world) && status == FM_OK; team++) {
        status = fm_knowledge_prepare_for_weights(fm_team_of(world, team)->knowledge);
    }
    return status;
}

static uint64_t count_cells(const fm_edit_area *area)
{
    uint64_t count = area->cell_count;
    for (uint32_t i = 0; i < area->rect_count; i++) {
        count += (uint64_t)area->rects[i].width * area->rects[i].height;
    }
    return count;
}

fm_status fm_edits_reserve(fm_world *world, const fm_edit_area *area, bool becomes_weighted)
{
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    if (!FM_RESERVE(world, interval->edited, interval->edited_capacity,
                    interval->edited_count + (uint32_t)count_cells(area)) ||
        fm_placing_prepare_to_push(world) != FM_OK ||
        (becomes_weighted && prepare_for_weights(world) != FM_OK)) {
        return FM_ERR_NO_MEMORY;
    }
    return prepare_teams(world, area);
}

bool fm_edits_set_cell(fm_edits *edits, fm_cell cell, fm_terrain terrain, uint8_t cost)
{
    fm_world *world = edits->world;
    fm_grid *grid = fm_world_edit_map(world)->grid;
    struct fm_world_interval *interval = fm_world_edit_interval(world);
    const fm_world_rules *rules = fm_world_rules_get(world);
    fm_terrain before = (fm_terrain)grid->terrain[fm_grid_index(grid, cell)];
    if (!fm_grid_set(grid, cell, terrain, cost)) {
        return false;
    }
    for (uint32_t class_index = 0; class_index < rules->class_count; class_index++) {
        fm_world_class_note_edit(world, class_index, cell);
    }
    fm_team_labels_note_edit(world, cell);
    if (rules->omniscient) {
        notify_omniscient(world, cell);
    } else {
        note_for_teams(edits, cell, before);
    }
    interval->edited[interval->edited_count++] = cell;
    interval->map_edited = true;
    fm_world_edit_counts(world)->cells_edited += 1;
    fm_world_mix_digest(world, (uint64_t)cell << 16 | terrain << 8 | cost);
    return true;
}

struct edit {
    const fm_command *command;
    fm_command_result *result;
};

static void edit_cell(fm_edits *edits, fm_cell cell, void *context)
{
    const struct edit *edit = context;
    fm_terrain terrain;
    uint8_t cost;
    look_after(fm_world_grid(edits->world), edit->command, cell, &terrain, &cost);
    edit->result->changed_count += fm_edits_set_cell(edits, cell, terrain, cost);
}

static void edit_cells(fm_world *world, const fm_edit_area *area, struct edit *edit)
{
    fm_edits edits;
    fm_edits_begin(&edits, world);
    for_each_cell(&edits, area, edit_cell, edit);
    fm_edits_end(&edits);
}

// The map has its first cell with another cost. A team does not notice before it sees one.
static void become_weighted(fm_world *world)
{
    const fm_world_rules *rules = fm_world_rules_get(world);
    struct fm_world_map *map = fm_world_edit_map(world);
    map->truth = fm_view_of_grid(map->grid, rules->connectivity, rules->steps);
    fm_world_classes_use_weights(world);
}

void fm_world_use_seen_weights(fm_world *world)
{
    uint32_t team_count = fm_world_grid(world)->weighted ? fm_world_team_count(world) : 0;
    bool any = false;
    for (uint32_t i = 1; i <= team_count; i++) {
        struct fm_team *team = fm_team_of(world, i);
        if (team->knowledge->wants_weights) {
            fm_knowledge_use_weights(team->knowledge);
            team->forgets = any = true;
        }
    }
    if (any) {
        fm_view_surveys_forget(world);
        fm_planners_forget(world);
    }
}

// Whether some planner, now or of agents to come, cannot work on a map of uneven costs.
static bool somebody_needs_equal_costs(const fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    bool needed = fm_world_rules_get(world)->planner.ops->uniform_only;
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        needed = needed || fm_team_of(world, team)->spec.ops->uniform_only;
    }
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        const struct fm_agent *agent = &agents->slots[slot];
        needed = needed || ((agent->alive || agent->carrier != 0) && agent->spec.ops->uniform_only);
    }
    return needed;
}

void fm_edits_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_terrain(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    bool becomes_weighted = command->cost > FM_COST_FLOOR && !fm_world_grid(world)->weighted;
    if (becomes_weighted && somebody_needs_equal_costs(world)) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    const fm_edit_area area = {command->cells, command->cell_count, command->rects,
                               command->rect_count, command};
    result->status = fm_edits_reserve(world, &area, becomes_weighted);
    if (result->status != FM_OK) {
        return;
    }
    edit_cells(world, &area, &(struct edit){command, result});
    if (result->changed_count > 0) {
        const struct fm_world_interval *interval = fm_world_interval(world);
        fm_history_entry entry = {.tick = fm_world_tick(world),
                                  .count = result->changed_count,
                                  .cell = interval->edited[interval->edited_count - 1],
                                  .kind = FM_HISTORY_EDIT};
        fm_world_note(world, &entry);
    }
    if (becomes_weighted && fm_world_grid(world)->weighted) {
        become_weighted(world);
    }
    fm_world_use_seen_weights(world); // of teams that see everything
    fm_placing_push_out(world);
}
