// core/tick/world.c: making and ending worlds, and the commands that change them between ticks.
//
// A command is checked whole before anything is changed, so a refused one leaves no trace.
// Everything that can run out of memory is reserved during the check.

#include "core/world/world.h"

#include "core/base/random.h"
#include "core/crowd/crowd.h"
#include "core/orders/orders.h"
#include "core/world/construction.h"
#include "core/world/due.h"
#include "core/world/edits.h"
#include "core/world/permit.h"
#include "core/world/placing.h"
#include "core/world/planner_table.h"

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

// Whether a planner can work under the rules and on the map as it is, for some class.
static bool planner_fits(const fm_world *world, const fm_planner_spec *spec)
{
    for (uint32_t i = 0; i < world->rules.class_count; i++) {
        if (fm_world_planner_fits(world, spec, i)) {
            return true;
        }
    }
    return false;
}

// ---- memory -------------------------------------------------------------------------------------

static void *allocate_counted(void *context, size_t size)
{
    fm_world *world = context;
    void *block = fm_memory_allocate(&world->source, size);
    if (block == NULL) {
        atomic_fetch_add_explicit(&world->refusals, 1, memory_order_relaxed);
    }
    return block;
}

static void release_counted(void *context, void *block, size_t size)
{
    const fm_world *world = context;
    fm_memory_release(&world->source, block, size);
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
    world->source = *memory;
    world->memory =
        (fm_memory){.allocate = allocate_counted, .release = release_counted, .context = world};
    world->planner_free = FM_SLOT_NONE;
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_slab_init(&world->slabs[i], &world->memory);
        fm_scratch_init(&world->scratches[i], &world->memory);
    }
    world->slab_count = 1;
    world->settled = true;
    world->grid = grid;
    world->truth = fm_view_of_grid(grid, rules->connectivity, rules->steps);
    fm_buildings_init(&world->buildings, grid->width, grid->height, &world->memory);
    fm_status status = fm_world_classes_create(world);
    if (status == FM_OK && !planner_fits(world, &rules->planner)) {
        status = FM_ERR_BAD_VALUE;
    }
    if (status == FM_OK) {
        status = fm_sight_create(rules->sense, &world->memory, &world->sight);
    }
    if (status == FM_OK && rules->occupancy == FM_OCCUPANCY_EXCLUSIVE) {
        status = fm_occupancy_create(grid->width, grid->height, &world->memory, &world->occupancy);
    }
    if (status != FM_OK) {
        fm_sight_destroy(world->sight);
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
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        fm_agent_release_queue(world, &world->agents[slot]);
    }
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        if (world->planners[slot].in_use) {
            fm_planner_end(world, slot);
        }
    }
    fm_surveys_destroy(world);
    for (uint32_t i = 0; i < world->team_count; i++) {
        struct fm_team *team = &world->teams[i];
        fm_watch_destroy(world, team->watch);
        fm_team_labels_fini(&team->labels);
        fm_knowledge_destroy(team->knowledge);
        fm_seekers_fini(&team->seekers, &memory);
        fm_memory_release(&memory, team->members, team->member_capacity * sizeof *team->members);
    }
    fm_history_destroy(&world->history, &memory);
    fm_watch_destroy(world, world->watch_all);
    for (uint32_t map = 0; map < FM_LABELED_MAPS; map++) {
        fm_labels_destroy(world->truth_labels[map]);
    }
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_fini(&world->scratches[i]);
        fm_slab_fini(&world->slabs[i]);
    }
#define RELEASE(array, capacity) fm_memory_release(&memory, array, (capacity) * sizeof *(array))
    RELEASE(world->agents, world->agent_capacity);
    RELEASE(world->teams, world->team_capacity);
    RELEASE(world->planners, world->planner_capacity);
    RELEASE(world->planner_table, (size_t)world->planner_table_mask + 1);
    RELEASE(world->movers, world->mover_capacity);
    RELEASE(world->frames, world->frame_capacity);
    RELEASE(world->turns, world->turn_capacity);
    RELEASE(world->placed, world->placed_capacity);
    fm_due_fini(world);
    RELEASE(world->starts, world->starts_capacity);
    RELEASE(world->searching, world->searching_capacity);
    RELEASE(world->by_team, world->by_team_capacity);
    RELEASE(world->sensing, world->sensing_capacity);
    RELEASE(world->cuts, world->cut_capacity);
    RELEASE(world->removed, world->removed_capacity);
    RELEASE(world->ended, world->ended_capacity);
    RELEASE(world->edited, world->edited_capacity);
#undef RELEASE
    fm_occupancy_destroy(world->occupancy);
    fm_world_classes_destroy(world);
    fm_buildings_fini(&world->buildings);
    fm_buildings_seen_fini(&world->buildings_shown, &memory);
    fm_lookout_fini(&world->lookout, &memory);
    fm_sight_destroy(world->sight);
    fm_grid_destroy(world->grid);
    fm_memory_release(&memory, world, sizeof *world);
}

// ---- teams --------------------------------------------------------------------------------------

static void create_team(fm_world *world, const fm_command *command, fm_command_result *result)
{
    const fm_planner_spec *spec =
        command->planner.ops != NULL ? &command->planner : &world->rules.planner;
    if (world->team_count >= world->rules.teams_max) {
        result->status = FM_ERR_LIMIT;
        return;
    }
    if (!planner_fits(world, spec) || command->weight > FM_TEAM_WEIGHT_MAX) {
        result->status = FM_ERR_BAD_VALUE;
        return;
    }
    struct fm_team team = {.account = {.weight = command->weight == 0 ? 1 : command->weight},
                           .spec = *spec,
                           .agent_free = FM_SLOT_NONE};
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
    fm_knowledge_use_buildings(team.knowledge, &world->buildings);
    world->teams[world->team_count++] = team;
    result->team = world->team_count;
}

// ---- agents -------------------------------------------------------------------------------------

static const fm_planner_spec *spawned_spec(const fm_world *world, const fm_command *command)
{
    return command->planner.ops != NULL ? &command->planner
                                        : &fm_team_of(world, command->team)->spec;
}

static fm_status check_spawn(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    if (!fm_world_has_team(world, command->team) || command->team == FM_ALL_TEAMS) {
        return FM_ERR_NO_TEAM;
    }
    if (command->class_index >= world->rules.class_count) {
        return FM_ERR_NO_CLASS;
    }
    const fm_planner_spec *spec = spawned_spec(world, command);
    if (!fm_world_planner_fits(world, spec, command->class_index)) {
        return FM_ERR_BAD_VALUE;
    }
    if ((uint64_t)command->speed * FM_SPEED_STRAIGHT >
        (uint64_t)world->rules.tick_millihertz * FM_SPEED_DIAGONAL) {
        return FM_ERR_BAD_VALUE;
    }
    if (command->cell_count > world->rules.agents_max - world->agent_count) {
        return FM_ERR_LIMIT;
    }
    fm_status status = fm_placing_choose(world, command, failed_index);
    if (status != FM_OK) {
        return status;
    }
    struct fm_team *team = fm_team_of(world, command->team);
    if (command->cell_count > FM_AGENTS_MAX - world->agent_slots) {
        return FM_ERR_LIMIT;
    }
    if (!FM_RESERVE(world, world->agents, world->agent_capacity,
                    world->agent_slots + command->cell_count) ||
        !FM_RESERVE(world, team->members, team->member_capacity,
                    team->member_count + command->cell_count) ||
        !fm_crowd_reserve(world, world->agent_slots + command->cell_count)) {
        return FM_ERR_NO_MEMORY;
    }
    return fm_world_prepare_class(world, command->team, command->class_index);
}

static fm_agent_id spawn_one(fm_world *world, const fm_command *command, fm_cell cell)
{
    struct fm_team *owner = fm_team_of(world, command->team);
    uint32_t slot = owner->agent_free;
    uint32_t generation = 0, member = owner->member_count;
    if (slot != FM_SLOT_NONE) {
        owner->agent_free = world->agents[slot].planner;
        generation = world->agents[slot].generation + 1;
        member = world->agents[slot].member;
    } else {
        slot = world->agent_slots++;
        owner->members[owner->member_count++] = slot;
    }
    struct fm_agent *agent = &world->agents[slot];
    *agent = (struct fm_agent){
        .generation = generation,
        .alive = true,
        .must_sense = true,
        .changed = true,
        .class_index = (uint8_t)command->class_index,
        .team = command->team,
        .cell = cell,
        .next = FM_CELL_NONE,
        .planner = FM_SLOT_NONE,
        .spec = *spawned_spec(world, command),
        .order = {.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE},
        .member = member,
        .born = world->agents_born++,
        .speed = command->speed,
        .credit = (int32_t)world->rules.tick_millihertz,
        .heading = FM_DIRECTION_COUNT,
    };
    fm_agent_enter(world, agent);
    world->agent_count += 1;
    owner->account.agents += 1;
    return fm_agent_id_of(world, agent);
}

static void spawn(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_spawn(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->cell_count; i++) {
        fm_agent_id id = spawn_one(world, command, world->placed[i]);
        if (result->spawned != NULL) {
            result->spawned[i] = id;
        }
    }
    result->changed_count = command->cell_count;
}

static void remove_agents(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = fm_orders_check_agents(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        if (agent == NULL) {
            continue; // named twice
        }
        fm_agent_end_all_orders(world, agent, FM_END_DIED);
        fm_agent_release_queue(world, agent);
        world->removed[world->removed_count++] = (fm_agent_left){.id = command->agents[i],
                                                                 .name = fm_agent_own_name(agent),
                                                                 .team = agent->team,
                                                                 .cell = agent->cell,
                                                                 .reason = FM_LEAVE_REMOVED};
        fm_agent_leave(world, agent);
        agent->alive = false;
        // A slot goes back to its team, so that the order of a team's slots depends on nothing but
        // the team's own births and deaths. One whose generations are used up is never given out
        // again: ids stay below 2^53.
        if (agent->generation < FM_AGENT_GENERATION_MAX) {
            struct fm_team *team = fm_team_of(world, agent->team);
            agent->planner = team->agent_free;
            team->agent_free = command->agents[i].index1 - 1;
        }
        world->agent_count -= 1;
        fm_team_of(world, agent->team)->account.agents -= 1;
        result->changed_count += 1;
    }
}

// Nobody is changed unless the planner can work for all.
static fm_status check_planner(fm_world *world, const fm_command *command, uint32_t *failed_index)
{
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        *failed_index = i;
        if (agent == NULL || (command->team != FM_ALL_TEAMS && agent->team != command->team)) {
            return FM_ERR_NO_AGENT;
        }
        const fm_planner_spec *spec = command->planner.ops != NULL
                                          ? &command->planner
                                          : &fm_team_of(world, agent->team)->spec;
        if (!fm_world_planner_fits(world, spec, agent->class_index)) {
            return FM_ERR_BAD_VALUE;
        }
    }
    *failed_index = 0;
    return FM_OK;
}

// Their orders stay. The next tick makes the new searches; until they have an answer the agents
// wait like those with new orders.
static void change_planner(fm_world *world, const fm_command *command, fm_command_result *result)
{
    result->status = check_planner(world, command, &result->failed_index);
    if (result->status != FM_OK) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        agent->spec =
            command->planner.ops != NULL ? command->planner : fm_team_of(world, agent->team)->spec;
        fm_planner_release(world, agent);
        agent->plan_state = FM_PLAN_RUNNING;
    }
    result->changed_count = command->agent_count;
}

static void apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
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
        fm_orders_command(world, command, result);
        return;
    case FM_COMMAND_TERRAIN:
        fm_edits_command(world, command, result);
        return;
    case FM_COMMAND_BUILD:
        fm_construction_build(world, command, result);
        return;
    case FM_COMMAND_DEMOLISH:
        fm_construction_demolish(world, command, result);
        return;
    case FM_COMMAND_PLANNER:
        change_planner(world, command, result);
        return;
    }
    FM_UNREACHABLE();
}

void fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
    *result = (fm_command_result){.status = FM_OK, .spawned = result->spawned};
    world->settled = false;
    fm_world_begin_interval(world);
    uint32_t refusals = fm_world_refusals(world);
    if (fm_world_left_to_do(world) > 0) {
        result->status = FM_ERR_NOT_READY;
        return;
    }
    apply(world, command, result);
    // Also when it is refused: what could be looked up until then, such as labels, stays.
    world->starved |= fm_world_refusals(world) != refusals;
}
