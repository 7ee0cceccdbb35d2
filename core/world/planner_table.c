// core/world/planner_table.c: see planner_table.h. A hash table by team, class, goal and spec finds
// the planners that can be shared, and those of auto; slots of ended planners form a list of free
// ones.
//
// Thousands of autos may have one goal. A chain of the table holds one planner for each key, its
// first; those with the same key form a ring with it. So adding and removing one costs the same
// however many are alike.

#include "core/world/planner_table.h"

#include "core/base/random.h"
#include "core/search/jump_search.h"
#include "core/world/due.h"
#include "core/world/view_surveys.h"
#include "core/world/world_state.h"

#include <string.h>

// A private search of each agent's own costs less than a shared one up to about so many (4
// neighbours or uneven costs; agents that set out together).
#define GROUP_MIN 8u

// Where jump points apply, a field costs less than they do from about so many on: 10,000 units in
// fresh fog on the skirmish map, fields against jump points, in processor time of the search stage:
// groups of 24 to 40: 1.59, of 60 to 100: 0.81, of 150 to 200: 0.63.
#define FIELD_GROUP_MIN 64u

// Goal fields of a world. Each team has an equal share, so that what one asks for does not change
// how others search.
#define FIELDS_MAX      4000u
#define TEAM_FIELDS_MIN 8u

static uint32_t hash_of(uint32_t team, uint32_t class_index, fm_cell goal,
                        const fm_planner_spec *spec)
{
    uint64_t options = (uint64_t)spec->options.heuristic << 32 |
                       (uint64_t)spec->options.lookahead << 8 | (uint64_t)spec->options.queue << 4 |
                       (uint64_t)spec->options.step << 2 | (uint64_t)spec->options.ties;
    const fm_field_options *field = &spec->options.field;
    options ^= fm_mix64((uint64_t)field->weight << 48 | (uint64_t)field->period << 32 |
                        (uint64_t)field->horizon << 16 | field->full);
    uint64_t name = 0; // of the algorithm, not its address, which changes from run to run
    for (const char *letter = spec->ops->name; *letter != '\0'; letter++) {
        name = name * 31 + (uint8_t)*letter;
    }
    uint64_t who = (uint64_t)team << 32 | class_index << 24 | goal;
    return (uint32_t)fm_mix64(who ^ fm_mix64(name << 40 ^ options));
}

// The shared ones, and those whose agents are counted because they may form a group.
static bool is_listed(const fm_planner_ops *ops)
{
    return ops->shared || ops->joins_groups;
}

static bool is_alike(const struct fm_planner *planner, uint32_t team, uint32_t class_index,
                     fm_cell goal, const fm_planner_spec *spec)
{
    return planner->team == team && planner->class_index == class_index && planner->goal == goal &&
           fm_planner_spec_equals(&planner->spec, spec);
}

// The link of the table that leads to the first planner of a key; 0 is behind it when there is
// none.
static uint32_t *find_link(const fm_world *world, uint32_t team, uint32_t class_index, fm_cell goal,
                           const fm_planner_spec *spec)
{
    uint32_t place = hash_of(team, class_index, goal, spec) & world->planners.table_mask;
    uint32_t *link = &world->planners.table[place];
    while (*link != 0 &&
           !is_alike(&world->planners.slots[*link - 1], team, class_index, goal, spec)) {
        link = &world->planners.slots[*link - 1].next;
    }
    return link;
}

static uint32_t *find_link_of(const fm_world *world, const struct fm_planner *planner)
{
    return find_link(world, planner->team, planner->class_index, planner->goal, &planner->spec);
}

// A listed planner of an agent's team and class for a goal.
static uint32_t find_first(const fm_world *world, const struct fm_agent *agent, fm_cell goal,
                           const fm_planner_spec *spec)
{
    if (world->planners.table == NULL) {
        return FM_SLOT_NONE;
    }
    uint32_t entry = *find_link(world, agent->team, agent->class_index, goal, spec);
    return entry == 0 ? FM_SLOT_NONE : entry - 1;
}

static void enlist(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners.slots[slot];
    uint32_t *link = find_link_of(world, planner);
    planner->next = 0;
    planner->mate_before = planner->mate_after = slot;
    if (*link == 0) {
        *link = slot + 1;
        return;
    }
    struct fm_planner *first = &world->planners.slots[*link - 1];
    planner->mate_before = *link - 1;
    planner->mate_after = first->mate_after;
    world->planners.slots[first->mate_after].mate_before = slot;
    first->mate_after = slot;
}

static void strike(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners.slots[slot];
    uint32_t *link = find_link_of(world, planner);
    if (*link == slot + 1) {
        bool alone = planner->mate_after == slot;
        *link = alone ? planner->next : planner->mate_after + 1;
        world->planners.slots[planner->mate_after].next = planner->next;
    }
    world->planners.slots[planner->mate_before].mate_after = planner->mate_after;
    world->planners.slots[planner->mate_after].mate_before = planner->mate_before;
}

// Keeps the table at most as full as it is large.
static bool grow_table(fm_world *world)
{
    size_t size = world->planners.table == NULL ? 0 : (size_t)world->planners.table_mask + 1;
    if (world->planners.count < size) {
        return true;
    }
    size_t grown = size == 0 ? 64 : size * 2;
    uint32_t *table = fm_memory_allocate_zeroed(&world->memory, grown, sizeof *table);
    if (table == NULL) {
        return false;
    }
    fm_memory_release(&world->memory, world->planners.table, size * sizeof *table);
    world->planners.table = table;
    world->planners.table_mask = (uint32_t)grown - 1;
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        if (world->planners.slots[slot].in_use && is_listed(world->planners.slots[slot].spec.ops)) {
            enlist(world, slot);
        }
    }
    return true;
}

static uint32_t create_planner(fm_world *world, const struct fm_agent *agent, fm_cell goal,
                               const fm_planner_spec *spec)
{
    const fm_planner_ops *ops = spec->ops;
    bool from_list = world->planners.free != FM_SLOT_NONE;
    if (!grow_table(world) || !fm_due_reserve(world, world->planners.slot_count + 1) ||
        (!from_list && !FM_RESERVE(world, world->planners.slots, world->planners.capacity,
                                   world->planners.slot_count + 1))) {
        return FM_SLOT_NONE;
    }
    void *self = fm_memory_allocate_zeroed(&world->memory, 1, ops->size);
    if (self == NULL) {
        return FM_SLOT_NONE;
    }
    fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    const fm_view *view = fm_knowledge_view(knowledge, agent->class_index);
    bool has_tiles =
        !ops->uses_tiles || fm_knowledge_prepare_tiles(knowledge, agent->class_index) == FM_OK;
    fm_view_surveys_want(world, agent, goal);
    fm_planner_options options = spec->options;
    options.rejoin = world->crowd.occupancy != NULL;
    if (!has_tiles || ops->init(self, view, &options, &world->memory, goal) != FM_OK) {
        fm_memory_release(&world->memory, self, ops->size);
        return FM_SLOT_NONE;
    }
    uint32_t slot = world->planners.free;
    if (from_list) {
        world->planners.free = world->planners.slots[slot].next;
    } else {
        slot = world->planners.slot_count++;
    }
    world->planners.slots[slot] = (struct fm_planner){.in_use = true,
                                                      .state = FM_PLAN_RUNNING,
                                                      .serial = ++world->planners.made,
                                                      .self = self,
                                                      .spec = *spec,
                                                      .kind = (uint8_t)fm_planner_index(ops),
                                                      .team = agent->team,
                                                      .class_index = agent->class_index,
                                                      .goal = goal,
                                                      .recent_tick = world->tick,
                                                      .asked_tick = world->tick,
                                                      .first_agent = FM_SLOT_NONE};
    fm_planner_set_walking(world, slot, false);
    world->planners.slots[slot].cursor = fm_knowledge_log(knowledge, agent->class_index)->version;
    world->planners.count += 1;
    fm_team_of(world, agent->team)->field_count += ops->keeps_field;
    if (is_listed(ops)) {
        enlist(world, slot);
    }
    return slot;
}

void fm_world_expect_workers(fm_world *world, uint32_t count)
{
    struct fm_world_workers *workers = &world->workers;
    for (; workers->count < count; workers->count++) {
        fm_slab_init(&workers->slabs[workers->count], &world->memory);
        fm_scratch_init(&workers->scratches[workers->count], &world->memory);
    }
}

void fm_world_release_workers(fm_world *world)
{
    struct fm_world_workers *workers = &world->workers;
    for (; workers->count > 0; workers->count--) {
        fm_scratch_fini(&workers->scratches[workers->count - 1]);
        fm_slab_fini(&workers->slabs[workers->count - 1]);
    }
}

void fm_planner_end(fm_world *world, uint32_t slot)
{
    struct fm_planner *planner = &world->planners.slots[slot];
    const fm_planner_ops *ops = planner->spec.ops;
    if (is_listed(ops)) {
        strike(world, slot);
    }
    // Pages go to the workers' slabs in turn, so that none of them starves.
    world->workers.next_slab = (world->workers.next_slab + 1) % world->workers.count;
    ops->fini(planner->self, &world->workers.slabs[world->workers.next_slab]);
    fm_memory_release(&world->memory, planner->self, ops->size);
    world->planners.hash_sum -= planner->hash;
    fm_team_of(world, planner->team)->field_count -= ops->keeps_field;
    *planner = (struct fm_planner){.next = world->planners.free};
    fm_due_strike(world, slot);
    world->planners.free = slot;
    world->planners.count -= 1;
}

void fm_planners_forget(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        struct fm_planner *planner = &world->planners.slots[slot];
        if (planner->in_use && fm_team_of(world, planner->team)->forgets) {
            planner->spec.ops->forget(planner->self, &world->workers.slabs[0]);
            fm_planner_set_walking(world, slot, false);
            fm_planner_wake(world, slot);
            const fm_knowledge *knowledge = fm_team_of(world, planner->team)->knowledge;
            planner->cursor = fm_knowledge_log(knowledge, planner->class_index)->version;
        }
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].forgets = false;
    }
}

static bool may_have_field(const fm_world *world, uint32_t team)
{
    uint32_t share = FIELDS_MAX / world->teams.count;
    return fm_team_of(world, team)->field_count <
           (share < TEAM_FIELDS_MIN ? TEAM_FIELDS_MIN : share);
}

// The shared search of agents whose own planners would each search alone: a field of distances, or
// D* Lite where cells differ in cost, or the team has fields enough.
static const fm_planner_spec *group_spec_of(const fm_world *world, const struct fm_agent *agent,
                                            fm_cell goal)
{
    static const fm_planner_spec field = {.ops = &fm_goal_field};
    static const fm_planner_spec weighted = {.ops = &fm_dstar_lite};
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    bool is_uniform = fm_knowledge_view(knowledge, agent->class_index)->weights == NULL;
    bool has_field = is_uniform && (may_have_field(world, agent->team) ||
                                    find_first(world, agent, goal, &field) != FM_SLOT_NONE);
    return has_field ? &field : &weighted;
}

// How many agents must set out for a goal to share a search. With jump points each searches for
// itself, which is cheaper up to a large number, and always when there are fields enough.
static uint32_t group_min(const fm_world *world, const struct fm_agent *agent, fm_cell goal)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    if (!fm_jump_search_applies(fm_knowledge_view(knowledge, agent->class_index))) {
        return GROUP_MIN;
    }
    bool has_field = group_spec_of(world, agent, goal)->ops == &fm_goal_field;
    return has_field ? FIELD_GROUP_MIN : UINT32_MAX;
}

// The search that a group of auto's agents has for a goal, FM_SLOT_NONE when there is none.
static uint32_t find_group(const fm_world *world, const struct fm_agent *agent, fm_cell goal)
{
    return find_first(world, agent, goal, group_spec_of(world, agent, goal));
}

// Whether there are enough agents with auto to share a search, or some do already.
static bool has_group(const fm_world *world, const struct fm_agent *agent, fm_cell goal)
{
    uint32_t wanted = agent->spec.ops->joins_groups ? group_min(world, agent, goal) : UINT32_MAX;
    if (wanted == UINT32_MAX) {
        return false;
    }
    if (find_group(world, agent, goal) != FM_SLOT_NONE) {
        return true;
    }
    uint32_t first = find_first(world, agent, goal, &agent->spec);
    if (first == FM_SLOT_NONE) {
        return false;
    }
    uint32_t count = 2; // the agent's and the first
    for (uint32_t mate = world->planners.slots[first].mate_after; count < wanted && mate != first;
         mate = world->planners.slots[mate].mate_after) {
        count += 1;
    }
    return count == wanted;
}

bool fm_planner_belongs_to_group(const fm_world *world, const struct fm_agent *agent)
{
    const struct fm_planner *planner = &world->planners.slots[agent->planner];
    return planner->spec.ops->joins_groups && agent->spec.ops->joins_groups &&
           find_group(world, agent, planner->goal) != FM_SLOT_NONE;
}

// The agent is a user of the planner from now on.
static void join(fm_world *world, struct fm_agent *agent, uint32_t slot)
{
    struct fm_planner *planner = &world->planners.slots[slot];
    uint32_t self = (uint32_t)(agent - world->agents.slots);
    fm_agent_mark_set(world, agent, FM_MARK_UNDER_WAY);
    agent->planner = slot;
    struct fm_agent_mates *mates = world->agents.mates;
    mates[self] = (struct fm_agent_mates){.before = FM_SLOT_NONE, .after = planner->first_agent};
    if (planner->first_agent != FM_SLOT_NONE) {
        mates[planner->first_agent].before = self;
    }
    planner->first_agent = self;
    planner->users += 1;
    fm_planner_wake(world, slot);
}

static bool take(fm_world *world, struct fm_agent *agent, fm_cell goal, const fm_planner_spec *spec)
{
    uint32_t slot = FM_SLOT_NONE;
    if (spec->ops->shared) {
        slot = find_first(world, agent, goal, spec);
    }
    if (slot == FM_SLOT_NONE) {
        slot = create_planner(world, agent, goal, spec);
    }
    if (slot != FM_SLOT_NONE) {
        join(world, agent, slot);
    }
    return slot != FM_SLOT_NONE;
}

bool fm_planner_take(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    bool marches = fm_order_marches(&agent->order) && !agent->spec.ops->shared;
    bool in_group = marches || has_group(world, agent, goal);
    uint64_t made = world->planners.made;
    bool taken =
        take(world, agent, goal, in_group ? group_spec_of(world, agent, goal) : &agent->spec);
    world->counts.replans[FM_REPLAN_GOAL] += world->planners.made - made;
    return taken;
}

bool fm_planner_take_exact(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    static const fm_planner_spec exact = {.ops = &fm_dstar_lite};
    return take(world, agent, goal, &exact);
}

void fm_planner_release(fm_world *world, struct fm_agent *agent)
{
    uint32_t slot = agent->planner;
    if (slot == FM_SLOT_NONE) {
        return;
    }
    struct fm_planner *planner = &world->planners.slots[slot];
    struct fm_agent_mates *mates = world->agents.mates;
    struct fm_agent_mates own = mates[agent - world->agents.slots];
    if (own.before == FM_SLOT_NONE) {
        planner->first_agent = own.after;
    } else {
        mates[own.before].after = own.after;
    }
    if (own.after != FM_SLOT_NONE) {
        mates[own.after].before = own.before;
    }
    agent->planner = FM_SLOT_NONE;
    fm_agent_mark_set(world, agent, FM_MARK_ATTEND);
    if (--planner->users == 0) {
        fm_planner_end(world, slot);
    } else {
        fm_planner_wake(world, slot);
    }
}

void fm_planner_redirect(fm_world *world, struct fm_agent *agent, fm_cell goal)
{
    uint32_t slot = agent->planner;
    if (slot == FM_SLOT_NONE) {
        return;
    }
    struct fm_planner *planner = &world->planners.slots[slot];
    if (planner->spec.ops->shared || goal == FM_CELL_NONE) {
        fm_planner_release(world, agent);
        return;
    }
    bool listed = is_listed(planner->spec.ops);
    if (listed) {
        strike(world, slot);
    }
    planner->spec.ops->set_goal(planner->self, goal, &world->workers.slabs[0]);
    planner->goal = goal;
    planner->state = FM_PLAN_RUNNING;
    planner->asked_tick = world->tick;
    planner->turns = 0;
    world->counts.replans[FM_REPLAN_GOAL] += 1;
    if (listed) {
        enlist(world, slot);
    }
    fm_planner_set_walking(world, slot, false);
    fm_planner_wake(world, slot);
}

uint32_t fm_planner_distance(const fm_world *world, const struct fm_agent *agent,
                             const struct fm_planner *planner, fm_cell cell)
{
    uint32_t distances[FM_DIRECTION_COUNT + 1];
    fm_planner_distances(planner->spec.ops, planner->self,
                         fm_world_truth(world, agent->class_index), planner->goal, cell, 0,
                         distances);
    return distances[FM_DIRECTION_COUNT];
}

const char *fm_planner_runs(const struct fm_planner *planner)
{
    const fm_planner_ops *ops = planner->spec.ops;
    return (ops->runs == NULL ? ops : ops->runs(planner->self))->name;
}

uint64_t fm_planner_recent(const struct fm_planner *planner, uint64_t tick)
{
    uint64_t recent = planner->recent;
    for (uint64_t i = planner->recent_tick; i < tick && recent >= FM_RECENT_TICKS; i++) {
        recent -= recent / FM_RECENT_TICKS;
    }
    return recent;
}

// ---- saved worlds -------------------------------------------------------------------------------

// Whether the planner of an agent can be saved; drops the rest, its replans and recent costs
// included.
static bool keep(fm_world *world, const struct fm_agent *agent)
{
    struct fm_planner *planner = &world->planners.slots[agent->planner];
    const fm_planner_ops *ops = planner->spec.ops;
    const fm_knowledge *knowledge = fm_team_of(world, planner->team)->knowledge;
    bool is_own = !ops->shared && fm_planner_spec_equals(&planner->spec, &agent->spec);
    const fm_change_log *log = fm_knowledge_log(knowledge, planner->class_index);
    bool walks = fm_planner_walks(world, agent->planner);
    bool has_news = planner->disturbed || log->version != (walks ? log->trimmed : planner->cursor);
    if (ops->settle == NULL || !is_own || has_news || planner->state != FM_PLAN_FOUND ||
        planner->goal != fm_order_aim(&agent->order) ||
        !ops->settle(planner->self, &world->workers.slabs[0])) {
        return false;
    }
    planner->replans = planner->noted_replans = 0;
    planner->recent = 0;
    planner->cursor = log->version;
    return true;
}

// Moves the planners that are left to the first slots, in order, and lists them again.
static void close_ranks(fm_world *world)
{
    uint32_t kept = 0;
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        if (world->planners.slots[slot].in_use) {
            world->planners.slots[kept] = world->planners.slots[slot];
            world->agents.slots[world->planners.slots[kept].first_agent].planner = kept;
            kept += 1;
        }
    }
    world->planners.slot_count = kept;
    world->planners.free = FM_SLOT_NONE;
    if (world->planners.table != NULL) {
        memset(world->planners.table, 0,
               ((size_t)world->planners.table_mask + 1) * sizeof *world->planners.table);
    }
    for (uint32_t slot = 0; slot < kept; slot++) {
        if (is_listed(world->planners.slots[slot].spec.ops)) {
            enlist(world, slot);
        }
    }
    fm_due_reset(world);
}

void fm_planners_settle(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        struct fm_agent *agent = &world->agents.slots[slot];
        if (!agent->alive || agent->planner == FM_SLOT_NONE) {
            continue;
        }
        if (!keep(world, agent)) {
            // A search that ran out of memory ends its order in the next tick and is not tried
            // again.
            bool exhausted = agent->plan_state == FM_PLAN_EXHAUSTED;
            fm_planner_release(world, agent);
            agent->plan_state = exhausted ? FM_PLAN_EXHAUSTED : FM_PLAN_RUNNING;
        }
    }
    close_ranks(world);
}

fm_status fm_planner_restore(fm_world *world, struct fm_agent *agent, fm_reader *reader)
{
    FM_ASSERT(agent->planner == FM_SLOT_NONE && fm_order_aim(&agent->order) != FM_CELL_NONE);
    const fm_planner_ops *ops = agent->spec.ops;
    if (ops->load == NULL) {
        fm_reader_fail(reader, "A planner of the kind %s is never saved.", ops->name);
        return FM_ERR_BAD_FORMAT;
    }
    uint32_t slot = create_planner(world, agent, fm_order_aim(&agent->order), &agent->spec);
    if (slot == FM_SLOT_NONE) {
        return FM_ERR_NO_MEMORY;
    }
    struct fm_planner *planner = &world->planners.slots[slot];
    join(world, agent, slot);
    planner->state = FM_PLAN_FOUND;
    planner->expansions = fm_reader_take_varint(reader);
    planner->noted_expansions = planner->expansions;
    return ops->load(planner->self, reader);
}

void fm_planner_save(const struct fm_planner *planner, fm_writer *writer)
{
    fm_writer_put_varint(writer, planner->expansions);
    planner->spec.ops->save(planner->self, writer);
}
