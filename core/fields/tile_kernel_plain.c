// core/fields/tile_kernel_plain.c: the tile kernel in plain C, for every processor; see
// tile_kernel.h.

#include "core/fields/tile_kernel_plain.h"

typedef struct row {
    uint16_t lanes[FM_TILE_SIDE];
} row;

FM_INLINE row row_load(const uint16_t *lanes)
{
    row a;
    memcpy(a.lanes, lanes, sizeof a.lanes);
    return a;
}

FM_INLINE void row_store(uint16_t *lanes, row a)
{
    memcpy(lanes, a.lanes, sizeof a.lanes);
}

FM_INLINE row row_lower(row a, row b, uint32_t bits)
{
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        uint16_t other = (uint16_t)(b.lanes[i] | ((bits >> i & 1) - 1));
        a.lanes[i] = other < a.lanes[i] ? other : a.lanes[i];
    }
    return a;
}

FM_INLINE row row_add(row a, uint32_t cost)
{
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        uint32_t sum = a.lanes[i] + cost;
        a.lanes[i] = (uint16_t)(sum < FM_TILE_NOWHERE ? sum : FM_TILE_NOWHERE);
    }
    return a;
}

FM_INLINE row row_from_left(row a, uint32_t k)
{
    memmove(a.lanes + k, a.lanes, (FM_TILE_SIDE - k) * sizeof *a.lanes);
    return a;
}

FM_INLINE row row_from_right(row a, uint32_t k)
{
    memmove(a.lanes, a.lanes + k, (FM_TILE_SIDE - k) * sizeof *a.lanes);
    return a;
}

FM_INLINE bool row_differs(row a, row b)
{
    return memcmp(a.lanes, b.lanes, sizeof a.lanes) != 0;
}

static bool kernel_is_supported(void)
{
    return true;
}

#include "core/fields/tile_sweep.h"

const fm_tile_kernel fm_tile_kernel_plain = KERNEL("plain");
