// core/search/frontier.c: see frontier.h.

#include "core/search/frontier.h"

void fm_frontier_fini(fm_frontier *frontier, const fm_memory *memory)
{
    fm_wave_fini(&frontier->wave, memory);
    fm_memory_release(memory, frontier->claims,
                      (size_t)frontier->columns * frontier->rows * sizeof *frontier->claims);
    fm_memory_release(memory, frontier->claimed,
                      frontier->claimed_capacity * sizeof *frontier->claimed);
    *frontier = (fm_frontier){0};
}

static bool is_unknown(const fm_knowledge *knowledge, int64_t x, int64_t y)
{
    return fm_grid_contains(knowledge->truth, x, y) &&
           !fm_bitmap_get(&knowledge->known, fm_cell_at((uint32_t)x, (uint32_t)y));
}

bool fm_frontier_is(const fm_knowledge *knowledge, const fm_view *view, fm_cell cell)
{
    if (!fm_bitmap_get(&knowledge->known, cell) || fm_view_is_blocked(view, cell)) {
        return false;
    }
    int64_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    return is_unknown(knowledge, x, y - 1) || is_unknown(knowledge, x - 1, y) ||
           is_unknown(knowledge, x + 1, y) || is_unknown(knowledge, x, y + 1);
}

// ---- claims -------------------------------------------------------------------------------------

static uint16_t *claims_of(const fm_frontier *frontier, fm_cell cell)
{
    return &frontier->claims[fm_cell_y(cell) / FM_CLAIM_SIDE * frontier->columns +
                             fm_cell_x(cell) / FM_CLAIM_SIDE];
}

static bool reserve_claim(fm_frontier *frontier, const fm_view *view, const fm_memory *memory)
{
    if (frontier->claims == NULL) {
        frontier->columns = (view->width - 1) / FM_CLAIM_SIDE + 1;
        frontier->rows = (view->height - 1) / FM_CLAIM_SIDE + 1;
        frontier->claims = fm_memory_allocate_zeroed(
            memory, (size_t)frontier->columns * frontier->rows, sizeof *frontier->claims);
    }
    return FM_RESERVE_FROM(memory, frontier->claimed, frontier->claimed_capacity,
                           frontier->claimed_count + 1) &&
           frontier->claims != NULL;
}

void fm_frontier_claim(fm_frontier *frontier, const fm_view *view, fm_cell cell,
                       const fm_memory *memory)
{
    if (reserve_claim(frontier, view, memory) && *claims_of(frontier, cell) < UINT16_MAX) {
        *claims_of(frontier, cell) += 1;
        frontier->claimed[frontier->claimed_count++] = cell;
    }
}

void fm_frontier_forget_claims(fm_frontier *frontier)
{
    for (uint32_t i = 0; i < frontier->claimed_count; i++) {
        *claims_of(frontier, frontier->claimed[i]) -= 1;
    }
    frontier->claimed_count = 0;
}

// How many explorers are bound for the cell's tile or one beside it.
static uint32_t count_claims(const fm_frontier *frontier, fm_cell cell)
{
    uint32_t count = 0;
    if (frontier->claims == NULL) {
        return 0;
    }
    uint32_t column = fm_cell_x(cell) / FM_CLAIM_SIDE, row = fm_cell_y(cell) / FM_CLAIM_SIDE;
    uint32_t last_column = column + 1 < frontier->columns ? column + 1 : column;
    uint32_t last_row = row + 1 < frontier->rows ? row + 1 : row;
    for (uint32_t y = row > 0 ? row - 1 : 0; y <= last_row; y++) {
        for (uint32_t x = column > 0 ? column - 1 : 0; x <= last_column; x++) {
            count += frontier->claims[y * frontier->columns + x];
        }
    }
    return count;
}

// ---- the wave -----------------------------------------------------------------------------------

static bool begin(fm_frontier *frontier, const fm_view *view, uint64_t order, fm_cell from,
                  const fm_memory *memory)
{
    frontier->job = 0;
    frontier->fallback = FM_CELL_NONE;
    frontier->fallback_claims = UINT32_MAX;
    if (fm_wave_begin(&frontier->wave, view, from, memory) != FM_OK) {
        return false;
    }
    frontier->job = order;
    return true;
}

fm_frontier_state fm_frontier_search(fm_frontier *frontier, const fm_knowledge *knowledge,
                                     const fm_view *view, uint64_t order, fm_cell from,
                                     uint32_t cells_max, uint32_t *cells_used, fm_cell *cell,
                                     const fm_memory *memory)
{
    fm_wave *wave = &frontier->wave;
    if (frontier->job != order && !begin(frontier, view, order, from, memory)) {
        return FM_FRONTIER_EXHAUSTED;
    }
    for (uint32_t i = 0; i < cells_max; i++) {
        fm_cell here = fm_wave_take(wave);
        if (here == FM_CELL_NONE) {
            frontier->job = 0;
            *cell = frontier->fallback;
            return wave->exhausted         ? FM_FRONTIER_EXHAUSTED
                   : *cell == FM_CELL_NONE ? FM_FRONTIER_EXPLORED
                                           : FM_FRONTIER_FOUND;
        }
        *cells_used += 1;
        *cell = here;
        if (fm_frontier_is(knowledge, view, here)) {
            uint32_t claims = count_claims(frontier, here);
            if (claims == 0) {
                frontier->job = 0;
                return FM_FRONTIER_FOUND;
            }
            if (claims < frontier->fallback_claims) {
                frontier->fallback = here;
                frontier->fallback_claims = claims;
            }
        }
        if (here == from || fm_bitmap_get(&knowledge->known, here)) {
            fm_wave_spread(wave, here, memory);
        }
    }
    return FM_FRONTIER_RUNNING;
}
