// core/map/grid.h: the true map.
//
// Terrain  one fm_terrain per cell. Only FM_TERRAIN_GROUND can be entered, unless a movement class
//          says otherwise (core/map/movement.h); buildings by nobody (core/map/buildings.h).
// Cost     one uint8_t per cell, 1..FM_COST_MAX: how many times the cost of open floor. A step
//          costs the mean of the two cells' costs times the step's own length.
// Blocked  the same fact as a bitmap (1 = cannot be entered, margin 1), which is what searches
//          and sensing read.
// Threads  only serial tick stages write. Whatever takes `const fm_grid *` may run on any worker.
// Source   terrain letters: N. Sturtevant, "Benchmarks for Grid-Based Pathfinding", 2012.

#pragma once

#include "core/map/bitmap.h"

#define FM_COST_FLOOR 1u
#define FM_COST_MAX   250u

// X(enumerator, letter in a .map file, name on the wire)
#define FM_TERRAIN_LIST(X)                                                                         \
    X(FM_TERRAIN_UNKNOWN, '?', "unknown")                                                          \
    X(FM_TERRAIN_GROUND, '.', "ground")                                                            \
    X(FM_TERRAIN_OUT, '@', "out_of_bounds")                                                        \
    X(FM_TERRAIN_TREES, 'T', "trees")                                                              \
    X(FM_TERRAIN_SWAMP, 'S', "swamp")                                                              \
    X(FM_TERRAIN_WATER, 'W', "water")                                                              \
    X(FM_TERRAIN_WALL, 'O', "wall")                                                                \
    X(FM_TERRAIN_BUILDING, 'B', "building") // stands on another one; never in a file

typedef enum fm_terrain {
#define X(enumerator, letter, name) enumerator,
    FM_TERRAIN_LIST(X)
#undef X
    FM_TERRAIN_COUNT,
} fm_terrain;

// Fields are public because searches read them in their innermost loop. Only grid.c writes them.
typedef struct fm_grid {
    uint32_t width;   // cells
    uint32_t height;  // cells
    bool weighted;    // some cell has cost other than FM_COST_FLOOR, or had
    uint8_t *terrain; // width * height, row-major: cell (x, y) at y * width + x
    uint8_t *cost;    // the same
    fm_bitmap blocked;
    fm_bitmap blocked_transposed; // the same with x and y exchanged, for jump points
    uint64_t free_count;          // cells that can be entered
    const fm_memory *memory;
} fm_grid;

/// Makes a grid of open floor.
///
/// @param width, height  cells, each in 1..FM_SIDE_MAX
/// @param memory         outlives the grid
/// @param out            receives the grid, to be released with fm_grid_destroy(); left alone on
///                       failure
/// @return FM_OK, FM_ERR_BAD_SIZE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_grid_create(uint32_t width, uint32_t height, const fm_memory *memory,
                                    fm_grid **out);

/// Releases a grid. NULL is allowed.
void fm_grid_destroy(fm_grid *grid);

/// Changes one cell of the map. Serial stages only.
///
/// @param cell     inside the map (asserted)
/// @param terrain  FM_TERRAIN_GROUND..FM_TERRAIN_COUNT - 1 (asserted)
/// @param cost     1..FM_COST_MAX (asserted)
/// @return true when anything changed
bool fm_grid_set(fm_grid *grid, fm_cell cell, fm_terrain terrain, uint8_t cost);

/// Makes the grid weighted although all costs are FM_COST_FLOOR now: some cell had another cost
/// once.
void fm_grid_make_weighted(fm_grid *grid);

/// Whether x and y name a cell of the map. Any values are allowed.
static inline bool fm_grid_contains(const fm_grid *grid, int64_t x, int64_t y)
{
    return x >= 0 && y >= 0 && x < grid->width && y < grid->height;
}

/// Position of a cell in `terrain` and `cost`.
static inline size_t fm_grid_index(const fm_grid *grid, fm_cell cell)
{
    return (size_t)fm_cell_y(cell) * grid->width + fm_cell_x(cell);
}

static inline bool fm_grid_is_blocked(const fm_grid *grid, fm_cell cell)
{
    return fm_bitmap_get(&grid->blocked, cell);
}

/// Letter of a terrain in a .map file.
char fm_terrain_letter(fm_terrain terrain);

/// Name of a terrain on the wire.
const char *fm_terrain_name(fm_terrain terrain);
