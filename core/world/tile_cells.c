// core/world/tile_cells.c: see tile_cells.h.

#include "core/world/tile_cells.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/world_parts.h"

_Static_assert(FM_UNIT_INDEX_TILE_SHIFT == 4, "a tile has a bit for each cell");

bool fm_cells_of_tiles_reserve(fm_world *world)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    const fm_unit_index *unit_index = &orders->unit_index;
    fm_cells_of_tiles *cells = &orders->cells_of_tiles;
    if (cells->tiles == NULL) {
        cells->tile_count = unit_index->columns * unit_index->rows;
        cells->tiles = fm_memory_allocate_zeroed(fm_world_memory(world), cells->tile_count,
                                                 sizeof *cells->tiles);
    }
    return cells->tiles != NULL &&
           FM_RESERVE(world, cells->units, cells->capacity, unit_index->slot_capacity);
}

void fm_cells_of_tiles_fini(fm_cells_of_tiles *cells, const fm_memory *memory)
{
    fm_memory_release(memory, cells->tiles, cells->tile_count * sizeof *cells->tiles);
    fm_memory_release(memory, cells->units, cells->capacity * sizeof *cells->units);
    *cells = (fm_cells_of_tiles){0};
}

// How many occupied cells of the tile come before this one.
static uint32_t rank_of(const fm_tile_cells *tile, uint32_t place)
{
    uint32_t rank = 0;
    for (uint32_t word = 0; word < place / 64; word++) {
        rank += (uint32_t)__builtin_popcountll(tile->occupied[word]);
    }
    uint64_t below = ((uint64_t)1 << place % 64) - 1;
    return rank + (uint32_t)__builtin_popcountll(tile->occupied[place / 64] & below);
}

static bool comes_before(const struct fm_agent *a, const struct fm_agent *b)
{
    return a->team < b->team || (a->team == b->team && a->born < b->born);
}

// Agents come in the order of their slots.
static void add(fm_cell_units *units, const struct fm_agent *slots, uint32_t slot)
{
    const struct fm_agent *agent = &slots[slot];
    if (units->first == FM_SLOT_NONE) {
        units->first = slot;
    } else if (comes_before(agent, &slots[units->first])) {
        units->other = agent->team == slots[units->first].team ? units->other : units->first;
        units->first = slot;
    } else if (agent->team != slots[units->first].team &&
               (units->other == FM_SLOT_NONE || comes_before(agent, &slots[units->other]))) {
        units->other = slot;
    }
}

static void go_through(fm_world *world, uint32_t tile)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    const fm_unit_index *unit_index = &orders->unit_index;
    const struct fm_agent *slots = fm_world_agents(world)->slots;
    fm_tile_cells *known = &orders->cells_of_tiles.tiles[tile];
    uint32_t begin = unit_index->first[tile], end = unit_index->first[tile + 1];
    fm_cell_units *units = orders->cells_of_tiles.units + begin;
    *known = (fm_tile_cells){.gathering = unit_index->gatherings};
    for (uint32_t i = begin; i < end; i++) {
        uint32_t place = fm_unit_index_place_of(slots[unit_index->slots[i]].cell);
        known->occupied[place / 64] |= (uint64_t)1 << place % 64;
        units[i - begin] = (fm_cell_units){FM_SLOT_NONE, FM_SLOT_NONE};
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t slot = unit_index->slots[i];
        add(&units[rank_of(known, fm_unit_index_place_of(slots[slot].cell))], slots, slot);
    }
}

const fm_tile_cells *fm_tile_cells_know(fm_world *world, uint32_t tile)
{
    const struct fm_world_orders *orders = fm_world_orders(world);
    const fm_tile_cells *known = &orders->cells_of_tiles.tiles[tile];
    if (known->gathering != orders->unit_index.gatherings) {
        go_through(world, tile);
    }
    return known;
}

uint32_t fm_tile_cells_enemy(const fm_world *world, uint32_t tile, uint32_t place, uint32_t team)
{
    const struct fm_world_orders *orders = fm_world_orders(world);
    const fm_tile_cells *known = &orders->cells_of_tiles.tiles[tile];
    const fm_cell_units *units = orders->cells_of_tiles.units + orders->unit_index.first[tile];
    const fm_cell_units *on_cell = &units[rank_of(known, place)];
    bool is_enemy = fm_world_agents(world)->slots[on_cell->first].team != team;
    return is_enemy ? on_cell->first : on_cell->other;
}
