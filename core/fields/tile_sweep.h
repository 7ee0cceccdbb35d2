// core/fields/tile_sweep.h: the code that every kernel compiles; see tile_kernel.h. The including
// file defines, for a row of 32 lanes of 16 bits:
//
//   row                            a vector, or several
//   row_load, row_store            from and to memory
//   row_lower(a, b, bits)          a, and where a bit is set the smaller of a and b
//   row_add(a, cost)               stops at FM_TILE_NOWHERE
//   row_from_left(a, k)            lane x becomes lane x - k; k = 1, 2, 4, 8, 16. What enters is of
//   row_from_right(a, k)           no matter: no bit allows it
//   row_differs(a, b)
//
// and `kernel_is_supported`.

#pragma once

#include "core/fields/tile_kernel.h"

// Lowers a row by what its cells offer to those k to their right and left; the bits say where all
// cells between are free. Spreading by 1, 2, 4 and so on reaches every cell of a run.
#define SPREAD(k)                                                                                  \
    do {                                                                                           \
        if ((left | right) == 0) {                                                                 \
            return row_lower(a, b, UINT32_MAX);                                                    \
        }                                                                                          \
        a = row_lower(a, row_add(row_from_left(a, k), cost * (k)), left);                          \
        b = row_lower(b, row_add(row_from_right(b, k), cost * (k)), right);                        \
        left &= left << (k);                                                                       \
        right &= right >> (k);                                                                     \
    } while (0)

FM_INLINE row spread(row a, uint32_t free, uint32_t cost)
{
    uint32_t left = free & free << 1, right = free & free >> 1;
    row near = row_lower(a, row_add(row_from_left(a, 1), cost), left);
    near = row_lower(near, row_add(row_from_right(a, 1), cost), right);
    if (!row_differs(near, a)) {
        return a; // no cell gains by a neighbour, so none does by cells farther away
    }
    row b = a = near;
    left &= left << 1;
    right &= right >> 1;
    SPREAD(2);
    SPREAD(4);
    SPREAD(8);
    SPREAD(16);
    return row_lower(a, b, UINT32_MAX);
}

#undef SPREAD

// What a row holds after it has been offered the row beside it.
FM_INLINE row take(row own, row from, const fm_tile_passage *passage, const fm_tile_steps *steps)
{
    own = row_lower(own, row_add(from, steps->straight), passage->straight);
    if ((passage->from_left | passage->from_right) == 0) {
        return own;
    }
    row diagonal = row_add(from, steps->diagonal);
    own = row_lower(own, row_from_left(diagonal, 1), passage->from_left);
    return row_lower(own, row_from_right(diagonal, 1), passage->from_right);
}

// The rows of a tile, and those whose change has not been passed on: bits by row.
struct sweep {
    row rows[FM_TILE_SIDE];
    uint32_t down, up;
};

FM_INLINE void sweep_row(struct sweep *sweep, const uint32_t *free, const fm_tile_steps *steps,
                         uint32_t y, uint32_t from)
{
    fm_tile_passage passage = fm_tile_passage_between(free[from], free[y], steps->connectivity);
    row taken = take(sweep->rows[y], sweep->rows[from], &passage, steps);
    if (row_differs(taken, sweep->rows[y])) {
        sweep->rows[y] = spread(taken, free[y], steps->straight);
        sweep->down |= (uint32_t)1 << y;
        sweep->up |= (uint32_t)1 << y;
    }
}

static void kernel_sweep(const uint32_t free[FM_TILE_SIDE], const fm_tile_steps *steps,
                         uint16_t distances[FM_TILE_SIDE][FM_TILE_SIDE])
{
    struct sweep sweep = {.down = 0, .up = 0};
    uint16_t nowhere[FM_TILE_SIDE];
    memset(nowhere, 0xff, sizeof nowhere);
    const row empty = row_load(nowhere);
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        sweep.rows[y] = row_load(distances[y]);
        if (row_differs(sweep.rows[y], empty)) {
            sweep.rows[y] = spread(sweep.rows[y], free[y], steps->straight);
            sweep.down |= (uint32_t)1 << y;
        }
    }
    sweep.up = sweep.down;
    while ((sweep.down | sweep.up) != 0) {
        for (uint32_t y = 1; y < FM_TILE_SIDE; y++) {
            if ((sweep.down >> (y - 1) & 1) != 0) {
                sweep_row(&sweep, free, steps, y, y - 1);
            }
        }
        sweep.down = 0;
        for (uint32_t y = FM_TILE_SIDE - 1; y-- > 0;) {
            if ((sweep.up >> (y + 1) & 1) != 0) {
                sweep_row(&sweep, free, steps, y, y + 1);
            }
        }
        sweep.up = 0;
    }
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        row_store(distances[y], sweep.rows[y]);
    }
}

// The two below are plain loops, which compilers turn into vectors of each instruction set.

FM_INLINE uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void kernel_cross(const uint32_t from[FM_TILE_SIDE], const fm_tile_passage *passage,
                         const fm_tile_steps *steps, uint32_t offers[FM_TILE_SIDE])
{
    uint32_t padded[FM_TILE_SIDE + 2];
    padded[0] = padded[FM_TILE_SIDE + 1] = FM_COST_INFINITE;
    memcpy(padded + 1, from, FM_TILE_SIDE * sizeof *from);
    const fm_tile_passage p = *passage;
    const uint32_t straight = steps->straight, diagonal = steps->diagonal;
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        uint32_t best = (padded[i + 1] + straight) | ((p.straight >> i & 1) - 1);
        best = smaller(best, (padded[i] + diagonal) | ((p.from_left >> i & 1) - 1));
        best = smaller(best, (padded[i + 2] + diagonal) | ((p.from_right >> i & 1) - 1));
        offers[i] = smaller(best, FM_COST_INFINITE);
    }
}

// How far a coordinate lies outside a range.
FM_INLINE int32_t outside(int32_t at, int32_t low, int32_t high)
{
    int32_t distance = low - at > at - high ? low - at : at - high;
    return distance > 0 ? distance : 0;
}

static uint32_t kernel_least_key(const uint32_t offers[FM_TILE_SIDE],
                                 const uint32_t known[FM_TILE_SIDE], const fm_tile_row *side,
                                 const fm_tile_estimate *estimate)
{
    const fm_box box = estimate->box;
    const bool is_vertical = side->is_vertical;
    const int32_t across =
        is_vertical ? outside(side->x, box.left, box.right) : outside(side->y, box.top, box.bottom);
    const int32_t first = is_vertical ? side->y : side->x;
    const int32_t low = is_vertical ? box.top : box.left;
    const int32_t high = is_vertical ? box.bottom : box.right;
    // A diagonal step stands for two straight ones, or saves nothing.
    const uint32_t straight = estimate->steps.straight;
    const uint32_t saved =
        estimate->steps.connectivity == FM_CONNECT_4 ? 0 : 2 * straight - estimate->steps.diagonal;
    const uint32_t weight_1024 = estimate->weight_1024;
    uint32_t least = FM_COST_INFINITE;
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        int32_t along = outside(first + (int32_t)i, low, high);
        uint32_t shorter = (uint32_t)(along < across ? along : across);
        uint32_t h = straight * (uint32_t)(along + across) - saved * shorter;
        uint32_t key = offers[i] + (h * weight_1024 >> 10);
        least = smaller(least, offers[i] < known[i] ? key : FM_COST_INFINITE);
    }
    return least;
}

// A kernel, as its file has to define it.
#define KERNEL(text)                                                                               \
    {                                                                                              \
        .name = text, .is_supported = kernel_is_supported, .sweep = kernel_sweep,                  \
        .cross = kernel_cross, .least_key = kernel_least_key                                       \
    }
