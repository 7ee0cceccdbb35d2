// core/map/occupancy.c: see occupancy.h.

#include "core/map/occupancy.h"

fm_status fm_occupancy_create(uint32_t width, uint32_t height, const fm_memory *memory,
                              fm_occupancy **out)
{
    fm_occupancy *occupancy = fm_memory_allocate(memory, sizeof *occupancy);
    if (occupancy == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *occupancy = (fm_occupancy){.width = width, .height = height, .memory = memory};
    occupancy->places =
        fm_memory_allocate_zeroed(memory, (size_t)width * height, sizeof *occupancy->places);
    if (occupancy->places == NULL) {
        fm_memory_release(memory, occupancy, sizeof *occupancy);
        return FM_ERR_NO_MEMORY;
    }
    *out = occupancy;
    return FM_OK;
}

void fm_occupancy_destroy(fm_occupancy *occupancy)
{
    if (occupancy != NULL) {
        size_t size = (size_t)occupancy->width * occupancy->height * sizeof *occupancy->places;
        fm_memory_release(occupancy->memory, occupancy->places, size);
        fm_memory_release(occupancy->memory, occupancy, sizeof *occupancy);
    }
}

static bool fits_inside(const fm_occupancy *occupancy, fm_cell cell, uint32_t size)
{
    return fm_cell_x(cell) + size <= occupancy->width &&
           fm_cell_y(cell) + size <= occupancy->height;
}

bool fm_occupancy_is_free(const fm_occupancy *occupancy, fm_cell cell, uint32_t size,
                          uint32_t except)
{
    if (!fits_inside(occupancy, cell, size)) {
        return false;
    }
    for (uint32_t y = 0; y < size; y++) {
        const fm_place *row = fm_occupancy_at(occupancy, cell + fm_cell_at(0, y));
        for (uint32_t x = 0; x < size; x++) {
            if (row[x].now != 0 && row[x].now != except) {
                return false;
            }
        }
    }
    return true;
}

void fm_occupancy_enter(fm_occupancy *occupancy, fm_cell cell, uint32_t size, uint32_t unit)
{
    FM_ASSERT(fits_inside(occupancy, cell, size));
    for (uint32_t y = 0; y < size; y++) {
        fm_place *row = fm_occupancy_at(occupancy, cell + fm_cell_at(0, y));
        for (uint32_t x = 0; x < size; x++) {
            FM_ASSERT(row[x].now == 0);
            row[x].now = unit;
        }
    }
}

void fm_occupancy_leave(fm_occupancy *occupancy, fm_cell cell, uint32_t size, uint32_t unit)
{
    for (uint32_t y = 0; y < size; y++) {
        fm_place *row = fm_occupancy_at(occupancy, cell + fm_cell_at(0, y));
        for (uint32_t x = 0; x < size; x++) {
            row[x].now = row[x].now == unit ? 0 : row[x].now;
        }
    }
}

// ---- the nearest free cell ----------------------------------------------------------------------

struct candidate {
    fm_cell cell;
    uint64_t rank; // UINT64_MAX: none
};

static void consider(const fm_occupancy *occupancy, const fm_bitmap *blocked, fm_cell from,
                     uint32_t size, fm_cell cell, struct candidate *best)
{
    uint64_t rank = fm_occupancy_rank(from, cell);
    if (rank < best->rank || (rank == best->rank && cell < best->cell)) {
        if (!fm_bitmap_get(blocked, cell) &&
            (occupancy == NULL || fm_occupancy_is_free(occupancy, cell, size, 0))) {
            *best = (struct candidate){.cell = cell, .rank = rank};
        }
    }
}

// The cells at Chebyshev distance `ring`, as far as they are on the map.
static void consider_ring(const fm_occupancy *occupancy, const fm_bitmap *blocked, fm_cell from,
                          uint32_t size, int32_t ring, struct candidate *best)
{
    int32_t x = (int32_t)fm_cell_x(from), y = (int32_t)fm_cell_y(from);
    int32_t width = (int32_t)blocked->width, height = (int32_t)blocked->height;
    int32_t left = x - ring < 0 ? 0 : x - ring;
    int32_t right = x + ring >= width ? width - 1 : x + ring;
    for (int32_t row = y - ring < 0 ? 0 : y - ring; row <= y + ring && row < height; row++) {
        bool whole = row == y - ring || row == y + ring;
        for (int32_t column = left; column <= right; column++) {
            if (whole || column == x - ring || column == x + ring) {
                consider(occupancy, blocked, from, size,
                         fm_cell_at((uint32_t)column, (uint32_t)row), best);
            } else if (column < x + ring) { // the inside of the ring
                column = x + ring - 1 < right ? x + ring - 1 : right;
            }
        }
    }
}

fm_cell fm_occupancy_nearest_free(const fm_occupancy *occupancy, const fm_bitmap *blocked,
                                  fm_cell from, uint32_t size, uint32_t *ring)
{
    struct candidate best = {.cell = FM_CELL_NONE, .rank = UINT64_MAX};
    uint32_t side = blocked->width > blocked->height ? blocked->width : blocked->height;
    uint32_t full = *ring;
    // Nothing at Chebyshev distance r is nearer than 10 r by octile distance.
    for (uint32_t r = *ring; r < side && (uint64_t)10 * r <= best.rank >> 26; r++) {
        consider_ring(occupancy, blocked, from, size, (int32_t)r, &best);
        full = best.cell == FM_CELL_NONE ? r + 1 : full;
    }
    *ring = full;
    return best.cell;
}

// ---- the nearest cells, one after the other -----------------------------------------------------

struct fm_nearest_cell {
    uint64_t rank;
    fm_cell cell;
};

static bool is_nearer(const struct fm_nearest_cell *a, const struct fm_nearest_cell *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->cell < b->cell);
}

static bool push(fm_nearest_cells *cells, fm_cell cell)
{
    if (!fm_reserve(cells->memory, (void **)&cells->heap, &cells->capacity, cells->count + 1,
                    sizeof *cells->heap)) {
        return false;
    }
    const struct fm_nearest_cell pushed = {.rank = fm_occupancy_rank(cells->from, cell),
                                           .cell = cell};
    uint32_t at = cells->count++;
    while (at > 0 && is_nearer(&pushed, &cells->heap[(at - 1) / 2])) {
        cells->heap[at] = cells->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    cells->heap[at] = pushed;
    return true;
}

static fm_cell pop(fm_nearest_cells *cells)
{
    fm_cell cell = cells->heap[0].cell;
    const struct fm_nearest_cell last = cells->heap[--cells->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < cells->count; child = 2 * at + 1) {
        child +=
            child + 1 < cells->count && is_nearer(&cells->heap[child + 1], &cells->heap[child]);
        if (!is_nearer(&cells->heap[child], &last)) {
            break;
        }
        cells->heap[at] = cells->heap[child];
        at = child;
    }
    cells->heap[at] = last;
    return cell;
}

static bool can_stand(const fm_occupancy *occupancy, const fm_bitmap *blocked, fm_cell cell,
                      uint32_t size)
{
    return !fm_bitmap_get(blocked, cell) &&
           (occupancy == NULL || fm_occupancy_is_free(occupancy, cell, size, 0));
}

static bool push_ring(fm_nearest_cells *cells, const fm_occupancy *occupancy,
                      const fm_bitmap *blocked)
{
    int32_t x = (int32_t)fm_cell_x(cells->from), y = (int32_t)fm_cell_y(cells->from);
    int32_t width = (int32_t)blocked->width, height = (int32_t)blocked->height;
    int32_t ring = (int32_t)cells->ring;
    int32_t left = x - ring < 0 ? 0 : x - ring;
    int32_t right = x + ring >= width ? width - 1 : x + ring;
    for (int32_t row = y - ring < 0 ? 0 : y - ring; row <= y + ring && row < height; row++) {
        bool whole = row == y - ring || row == y + ring;
        int32_t step = whole || ring == 0 ? 1 : 2 * ring; // else its two ends
        for (int32_t column = whole ? left : x - ring; column <= right; column += step) {
            fm_cell cell = fm_cell_at((uint32_t)(column < 0 ? 0 : column), (uint32_t)row);
            if (column >= 0 && can_stand(occupancy, blocked, cell, cells->size) &&
                !push(cells, cell)) {
                return false;
            }
        }
    }
    cells->ring++;
    return true;
}

fm_status fm_nearest_cells_next(fm_nearest_cells *cells, const fm_occupancy *occupancy,
                                const fm_bitmap *blocked, fm_cell from, uint32_t size, fm_cell *out)
{
    uint32_t side = blocked->width > blocked->height ? blocked->width : blocked->height;
    if (!cells->begun || cells->from != from || cells->size != size) {
        cells->begun = true;
        cells->from = from;
        cells->size = size;
        cells->ring = cells->count = 0;
    }
    *out = FM_CELL_NONE;
    while (*out == FM_CELL_NONE && (cells->count > 0 || cells->ring < side)) {
        // Nothing at Chebyshev distance r is nearer than 10 r by octile distance.
        bool is_nearest =
            cells->count > 0 && (uint64_t)10 * cells->ring > cells->heap[0].rank >> 26;
        if (!is_nearest && cells->ring < side) {
            if (!push_ring(cells, occupancy, blocked)) {
                return FM_ERR_NO_MEMORY;
            }
            continue;
        }
        fm_cell cell = pop(cells);
        *out = can_stand(occupancy, blocked, cell, size) ? cell : FM_CELL_NONE;
    }
    return FM_OK;
}

void fm_nearest_cells_fini(fm_nearest_cells *cells)
{
    fm_memory_release(cells->memory, cells->heap, cells->capacity * sizeof *cells->heap);
    cells->heap = NULL;
    cells->count = cells->capacity = 0;
}
