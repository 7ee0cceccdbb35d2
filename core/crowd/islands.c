// core/crowd/islands.c: see islands.h. A union-find structure over the tiles where units stand.

#include "core/crowd/islands.h"

#include "core/map/movement.h"

#define TILES_PER_UNIT 4u // that a unit stands on at most
_Static_assert(FM_CLASS_SIZE_MAX <= FM_ISLAND_TILE + 1, "TILES_PER_UNIT");

// A tile where units stand.
struct tile {
    uint32_t place;
    uint32_t parent; // index of another tile of the island, not above its own; its own: the root
    uint32_t units;  // whose north-west cell lies in it
    uint32_t island;
};

struct fm_islands {
    const fm_memory *memory;
    uint32_t columns, rows; // of tiles, with an empty one on each side
    uint32_t *indexes;      // of tiles by place, row by row, + 1; 0: nobody stands there
    struct tile *tiles;
    fm_island *islands;
    uint32_t tile_count, tile_capacity, island_capacity;
};

fm_status fm_islands_create(uint32_t width, uint32_t height, const fm_memory *memory,
                            fm_islands **out)
{
    fm_islands *islands = fm_memory_allocate_zeroed(memory, 1, sizeof *islands);
    if (islands == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    islands->memory = memory;
    islands->columns = (width - 1) / FM_ISLAND_TILE + 3;
    islands->rows = (height - 1) / FM_ISLAND_TILE + 3;
    islands->indexes = fm_memory_allocate_zeroed(memory, (size_t)islands->columns * islands->rows,
                                                 sizeof *islands->indexes);
    if (islands->indexes == NULL) {
        fm_memory_release(memory, islands, sizeof *islands);
        return FM_ERR_NO_MEMORY;
    }
    *out = islands;
    return FM_OK;
}

void fm_islands_destroy(fm_islands *islands)
{
    if (islands != NULL) {
        const fm_memory *memory = islands->memory;
        size_t places = (size_t)islands->columns * islands->rows;
        fm_memory_release(memory, islands->indexes, places * sizeof *islands->indexes);
        fm_memory_release(memory, islands->tiles, islands->tile_capacity * sizeof *islands->tiles);
        fm_memory_release(memory, islands->islands,
                          islands->island_capacity * sizeof *islands->islands);
        fm_memory_release(memory, islands, sizeof *islands);
    }
}

bool fm_islands_reserve(fm_islands *islands, uint32_t unit_count)
{
    uint32_t count = fm_min(TILES_PER_UNIT * unit_count, islands->columns * islands->rows);
    return FM_RESERVE_FROM(islands->memory, islands->tiles, islands->tile_capacity, count) &&
           FM_RESERVE_FROM(islands->memory, islands->islands, islands->island_capacity, count);
}

static uint32_t index_at(fm_islands *islands, uint32_t place)
{
    if (islands->indexes[place] == 0) {
        uint32_t index = islands->tile_count++;
        islands->tiles[index] = (struct tile){.place = place, .parent = index};
        islands->indexes[place] = index + 1;
    }
    return islands->indexes[place] - 1;
}

uint32_t fm_islands_add(fm_islands *islands, fm_cell cell, uint32_t size)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    uint32_t column = x / FM_ISLAND_TILE + 1, row = y / FM_ISLAND_TILE + 1;
    uint32_t label = index_at(islands, row * islands->columns + column);
    islands->tiles[label].units += 1;
    uint32_t last_column = (x + size - 1) / FM_ISLAND_TILE + 1;
    uint32_t last_row = (y + size - 1) / FM_ISLAND_TILE + 1;
    for (uint32_t r = row; r <= last_row; r++) {
        for (uint32_t c = column; c <= last_column; c++) {
            index_at(islands, r * islands->columns + c);
        }
    }
    return label;
}

static uint32_t root_of(struct tile *tiles, uint32_t index)
{
    while (tiles[index].parent != index) {
        tiles[index].parent = tiles[tiles[index].parent].parent;
        index = tiles[index].parent;
    }
    return index;
}

static void join(fm_islands *islands, uint32_t index, uint32_t place)
{
    if (islands->indexes[place] != 0) {
        uint32_t a = root_of(islands->tiles, index);
        uint32_t b = root_of(islands->tiles, islands->indexes[place] - 1);
        islands->tiles[a > b ? a : b].parent = fm_min(a, b);
    }
}

fm_island *fm_islands_join(fm_islands *islands, uint32_t *count)
{
    struct tile *tiles = islands->tiles;
    for (uint32_t i = 0; i < islands->tile_count; i++) {
        uint32_t place = tiles[i].place;
        join(islands, i, place - 1);
        join(islands, i, place - islands->columns - 1);
        join(islands, i, place - islands->columns);
        join(islands, i, place - islands->columns + 1);
    }
    *count = 0;
    for (uint32_t i = 0; i < islands->tile_count; i++) {
        uint32_t root = root_of(tiles, i); // comes first
        if (root == i) {
            islands->islands[*count] = (fm_island){0};
            tiles[i].island = (*count)++;
        }
        tiles[i].island = tiles[root].island;
        islands->islands[tiles[i].island].unit_count += tiles[i].units;
    }
    return islands->islands;
}

uint32_t fm_islands_of(const fm_islands *islands, uint32_t label)
{
    return islands->tiles[label].island;
}

void fm_islands_clear(fm_islands *islands)
{
    for (uint32_t i = 0; i < islands->tile_count; i++) {
        islands->indexes[islands->tiles[i].place] = 0;
    }
    islands->tile_count = 0;
}
