// core/fields/tile_kernel.c: the list of kernels, and the sweep for costs of 32 bits. See
// tile_kernel.h.

#include "core/fields/tile_kernel.h"

#include "core/fields/tile_kernel_avx2.h"
#include "core/fields/tile_kernel_avx512.h"
#include "core/fields/tile_kernel_plain.h"
#include "core/fields/tile_kernel_sse2.h"

const fm_tile_kernel *const fm_tile_kernels[] = {
#ifdef __x86_64__
    &fm_tile_kernel_avx512, &fm_tile_kernel_avx2,
    &fm_tile_kernel_sse2,
#endif
    &fm_tile_kernel_plain,  NULL,
};

const fm_tile_kernel *fm_tile_kernel_best(void)
{
    uint32_t i = 0;
    while (!fm_tile_kernels[i]->is_supported()) {
        i++;
    }
    return fm_tile_kernels[i];
}

// ---- costs of 32 bits ---------------------------------------------------------------------------

// What the inner loop of the wide sweep reads.
struct wide {
    const uint32_t *free;
    uint8_t (*weights)[FM_TILE_SIDE];
    fm_tile_steps steps;
    uint32_t (*distances)[FM_TILE_SIDE];
};

static void lower(uint32_t *distance, uint32_t from, uint32_t step, uint32_t weights)
{
    uint32_t offer = from + step * weights / 2;
    *distance = offer < *distance ? offer : *distance;
}

static void spread(const struct wide *w, uint32_t y)
{
    uint32_t *row = w->distances[y];
    const uint8_t *weights = w->weights[y];
    uint32_t free = w->free[y];
    for (uint32_t x = 1; x < FM_TILE_SIDE; x++) {
        if ((free >> (x - 1) & 3) == 3) {
            lower(&row[x], row[x - 1], w->steps.straight, weights[x] + weights[x - 1]);
        }
    }
    for (uint32_t x = FM_TILE_SIDE - 1; x-- > 0;) {
        if ((free >> x & 3) == 3) {
            lower(&row[x], row[x + 1], w->steps.straight, weights[x] + weights[x + 1]);
        }
    }
}

// Row y takes what the row `from`, beside it, offers. Returns whether that changed anything.
static bool take(const struct wide *w, uint32_t y, uint32_t from)
{
    fm_tile_passage passage =
        fm_tile_passage_between(w->free[from], w->free[y], w->steps.connectivity);
    uint32_t *row = w->distances[y];
    const uint32_t *offers = w->distances[from];
    const uint8_t *into = w->weights[y], *out = w->weights[from];
    uint32_t change = 0;
    for (uint32_t x = 0; x < FM_TILE_SIDE; x++) {
        uint32_t before = row[x];
        if (passage.straight >> x & 1) {
            lower(&row[x], offers[x], w->steps.straight, into[x] + out[x]);
        }
        if (passage.from_left >> x & 1) {
            lower(&row[x], offers[x - 1], w->steps.diagonal, into[x] + out[x - 1]);
        }
        if (passage.from_right >> x & 1) {
            lower(&row[x], offers[x + 1], w->steps.diagonal, into[x] + out[x + 1]);
        }
        change |= before ^ row[x];
    }
    return change != 0;
}

void fm_tile_sweep_wide(const uint32_t free[FM_TILE_SIDE], const uint8_t (*weights)[FM_TILE_SIDE],
                        const fm_tile_steps *steps, uint32_t (*distances)[FM_TILE_SIDE])
{
    uint8_t copy[FM_TILE_SIDE][FM_TILE_SIDE];
    if (weights == NULL) {
        memset(copy, 1, sizeof copy);
    } else {
        memcpy(copy, weights, sizeof copy);
    }
    const struct wide w = {free, copy, *steps, distances};
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        spread(&w, y);
    }
    uint32_t down = UINT32_MAX, up = UINT32_MAX; // rows whose change has not been passed on
    while ((down | up) != 0) {
        for (uint32_t y = 1; y < FM_TILE_SIDE; y++) {
            if ((down >> (y - 1) & 1) != 0 && take(&w, y, y - 1)) {
                spread(&w, y);
                down |= (uint32_t)1 << y;
                up |= (uint32_t)1 << y;
            }
        }
        down = 0;
        for (uint32_t y = FM_TILE_SIDE - 1; y-- > 0;) {
            if ((up >> (y + 1) & 1) != 0 && take(&w, y, y + 1)) {
                spread(&w, y);
                down |= (uint32_t)1 << y;
                up |= (uint32_t)1 << y;
            }
        }
        up = 0;
    }
}
