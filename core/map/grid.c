// core/map/grid.c: see grid.h for shape, units and thread rules.

#include "core/map/grid.h"

fm_status fm_grid_create(uint32_t width, uint32_t height, const fm_memory *memory, fm_grid **out)
{
    if (width < 1 || width > FM_SIDE_MAX || height < 1 || height > FM_SIDE_MAX) {
        return FM_ERR_BAD_SIZE;
    }
    size_t cell_count = (size_t)width * height;
    fm_grid *grid = fm_memory_allocate_zeroed(memory, 1, sizeof *grid);
    if (grid == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    grid->width = width;
    grid->height = height;
    grid->memory = memory;
    grid->free_count = cell_count;
    grid->terrain = fm_memory_allocate(memory, cell_count);
    grid->cost = fm_memory_allocate(memory, cell_count);
    if (grid->terrain == NULL || grid->cost == NULL ||
        fm_bitmap_init(&grid->blocked, width, height, true, memory) != FM_OK ||
        fm_bitmap_init(&grid->blocked_transposed, height, width, true, memory) != FM_OK) {
        fm_grid_destroy(grid);
        return FM_ERR_NO_MEMORY;
    }
    memset(grid->terrain, FM_TERRAIN_GROUND, cell_count);
    memset(grid->cost, FM_COST_FLOOR, cell_count);
    *out = grid;
    return FM_OK;
}

void fm_grid_destroy(fm_grid *grid)
{
    if (grid == NULL) {
        return;
    }
    size_t cell_count = (size_t)grid->width * grid->height;
    const fm_memory *memory = grid->memory;
    fm_bitmap_fini(&grid->blocked, memory);
    fm_bitmap_fini(&grid->blocked_transposed, memory);
    fm_memory_release(memory, grid->terrain, cell_count);
    fm_memory_release(memory, grid->cost, cell_count);
    fm_memory_release(memory, grid, sizeof *grid);
}

bool fm_grid_set(fm_grid *grid, fm_cell cell, fm_terrain terrain, uint8_t cost)
{
    FM_ASSERT(fm_cell_x(cell) < grid->width && fm_cell_y(cell) < grid->height);
    FM_ASSERT(terrain > FM_TERRAIN_UNKNOWN && terrain < FM_TERRAIN_COUNT);
    FM_ASSERT(cost >= FM_COST_FLOOR && cost <= FM_COST_MAX);

    size_t i = fm_grid_index(grid, cell);
    if (grid->terrain[i] == terrain && grid->cost[i] == cost) {
        return false;
    }
    bool was_blocked = fm_grid_is_blocked(grid, cell);
    bool is_blocked = terrain != FM_TERRAIN_GROUND;
    grid->terrain[i] = (uint8_t)terrain;
    grid->cost[i] = cost;
    grid->weighted = grid->weighted || cost != FM_COST_FLOOR;
    fm_cell transposed = fm_cell_at(fm_cell_y(cell), fm_cell_x(cell));
    if (is_blocked) {
        fm_bitmap_set(&grid->blocked, cell);
        fm_bitmap_set(&grid->blocked_transposed, transposed);
    } else {
        fm_bitmap_reset(&grid->blocked, cell);
        fm_bitmap_reset(&grid->blocked_transposed, transposed);
    }
    grid->free_count += (uint64_t)was_blocked - (uint64_t)is_blocked;
    return true;
}

void fm_grid_make_weighted(fm_grid *grid)
{
    grid->weighted = true;
}

char fm_terrain_letter(fm_terrain terrain)
{
    switch (terrain) {
#define X(enumerator, letter, name)                                                                \
    case enumerator:                                                                               \
        return letter;
        FM_TERRAIN_LIST(X)
#undef X
    case FM_TERRAIN_COUNT:
        break;
    }
    FM_UNREACHABLE();
}

const char *fm_terrain_name(fm_terrain terrain)
{
    switch (terrain) {
#define X(enumerator, letter, name)                                                                \
    case enumerator:                                                                               \
        return name;
        FM_TERRAIN_LIST(X)
#undef X
    case FM_TERRAIN_COUNT:
        break;
    }
    FM_UNREACHABLE();
}
