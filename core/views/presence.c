// core/views/presence.c: see presence.h.

#include "core/views/presence.h"

#include "core/world/agent_marks.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define WORDS_A_TURN 8u  // of marks
#define FEW_OF_WORD  24u // agents

static uint64_t bit_of(uint32_t team)
{
    return (uint64_t)1 << team % 64;
}

static void note_at(fm_presence *presence, fm_cell cell, uint64_t bit)
{
    uint64_t *teams = &presence->teams[fm_presence_tile(presence, cell)];
    if (!(__atomic_load_n(teams, __ATOMIC_RELAXED) & bit)) {
        __atomic_fetch_or(teams, bit, __ATOMIC_RELAXED);
    }
}

// Its corners are enough: no unit is larger than a tile.
static void note_agent(const fm_world *world, fm_presence *presence, uint32_t slot)
{
    const struct fm_agent *agent = &fm_world_agents(world)->slots[slot];
    uint32_t reach = fm_world_class_size(world, agent->class_index) - 1;
    if (presence->has_tiles) {
        presence->tiles[slot] = fm_presence_tile(presence, agent->cell);
        uint32_t is_special = (uint32_t)((reach | agent->sight) != 0);
        presence->cells[slot] = agent->cell | (0 - is_special); // FM_CELL_NONE
    }
    for (uint32_t i = 0; i < (reach == 0 ? 1u : 4u); i++) {
        note_at(presence, agent->cell + fm_cell_at((i & 1) * reach, (i >> 1) * reach),
                bit_of(agent->team));
    }
}

static void note_marked(fm_world *world, uint32_t begin, uint32_t end, fm_agent_mark mark)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    fm_presence *presence = fm_world_edit_presence(world);
    for (uint32_t i = begin; i < end; i++) {
        const struct fm_agent_marks *marks = &agents->marks[i];
        uint64_t ahead = i + 1 < end ? marks[1].of[mark] : 0;
        for (uint64_t bits = marks->of[mark] & marks->of[FM_MARK_LIVE]; bits != 0;
             bits &= bits - 1) {
            ahead = fm_agents_fetch_next(agents, i + 1, ahead);
            note_agent(world, presence, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

static void note_changed(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    note_marked(context, begin, end, FM_MARK_CHANGED);
}

static void note_living(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    note_marked(context, begin, end, FM_MARK_LIVE);
}

// Makes room for the tiles and cells of all agents. Returns whether those of the living are still
// to be noted.
static bool reserve_tiles(fm_world *world, fm_presence *presence)
{
    bool had_tiles = presence->has_tiles;
    const fm_memory *memory = fm_world_memory(world);
    uint32_t slots = fm_mark_words(world) * 64;
    presence->has_tiles =
        fm_reserve_zeroed(memory, (void **)&presence->tiles, &presence->tile_capacity, slots,
                          sizeof *presence->tiles) &&
        FM_RESERVE(world, presence->cells, presence->cell_capacity, slots);
    return presence->has_tiles && !had_tiles;
}

void fm_presence_note_set(fm_world *world, const struct fm_agent *agent)
{
    fm_presence *presence = fm_world_edit_presence(world);
    uint32_t slot = (uint32_t)(agent - fm_world_agents(world)->slots);
    if (slot < presence->cell_capacity) {
        presence->cells[slot] = FM_CELL_NONE;
    }
}

void fm_presence_want(fm_world *world)
{
    fm_presence *presence = fm_world_edit_presence(world);
    const fm_grid *grid = fm_world_grid(world);
    uint32_t columns = (grid->width - 1) / FM_PRESENCE_SIDE + 1;
    uint32_t rows = (grid->height - 1) / FM_PRESENCE_SIDE + 1;
    if (presence->teams != NULL) {
        bool all = reserve_tiles(world, presence);
        note_marked(world, 0, fm_mark_words(world),
                    all ? FM_MARK_LIVE : FM_MARK_CHANGED); // since the last tick
        return;
    }
    presence->teams =
        fm_memory_allocate_zeroed(fm_world_memory(world), columns * rows, sizeof *presence->teams);
    if (presence->teams != NULL) {
        presence->columns = columns;
        presence->rows = rows;
        (void)reserve_tiles(world, presence);
        note_living(0, fm_mark_words(world), 0, world);
    }
}

void fm_presence_follow(fm_world *world, fm_workers *workers)
{
    fm_presence *presence = fm_world_edit_presence(world);
    if (presence->teams == NULL) {
        return;
    }
    bool all = reserve_tiles(world, presence);
    bool refresh = fm_world_tick(world) % FM_PRESENCE_TICKS == 0;
    if (refresh) {
        memset(presence->teams, 0,
               (size_t)presence->columns * presence->rows * sizeof *presence->teams);
    }
    fm_workers_run_parts(workers, fm_mark_words(world), WORDS_A_TURN,
                         refresh || all ? note_living : note_changed, world);
}

void fm_presence_fini(fm_world *world)
{
    const fm_memory *memory = fm_world_memory(world);
    fm_presence *presence = fm_world_edit_presence(world);
    fm_memory_release(memory, presence->teams,
                      (size_t)presence->columns * presence->rows * sizeof *presence->teams);
    fm_memory_release(memory, presence->tiles, presence->tile_capacity * sizeof *presence->tiles);
    fm_memory_release(memory, presence->cells, presence->cell_capacity * sizeof *presence->cells);
    *presence = (fm_presence){0};
}

// The teams in the tiles around one, itself included.
static uint64_t teams_around(const fm_presence *presence, uint32_t x, uint32_t y, uint32_t reach)
{
    uint64_t teams = 0;
    for (uint32_t ty = y < reach ? 0 : y - reach; ty <= y + reach && ty < presence->rows; ty++) {
        for (uint32_t tx = x < reach ? 0 : x - reach; tx <= x + reach && tx < presence->columns;
             tx++) {
            teams |= presence->teams[ty * presence->columns + tx];
        }
    }
    return teams;
}

// Tiles that one can see across from another one.
static uint32_t reach_of(const fm_world *world)
{
    return (fm_world_map(world)->sight_reach + FM_CLASS_SIZE_MAX + FM_PRESENCE_SIDE - 1) /
           FM_PRESENCE_SIDE;
}

bool fm_presence_has_others(const fm_world *world, uint32_t team, uint32_t tile)
{
    const fm_presence *presence = fm_world_presence(world);
    return (teams_around(presence, tile % presence->columns, tile / presence->columns,
                         reach_of(world)) &
            ~bit_of(team)) != 0;
}

// Few are looked up one by one; many without branches, all of the word. Either reads two small
// arrays in place of the agents.
uint64_t fm_presence_near_in_word(const fm_presence *presence, const uint8_t *near, uint8_t what,
                                  uint32_t word, uint64_t of)
{
    const uint32_t *tiles = &presence->tiles[(size_t)word * 64];
    uint32_t shift = (uint32_t)__builtin_ctz(what);
    uint64_t bits = 0;
    if ((uint32_t)__builtin_popcountll(of) <= FEW_OF_WORD) {
        for (uint64_t left = of; left != 0; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(left);
            bits |= (uint64_t)(near[tiles[i]] >> shift & 1) << i;
        }
        return bits;
    }
    for (uint32_t i = 0; i < 64; i++) {
        bits |= (uint64_t)(near[tiles[i]] >> shift & 1) << i;
    }
    return bits & of;
}

uint64_t fm_presence_near(const fm_world *world, uint32_t team, uint8_t *near)
{
    const fm_presence *presence = fm_world_presence(world);
    uint64_t own = bit_of(team), seen = 0;
    uint32_t reach = reach_of(world);
    for (uint32_t y = 0; y < presence->rows; y++) {
        for (uint32_t x = 0; x < presence->columns; x++) {
            uint64_t here = presence->teams[y * presence->columns + x];
            uint8_t *what = &near[y * presence->columns + x];
            *what = 0;
            if (here == 0) {
                continue;
            }
            uint64_t around = teams_around(presence, x, y, reach);
            if ((here & ~own) != 0 && (around & own) != 0) {
                *what |= FM_NEAR_OTHERS;
                seen |= here & ~own;
            }
            if ((here & own) != 0 && (around & ~own) != 0) {
                *what |= FM_NEAR_LOOK;
            }
        }
    }
    return seen;
}
