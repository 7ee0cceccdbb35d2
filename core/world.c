// core/world.c: making and ending worlds, and the commands that change them between ticks.
//
// A command is checked whole before anything is changed, so a refused one leaves no trace.
// Everything that can run out of memory is reserved during the check.

#include "core/world.h"

#include "core/random.h"
#include "core/world_state.h"

fm_world_rules fm_world_rules_default(void)
{
    return (fm_world_rules){
        .connectivity = FM_CONNECT_8,
        .steps = FM_STEPS_10_14,
        .sense = {.radius = 5, .shape = FM_SENSE_SQUARE},
        .planner = {.ops = &fm_dstar_lite},
        .agents_max = 65536,
        .teams_max = 4096,
    };
}

bool fm_reserve(const fm_memory *memory, void **array, uint32_t *capacity, uint32_t wanted,
                size_t size)
{
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t grown = *capacity < 16 ? 16 : *capacity;
    while (grown < wanted) {
        grown += grown / 2;
    }
    void *block = fm_memory_resize(memory, *array, *capacity, grown, size);
    if (block == NULL) {
        return false;
    }
    *array = block;
    *capacity = grown;
    return true;
}

static bool rules_fit(const fm_world_rules *rules)
{
    bool four = rules->connectivity == FM_CONNECT_4;
    return rules->planner.ops != NULL && four == (rules->steps == FM_STEPS_1) &&
           rules->sense.radius >= 1 && rules->sense.radius <= FM_SENSE_RADIUS_MAX &&
           (four || rules->sense.shape != FM_SENSE_DIAMOND) && rules->agents_max >= 1 &&
           rules->agents_max <= FM_AGENTS_MAX && rules->teams_max >= 1 &&
           rules->teams_max <= FM_TEAMS_MAX;
}

// Whether a planner can work under the rules and on the map as it is.
static bool planner_fits(const fm_world *world, const fm_planner_spec *spec)
{
    return !spec->ops->uniform_only ||
           (world->rules.connectivity == FM_CONNECT_8 && !world->grid->weighted);
}

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
    world->memory = *memory;
    world->agent_free = FM_SLOT_NONE;
    world->planner_free = FM_SLOT_NONE;
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_slab_init(&world->slabs[i], &world->memory);
        fm_scratch_init(&world->scratches[i], &world->memory);
    }
    world->slab_count = 1;
    world->grid = grid;
    world->truth = fm_view_of_grid(grid, rules->connectivity, rules->steps);
    fm_status status = planner_fits(world, &rules->planner) ? FM_OK : FM_ERR_BAD_VALUE;
    if (status == FM_OK) {
        status = fm_sight_create(rules->sense, &world->memory, &world->sight);
    }
    if (status != FM_OK) {
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
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        if (world->planners[slot].in_use) {
            fm_planner_end(world, slot);
        }
    }
    for (uint32_t i = 0; i < world->team_count; i++) {
        struct fm_team *team = &world->teams[i];
        fm_watch_destroy(world, team->watch);
        if (team->reach != NULL) {
            fm_reach_fini(team->reach);
            fm_memory_release(&memory, team->reach, sizeof *team->reach);
        }
        fm_knowledge_destroy(team->knowledge);
    }
    fm_watch_destroy(world, world->watch_all);
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_fini(&world->scratches[i]);
        fm_slab_fini(&world->slabs[i]);
    }
#define RELEASE(array, capacity) fm_memory_release(&memory, array, (capacity) * sizeof *(array))
    RELEASE(world->agents, world->agent_capacity);
    RELEASE(world->teams, world->team_capacity);
    RELEASE(world->planners, world->planner_capacity);
    RELEASE(world->planner_table, (size_t)world->planner_table_mask + 1);
    RELEASE(world->starts, world->starts_capacity);
    RELEASE(world->searching, world->searching_capacity);
    RELEASE(world->sensing, world->sensing_capacity);
    RELEASE(world->scratch_slots, world->scratch_capacity);
    RELEASE(world->flooding, world->flooding_capacity);
    RELEASE(world->cuts, world->cut_capacity);
    RELEASE(world->removed, world->removed_capacity);
    RELEASE(world->ended, world->ended_capacity);
    RELEASE(world->edited, world->edited_capacity);
#undef RELEASE
    fm_sight_destroy(world->sight);
    fm_grid_destroy(world->grid);
    fm_memory_release(&memory, world, sizeof *world);
}

// ---- small things that several stages do
// -----------------------------------------------------------

struct fm_agent *fm_world_find(const fm_world *world, fm_agent_id id)
{
    if (id.index1 == 0 || id.index1 > world->agent_slots) {
        return NULL;
    }
    struct fm_agent *agent = &world->agents[id.index1 - 1];
    return agent->alive && agent->generation == id.generation ? agent : NULL;
}

void fm_world_begin_interval(fm_world *world)
{
    if (!world->streamed) {
        return;
    }
    world->streamed = false;
    world->removed_count = 0;
    world->ended_count = 0;
    world->edited_count = 0;
    for (uint32_t i = 0; i < world->team_count; i++) {
        fm_knowledge_forget_learned(world->teams[i].knowledge);
    }
}

void fm_agent_set_state(struct fm_agent *agent, fm_agent_state state)
{
    if (agent->state != state) {
        agent->state = (uint8_t)state;
        agent->changed = true;
    }
}

void fm_agent_end_order(fm_world *world, struct fm_agent *agent, fm_order_end reason)
{
    if (agent->order.id == 0) {
        return;
    }
    fm_order_ended ended = {.order = agent->order.id,
                            .agent = fm_agent_id_of(world, agent),
                            .team = agent->team,
                            .reason = reason,
                            .cell = agent->cell};
    // Room for one ending per order was reserved when the order was given.
    FM_ASSERT(world->ended_count < world->ended_capacity);
    world->ended[world->ended_count++] = ended;
    world->counts.orders_ended[reason] += 1;
    world->digest = fm_mix64(world->digest ^ (ended.order << 4 | (uint64_t)reason));
    agent->order = (struct fm_order){.substitute = FM_CELL_NONE};
    agent->wants_reach = false;
    agent->next = FM_CELL_NONE;
    fm_agent_release_planners(world, agent);
    fm_agent_set_state(agent, FM_AGENT_IDLE);
}

// ---- teams
// -----------------------------------------------------------------------------------------

static void create_team(fm_world *world, const fm_command *command, fm_command_result *result)
{
    const fm_planner_spec *spec =
        command->planner.ops != NULL ? &command->planner : &world->rules.planner;
    if (world->team_count >= world->rules.teams_max) {
        result->status = FM_ERR_LIMIT;
        return;
    }
    if (!planner_fits(world, spec)) {
        result->status = FM_ERR_BAD_VALUE;
        return;
    }
    struct fm_team team = {.spec = *spec};
    if (!FM_RESERVE(world, world->teams, world->team_capacity, world->team_count + 1) ||
        fm_knowledge_create(world->grid, world->sight, world->rules.connectivity,
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
    world->teams[world->team_count++] = team;
    result->team = world->team_count;
}

// ---- agents
// ----------------------------------------------------------------------------------------

static bool is_on_map(const fm_world *world, fm_cell cell)
{
    return fm_grid_contains(world->grid, fm_cell_x(cell), fm_cell_y(cell));
}

static fm_status check_spawn(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (!fm_world_has_team(world, command->team) || command->team == FM_ALL_TEAMS) {
        return FM_ERR_NO_TEAM;
    }
    if (command->planner.ops != NULL && !planner_fits(world, &command->planner)) {
        return FM_ERR_BAD_VALUE;
    }
    for (uint32_t i = 0; i < command->cell_count; i++) {
        *failed_index = i;
        if (!is_on_map(world, command->cells[i])) {
            return FM_ERR_OFF_GRID;
        }
        if (fm_grid_is_blocked(world->grid, command->cells[i])) {
            return FM_ERR_BLOCKED_CELL;
        }
    }
    *failed_index = 0;
    if (command->cell_count > world->rules.agents_max - world->agent_count) {
        return FM_ERR_LIMIT;
    }
    return FM_RESERVE(world, world->agents, world->agent_capacity,
                      world->agent_slots + command->cell_count)
               ? FM_OK
               : FM_ERR_NO_MEMORY;
}

static fm_agent_id spawn_one(fm_world *world, uint32_t team, fm_cell cell, fm_planner_spec spec)
{
    uint32_t slot = world->agent_free;
    uint32_t generation = 0;
    if (slot != FM_SLOT_NONE) {
        world->agent_free = world->agents[slot].planner;
        generation = world->agents[slot].generation + 1;
    } else {
        slot = world->agent_slots++;
    }
    struct fm_agent *agent = &world->agents[slot];
    *agent = (struct fm_agent){
        .generation = generation,
        .alive = true,
        .must_sense = true,
        .changed = true,
        .team = team,
        .cell = cell,
        .next = FM_CELL_NONE,
        .planner = FM_SLOT_NONE,
        .detour = FM_SLOT_NONE,
        .spec = spec,
        .order = {.substitute = FM_CELL_NONE},
    };
    world->agent_count += 1;
    return fm_agent_id_of(world, agent);
}

static void spawn(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_spawn(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    fm_planner_spec spec =
        command->planner.ops != NULL ? command->planner : fm_team_of(world, command->team)->spec;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        fm_agent_id id = spawn_one(world, command->team, command->cells[i], spec);
        if (result->spawned != NULL) {
            result->spawned[i] = id;
        }
    }
    result->changed_count = command->cell_count;
}

// Every agent of the command lives. Ending orders or removing agents cannot fail after this.
static fm_status check_agents(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent == NULL || (command->team != FM_ALL_TEAMS && agent->team != command->team)) {
            *failed_index = i;
            return FM_ERR_NO_AGENT;
        }
    }
    // One ending for each order that may end now, and one for each living agent in the next tick.
    uint32_t endings = world->ended_count + world->agent_count + command->agent_count;
    return FM_RESERVE(world, world->ended, world->ended_capacity, endings) &&
                   FM_RESERVE(world, world->removed, world->removed_capacity,
                              world->removed_count + command->agent_count)
               ? FM_OK
               : FM_ERR_NO_MEMORY;
}

static void remove_agents(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_agents(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent == NULL) {
            continue; // named twice
        }
        fm_agent_end_order(world, agent, FM_END_DIED);
        world->removed[world->removed_count++] =
            (fm_agent_left){.id = command->agents[i], .reason = FM_LEAVE_REMOVED};
        agent->alive = false;
        // A slot whose generations are used up is never given out again: ids stay below 2^53.
        if (agent->generation < FM_AGENT_GENERATION_MAX) {
            agent->planner = world->agent_free;
            world->agent_free = command->agents[i].index1 - 1;
        }
        world->agent_count -= 1;
        result->changed_count += 1;
    }
}

static fm_status check_order(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (command->order == FM_ORDER_MOVE) {
        if (command->cell_count != 1 && command->cell_count != command->agent_count) {
            return FM_ERR_BAD_VALUE;
        }
        for (uint32_t i = 0; i < command->cell_count; i++) {
            if (!is_on_map(world, command->cells[i])) {
                *failed_index = i;
                return FM_ERR_OFF_GRID;
            }
        }
    }
    return check_agents(world, command, failed_index);
}

static void order(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_order(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    result->first_order = world->orders_given + 1;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        fm_agent_end_order(world, agent,
                           command->order == FM_ORDER_STOP ? FM_END_CANCELLED : FM_END_REPLACED);
        if (command->order == FM_ORDER_STOP) {
            continue;
        }
        world->orders_given += 1;
        agent->order = (struct fm_order){
            .id = world->orders_given,
            .goal = command->cells[command->cell_count == 1 ? 0 : i],
            .on_unreachable = command->on_unreachable,
            .given_tick = world->tick,
            .substitute = FM_CELL_NONE,
        };
        agent->plan_state = FM_PLAN_RUNNING;
        fm_agent_set_state(agent, FM_AGENT_WAITING);
    }
    result->changed_count = command->agent_count;
}

// ---- terrain
// ---------------------------------------------------------------------------------------

static fm_status check_terrain(fm_world *world, const fm_command *command, uint32_t *failed_index,
                               uint64_t *cell_count)
{
    if (command->cost > FM_COST_MAX || command->terrain >= FM_TERRAIN_COUNT) {
        return FM_ERR_BAD_VALUE;
    }
    *cell_count = command->cell_count;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        if (!is_on_map(world, command->cells[i])) {
            *failed_index = i;
            return FM_ERR_OFF_GRID;
        }
    }
    for (uint32_t i = 0; i < command->rect_count; i++) {
        const fm_rect *rect = &command->rects[i];
        *failed_index = i;
        if (rect->width == 0 || rect->height == 0) {
            return FM_ERR_BAD_VALUE;
        }
        if (!fm_grid_contains(world->grid, (int64_t)rect->x + rect->width - 1,
                              (int64_t)rect->y + rect->height - 1)) {
            return FM_ERR_OFF_GRID;
        }
        *cell_count += (uint64_t)rect->width * rect->height;
    }
    *failed_index = 0;
    return *cell_count <= FM_COMMAND_CELLS_MAX ? FM_OK : FM_ERR_LIMIT;
}

// Room for everything that the edit will note, in the world and in every team.
static fm_status reserve_terrain(fm_world *world, uint64_t cell_count, bool becomes_weighted)
{
    if (!FM_RESERVE(world, world->edited, world->edited_capacity,
                    world->edited_count + (uint32_t)cell_count)) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < world->team_count; i++) {
        fm_knowledge *knowledge = world->teams[i].knowledge;
        if (fm_knowledge_prepare_for_edits(knowledge) != FM_OK ||
            (becomes_weighted && fm_knowledge_prepare_for_weights(knowledge) != FM_OK)) {
            return FM_ERR_NO_MEMORY;
        }
    }
    return FM_OK;
}

static void edit_cell(fm_world *world, const fm_command *command, fm_cell cell,
                      fm_command_result *result)
{
    fm_grid *grid = world->grid;
    size_t i = fm_grid_index(grid, cell);
    fm_terrain before = (fm_terrain)grid->terrain[i];
    fm_terrain terrain = command->terrain == FM_TERRAIN_UNKNOWN ? before : command->terrain;
    uint8_t cost = command->cost == 0 ? grid->cost[i] : command->cost;
    if (!fm_grid_set(grid, cell, terrain, cost)) {
        return;
    }
    for (uint32_t t = 0; t < world->team_count; t++) {
        fm_knowledge_note_edit(world->teams[t].knowledge, cell, before);
    }
    world->edited[world->edited_count++] = cell;
    world->counts.cells_edited += 1;
    world->map_edited = true;
    world->digest = fm_mix64(world->digest ^ ((uint64_t)cell << 16 | terrain << 8 | cost));
    result->changed_count += 1;
}

// The map has its first cell of another cost: edge costs change scale, so all searches start over.
static void become_weighted(fm_world *world)
{
    world->truth = fm_view_of_grid(world->grid, world->rules.connectivity, world->rules.steps);
    for (uint32_t i = 0; i < world->team_count; i++) {
        fm_knowledge_use_weights(world->teams[i].knowledge, world->rules.connectivity,
                                 world->rules.steps);
    }
    fm_planners_forget(world);
}

// Agents whose cell was walled in step to the nearest free cell.
static void push_agents_out(fm_world *world)
{
    fm_bitmap free_cells = {0};
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        struct fm_agent *agent = &world->agents[slot];
        if (!agent->alive || !fm_grid_is_blocked(world->grid, agent->cell)) {
            continue;
        }
        if (free_cells.words == NULL) {
            if (fm_bitmap_init(&free_cells, world->grid->width, world->grid->height, false,
                               &world->memory) != FM_OK) {
                return; // they stay where they are, walled in, until the wall goes
            }
            size_t word_count = free_cells.size / sizeof(uint64_t);
            for (size_t i = 0; i < word_count; i++) {
                free_cells.words[i] = ~world->grid->blocked.words[i];
            }
        }
        fm_cell cell = fm_reach_nearest(&world->truth, &free_cells, agent->cell);
        if (cell != FM_CELL_NONE) {
            agent->cell = cell;
            agent->must_sense = true;
            agent->changed = true;
        }
    }
    fm_bitmap_fini(&free_cells, &world->memory);
}

// Whether some planner, now or of agents to come, cannot work on a map of uneven costs.
static bool somebody_needs_equal_costs(const fm_world *world)
{
    bool needed = world->rules.planner.ops->uniform_only;
    for (uint32_t i = 0; i < world->team_count; i++) {
        needed = needed || world->teams[i].spec.ops->uniform_only;
    }
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        needed =
            needed || (world->agents[slot].alive && world->agents[slot].spec.ops->uniform_only);
    }
    return needed;
}

static void edit_terrain(fm_world *world, const fm_command *command, fm_command_result *result)
{
    uint64_t cell_count;
    result->status = check_terrain(world, command, &result->failed_index, &cell_count);
    if (result->status != FM_OK) {
        return;
    }
    bool becomes_weighted = command->cost > FM_COST_FLOOR && !world->grid->weighted;
    if (becomes_weighted && somebody_needs_equal_costs(world)) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    result->status = reserve_terrain(world, cell_count, becomes_weighted);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->cell_count; i++) {
        edit_cell(world, command, command->cells[i], result);
    }
    for (uint32_t i = 0; i < command->rect_count; i++) {
        const fm_rect *rect = &command->rects[i];
        for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
            for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
                edit_cell(world, command, fm_cell_at(x, y), result);
            }
        }
    }
    if (becomes_weighted && world->grid->weighted) {
        become_weighted(world);
    }
    push_agents_out(world);
}

void fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
    *result = (fm_command_result){.status = FM_OK, .spawned = result->spawned};
    fm_world_begin_interval(world);
    switch (command->kind) {
    case FM_COMMAND_TEAM:
        create_team(world, command, result);
        return;
    case FM_COMMAND_SPAWN:
        spawn(world, command, result);
        return;
    case FM_COMMAND_REMOVE:
        remove_agents(world, command, result);
        return;
    case FM_COMMAND_ORDER:
        order(world, command, result);
        return;
    case FM_COMMAND_TERRAIN:
        edit_terrain(world, command, result);
        return;
    }
    FM_UNREACHABLE();
}

// ---- reading
// ---------------------------------------------------------------------------------------

const fm_grid *fm_world_grid(const fm_world *world)
{
    return world->grid;
}

const fm_world_rules *fm_world_rules_get(const fm_world *world)
{
    return &world->rules;
}

bool fm_world_has_team(const fm_world *world, uint32_t team)
{
    return team <= world->team_count;
}
