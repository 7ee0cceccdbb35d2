// core/views/looked.c: see looked.h.

#include "core/views/looked.h"

#include "core/map/look_all.h"
#include "core/views/presence.h"
#include "core/world/agent_marks.h"
#include "core/world/interval.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

// States of tiles.
#define IN_WHOLE 1u // what all own agents in the tile see is in `visible`
#define CLEARED  2u // in this tick: what is seen from it is to be cleared
#define AGAIN    4u // in this tick: agents in it see cells that were cleared

#define NOBODY UINT32_MAX // no member

#define ROWS_A_LOOKER 8u // of the map: with more of them, those who look do so together
#define MANY_CHANGED  8u // part of the team that must have changed for all to look again
#define FETCH_AHEAD   8u // agents

static uint32_t tile_count(const fm_world *world)
{
    const fm_presence *presence = fm_world_presence(world);
    return presence->teams == NULL ? 0 : presence->columns * presence->rows;
}

void fm_looked_fini(struct fm_looked *looked, const fm_memory *memory)
{
    fm_bitmap_fini(&looked->eyes, memory);
    fm_memory_release(memory, looked->lookers, looked->capacity * sizeof *looked->lookers);
    fm_memory_release(memory, looked->tiles, looked->tile_capacity * sizeof *looked->tiles);
    *looked = (struct fm_looked){0};
}

void fm_looked_forget(struct fm_looked *looked)
{
    looked->is_kept = false;
}

void fm_looked_from(const fm_world *world, const struct fm_agent *agent, fm_bitmap *visible)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
    uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
    for (uint32_t eye = 0; eye < eye_count; eye++) {
        fm_knowledge_look(knowledge, fm_agent_sight(world, agent), eyes[eye], visible);
    }
}

static uint32_t tile_of(const fm_world *world, fm_cell cell)
{
    return fm_presence_tile(fm_world_presence(world), cell);
}

static bool wants_tile(const struct fm_view_delta *delta, uint32_t tile, bool everywhere)
{
    return everywhere || (delta->near[tile] & FM_NEAR_LOOK) != 0;
}

// Whether agents on a cell look.
static bool is_wanted(const fm_world *world, const struct fm_view_delta *delta, fm_cell cell,
                      bool everywhere)
{
    return everywhere || delta->near == NULL || wants_tile(delta, tile_of(world, cell), false);
}

// ---- all look -----------------------------------------------------------------------------------

// Where many look, all who see as the rules say look together (look_all.h), whatever the reason. Of
// four views of 10,000 agents that tell what is visible the observe stage took 2.2 ms where each
// agent looked for itself, and 0.9 so; of eight of 100,000 that have met, 6.0 and 3.8.
static void begin_to_look(const fm_world *world, struct fm_view_delta *delta, uint32_t changed)
{
    struct fm_looked *looked = &delta->looked;
    uint32_t width = delta->visible.width, height = delta->visible.height;
    looked->together =
        changed >= height / ROWS_A_LOOKER &&
        (looked->eyes.words != NULL ||
         fm_bitmap_init(&looked->eyes, width, height, false, fm_world_memory(world)) == FM_OK);
    if (looked->together) {
        fm_bitmap_clear(&looked->eyes);
    }
}

static void look_from(const fm_world *world, struct fm_view_delta *delta,
                      const struct fm_agent *agent)
{
    if (!delta->looked.together || agent->sight != 0) {
        fm_looked_from(world, agent, &delta->visible);
        return;
    }
    fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
    uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
    for (uint32_t eye = 0; eye < eye_count; eye++) {
        fm_bitmap_set(&delta->looked.eyes, eyes[eye]);
    }
}

static void end_looking(const struct fm_team *own, struct fm_view_delta *delta)
{
    if (delta->looked.together) {
        fm_look_all(own->knowledge, &delta->looked.eyes, &delta->visible);
    }
}

static bool reserve(const fm_world *world, const struct fm_team *own, struct fm_looked *looked)
{
    const fm_memory *memory = fm_world_memory(world);
    return tile_count(world) > 0 &&
           fm_reserve_zeroed(memory, (void **)&looked->lookers, &looked->capacity,
                             own->member_count, sizeof *looked->lookers) &&
           fm_reserve_zeroed(memory, (void **)&looked->tiles, &looked->tile_capacity,
                             tile_count(world), sizeof *looked->tiles);
}

static void put_in(struct fm_looked *looked, uint32_t member, uint32_t tile, bool is_in)
{
    uint32_t *first = &looked->tiles[tile].first;
    if (*first != NOBODY) {
        looked->lookers[*first].prev = member;
    }
    looked->lookers[member] =
        (struct fm_looker){.tile = tile + 1, .next = *first, .prev = NOBODY, .is_in = is_in};
    *first = member;
}

// What it saw is to be cleared, if it was seen.
static void take_out(struct fm_looked *looked, uint32_t member)
{
    struct fm_looker *looker = &looked->lookers[member];
    if (looker->tile == 0) {
        return;
    }
    struct fm_looked_tile *tile = &looked->tiles[looker->tile - 1];
    tile->state |= looker->is_in ? CLEARED : 0;
    if (looker->next != NOBODY) {
        looked->lookers[looker->next].prev = looker->prev;
    }
    if (looker->prev != NOBODY) {
        looked->lookers[looker->prev].next = looker->next;
    } else {
        tile->first = looker->next;
    }
    looker->tile = 0;
}

// Notes whose sight is in `visible`, for the next tick. Not kept where that fails.
static void keep(const fm_world *world, const struct fm_team *own, struct fm_view_delta *delta,
                 bool everywhere)
{
    struct fm_looked *looked = &delta->looked;
    looked->is_kept = reserve(world, own, looked);
    looked->sights_set = own->sights_set;
    if (!looked->is_kept) {
        return;
    }
    if (looked->capacity > 0) {
        memset(looked->lookers, 0, looked->capacity * sizeof *looked->lookers);
    }
    for (uint32_t tile = 0; tile < tile_count(world); tile++) {
        looked->tiles[tile] = (struct fm_looked_tile){
            .first = NOBODY, .state = wants_tile(delta, tile, everywhere) ? IN_WHOLE : 0};
    }
    for (uint32_t i = 0; i < own->member_count; i++) {
        const struct fm_agent *agent = fm_agent_at(world, own->members[i]);
        if (agent->alive) {
            uint32_t tile = tile_of(world, agent->cell);
            put_in(looked, i, tile, wants_tile(delta, tile, everywhere));
        }
    }
}

// Those of a team look that are wanted, by the list of all agents' tiles and cells: most are not
// read. What they see is marked in `looked.eyes` or `visible`, so their order does not matter.
static void look_by_tiles(const fm_world *world, struct fm_view_delta *delta, bool everywhere)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    const fm_presence *presence = fm_world_presence(world);
    uint32_t words = fm_mark_words(world);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t bits = agents->marks[i].of[FM_MARK_LIVE] & delta->own[i];
        if (bits != 0 && !everywhere && delta->near != NULL) {
            bits = fm_presence_near_in_word(presence, delta->near, FM_NEAR_LOOK, i, bits);
        }
        for (; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            if (delta->looked.together && presence->cells[slot] != FM_CELL_NONE) {
                fm_bitmap_set(&delta->looked.eyes, presence->cells[slot]);
            } else {
                look_from(world, delta, &agents->slots[slot]);
            }
        }
    }
}

static void look_one_by_one(const fm_world *world, const struct fm_team *own,
                            struct fm_view_delta *delta, bool everywhere)
{
    const struct fm_agent *agents = fm_world_agents(world)->slots;
    for (uint32_t i = 0; i < own->member_count; i++) {
        if (i + FETCH_AHEAD < own->member_count) {
            __builtin_prefetch(&agents[own->members[i + FETCH_AHEAD]]);
        }
        const struct fm_agent *agent = &agents[own->members[i]];
        if (agent->alive && is_wanted(world, delta, agent->cell, everywhere)) {
            look_from(world, delta, agent);
        }
    }
}

static void look_everywhere(const fm_world *world, const struct fm_team *own,
                            struct fm_view_delta *delta, bool everywhere, uint32_t changed)
{
    fm_bitmap_clear(&delta->visible);
    begin_to_look(world, delta, changed);
    if (fm_world_presence(world)->has_tiles) {
        look_by_tiles(world, delta, everywhere);
    } else {
        look_one_by_one(world, own, delta, everywhere);
    }
    end_looking(own, delta);
}

// ---- those that have changed look ---------------------------------------------------------------

static uint32_t count_changed(const fm_world *world, const struct fm_view_delta *delta)
{
    const struct fm_agent_marks *marks = fm_world_agents(world)->marks;
    uint32_t count = 0, words = fm_mark_words(world);
    for (uint32_t i = 0; i < words; i++) {
        count += (uint32_t)__builtin_popcountll(marks[i].of[FM_MARK_CHANGED] & delta->own[i]);
    }
    return count;
}

// Agents that have changed, or are gone, leave the tile that they were in; those that live come
// into the one that they are in, and are still to look.
static void follow_changed(const fm_world *world, uint32_t team, struct fm_view_delta *delta)
{
    struct fm_looked *looked = &delta->looked;
    const struct fm_agent_marks *marks = fm_world_agents(world)->marks;
    const struct fm_world_interval *interval = fm_world_interval(world);
    uint32_t words = fm_mark_words(world);
    for (uint32_t i = 0; i < interval->removed_count; i++) {
        if (interval->removed[i].team == team && interval->removed[i].reason != FM_LEAVE_DIED) {
            take_out(looked, interval->removed[i].name.index1 / 2); // see names.h
        }
    }
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t bits = marks[i].of[FM_MARK_CHANGED] & delta->own[i]; bits != 0;
             bits &= bits - 1) {
            const struct fm_agent *agent =
                fm_agent_at(world, i * 64 + (uint32_t)__builtin_ctzll(bits));
            if (agent->alive) {
                uint32_t tile = tile_of(world, agent->cell);
                take_out(looked, agent->member);
                put_in(looked, agent->member, tile, false);
                looked->tiles[tile].state &= (uint8_t)~IN_WHOLE;
            }
        }
    }
}

// Whether what is seen from a tile changes in this tick.
static bool changes(const struct fm_view_delta *delta, uint32_t tile, bool everywhere)
{
    uint8_t state = delta->looked.tiles[tile].state;
    return state & CLEARED || (!(state & IN_WHOLE) && wants_tile(delta, tile, everywhere));
}

// Finds out whether anything of `visible` changes, and where others may be.
static void note_what_changes(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                              bool everywhere)
{
    uint32_t tiles = tile_count(world);
    delta->is_visible_new = delta->sees_other = false;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        if (changes(delta, tile, everywhere)) {
            delta->is_visible_new = true;
            delta->sees_other |= fm_presence_has_others(world, team, tile);
        }
    }
}

// A row of a bitmap from x to x_end, which is behind it.
static void clear_span(fm_bitmap *bitmap, uint32_t y, uint32_t x, uint32_t x_end)
{
    uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y);
    for (uint32_t word = x / 64; word <= (x_end - 1) / 64; word++) {
        uint64_t from = word == x / 64 ? UINT64_MAX << x % 64 : UINT64_MAX;
        uint64_t to = word == (x_end - 1) / 64 ? UINT64_MAX >> (63 - (x_end - 1) % 64) : UINT64_MAX;
        row[word] &= ~(from & to);
    }
}

static uint32_t lower(uint32_t value, uint32_t by)
{
    return value < by ? 0 : value - by;
}

static uint32_t smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Clears what agents in a tile may see, and marks the tiles from where others see the same cells.
static void clear_around(const fm_world *world, struct fm_view_delta *delta, uint32_t column,
                         uint32_t row)
{
    const fm_presence *presence = fm_world_presence(world);
    uint32_t reach = fm_world_map(world)->sight_reach + FM_CLASS_SIZE_MAX;
    uint32_t x = lower(column * FM_PRESENCE_SIDE, reach);
    uint32_t x_end = smaller_of((column + 1) * FM_PRESENCE_SIDE + reach, delta->visible.width);
    uint32_t y_end = smaller_of((row + 1) * FM_PRESENCE_SIDE + reach, delta->visible.height);
    for (uint32_t y = lower(row * FM_PRESENCE_SIDE, reach); y < y_end; y++) {
        clear_span(&delta->visible, y, x, x_end);
    }
    uint32_t far = (2 * reach + FM_PRESENCE_SIDE - 1) / FM_PRESENCE_SIDE;
    uint32_t row_end = smaller_of(row + far + 1, presence->rows);
    uint32_t column_end = smaller_of(column + far + 1, presence->columns);
    for (uint32_t ty = lower(row, far); ty < row_end; ty++) {
        for (uint32_t tx = lower(column, far); tx < column_end; tx++) {
            delta->looked.tiles[ty * presence->columns + tx].state |= AGAIN;
        }
    }
}

static void clear_tiles(const fm_world *world, struct fm_view_delta *delta)
{
    const fm_presence *presence = fm_world_presence(world);
    for (uint32_t row = 0; row < presence->rows; row++) {
        for (uint32_t column = 0; column < presence->columns; column++) {
            if (delta->looked.tiles[row * presence->columns + column].state & CLEARED) {
                clear_around(world, delta, column, row);
            }
        }
    }
}

// Those of a tile look who are missing in `visible`, or whose cells were cleared.
static void look_from_tile(const fm_world *world, const struct fm_team *own,
                           struct fm_view_delta *delta, uint32_t tile, bool wanted)
{
    struct fm_looked *looked = &delta->looked;
    bool again = looked->tiles[tile].state & AGAIN;
    for (uint32_t i = looked->tiles[tile].first; i != NOBODY; i = looked->lookers[i].next) {
        struct fm_looker *looker = &looked->lookers[i];
        if (wanted && (again || !looker->is_in)) {
            look_from(world, delta, fm_agent_at(world, own->members[i]));
        }
        looker->is_in = wanted || (looker->is_in && !again);
    }
}

static void look_again(const fm_world *world, const struct fm_team *own,
                       struct fm_view_delta *delta, bool everywhere, uint32_t changed)
{
    uint32_t tiles = tile_count(world);
    begin_to_look(world, delta, changed);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint8_t *state = &delta->looked.tiles[tile].state;
        bool wanted = wants_tile(delta, tile, everywhere);
        if (*state & AGAIN || (wanted && !(*state & IN_WHOLE))) {
            look_from_tile(world, own, delta, tile, wanted);
            *state = wanted ? IN_WHOLE : 0;
        }
    }
    end_looking(own, delta);
}

// ---- from outside -------------------------------------------------------------------------------

// Edits change what is seen where something blocks the view.
static bool can_be_used(const fm_world *world, const struct fm_team *own,
                        const struct fm_view_delta *delta)
{
    return delta->looked.is_kept && delta->looked.sights_set == own->sights_set &&
           delta->looked.capacity >= own->member_count &&
           (fm_world_interval(world)->edited_count == 0 ||
            !fm_world_rules_get(world)->sense.line_of_sight);
}

void fm_looked_update(const fm_world *world, uint32_t team, struct fm_view_delta *delta,
                      bool everywhere, bool anew)
{
    const struct fm_team *own = fm_team_of(world, team);
    uint32_t changed = count_changed(world, delta);
    bool many = changed > own->account.agents / MANY_CHANGED;
    if (anew || many || !can_be_used(world, own, delta)) {
        delta->is_visible_new = delta->sees_other = true;
        delta->looked.is_kept = false;
        look_everywhere(world, own, delta, everywhere, changed);
        if (!many && !anew) {
            keep(world, own, delta, everywhere);
        }
        return;
    }
    follow_changed(world, team, delta);
    note_what_changes(world, team, delta, everywhere);
    if (delta->is_visible_new) {
        clear_tiles(world, delta);
        look_again(world, own, delta, everywhere, changed);
    }
}
