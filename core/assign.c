// core/assign.c: which planner serves which agent, and what follows from an unreachable goal.
//
// Planners that search backward are shared: agents of one team with the same goal and spec find the
// same planner in a hash table and count as its users. The others serve one agent. A planner
// without users ends at once and gives its pages back.
//
// What an order does about its goal:
//
//   walk ── goal proven unreachable ──> fail:    the order ends, unreachable
//                                       wait:    the agent is blocked until the proof falls
//                                       nearest: flood what can be reached, pick the cell nearest
//                                       to
//                                                the goal, walk there with a second planner
//                                                (detour)
//   detour ── goal reachable again ──> walk
//   detour ── substitute unreachable, or reached when knowledge has grown ──> nearest, again
//   detour ── substitute reached and still the nearest ──> the order ends, nearest_reached
//
// The flood belongs to the team, so that twenty agents sent to one enclosed cell cost one flood.

#include "core/world_state.h"

#include "core/random.h"

#define REACH_TICKS_MAX 20u // a flood that began longer ago than this is made again

// ---- planners
// --------------------------------------------------------------------------------------

static uint32_t hash_of(uint32_t team, fm_cell goal, const fm_planner_spec *spec)
{
    uint64_t options = (uint64_t)spec->options.lookahead << 8 | (uint64_t)spec->options.queue << 4 |
                       (uint64_t)spec->options.step << 2 | (uint64_t)spec->options.ties;
    uint64_t name = 0; // of the algorithm, not its address, which changes from run to run
    for (const char *letter = spec->ops->name; *letter != '\0'; letter++) {
        name = name * 31 + (uint8_t)*letter;
    }
    return (uint32_t)fm_mix64(((uint64_t)team << 32 | goal) ^ fm_mix64(name << 40 ^ options));
}

static bool same_spec(const fm_planner_spec *a, const fm_planner_spec *b)
{
    return a->ops == b->ops && a->options.queue == b->options.queue &&
           a->options.ties == b->options.ties && a->options.step == b->options.step &&
           a->options.lookahead == b->options.lookahead;
}

static uint32_t find_shared(const fm_world *world, uint32_t team, fm_cell goal,
                            const fm_planner_spec *spec)
{
    if (world->planner_table == NULL) {
        return FM_SLOT_NONE;
    }
    uint32_t place = hash_of(team, goal, spec) & world->planner_table_mask;
    for (uint32_t entry = world->planner_table[place]; entry != 0;
         entry = world->planners[entry - 1].next) {
        const struct fm_planner *planner = &world->planners[entry - 1];
        if (planner->team == team && planner->goal == goal && same_spec(&planner->spec, spec)) {
            return entry - 1;
        }
    }
    return FM_SLOT_NONE;
}

static void enlist(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners[slot];
    uint32_t place =
        hash_of(planner->team, planner->goal, &planner->spec) & world->planner_table_mask;
    planner->next = world->planner_table[place];
    world->planner_table[place] = slot + 1;
}

static void strike(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners[slot];
    uint32_t *link = &world->planner_table[hash_of(planner->team, planner->goal, &planner->spec) &
                                           world->planner_table_mask];
    while (*link != slot + 1) {
        link = &world->planners[*link - 1].next;
    }
    *link = planner->next;
}

// Keeps the table at most as full as it is large.
static bool grow_table(fm_world *world)
{
    size_t size = world->planner_table == NULL ? 0 : (size_t)world->planner_table_mask + 1;
    if (world->planner_count < size) {
        return true;
    }
    size_t grown = size == 0 ? 64 : size * 2;
    uint32_t *table = fm_memory_allocate_zeroed(&world->memory, grown, sizeof *table);
    if (table == NULL) {
        return false;
    }
    fm_memory_release(&world->memory, world->planner_table, size * sizeof *table);
    world->planner_table = table;
    world->planner_table_mask = (uint32_t)grown - 1;
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        if (world->planners[slot].in_use && world->planners[slot].spec.ops->shared) {
            enlist(world, slot);
        }
    }
    return true;
}

static uint32_t create_planner(fm_world *world, uint32_t team, fm_cell goal,
                               const fm_planner_spec *spec)
{
    const fm_planner_ops *ops = spec->ops;
    bool from_list = world->planner_free != FM_SLOT_NONE;
    if (!grow_table(world) ||
        (!from_list &&
         !FM_RESERVE(world, world->planners, world->planner_capacity, world->planner_slots + 1))) {
        return FM_SLOT_NONE;
    }
    void *self = fm_memory_allocate_zeroed(&world->memory, 1, ops->size);
    if (self == NULL) {
        return FM_SLOT_NONE;
    }
    const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    if (ops->init(self, &knowledge->view, &spec->options, &world->memory, goal) != FM_OK) {
        fm_memory_release(&world->memory, self, ops->size);
        return FM_SLOT_NONE;
    }
    uint32_t slot = world->planner_free;
    if (from_list) {
        world->planner_free = world->planners[slot].next;
    } else {
        slot = world->planner_slots++;
    }
    world->planners[slot] = (struct fm_planner){.in_use = true,
                                                .state = FM_PLAN_RUNNING,
                                                .self = self,
                                                .spec = *spec,
                                                .team = team,
                                                .goal = goal,
                                                .cursor = knowledge->version};
    world->planner_count += 1;
    if (ops->shared) {
        enlist(world, slot);
    }
    return slot;
}

void fm_planner_end(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners[slot];
    const fm_planner_ops *ops = planner->spec.ops;
    if (ops->shared) {
        strike(world, slot);
    }
    // Pages go round the workers' slabs, so that none of them starves.
    world->next_slab = (world->next_slab + 1) % world->slab_count;
    ops->fini(planner->self, &world->slabs[world->next_slab]);
    fm_memory_release(&world->memory, planner->self, ops->size);
    *planner = (struct fm_planner){.next = world->planner_free};
    world->planner_free = slot;
    world->planner_count -= 1;
}

void fm_planners_forget(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        struct fm_planner *planner = &world->planners[slot];
        if (planner->in_use) {
            planner->spec.ops->forget(planner->self, &world->slabs[0]);
            planner->cursor = fm_team_of(world, planner->team)->knowledge->version;
        }
    }
}

// FM_SLOT_NONE when memory is out.
static uint32_t take_planner(fm_world *world, const struct fm_agent *agent, fm_cell goal)
{
    uint32_t slot = FM_SLOT_NONE;
    if (agent->spec.ops->shared) {
        slot = find_shared(world, agent->team, goal, &agent->spec);
    }
    if (slot == FM_SLOT_NONE) {
        slot = create_planner(world, agent->team, goal, &agent->spec);
    }
    if (slot != FM_SLOT_NONE) {
        world->planners[slot].users += 1;
    }
    return slot;
}

static void release_planner(fm_world *world, uint32_t *slot)
{
    if (*slot != FM_SLOT_NONE && --world->planners[*slot].users == 0) {
        fm_planner_end(world, *slot);
    }
    *slot = FM_SLOT_NONE;
}

void fm_agent_release_planners(fm_world *world, struct fm_agent *agent)
{
    release_planner(world, &agent->planner);
    release_planner(world, &agent->detour);
}

// ---- unreachable goals
// -----------------------------------------------------------------------------

static void drop_reach(fm_world *world, struct fm_team *team)
{
    if (team->reach != NULL) {
        fm_reach_fini(team->reach);
        fm_memory_release(&world->memory, team->reach, sizeof *team->reach);
        team->reach = NULL;
    }
}

static bool begin_reach(fm_world *world, struct fm_team *team, fm_cell from)
{
    drop_reach(world, team);
    fm_reach *reach = fm_memory_allocate(&world->memory, sizeof *reach);
    if (reach == NULL) {
        return false;
    }
    if (fm_reach_init(reach, &team->knowledge->view, from, &world->memory) != FM_OK) {
        fm_memory_release(&world->memory, reach, sizeof *reach);
        return false;
    }
    team->reach = reach;
    team->reach_tick = world->tick + 1;
    return true;
}

// The reachable cell nearest to the goal, from the closed list of the agent's own search where it
// kept one. FM_CELL_NONE while the team's flood is not over; `failed` when memory is out.
static fm_cell nearest_reachable(fm_world *world, struct fm_agent *agent, bool *failed)
{
    const struct fm_planner *planner = &world->planners[agent->planner];
    const fm_planner_ops *ops = planner->spec.ops;
    fm_cell cell = ops->nearest == NULL ? FM_CELL_NONE : ops->nearest(planner->self, agent->cell);
    if (cell != FM_CELL_NONE) {
        return cell;
    }
    struct fm_team *team = fm_team_of(world, agent->team);
    bool fresh = team->reach != NULL && !team->reach->exhausted &&
                 team->reach_tick + REACH_TICKS_MAX > world->tick;
    if (team->reach != NULL && !team->reach->done) {
        return FM_CELL_NONE;
    }
    if (!fresh || !fm_bitmap_get(&team->reach->reached, agent->cell) ||
        team->reach_tick <= agent->order.substitute_tick) {
        *failed = !begin_reach(world, team, agent->cell);
        return FM_CELL_NONE;
    }
    return fm_reach_nearest(&team->knowledge->view, &team->reach->reached, agent->order.goal);
}

static void go_to_nearest(fm_world *world, struct fm_agent *agent)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    bool arrived = agent->cell == agent->order.substitute;
    if (arrived && agent->order.substitute_version == knowledge->version) {
        fm_agent_end_order(world, agent, FM_END_NEAREST);
        return;
    }
    bool failed = false;
    fm_cell cell = nearest_reachable(world, agent, &failed);
    agent->wants_reach = cell == FM_CELL_NONE;
    if (failed) {
        fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
        return;
    }
    if (cell == FM_CELL_NONE) {
        fm_agent_set_state(agent, FM_AGENT_WAITING);
        return;
    }
    if (cell == agent->cell ||
        (arrived && fm_view_distance(&knowledge->view, cell, agent->order.goal) >=
                        fm_view_distance(&knowledge->view, agent->cell, agent->order.goal))) {
        fm_agent_end_order(world, agent, FM_END_NEAREST);
        return;
    }
    release_planner(world, &agent->detour);
    agent->detour = take_planner(world, agent, cell);
    agent->order.substitute = cell;
    agent->order.substitute_version = knowledge->version;
    agent->order.substitute_tick = world->tick + 1;
    agent->detour_state = FM_PLAN_RUNNING;
    if (agent->detour == FM_SLOT_NONE) {
        fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
    }
}

static void face_unreachable(fm_world *world, struct fm_agent *agent)
{
    switch (agent->order.on_unreachable) {
    case FM_UNREACHABLE_FAIL:
        fm_agent_end_order(world, agent, FM_END_UNREACHABLE);
        return;
    case FM_UNREACHABLE_WAIT:
        fm_agent_set_state(agent, FM_AGENT_BLOCKED);
        return;
    case FM_UNREACHABLE_NEAREST:
        go_to_nearest(world, agent);
        return;
    }
    FM_UNREACHABLE();
}

// On the way to a substitute: does the reason for it still hold?
static void check_detour(fm_world *world, struct fm_agent *agent)
{
    if (agent->cell == agent->order.substitute || agent->detour_state == FM_PLAN_UNREACHABLE) {
        go_to_nearest(world, agent);
    } else if (agent->detour_state == FM_PLAN_EXHAUSTED) {
        fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
    }
}

static void assign(fm_world *world, struct fm_agent *agent)
{
    if (agent->cell == agent->order.goal) {
        fm_agent_end_order(world, agent, FM_END_ARRIVED);
        return;
    }
    if (agent->planner == FM_SLOT_NONE) {
        agent->planner = take_planner(world, agent, agent->order.goal);
        if (agent->planner == FM_SLOT_NONE) {
            fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
        }
        return;
    }
    switch ((fm_plan_state)agent->plan_state) {
    case FM_PLAN_UNREACHABLE:
        if (agent->detour == FM_SLOT_NONE) {
            face_unreachable(world, agent);
        } else {
            check_detour(world, agent);
        }
        return;
    case FM_PLAN_FOUND:
    case FM_PLAN_PARTIAL:
        release_planner(world, &agent->detour);
        agent->order.substitute = FM_CELL_NONE;
        agent->wants_reach = false;
        return;
    case FM_PLAN_EXHAUSTED:
        fm_agent_end_order(world, agent, FM_END_EXHAUSTED);
        return;
    case FM_PLAN_RUNNING:
        return;
    }
    FM_UNREACHABLE();
}

void fm_stage_assign(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        struct fm_agent *agent = &world->agents[slot];
        if (agent->alive && agent->order.id != 0) {
            assign(world, agent);
        }
    }
    // A flood that nobody waits for any more need not be kept for long.
    for (uint32_t i = 0; i < world->team_count; i++) {
        struct fm_team *team = &world->teams[i];
        if (team->reach != NULL && team->reach_tick + REACH_TICKS_MAX < world->tick) {
            drop_reach(world, team);
        }
    }
}
