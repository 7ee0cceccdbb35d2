// core/watch.c: what a watched view is told after each tick.
//
// A view remembers one bit per agent slot: whether the agent was in view after the last tick.
// Comparing it with what is in view now gives enter, change and leave. Nothing in here is part of
// the simulation: a world ticks the same whether it is watched or not.

#include "core/world_state.h"

static bool is_shown(const struct fm_watch *watch, uint32_t slot)
{
    return slot / 64 < watch->shown_words && watch->shown[slot / 64] >> slot % 64 & 1;
}

static bool reserve_shown(const fm_world *world, struct fm_watch *watch)
{
    uint32_t words = (world->agent_slots + 63) / 64;
    uint32_t before = watch->shown_words;
    if (!fm_reserve(&world->memory, (void **)&watch->shown, &watch->shown_words, words,
                    sizeof *watch->shown)) {
        return false;
    }
    if (watch->shown_words > before) {
        memset(watch->shown + before, 0, (watch->shown_words - before) * sizeof *watch->shown);
    }
    return true;
}

static void look_around(const fm_world *world, uint32_t team, struct fm_watch *watch)
{
    if (team == FM_ALL_TEAMS) {
        return;
    }
    const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
    fm_bitmap_clear(&watch->visible);
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (agent->alive && agent->team == team) {
            fm_knowledge_look(knowledge, agent->cell, &watch->visible);
        }
    }
}

static bool is_in_view(uint32_t team, const struct fm_watch *watch, const struct fm_agent *agent)
{
    return team == FM_ALL_TEAMS || agent->team == team ||
           fm_bitmap_get(&watch->visible, agent->cell);
}

static fm_agent_look look_of(const fm_world *world, uint32_t team, const struct fm_agent *agent)
{
    bool own = team == FM_ALL_TEAMS || agent->team == team;
    return (fm_agent_look){.id = fm_agent_id_of(world, agent),
                           .team = agent->team,
                           .cell = agent->cell,
                           .state = own ? (fm_agent_state)agent->state : FM_AGENT_IDLE};
}

// Agents that were removed may have left their slot to new ones, so they go first.
static void note_removed(const fm_world *world, struct fm_watch *watch)
{
    for (uint32_t i = 0; i < world->removed_count; i++) {
        uint32_t slot = world->removed[i].id.index1 - 1;
        if (is_shown(watch, slot)) {
            watch->shown[slot / 64] &= ~((uint64_t)1 << slot % 64);
            watch->left[watch->left_count++] = world->removed[i];
        }
    }
}

static void note_agents(const fm_world *world, uint32_t team, struct fm_watch *watch)
{
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (!agent->alive) {
            continue;
        }
        bool now = is_in_view(team, watch, agent), before = is_shown(watch, slot);
        if (now && !before) {
            watch->entered[watch->entered_count++] = look_of(world, team, agent);
            watch->shown[slot / 64] |= (uint64_t)1 << slot % 64;
        } else if (now && agent->changed) {
            watch->changed[watch->changed_count++] = look_of(world, team, agent);
        } else if (!now && before) {
            watch->left[watch->left_count++] =
                (fm_agent_left){.id = fm_agent_id_of(world, agent), .reason = FM_LEAVE_FOG};
            watch->shown[slot / 64] &= ~((uint64_t)1 << slot % 64);
        }
    }
}

static void note_edits(const fm_world *world, struct fm_watch *watch)
{
    for (uint32_t i = 0; i < world->edited_count; i++) {
        watch->cells[watch->cell_count++] = fm_world_look_up(world, FM_ALL_TEAMS, world->edited[i]);
    }
}

static void note_endings(const fm_world *world, uint32_t team, struct fm_watch *watch)
{
    for (uint32_t i = 0; i < world->ended_count; i++) {
        if (team == FM_ALL_TEAMS || world->ended[i].team == team) {
            watch->ended[watch->ended_count++] = world->ended[i];
        }
    }
}

static bool reserve_lists(const fm_world *world, struct fm_watch *watch)
{
    uint32_t slots = world->agent_slots;
    return reserve_shown(world, watch) &&
           FM_RESERVE(world, watch->entered, watch->entered_capacity, slots) &&
           FM_RESERVE(world, watch->changed, watch->changed_capacity, slots) &&
           FM_RESERVE(world, watch->left, watch->left_capacity, slots + world->removed_count) &&
           FM_RESERVE(world, watch->cells, watch->cell_capacity, world->edited_count) &&
           FM_RESERVE(world, watch->ended, watch->ended_capacity, world->ended_count);
}

void fm_watch_observe(const fm_world *world, uint32_t team, struct fm_watch *watch)
{
    watch->entered_count = 0;
    watch->changed_count = 0;
    watch->left_count = 0;
    watch->cell_count = 0;
    watch->ended_count = 0;
    if (!reserve_lists(world, watch)) {
        return; // memory is out; who came and went is noticed in a later tick
    }
    look_around(world, team, watch);
    note_removed(world, watch);
    note_agents(world, team, watch);
    note_endings(world, team, watch);
    if (team == FM_ALL_TEAMS) {
        note_edits(world, watch);
    }
}

void fm_watch_destroy(fm_world *world, struct fm_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    const fm_memory *memory = &world->memory;
#define RELEASE(array, capacity) fm_memory_release(memory, array, (capacity) * sizeof *(array))
    RELEASE(watch->shown, watch->shown_words);
    RELEASE(watch->entered, watch->entered_capacity);
    RELEASE(watch->changed, watch->changed_capacity);
    RELEASE(watch->left, watch->left_capacity);
    RELEASE(watch->cells, watch->cell_capacity);
    RELEASE(watch->ended, watch->ended_capacity);
#undef RELEASE
    fm_bitmap_fini(&watch->visible, memory);
    fm_memory_release(memory, watch, sizeof *watch);
}

static struct fm_watch **watch_of(const fm_world *world, uint32_t team)
{
    return team == FM_ALL_TEAMS ? (struct fm_watch **)&world->watch_all
                                : &fm_team_of(world, team)->watch;
}

static fm_status begin_watch(fm_world *world, uint32_t team)
{
    struct fm_watch *watch = fm_memory_allocate_zeroed(&world->memory, 1, sizeof *watch);
    if (watch == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    if (!reserve_lists(world, watch) ||
        (team != FM_ALL_TEAMS &&
         fm_bitmap_init(&watch->visible, world->grid->width, world->grid->height, false,
                        &world->memory) != FM_OK)) {
        fm_watch_destroy(world, watch);
        return FM_ERR_NO_MEMORY;
    }
    look_around(world, team, watch);
    note_agents(world, team, watch);
    watch->entered_count = 0; // the snapshot shows them
    watch->changed_count = 0;
    *watch_of(world, team) = watch;
    return FM_OK;
}

fm_status fm_world_watch(fm_world *world, uint32_t team, bool wanted)
{
    if (!fm_world_has_team(world, team)) {
        return FM_ERR_NO_TEAM;
    }
    struct fm_watch **watch = watch_of(world, team);
    if (team != FM_ALL_TEAMS) {
        fm_team_of(world, team)->knowledge->keep_learned = wanted;
    }
    if (wanted) {
        return *watch != NULL ? FM_OK : begin_watch(world, team);
    }
    fm_watch_destroy(world, *watch);
    *watch = NULL;
    return FM_OK;
}

fm_changes fm_world_changes(const fm_world *world, uint32_t team)
{
    const struct fm_watch *watch = *watch_of(world, team);
    if (watch == NULL) {
        return (fm_changes){0};
    }
    fm_changes changes = {
        .entered = watch->entered,
        .changed = watch->changed,
        .left = watch->left,
        .cells = watch->cells,
        .ended = watch->ended,
        .entered_count = watch->entered_count,
        .changed_count = watch->changed_count,
        .left_count = watch->left_count,
        .cell_count = watch->cell_count,
        .ended_count = watch->ended_count,
    };
    if (team != FM_ALL_TEAMS) {
        const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
        changes.cells = knowledge->learned;
        changes.cell_count = knowledge->learned_count;
    }
    return changes;
}

fm_learned fm_world_look_up(const fm_world *world, uint32_t team, fm_cell cell)
{
    FM_ASSERT(fm_world_has_team(world, team));
    if (team == FM_ALL_TEAMS) {
        size_t i = fm_grid_index(world->grid, cell);
        return (fm_learned){
            .cell = cell, .terrain = world->grid->terrain[i], .cost = world->grid->cost[i]};
    }
    return fm_knowledge_look_up(fm_team_of(world, team)->knowledge, cell);
}

uint32_t fm_world_agents_in_view(const fm_world *world, uint32_t team, fm_agent_look *agents,
                                 uint32_t capacity)
{
    const struct fm_watch *watch = *watch_of(world, team);
    uint32_t count = 0;
    for (uint32_t slot = 0; watch != NULL && slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (agent->alive && is_shown(watch, slot)) {
            if (count < capacity) {
                agents[count] = look_of(world, team, agent);
            }
            count += 1;
        }
    }
    return count;
}
