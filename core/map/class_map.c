// core/map/class_map.c: see class_map.h.
//
// A unit of size s with its corner on (x, y) covers x..x + s - 1, y..y + s - 1. So a cell decides
// about the s x s corners up to s - 1 cells north and west of it. When it becomes blocked, so do
// they all; when it becomes free or its weight changes, each of them is looked at again: at most
// 16 corners of 4 row segments each.

#include "core/map/class_map.h"

static void set_blocked(fm_class_map *map, fm_cell corner, bool blocked)
{
    fm_cell mirrored = fm_cell_at(fm_cell_y(corner), fm_cell_x(corner));
    bool transposed = map->blocked_transposed.words != NULL;
    if (blocked) {
        fm_bitmap_set(&map->blocked, corner);
        if (transposed) {
            fm_bitmap_set(&map->blocked_transposed, mirrored);
        }
    } else {
        fm_bitmap_reset(&map->blocked, corner);
        if (transposed) {
            fm_bitmap_reset(&map->blocked_transposed, mirrored);
        }
    }
}

// Where the square would leave the map.
static void block_rim(fm_class_map *map)
{
    uint32_t width = map->view.width, height = map->view.height, size = map->movement->size;
    for (uint32_t y = 0; y < height; y++) {
        uint32_t first = y + size > height || size > width ? 0 : width + 1 - size;
        for (uint32_t x = first; x < width; x++) {
            set_blocked(map, fm_cell_at(x, y), true);
        }
    }
}

fm_status fm_class_map_create(const fm_movement_class *movement, uint32_t width, uint32_t height,
                              bool weighted, fm_connectivity connectivity, fm_step_costs steps,
                              const fm_memory *memory, fm_class_map **out)
{
    FM_ASSERT(fm_movement_class_is_valid(movement));
    fm_class_map *map = fm_memory_allocate_zeroed(memory, 1, sizeof *map);
    if (map == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    map->movement = movement;
    map->memory = memory;
    map->steps = steps;
    map->view = (fm_view){.width = width, .height = height, .connectivity = connectivity};
    bool transposed = connectivity == FM_CONNECT_8;
    if (fm_bitmap_init(&map->blocked, width, height, true, memory) != FM_OK ||
        (transposed &&
         fm_bitmap_init(&map->blocked_transposed, height, width, true, memory) != FM_OK) ||
        (movement->size > 1 && fm_bitmap_init(&map->solid, width, height, true, memory) != FM_OK) ||
        ((weighted || fm_movement_class_is_weighted(movement)) &&
         fm_class_map_prepare_for_weights(map) != FM_OK)) {
        fm_class_map_destroy(map);
        return FM_ERR_NO_MEMORY;
    }
    map->view.blocked = &map->blocked;
    map->view.blocked_transposed = transposed ? &map->blocked_transposed : NULL;
    fm_class_map_use_weights(map);
    block_rim(map);
    *out = map;
    return FM_OK;
}

static size_t cell_count_of(const fm_class_map *map)
{
    return (size_t)map->view.width * map->view.height;
}

void fm_class_map_destroy(fm_class_map *map)
{
    if (map == NULL) {
        return;
    }
    const fm_memory *memory = map->memory;
    fm_bitmap_fini(&map->blocked, memory);
    fm_bitmap_fini(&map->blocked_transposed, memory);
    fm_bitmap_fini(&map->solid, memory);
    fm_memory_release(memory, map->weights, cell_count_of(map));
    fm_memory_release(memory, map->cell_weights, cell_count_of(map));
    fm_change_log_fini(&map->log, memory);
    fm_tile_map_fini(&map->tiles, memory);
    fm_memory_release(memory, map, sizeof *map);
}

fm_status fm_class_map_prepare_for_weights(fm_class_map *map)
{
    if (map->weights != NULL) {
        return FM_OK;
    }
    size_t cell_count = cell_count_of(map);
    uint8_t *weights = fm_memory_allocate(map->memory, cell_count);
    uint8_t *cell_weights =
        map->movement->size > 1 ? fm_memory_allocate(map->memory, cell_count) : NULL;
    if (weights == NULL || (map->movement->size > 1 && cell_weights == NULL)) {
        fm_memory_release(map->memory, weights, cell_count);
        fm_memory_release(map->memory, cell_weights, cell_count);
        return FM_ERR_NO_MEMORY;
    }
    memset(weights, FM_COST_FLOOR, cell_count);
    if (cell_weights != NULL) {
        memset(cell_weights, FM_COST_FLOOR, cell_count);
    }
    map->weights = weights;
    map->cell_weights = cell_weights;
    return FM_OK;
}

void fm_class_map_use_weights(fm_class_map *map)
{
    map->view.weights = map->weights;
    fm_view_set_rules(&map->view, map->view.connectivity, map->steps);
}

// ---- one cell has changed -----------------------------------------------------------------------

static size_t index_of(const fm_class_map *map, fm_cell cell)
{
    return (size_t)fm_cell_y(cell) * map->view.width + fm_cell_x(cell);
}

// A corner blocks, or has this weight, from now on.
static void set_corner(fm_class_map *map, fm_cell corner, uint32_t weight)
{
    bool was_blocked = fm_bitmap_get(&map->blocked, corner), is_blocked = weight == 0;
    uint8_t *kept = map->weights == NULL ? NULL : &map->weights[index_of(map, corner)];
    uint32_t weight_before = kept == NULL ? FM_COST_FLOOR : *kept;
    if (was_blocked != is_blocked) {
        set_blocked(map, corner, is_blocked);
    }
    if (kept != NULL && !is_blocked) {
        *kept = (uint8_t)weight;
    }
    bool reweighed = !is_blocked && kept != NULL && weight != weight_before;
    if (map->log_wanted && (was_blocked != is_blocked || reweighed)) {
        fm_change change = {
            .cell = corner,
            .blocked = is_blocked,
            .cheaper = !is_blocked && (was_blocked || weight < weight_before),
            .costlier = is_blocked || (!was_blocked && weight > weight_before),
        };
        fm_change_log_add(&map->log, change, map->memory);
        if (map->view.tiles != NULL) {
            fm_tile_map_note(&map->tiles, &map->view, corner, change.cheaper);
        }
    }
}

// `count` bits of a row from x on. There is a word of padding behind every row.
static uint64_t bits_at(const fm_bitmap *bitmap, uint32_t x, uint32_t y, uint32_t count)
{
    const uint64_t *row = fm_bitmap_row(bitmap, (int32_t)y) + (x >> 6);
    uint32_t shift = x & 63;
    uint64_t bits = row[0] >> shift;
    if (shift + count > 64) {
        bits |= row[1] << (64 - shift);
    }
    return bits & (((uint64_t)1 << count) - 1);
}

// The weight of the square with its corner on (x, y), which lies on the map whole; 0: blocked.
static uint32_t weigh_square(const fm_class_map *map, uint32_t x, uint32_t y)
{
    uint32_t size = map->movement->size;
    for (uint32_t i = 0; i < size; i++) {
        if (bits_at(&map->solid, x, y + i, size) != 0) {
            return 0;
        }
    }
    uint32_t costliest = FM_COST_FLOOR;
    for (uint32_t i = 0; map->cell_weights != NULL && i < size; i++) {
        const uint8_t *row = map->cell_weights + index_of(map, fm_cell_at(x, y + i));
        for (uint32_t j = 0; j < size; j++) {
            costliest = row[j] > costliest ? row[j] : costliest;
        }
    }
    return costliest;
}

static void set_corners_around(fm_class_map *map, fm_cell cell, bool blocked)
{
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell), reach = map->movement->size - 1u;
    uint32_t x_end = map->view.width - reach, y_end = map->view.height - reach;
    for (uint32_t cy = y < reach ? 0 : y - reach; cy <= y && cy < y_end; cy++) {
        for (uint32_t cx = x < reach ? 0 : x - reach; cx <= x && cx < x_end; cx++) {
            set_corner(map, fm_cell_at(cx, cy), blocked ? 0 : weigh_square(map, cx, cy));
        }
    }
}

// Notes the cell itself. False when it is as it was.
static bool set_cell(fm_class_map *map, fm_cell cell, uint32_t weight)
{
    uint8_t *kept = map->cell_weights == NULL ? NULL : &map->cell_weights[index_of(map, cell)];
    bool was_blocked = fm_bitmap_get(&map->solid, cell), is_blocked = weight == 0;
    bool reweighed = !is_blocked && kept != NULL && *kept != weight;
    if (is_blocked) {
        fm_bitmap_set(&map->solid, cell);
    } else {
        fm_bitmap_reset(&map->solid, cell);
        if (kept != NULL) {
            *kept = (uint8_t)weight;
        }
    }
    return was_blocked != is_blocked || reweighed;
}

void fm_class_map_set(fm_class_map *map, fm_cell cell, uint32_t weight)
{
    FM_ASSERT(fm_cell_x(cell) < map->view.width && fm_cell_y(cell) < map->view.height);
    uint32_t size = map->movement->size;
    if (size == 1) {
        set_corner(map, cell, weight);
    } else if (set_cell(map, cell, weight) && size <= map->view.width && size <= map->view.height) {
        set_corners_around(map, cell, weight == 0);
    }
}

fm_status fm_class_map_of_grid(const fm_movement_class *movement, const fm_grid *grid,
                               fm_connectivity connectivity, fm_step_costs steps,
                               const fm_memory *memory, fm_class_map **out)
{
    fm_status status = fm_class_map_create(movement, grid->width, grid->height, grid->weighted,
                                           connectivity, steps, memory, out);
    for (uint32_t y = 0; status == FM_OK && y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            size_t i = (size_t)y * grid->width + x;
            uint32_t weight =
                fm_movement_weight(movement, (fm_terrain)grid->terrain[i], grid->cost[i]);
            fm_class_map_set(*out, fm_cell_at(x, y), weight);
        }
    }
    return status;
}

fm_status fm_class_map_prepare_tiles(fm_class_map *map)
{
    if (map->view.tiles == NULL &&
        fm_tile_map_init(&map->tiles, &map->view, map->memory) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    map->view.tiles = &map->tiles;
    return FM_OK;
}

size_t fm_class_map_bytes(const fm_class_map *map)
{
    size_t weights = map->weights == NULL ? 0 : cell_count_of(map);
    size_t cell_weights = map->cell_weights == NULL ? 0 : cell_count_of(map);
    return sizeof *map + map->blocked.size + map->blocked_transposed.size + map->solid.size +
           weights + cell_weights + fm_change_log_bytes(&map->log) + fm_tile_map_bytes(&map->tiles);
}
