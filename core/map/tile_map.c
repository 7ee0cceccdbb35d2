// core/map/tile_map.c: see tile_map.h.
//
// Which tiles count a change of a cell? Those whose steps it may affect: over the cell's own sides
// and past its corners, that is the tiles of all cells around it. A field finds by itself what
// follows across a side when a cell of the next tile gets blocked, because it keeps the distances
// on both sides. It does not in three cases: a step becomes possible into a tile that it has never
// examined, the cell is a tile's corner, or weights make a diagonal step the cheaper one. Then all
// tiles that hold a cell around the changed one count a change.

#include "core/map/tile_map.h"

static void read_sides(fm_tile_map *map, const fm_view *view, uint32_t tile)
{
    uint32_t free[FM_TILE_SIDE], east = 0, west = 0;
    fm_tile_map_read(map, view, tile, free);
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        west |= (free[y] & 1) << y;
        east |= (free[y] >> (FM_TILE_SIDE - 1)) << y;
    }
    uint32_t *sides = map->tiles[tile].sides;
    sides[FM_SIDE_NORTH] = free[0];
    sides[FM_SIDE_EAST] = east;
    sides[FM_SIDE_SOUTH] = free[FM_TILE_SIDE - 1];
    sides[FM_SIDE_WEST] = west;
}

fm_status fm_tile_map_init(fm_tile_map *map, const fm_view *view, const fm_memory *memory)
{
    uint32_t columns = (view->width + FM_TILE_SIDE - 1) / FM_TILE_SIDE;
    uint32_t rows = (view->height + FM_TILE_SIDE - 1) / FM_TILE_SIDE;
    fm_tile_look *tiles = fm_memory_allocate_zeroed(memory, (size_t)columns * rows, sizeof *tiles);
    if (tiles == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *map = (fm_tile_map){.columns = columns, .rows = rows, .tiles = tiles};
    for (uint32_t tile = 0; tile < columns * rows; tile++) {
        read_sides(map, view, tile);
    }
    return FM_OK;
}

void fm_tile_map_fini(fm_tile_map *map, const fm_memory *memory)
{
    fm_memory_release(memory, map->tiles, fm_tile_map_bytes(map));
    *map = (fm_tile_map){0};
}

static void set_side(uint32_t *side, uint32_t position, bool free)
{
    *side = (*side & ~((uint32_t)1 << position)) | (uint32_t)free << position;
}

static void note_sides(fm_tile_look *look, uint32_t x, uint32_t y, bool free)
{
    if (y == 0) {
        set_side(&look->sides[FM_SIDE_NORTH], x, free);
    }
    if (y == FM_TILE_SIDE - 1) {
        set_side(&look->sides[FM_SIDE_SOUTH], x, free);
    }
    if (x == 0) {
        set_side(&look->sides[FM_SIDE_WEST], y, free);
    }
    if (x == FM_TILE_SIDE - 1) {
        set_side(&look->sides[FM_SIDE_EAST], y, free);
    }
}

void fm_tile_map_note(fm_tile_map *map, const fm_view *view, fm_cell cell, bool cheaper)
{
    uint32_t tile = fm_tile_of(map, cell);
    uint32_t x = fm_cell_x(cell) % FM_TILE_SIDE, y = fm_cell_y(cell) % FM_TILE_SIDE;
    map->changes += 1;
    map->freed += cheaper;
    map->tiles[tile].version += 1;
    note_sides(&map->tiles[tile], x, y, !fm_view_is_blocked(view, cell));
    bool at_x = x == 0 || x == FM_TILE_SIDE - 1, at_y = y == 0 || y == FM_TILE_SIDE - 1;
    if (!(at_x && at_y) && !((at_x || at_y) && (cheaper || view->weights != NULL))) {
        return;
    }
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        // Whether the neighbour in direction d lies in the tile in direction d.
        int32_t nx = (int32_t)x + fm_direction_dx[d], ny = (int32_t)y + fm_direction_dy[d];
        bool leaves_x = nx < 0 || nx >= (int32_t)FM_TILE_SIDE;
        bool leaves_y = ny < 0 || ny >= (int32_t)FM_TILE_SIDE;
        uint32_t beside = fm_tile_beside(map, tile, d);
        if (beside != FM_TILE_NONE && leaves_x == (fm_direction_dx[d] != 0) &&
            leaves_y == (fm_direction_dy[d] != 0)) {
            map->tiles[beside].version += 1;
        }
    }
}

void fm_tile_map_renew(fm_tile_map *map, const fm_view *view)
{
    map->changes += 1;
    map->freed += 1;
    for (uint32_t tile = 0; tile < map->columns * map->rows; tile++) {
        map->tiles[tile].version += 1;
        read_sides(map, view, tile);
    }
}

// Behind the last word of a row stands a word of padding, and all bits outside the map are blocked.
void fm_tile_map_read(const fm_tile_map *map, const fm_view *view, uint32_t tile,
                      uint32_t free[FM_TILE_SIDE])
{
    uint32_t x = tile % map->columns * FM_TILE_SIDE, y = tile / map->columns * FM_TILE_SIDE;
    uint32_t count = view->height - y < FM_TILE_SIDE ? view->height - y : FM_TILE_SIDE;
    const uint64_t *word = fm_bitmap_row(view->blocked, (int32_t)y) + (x >> 6);
    for (uint32_t i = 0; i < count; i++) {
        free[i] = ~(uint32_t)(*word >> (x & 63));
        word += view->blocked->pitch;
    }
    for (uint32_t i = count; i < FM_TILE_SIDE; i++) {
        free[i] = 0;
    }
}
