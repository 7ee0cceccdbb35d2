// core/map/occupancy.h: who stands in which cell, in worlds where a cell holds one unit at most.
//
// Eight bytes a cell: the unit that stands there now, and the one that has claimed the cell for the
// end of the tick (core/crowd/pibt.h). Claims exist only inside a move stage. A unit of size n
// covers the n x n cells whose north-west one is its own.
//
// Threads: parallel stages may read `now`; only serial stages and the move stage write.

#pragma once

#include "core/map/movement.h"

typedef struct fm_place {
    uint32_t now;   // agent slot + 1 of the unit that stands here, or 0
    uint32_t claim; // of the unit that will
} fm_place;

typedef struct fm_occupancy {
    uint32_t width, height; // cells
    fm_place *places;       // row-major
    const fm_memory *memory;
} fm_occupancy;

/// An empty map. @return FM_OK or FM_ERR_NO_MEMORY; on failure nothing needs undoing
FM_CHECKED fm_status fm_occupancy_create(uint32_t width, uint32_t height, const fm_memory *memory,
                                         fm_occupancy **out);

/// NULL is allowed.
void fm_occupancy_destroy(fm_occupancy *occupancy);

static inline fm_place *fm_occupancy_at(const fm_occupancy *occupancy, fm_cell cell)
{
    return &occupancy->places[(size_t)fm_cell_y(cell) * occupancy->width + fm_cell_x(cell)];
}

/// Whether all cells under a unit of this size lie inside the map and nobody but `except` (slot +
/// 1, 0 for nobody) stands in them.
bool fm_occupancy_is_free(const fm_occupancy *occupancy, fm_cell cell, uint32_t size,
                          uint32_t except);

/// Writes `unit` (slot + 1) into all cells under it, which are free.
void fm_occupancy_enter(fm_occupancy *occupancy, fm_cell cell, uint32_t size, uint32_t unit);

/// Empties the cells under a unit as far as they are still `unit`'s.
void fm_occupancy_leave(fm_occupancy *occupancy, fm_cell cell, uint32_t size, uint32_t unit);

/// How near a cell is to `from`: by octile distance, then by straight-line distance.
static inline uint64_t fm_occupancy_rank(fm_cell from, fm_cell cell)
{
    uint32_t dx = fm_cell_dx(from, cell), dy = fm_cell_dy(from, cell);
    uint32_t low = dx < dy ? dx : dy, high = dx < dy ? dy : dx;
    uint64_t octile = 10 * (uint64_t)(high - low) + 14 * (uint64_t)low;
    // 14 x 4096 takes 16 bits, 2 x 4096^2 takes 26; equal ones are in the order of their numbers.
    return octile << 26 | (dx * dx + dy * dy);
}

/// The cell nearest to `from` where a unit can stand: free for its size, and not blocked in
/// `blocked` (the blocked cells of its movement class and size). Nearest by octile distance; ties
/// go to the smaller straight-line distance, then to the smaller cell number. FM_CELL_NONE when
/// there is no such cell.
///
/// @param occupancy  NULL: everybody may stand everywhere
/// @param ring       rings around `from` that are known to be full, 0 when nothing is known.
///                   Receives the number for the next call with the same `from` and size, good as
///                   long as no unit leaves
fm_cell fm_occupancy_nearest_free(const fm_occupancy *occupancy, const fm_bitmap *blocked,
                                  fm_cell from, uint32_t size, uint32_t *ring);

// The same for many units around one cell, while no unit leaves: each cell is examined once and
// waits in a heap until it is the nearest. Begins zeroed but for `memory`.
typedef struct fm_nearest_cells {
    const fm_memory *memory;
    fm_cell from;
    uint32_t size;
    bool begun;
    uint32_t ring; // the next to be looked at
    struct fm_nearest_cell *heap;
    uint32_t count, capacity;
} fm_nearest_cells;

/// The next nearest cell, as above. The caller places a unit there or skips the cell. Starts over
/// with another `from` or size.
///
/// @param out  receives it; FM_CELL_NONE when there is none
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_nearest_cells_next(fm_nearest_cells *cells, const fm_occupancy *occupancy,
                                           const fm_bitmap *blocked, fm_cell from, uint32_t size,
                                           fm_cell *out);

void fm_nearest_cells_fini(fm_nearest_cells *cells);
