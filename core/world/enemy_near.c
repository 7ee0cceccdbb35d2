// core/world/enemy_near.c: see enemy_near.h.

#include "core/world/enemy_near.h"

#include "core/base/random.h"
#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/lookouts.h"
#include "core/world/team.h"
#include "core/world/tile_cells.h"
#include "core/world/true_map.h"
#include "core/world/unit_index.h"
#include "core/world/world_parts.h"

#define CAPACITY_FIRST 64u
#define CAPACITY_MAX   (1u << 18) // 12 MiB; tiles beyond are looked at again each time

// Where a team sees enemies in a tile.
struct fm_enemy_tile {
    uint64_t key;       // team and tile
    uint64_t gathering; // another one than the table's: the entry is free
    uint64_t cells[4];  // of the tile, by fm_unit_index_place_of()
};

_Static_assert(FM_UNIT_INDEX_TILE_SHIFT == 4, "a tile has a bit for each cell");

// ---- the table ---------------------------------------------------------------------------------

// The entry of a key, or the free one where it belongs. The table is never full.
static struct fm_enemy_tile *find(struct fm_enemy_tile *tiles, uint32_t capacity, uint64_t key,
                                  uint64_t gathering)
{
    uint32_t at = (uint32_t)fm_mix64(key) & (capacity - 1);
    while (tiles[at].gathering == gathering && tiles[at].key != key) {
        at = (at + 1) & (capacity - 1);
    }
    return &tiles[at];
}

// Makes room for one more; false when there is none.
static bool reserve(fm_enemy_tiles *known, const fm_memory *memory)
{
    if (2 * (known->count + 1) <= known->capacity) {
        return true;
    }
    uint32_t capacity = known->capacity == 0 ? CAPACITY_FIRST : 2 * known->capacity;
    struct fm_enemy_tile *tiles =
        capacity > CAPACITY_MAX ? NULL : fm_memory_allocate_zeroed(memory, capacity, sizeof *tiles);
    if (tiles == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < known->capacity; i++) {
        const struct fm_enemy_tile *tile = &known->tiles[i];
        if (tile->gathering == known->gathering) {
            *find(tiles, capacity, tile->key, tile->gathering) = *tile;
        }
    }
    fm_memory_release(memory, known->tiles, known->capacity * sizeof *known->tiles);
    known->tiles = tiles;
    known->capacity = capacity;
    return true;
}

void fm_enemy_tiles_fini(fm_enemy_tiles *known, const fm_memory *memory)
{
    fm_memory_release(memory, known->tiles, known->capacity * sizeof *known->tiles);
    *known = (fm_enemy_tiles){0};
}

// ---- a tile ------------------------------------------------------------------------------------

static void look_at(fm_world *world, uint32_t team, uint32_t tile, uint64_t cells[4])
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    const struct fm_agent *slots = fm_world_agents(world)->slots;
    const fm_tile_cells *known = fm_tile_cells_know(world, tile);
    fm_lookouts_refresh(world);
    for (uint32_t word = 0; word < FM_COUNT_OF(known->occupied); word++) {
        for (uint64_t bits = known->occupied[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            uint32_t slot = fm_tile_cells_enemy(world, tile, place, team);
            if (slot != FM_SLOT_NONE) {
                orders->enemy_tiles.examined += 1;
                cells[word] |= fm_lookouts_see_agent(world, team, &slots[slot]) ? bits & -bits : 0;
            }
        }
    }
}

static struct fm_enemy_tile know_tile(fm_world *world, uint32_t team, uint32_t tile)
{
    fm_enemy_tiles *known = &fm_world_edit_orders(world)->enemy_tiles;
    uint64_t key = (uint64_t)team << 32 | tile;
    struct fm_enemy_tile made = {.key = key, .gathering = known->gathering};
    if (known->capacity > 0) {
        const struct fm_enemy_tile *entry =
            find(known->tiles, known->capacity, key, known->gathering);
        if (entry->gathering == known->gathering) {
            return *entry;
        }
    }
    look_at(world, team, tile, made.cells);
    if (reserve(known, fm_world_memory(world))) {
        *find(known->tiles, known->capacity, key, known->gathering) = made;
        known->count += 1;
    }
    return made;
}

// ---- the nearest enemy -------------------------------------------------------------------------

struct search {
    const fm_view *view;
    fm_cell from;
    fm_cell best;      // so far; FM_CELL_NONE: none
    uint32_t distance; // of it, or the largest that counts
};

static void consider(struct search *search, fm_cell cell)
{
    uint32_t distance = fm_view_distance(search->view, cell, search->from);
    bool is_nearer =
        distance < search->distance ||
        (distance == search->distance && (search->best == FM_CELL_NONE || cell < search->best));
    if (is_nearer) {
        search->best = cell;
        search->distance = distance;
    }
}

static void consider_tile(struct search *search, const struct fm_enemy_tile *tile, uint32_t x,
                          uint32_t y)
{
    for (uint32_t word = 0; word < FM_COUNT_OF(tile->cells); word++) {
        for (uint64_t bits = tile->cells[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            consider(search, fm_cell_at((x << FM_UNIT_INDEX_TILE_SHIFT) + place % 16,
                                        (y << FM_UNIT_INDEX_TILE_SHIFT) + place / 16));
        }
    }
}

// Nearly all tiles hold units of one team. Where teams share bits, every tile is examined.
static uint64_t own_bit(const fm_world *world, uint32_t team)
{
    return fm_world_team_count(world) < 64 ? (uint64_t)1 << team % 64 : 0;
}

// Mostly nobody else is anywhere near.
static bool others_are_near(const fm_unit_index *unit_index, fm_cell cell, uint32_t radius,
                            uint64_t own)
{
    fm_unit_tiles tiles = fm_unit_index_tiles_around(unit_index, cell, radius);
    uint64_t teams = 0;
    for (uint32_t y = tiles.y_first; y <= tiles.y_last; y++) {
        for (uint32_t x = tiles.x_first; x <= tiles.x_last; x++) {
            teams |= unit_index->teams[y * unit_index->columns + x];
        }
    }
    return (teams & ~own) != 0;
}

static const struct fm_agent *enemy_on(const fm_world *world, uint32_t team, fm_cell cell)
{
    uint32_t tile = fm_unit_index_tile_of(&fm_world_orders(world)->unit_index, cell);
    uint32_t slot = fm_tile_cells_enemy(world, tile, fm_unit_index_place_of(cell), team);
    return &fm_world_agents(world)->slots[slot];
}

// Only what every player sees decides, then what does not depend on other agents' births. The
// tiles around are examined as far as the nearest enemy is.
const struct fm_agent *fm_enemy_near(fm_world *world, uint32_t team, fm_cell cell, uint32_t radius)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    const fm_unit_index *unit_index = &orders->unit_index;
    const fm_view *view = &fm_world_map(world)->truth;
    struct search search = {
        .view = view, .from = cell, .best = FM_CELL_NONE, .distance = radius * view->step[0]};
    uint64_t own = own_bit(world, team);
    if (unit_index->slots == NULL || !others_are_near(unit_index, cell, radius, own) ||
        !fm_cells_of_tiles_reserve(world)) {
        return NULL;
    }
    if (orders->enemy_tiles.gathering != unit_index->gatherings) {
        orders->enemy_tiles.gathering = unit_index->gatherings;
        orders->enemy_tiles.count = 0;
    }
    fm_tile_walk walk = fm_tile_walk_begin(unit_index, view, cell, radius);
    uint32_t tile;
    while (fm_tile_walk_next(&walk, search.distance, &tile)) {
        if ((unit_index->teams[tile] & ~own) != 0) {
            struct fm_enemy_tile known = know_tile(world, team, tile);
            consider_tile(&search, &known, tile % unit_index->columns, tile / unit_index->columns);
        }
    }
    return search.best == FM_CELL_NONE ? NULL : enemy_on(world, team, search.best);
}
