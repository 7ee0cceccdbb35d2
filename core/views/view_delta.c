// core/views/view_delta.c: what changes in a watched view with each tick.
//
// A view remembers one bit per agent slot: whether the agent was in view after the last tick.
// Comparing it with what is in view now gives enter, change and leave. Nothing in here is part of
// the simulation: a world ticks the same whether it is watched or not.
//
// What a team is shown must depend on what it owns and sees alone, down to the order of the
// entries; so nothing here walks a team's view in the order of all agents' slots. See names.h.

#include "core/views/view_delta.h"

#include "core/views/endings.h"
#include "core/views/looked.h"
#include "core/views/presence.h"
#include "core/views/sight.h"

#include "core/world/names.h"
#include "core/world/watched_view.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#include <stdlib.h>

#define FETCH_AHEAD 8u // agents

static bool is_shown(const struct fm_view_delta *delta, uint32_t slot)
{
    return slot / 64 < delta->shown_words && delta->shown[slot / 64] >> slot % 64 & 1;
}

static bool reserve_bits(const fm_world *world, uint64_t **bits, uint32_t *words)
{
    return fm_reserve_zeroed(&world->memory, (void **)bits, words, fm_mark_words(world),
                             sizeof **bits);
}

static bool reserve_shown(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    return reserve_bits(world, &delta->shown, &delta->shown_words) &&
           (team == FM_ALL_TEAMS || reserve_bits(world, &delta->own, &delta->own_words));
}

// A slot stays its team's, and new ones come last, unless teams have exchanged some.
static void follow_own(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    const struct fm_team *own = fm_team_of(world, team);
    if (delta->exchanges != own->exchanges) {
        delta->exchanges = own->exchanges;
        delta->own_count = 0;
        memset(delta->own, 0, delta->own_words * sizeof *delta->own);
        fm_looked_forget(&delta->looked);
    }
    for (; delta->own_count < own->member_count; delta->own_count++) {
        uint32_t slot = own->members[delta->own_count];
        delta->own[slot / 64] |= (uint64_t)1 << slot % 64;
    }
}

// Whether any agent lives that the team does not own.
static bool has_others(const fm_world *world, uint32_t team)
{
    return fm_team_of(world, team)->account.agents < world->agents.count;
}

// Whether agents of others are gone since the last tick.
static bool others_were_removed(const fm_world *world, uint32_t team,
                                const struct fm_view_delta *delta)
{
    for (uint32_t i = delta->removed_before; i < world->interval.removed_count; i++) {
        if (world->interval.removed[i].team != team &&
            world->interval.removed[i].reason != FM_LEAVE_DIED) {
            return true;
        }
    }
    return false;
}

// Whether an agent stands in a tile marked in `near`, or nothing is marked.
static bool is_near(const fm_world *world, const struct fm_view_delta *delta, fm_cell cell,
                    uint8_t what)
{
    return delta->near == NULL ||
           (delta->near[fm_presence_tile(&world->presence, cell)] & what) != 0;
}

// Finds the tiles with agents to be seen, if presence is kept. With more teams than bits another
// team may share this team's bit.
static uint64_t find_others(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    uint32_t tiles = world->presence.columns * world->presence.rows;
    if (world->presence.teams == NULL || world->teams.count > 64 ||
        !FM_RESERVE(world, delta->near, delta->near_capacity, tiles)) {
        fm_memory_release(&world->memory, delta->near, delta->near_capacity);
        delta->near = NULL;
        delta->near_capacity = 0;
        return UINT64_MAX;
    }
    return fm_presence_near(world, team, delta->near);
}

// Returns the teams that may be seen, as bits, and marks visible cells only near them, unless all
// visible cells are wanted. This saves 10 of 16 ms with eight views of 100,000 agents.
static uint64_t look_around(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                            bool is_first)
{
    delta->is_visible_new = delta->sees_other = true;
    if (team == FM_ALL_TEAMS) {
        return 0;
    }
    bool removed = others_were_removed(world, team, delta);
    bool tells_sight = delta->sight.told.words != NULL;
    if (!removed && !tells_sight && !has_others(world, team)) {
        fm_looked_forget(&delta->looked);
        return 0;
    }
    uint64_t others = find_others(world, team, delta);
    if (others == 0 && !removed && !tells_sight) {
        fm_bitmap_clear(&delta->visible);
        fm_looked_forget(&delta->looked);
        return 0;
    }
    fm_looked_update(world, team, delta, tells_sight || removed,
                     is_first || removed || delta->near == NULL);
    return others;
}

static bool is_in_view(const fm_world *world, uint32_t team, const struct fm_view_delta *delta,
                       const struct fm_agent *agent)
{
    return team == FM_ALL_TEAMS || agent->team == team ||
           fm_agent_touches(world, agent, &delta->visible);
}

// Whether a view has to be sent the agent's tag.
static bool tells_tag(const fm_world *world, const struct fm_agent *agent, bool own, bool is_new)
{
    if (world->agents.tag_count == 0 || agent->tag == NULL) {
        return false; // mostly told without a look at the agent
    }
    if (is_new) {
        return agent->tag_size > 0 && (own || agent->tag_shown);
    }
    return (own ? agent->tag->own_tick : agent->tag->other_tick) == world->tick + 1;
}

// @param is_new  it comes into view
static fm_agent_look look_of(const fm_world *world, uint32_t team,
                             const struct fm_view_delta *delta, const struct fm_agent *agent,
                             bool is_new)
{
    bool own = team == FM_ALL_TEAMS || agent->team == team;
    fm_agent_id id = fm_agent_id_of(world, agent);
    return (fm_agent_look){.id = id,
                           .name = team == FM_ALL_TEAMS ? id
                                   : own                ? fm_agent_own_name(agent)
                                         : fm_sightings_name(&delta->sightings, id.index1 - 1),
                           .team = agent->team,
                           .cell = agent->cell,
                           .class_index = agent->class_index,
                           .tells_tag = tells_tag(world, agent, own, is_new),
                           .state = own ? (fm_agent_state)agent->state : FM_AGENT_IDLE};
}

static void set_shown(struct fm_view_delta *delta, uint32_t slot, bool shown)
{
    uint64_t bit = (uint64_t)1 << slot % 64;
    uint64_t *word = &delta->shown[slot / 64];
    *word = shown ? *word | bit : *word & ~bit;
}

// One that has changed teams had another name for both of them; others see it change.
//
// Agents that were removed may have left their slot to new ones, so they go first. Agents removed
// before the subscription began were not shown, even if their slot's bit is set.
static void note_removed(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    for (uint32_t i = delta->removed_before; i < world->interval.removed_count; i++) {
        fm_agent_left left = world->interval.removed[i];
        uint32_t slot = left.id.index1 - 1;
        bool stays = left.reason == FM_LEAVE_TURNED && left.team != team && left.new_team != team;
        bool died_aboard =
            left.reason == FM_LEAVE_DIED; // told to its own team and to the view of everything
        if (died_aboard ? team != FM_ALL_TEAMS && team != left.team
                        : !is_shown(delta, slot) || stays) {
            continue;
        }
        if (!died_aboard) {
            set_shown(delta, slot, false);
        }
        if (team == FM_ALL_TEAMS) {
            left.name = left.id;
        } else if (left.team != team) {
            left.name = fm_sightings_end(&delta->sightings, slot);
            if (!fm_bitmap_get(&delta->visible, left.cell)) {
                left.reason = FM_LEAVE_FOG; // no unit is there to see whether it died or left
                left.cell = 0;
            }
        }
        delta->left[delta->left_count++] = left;
    }
}

// An agent that this view always shows.
static void note_open(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                      uint32_t slot)
{
    const struct fm_agent *agent = &world->agents.slots[slot];
    if (!agent->alive) {
        return;
    }
    if (!is_shown(delta, slot)) {
        delta->entered[delta->entered_count++] = look_of(world, team, delta, agent, true);
        set_shown(delta, slot, true);
    } else if (fm_agent_is_marked(world, slot, FM_MARK_CHANGED) ||
               fm_agent_is_marked(world, slot, FM_MARK_STATE)) {
        delta->changed[delta->changed_count++] = look_of(world, team, delta, agent, false);
    }
}

// An agent of others that was in view: still there, or gone into the fog. That its state is another
// is not told, so not even by an entry that says the same as before.
static void note_sighted(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                         uint32_t slot)
{
    const struct fm_agent *agent = &world->agents.slots[slot];
    if (is_in_view(world, team, delta, agent)) {
        if (fm_agent_is_marked(world, slot, FM_MARK_CHANGED)) {
            delta->changed[delta->changed_count++] = look_of(world, team, delta, agent, false);
        }
        return;
    }
    set_shown(delta, slot, false);
    delta->left[delta->left_count++] =
        (fm_agent_left){.id = fm_agent_id_of(world, agent),
                        .name = fm_sightings_end(&delta->sightings, slot),
                        .team = agent->team,
                        .reason = FM_LEAVE_FOG};
}

static int compare_sightings(const void *a, const void *b, void *context)
{
    const uint32_t *of_slot = context;
    uint32_t x = of_slot[*(const uint32_t *)a], y = of_slot[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

// Agents of others that have changed in this tick, shown or not, into `fresh`. False when there is
// no memory for them.
static bool gather_changed(const fm_world *world, struct fm_view_delta *delta, bool shown,
                           uint32_t *count)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        const struct fm_agent_marks *marks = &world->agents.marks[i];
        uint64_t bits = marks->of[FM_MARK_LIVE] & marks->of[FM_MARK_CHANGED] & ~delta->own[i] &
                        (shown ? delta->shown[i] : ~delta->shown[i]);
        if (bits != 0 && !FM_RESERVE(world, delta->fresh, delta->fresh_capacity, *count + 64)) {
            return false;
        }
        for (; bits != 0; bits &= bits - 1) {
            delta->fresh[(*count)++] = i * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return true;
}

// Where the same is seen of where others are, who has not changed is in view as before.
static void note_all_sighted(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    fm_sightings *sightings = &delta->sightings;
    uint32_t count = 0;
    if (!delta->sees_other && gather_changed(world, delta, true, &count)) {
        if (count > 1) {
            qsort_r(delta->fresh, count, sizeof *delta->fresh, compare_sightings,
                    sightings->of_slot);
        }
        for (uint32_t i = 0; i < count; i++) {
            note_sighted(world, team, delta, delta->fresh[i]);
        }
        return;
    }
    for (uint32_t i = 0; i < sightings->count; i++) {
        if (i + FETCH_AHEAD < sightings->count) {
            __builtin_prefetch(&world->agents.slots[sightings->list[i + FETCH_AHEAD].slot]);
        }
        if (sightings->list[i].taken) {
            note_sighted(world, team, delta, sightings->list[i].slot);
        }
    }
}

// By what every player sees, and then by what does not depend on other agents' births.
static int compare_fresh(const void *a, const void *b, void *context)
{
    const fm_world *world = context;
    const struct fm_agent *x = &world->agents.slots[*(const uint32_t *)a];
    const struct fm_agent *y = &world->agents.slots[*(const uint32_t *)b];
    if (x->cell != y->cell) {
        return x->cell < y->cell ? -1 : 1;
    }
    if (x->team != y->team) {
        return x->team < y->team ? -1 : 1;
    }
    return (x->born > y->born) - (x->born < y->born);
}

static bool comes_into_view(const fm_world *world, uint32_t team, const struct fm_view_delta *delta,
                            uint32_t slot)
{
    const struct fm_agent *agent = &world->agents.slots[slot];
    return agent->alive && !is_shown(delta, slot) &&
           is_near(world, delta, agent->cell, FM_NEAR_OTHERS) &&
           is_in_view(world, team, delta, agent);
}

// Those of one team that come into view.
static bool gather_fresh(const fm_world *world, uint32_t team, const struct fm_team *other,
                         struct fm_view_delta *delta, uint32_t *count)
{
    for (uint32_t i = 0; i < other->member_count; i++) {
        uint32_t slot = other->members[i];
        if (i + FETCH_AHEAD < other->member_count) {
            __builtin_prefetch(&world->agents.slots[other->members[i + FETCH_AHEAD]]);
        }
        if (comes_into_view(world, team, delta, slot)) {
            if (!FM_RESERVE(world, delta->fresh, delta->fresh_capacity, *count + 1)) {
                return false;
            }
            delta->fresh[(*count)++] = slot;
        }
    }
    return true;
}

// The same of all other teams, where the tiles of all agents are listed: most are told apart
// without a look at them.
static bool gather_fresh_by_tiles(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                                  uint32_t *count)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        uint64_t bits = world->agents.marks[i].of[FM_MARK_LIVE] & ~delta->own[i] & ~delta->shown[i];
        if (bits == 0) {
            continue;
        }
        if (delta->near != NULL) {
            bits = fm_presence_near_in_word(&world->presence, delta->near, FM_NEAR_OTHERS, i, bits);
        }
        if (!FM_RESERVE(world, delta->fresh, delta->fresh_capacity, *count + 64)) {
            return false;
        }
        for (; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            fm_cell cell = world->presence.cells[slot];
            if (cell == FM_CELL_NONE ? comes_into_view(world, team, delta, slot)
                                     : fm_bitmap_get(&delta->visible, cell)) {
                delta->fresh[(*count)++] = slot;
            }
        }
    }
    return true;
}

// Those who changed, as in note_all_sighted().
static bool gather_fresh_of_changed(const fm_world *world, uint32_t team,
                                    struct fm_view_delta *delta, uint32_t *count)
{
    uint32_t changed = 0;
    if (!gather_changed(world, delta, false, &changed)) {
        return false;
    }
    for (uint32_t i = 0; i < changed; i++) {
        if (comes_into_view(world, team, delta, delta->fresh[i])) {
            delta->fresh[(*count)++] = delta->fresh[i];
        }
    }
    return true;
}

// @param others  as in note_agents()
static bool gather_all_fresh(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                             uint64_t others, uint32_t *count)
{
    if (!delta->sees_other) {
        return gather_fresh_of_changed(world, team, delta, count);
    }
    if (world->presence.has_tiles) {
        return others == 0 || gather_fresh_by_tiles(world, team, delta, count);
    }
    for (uint32_t i = 1; i <= world->teams.count; i++) {
        if (i != team && others >> i % 64 & 1 &&
            !gather_fresh(world, team, fm_team_of(world, i), delta, count)) {
            return false;
        }
    }
    return true;
}

// Agents of others that come into view. When out of memory for their aliases they come in a later
// tick.
static void note_fresh(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                       uint64_t others)
{
    uint32_t count = 0;
    bool complete = gather_all_fresh(world, team, delta, others, &count);
    if (complete && count == 0) {
        return;
    }
    if (!complete ||
        !fm_sightings_reserve(&delta->sightings, count, world->agents.slot_count, &world->memory)) {
        fm_looked_forget(&delta->looked);
        return;
    }
    qsort_r(delta->fresh, count, sizeof *delta->fresh, compare_fresh, (void *)world);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = delta->fresh[i];
        fm_sightings_begin(&delta->sightings, slot);
        set_shown(delta, slot, true);
        delta->entered[delta->entered_count++] =
            look_of(world, team, delta, &world->agents.slots[slot], true);
    }
}

// One word of them.
static inline uint64_t open_marks(const fm_world *world, uint32_t team,
                                  const struct fm_view_delta *delta, uint32_t word)
{
    const struct fm_agent_marks *marks = &world->agents.marks[word];
    return marks->of[FM_MARK_LIVE] &
           (marks->of[FM_MARK_CHANGED] | marks->of[FM_MARK_STATE] | ~delta->shown[word]) &
           (team == FM_ALL_TEAMS ? UINT64_MAX : delta->own[word]);
}

// A team that has exchanged agents with others has slots in an order that depends on when others
// were born, which it may not know. Its members come in the order of their names.
static void note_all_members(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    const struct fm_team *own = fm_team_of(world, team);
    for (uint32_t i = 0; i < own->member_count; i++) {
        uint32_t slot = own->members[i];
        if (open_marks(world, team, delta, slot / 64) >> slot % 64 & 1) {
            note_open(world, team, delta, slot);
        }
    }
}

// Of the agents that are always in view, those that have changed or are new.
static void note_all_open(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    if (team != FM_ALL_TEAMS && fm_team_of(world, team)->exchanges > 0) {
        note_all_members(world, team, delta);
        return;
    }
    uint32_t words = fm_mark_words(world);
    uint64_t ahead = words > 0 ? open_marks(world, team, delta, 0) : 0;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t bits = ahead;
        ahead = i + 1 < words ? open_marks(world, team, delta, i + 1) : 0;
        for (uint64_t fetch = ahead; bits != 0; bits &= bits - 1) {
            fetch = fm_agents_fetch_next(&world->agents, i + 1, fetch);
            note_open(world, team, delta, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

// @param others  the teams that may be in view, as bits
static void note_agents(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                        uint64_t others)
{
    note_all_open(world, team, delta);
    if (team != FM_ALL_TEAMS) {
        note_all_sighted(world, team, delta);
        note_fresh(world, team, delta, others);
    }
}

static void note_edits(const fm_world *world, struct fm_view_delta *delta)
{
    for (uint32_t i = 0; i < world->interval.edited_count; i++) {
        delta->cells[delta->cell_count++] =
            fm_world_look_up(world, FM_ALL_TEAMS, world->interval.edited[i]);
    }
}

static int compare_alerts(const void *a, const void *b)
{
    const fm_alert *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Of units that stopped for an enemy. By number, and not in the order of all agents' slots.
static void note_alerts(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    delta->alert_count = 0;
    for (uint32_t i = 0; i < world->interval.alert_count; i++) {
        if (team == FM_ALL_TEAMS || world->interval.alerts[i].team == team) {
            FM_ASSERT(delta->alert_count < delta->alert_capacity);
            delta->alerts[delta->alert_count++] = world->interval.alerts[i];
        }
    }
    if (team != FM_ALL_TEAMS && delta->alert_count > 1) {
        qsort(delta->alerts, delta->alert_count, sizeof *delta->alerts, compare_alerts);
    }
}

// The enemy may have gone out of sight in this tick.
static void name_alerts(uint32_t team, struct fm_view_delta *delta)
{
    for (uint32_t i = 0; i < delta->alert_count; i++) {
        fm_alert *alert = &delta->alerts[i];
        uint32_t slot = alert->seen.index1 - 1;
        alert->seen_name = team == FM_ALL_TEAMS    ? alert->seen
                           : is_shown(delta, slot) ? fm_sightings_name(&delta->sightings, slot)
                                                   : (fm_agent_id){0};
    }
}

static bool reserve_lists(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    uint32_t slots = world->agents.slot_count;
    return reserve_shown(world, team, delta) &&
           FM_RESERVE(world, delta->entered, delta->entered_capacity, slots) &&
           FM_RESERVE(world, delta->changed, delta->changed_capacity, slots) &&
           FM_RESERVE(world, delta->left, delta->left_capacity,
                      slots + world->interval.removed_count) &&
           FM_RESERVE(world, delta->cells, delta->cell_capacity, world->interval.edited_count);
}

// After a tick in which very many cells were edited, or agents removed.
static void shrink_lists(const fm_world *world, struct fm_view_delta *delta)
{
    FM_SHRINK_EMPTY(&world->memory, delta->left, delta->left_capacity,
                    world->agents.slot_count + world->interval.removed_count);
    FM_SHRINK_EMPTY(&world->memory, delta->cells, delta->cell_capacity,
                    world->interval.edited_count);
}

// Agents that come and go meanwhile are not noticed, and slots are reused. So no agent counts as
// shown under any alias, and in the next tick that can be compared all enter.
static void forget_shown(struct fm_view_delta *delta)
{
    for (uint32_t i = 0; i < delta->shown_words; i++) {
        delta->shown[i] = 0;
    }
    fm_sightings *sightings = &delta->sightings;
    for (uint32_t i = 0; i < sightings->count; i++) {
        if (sightings->list[i].taken) {
            (void)fm_sightings_end(sightings, sightings->list[i].slot);
        }
    }
}

void fm_view_delta_observe(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    delta->entered_count = 0;
    delta->changed_count = 0;
    delta->left_count = 0;
    delta->cell_count = 0;
    delta->sight.count = 0;
    // Also when out of memory for the rest: a view can be shown again, but an order ends only once.
    delta->ended = fm_endings_of(world, team, &delta->ended_count);
    note_alerts(world, team, delta);
    shrink_lists(world, delta);
    delta->incomplete = !reserve_lists(world, team, delta);
    if (delta->incomplete) {
        forget_shown(delta);
        fm_looked_forget(&delta->looked);
        delta->removed_before = 0;
        return;
    }
    if (team != FM_ALL_TEAMS) {
        follow_own(world, team, delta);
    }
    uint64_t others = look_around(world, team, delta, false);
    note_removed(world, team, delta);
    delta->removed_before = 0;
    note_agents(world, team, delta, others);
    name_alerts(team, delta);
    if (delta->is_visible_new && !fm_sight_note(world, &delta->sight, &delta->visible)) {
        fm_looked_forget(&delta->looked);
    }
    if (team == FM_ALL_TEAMS) {
        note_edits(world, delta);
    }
}

void fm_view_delta_destroy(fm_world *world, struct fm_view_delta *delta)
{
    if (delta == NULL) {
        return;
    }
    const fm_memory *memory = &world->memory;
#define RELEASE(array, capacity) fm_memory_release(memory, array, (capacity) * sizeof *(array))
    RELEASE(delta->shown, delta->shown_words);
    RELEASE(delta->own, delta->own_words);
    RELEASE(delta->near, delta->near_capacity);
    RELEASE(delta->entered, delta->entered_capacity);
    RELEASE(delta->changed, delta->changed_capacity);
    RELEASE(delta->left, delta->left_capacity);
    RELEASE(delta->cells, delta->cell_capacity);
    RELEASE(delta->alerts, delta->alert_capacity);
    RELEASE(delta->fresh, delta->fresh_capacity);
#undef RELEASE
    fm_sightings_fini(&delta->sightings, memory);
    fm_looked_fini(&delta->looked, memory);
    fm_sight_fini(&delta->sight, memory);
    fm_bitmap_fini(&delta->visible, memory);
    fm_memory_release(memory, delta, sizeof *delta);
}

static struct fm_view_delta **delta_of(const fm_world *world, uint32_t team)
{
    return team == FM_ALL_TEAMS ? (struct fm_view_delta **)&world->interval.delta_all
                                : &fm_team_of(world, team)->delta;
}

static fm_status begin_watch(fm_world *world, uint32_t team)
{
    struct fm_view_delta *delta = fm_memory_allocate_zeroed(&world->memory, 1, sizeof *delta);
    if (delta == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_sightings_init(&delta->sightings);
    delta->removed_before = world->interval.streamed ? 0 : world->interval.removed_count;
    if (!reserve_lists(world, team, delta) ||
        (team != FM_ALL_TEAMS &&
         fm_bitmap_init(&delta->visible, world->map.grid->width, world->map.grid->height, false,
                        &world->memory) != FM_OK)) {
        fm_view_delta_destroy(world, delta);
        return FM_ERR_NO_MEMORY;
    }
    if (team != FM_ALL_TEAMS) {
        fm_presence_want(world);
        follow_own(world, team, delta);
    }
    note_agents(world, team, delta, look_around(world, team, delta, true));
    delta->entered_count = 0; // the snapshot shows them
    delta->changed_count = 0;
    *delta_of(world, team) = delta;
    return FM_OK;
}

fm_status fm_world_watch(fm_world *world, uint32_t team, bool wanted)
{
    if (!fm_world_has_team(world, team)) {
        return FM_ERR_NO_TEAM;
    }
    struct fm_view_delta **delta = delta_of(world, team);
    if (wanted && *delta != NULL) {
        return FM_OK;
    }
    world->still_ticks = 0;
    if (team != FM_ALL_TEAMS) {
        fm_team_of(world, team)->knowledge->keep_learned = wanted;
        fm_knowledge_forget_learned(fm_team_of(world, team)->knowledge);
    }
    if (wanted) {
        return begin_watch(world, team);
    }
    fm_view_delta_destroy(world, *delta);
    *delta = NULL;
    return FM_OK;
}

fm_status fm_world_watch_sight(fm_world *world, uint32_t team)
{
    struct fm_view_delta *delta = *delta_of(world, team);
    FM_ASSERT(delta != NULL);
    if (team == FM_ALL_TEAMS || delta->sight.told.words != NULL) {
        return FM_OK;
    }
    fm_bitmap_clear(&delta->visible);
    fm_looked_forget(&delta->looked);
    const struct fm_team *own = fm_team_of(world, team);
    for (uint32_t i = 0; i < own->member_count; i++) {
        const struct fm_agent *agent = &world->agents.slots[own->members[i]];
        if (agent->alive) {
            fm_looked_from(world, agent, &delta->visible);
        }
    }
    return fm_sight_begin(world, &delta->sight, &delta->visible);
}

void fm_world_sight(const fm_world *world, uint32_t team, uint64_t *words)
{
    const struct fm_view_delta *delta = *delta_of(world, team);
    FM_ASSERT(delta != NULL && (team == FM_ALL_TEAMS || delta->sight.told.words != NULL));
    uint32_t width = world->map.grid->width, pitch = fm_sight_pitch(width);
    for (uint32_t y = 0; y < world->map.grid->height; y++, words += pitch) {
        if (team == FM_ALL_TEAMS) {
            memset(words, 0xff, pitch * sizeof *words);
            words[pitch - 1] = UINT64_MAX >> (63 - (width - 1) % 64);
        } else {
            memcpy(words, fm_bitmap_row(&delta->sight.told, (int32_t)y), pitch * sizeof *words);
        }
    }
}

static const fm_buildings_seen *buildings_of(const fm_world *world, uint32_t team)
{
    return team == FM_ALL_TEAMS ? &world->map.buildings_shown
                                : &fm_team_of(world, team)->knowledge->buildings_seen;
}

fm_changes fm_world_changes(const fm_world *world, uint32_t team)
{
    const struct fm_view_delta *delta = *delta_of(world, team);
    if (delta == NULL) {
        return (fm_changes){0};
    }
    fm_changes changes = {
        .entered = delta->entered,
        .changed = delta->changed,
        .left = delta->left,
        .cells = delta->cells,
        .ended = delta->ended,
        .alerts = delta->alerts,
        .sight = delta->sight.flips,
        .sight_count = delta->sight.count,
        .entered_count = delta->entered_count,
        .changed_count = delta->changed_count,
        .left_count = delta->left_count,
        .cell_count = delta->cell_count,
        .ended_count = delta->ended_count,
        .alert_count = delta->alert_count,
        .incomplete = delta->incomplete,
    };
    if (team != FM_ALL_TEAMS) {
        const fm_knowledge *knowledge = fm_team_of(world, team)->knowledge;
        changes.cells = knowledge->learned;
        changes.cell_count = knowledge->learned_count;
        changes.incomplete |= knowledge->learned_lost;
    }
    const fm_buildings_seen *seen = buildings_of(world, team);
    changes.buildings = seen->list;
    changes.building_count = seen->count;
    changes.buildings_changed = seen->changed;
    return changes;
}

const fm_building_look *fm_world_buildings(const fm_world *world, uint32_t team, uint32_t *count)
{
    FM_ASSERT(fm_world_has_team(world, team));
    *count = buildings_of(world, team)->count;
    return buildings_of(world, team)->list;
}

fm_learned fm_world_look_up(const fm_world *world, uint32_t team, fm_cell cell)
{
    FM_ASSERT(fm_world_has_team(world, team));
    if (team == FM_ALL_TEAMS) {
        size_t i = fm_grid_index(world->map.grid, cell);
        return (fm_learned){
            .cell = cell, .terrain = world->map.grid->terrain[i], .cost = world->map.grid->cost[i]};
    }
    return fm_knowledge_look_up(fm_team_of(world, team)->knowledge, cell);
}

const uint8_t *fm_world_tag(const fm_world *world, uint32_t team, fm_agent_id id, uint32_t *size)
{
    const struct fm_agent *agent = fm_world_find(world, id);
    bool own = agent != NULL && (team == FM_ALL_TEAMS || agent->team == team);
    bool shown = agent != NULL && agent->tag != NULL && (own || agent->tag_shown);
    *size = shown ? agent->tag_size : 0;
    return shown ? agent->tag->bytes : NULL;
}

bool fm_world_has_tags(const fm_world *world)
{
    return world->agents.tag_count > 0;
}

// What a snapshot lists, one after the other.
struct listing {
    fm_agent_look *looks;
    uint32_t count, capacity;
};

static void list_agent(const fm_world *world, uint32_t team, uint32_t slot, struct listing *listing)
{
    const struct fm_view_delta *delta = *delta_of(world, team);
    const struct fm_agent *agent = &world->agents.slots[slot];
    if (!agent->alive || !is_shown(delta, slot)) {
        return;
    }
    if (listing->count < listing->capacity) {
        listing->looks[listing->count] = look_of(world, team, delta, agent, true);
    }
    listing->count += 1;
}

uint32_t fm_world_agents_in_view(const fm_world *world, uint32_t team, fm_agent_look *agents,
                                 uint32_t capacity)
{
    struct listing listing = {.looks = agents, .capacity = capacity};
    const struct fm_view_delta *delta = *delta_of(world, team);
    if (delta == NULL) {
        return 0;
    }
    if (team == FM_ALL_TEAMS) {
        for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
            list_agent(world, team, slot, &listing);
        }
        return listing.count;
    }
    const struct fm_team *own = fm_team_of(world, team);
    for (uint32_t i = 0; i < own->member_count; i++) {
        list_agent(world, team, own->members[i], &listing);
    }
    for (uint32_t i = 0; i < delta->sightings.count; i++) {
        if (delta->sightings.list[i].taken) {
            list_agent(world, team, delta->sightings.list[i].slot, &listing);
        }
    }
    return listing.count;
}
