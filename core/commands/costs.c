// core/commands/costs.c: see costs.h. What a tick has to do for it is bounded by the cells that a
// command names, whether they change or not: so whether it is refused shows nothing of what was
// there.

#include "core/commands/costs.h"

#include "core/world/agent_marks.h"
#include "core/world/planner_table.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/view_surveys.h"
#include "core/world/world_parts.h"

// Counts the cells of the rectangles, which lie on the map.
static fm_status check_rects(const fm_world *world, const fm_command *command,
                             uint32_t *failed_index, uint64_t *cell_count)
{
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
        *cell_count += (uint64_t)rect->width * rect->height;
    }
    return FM_OK;
}

static fm_status check(const fm_world *world, const fm_command *command, uint32_t *failed_index,
                       uint64_t *cell_count)
{
    if (command->team == FM_ALL_TEAMS || !fm_world_has_team(world, command->team)) {
        return FM_ERR_NO_TEAM;
    }
    if (command->cost > FM_ADDED_COST_MAX) {
        return FM_ERR_BAD_VALUE;
    }
    *cell_count = command->cell_count;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        if (!fm_world_contains(world, command->cells[i])) {
            *failed_index = i;
            return FM_ERR_OFF_GRID;
        }
    }
    fm_status status = check_rects(world, command, failed_index, cell_count);
    if (status == FM_OK) {
        *failed_index = 0;
        const struct fm_team *team = fm_team_of(world, command->team);
        uint64_t before = team->cost_tick == fm_world_tick(world) ? team->cost_cells : 0;
        status = before + *cell_count > FM_COST_CELLS_MAX ? FM_ERR_LIMIT : FM_OK;
    }
    return status;
}

// Whether some planner, now or of agents to come, cannot work with uneven costs.
static bool needs_equal_costs(const fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    const struct fm_world_agents *agents = fm_world_agents(world);
    bool needed = team->spec.ops->uniform_only;
    for (uint32_t i = 0; i < team->member_count; i++) {
        const struct fm_agent *agent = &agents->slots[team->members[i]];
        bool is_there = agent->alive || agent->carrier != 0;
        needed = needed || (is_there && agent->team == number && agent->spec.ops->uniform_only);
    }
    return needed;
}

static void use_layer(fm_world *world, struct fm_team *team)
{
    if (fm_knowledge_use_layer(team->knowledge)) {
        team->forgets = true;
        fm_view_surveys_forget(world);
        fm_planners_forget(world);
    }
}

static void add(fm_knowledge *knowledge, const fm_command *command, fm_command_result *result)
{
    for (uint32_t i = 0; i < command->cell_count; i++) {
        result->changed_count += fm_knowledge_add_cost(knowledge, command->cells[i], command->cost);
    }
    for (uint32_t i = 0; i < command->rect_count; i++) {
        const fm_rect *rect = &command->rects[i];
        for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
            for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
                result->changed_count +=
                    fm_knowledge_add_cost(knowledge, fm_cell_at(x, y), command->cost);
            }
        }
    }
}

void fm_costs_command(fm_world *world, const fm_command *command, fm_command_result *result)
{
    uint64_t cell_count = 0;
    result->status = check(world, command, &result->failed_index, &cell_count);
    if (result->status != FM_OK) {
        return;
    }
    struct fm_team *team = fm_team_of(world, command->team);
    if (team->knowledge->layer.added == NULL && command->cost == 0) {
        return; // there is nothing to take away
    }
    if (team->knowledge->layer.added == NULL && needs_equal_costs(world, command->team)) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    result->status = fm_knowledge_prepare_layer(team->knowledge);
    if (result->status != FM_OK) {
        return;
    }
    use_layer(world, team);
    add(team->knowledge, command, result);
    uint64_t before = team->cost_tick == fm_world_tick(world) ? team->cost_cells : 0;
    team->cost_tick = fm_world_tick(world);
    team->cost_cells = (uint32_t)(before + cell_count);
}
