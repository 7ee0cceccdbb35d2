// loadtest/lab/tiles.c: `fogmarch-lab tiles`, what distances in a tile cost by instruction set.
//
// A goal field spends its time in tiles of 32 x 32 cells (core/fields/tile_kernel.h). Each kernel
// that this processor can run solves the same random tiles, with distances given along the west
// side as when a search enters from there, and all must find the same. The kernels take turns, and
// the best of all rounds counts, which excludes other load on the machine.

#include "core/fields/tile_kernel.h"
#include "core/fields/tile_kernel_plain.h"
#include "loadtest/lab/lab.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include <math.h>
#include <string.h>

#define TILES       200u
#define KERNELS_MAX 8u

static const uint32_t densities[] = {0, 10, 35}; // of 100

static const fm_lab_option options[] = {
    {"repeats", "N", "rounds, of which the best counts; 15"},
    {.name = NULL},
};

static const fm_column columns[] = {
    {"kernel", "kernel", FM_COLUMN_TEXT, 0},
    {"blocked_percent", "blocked %", FM_COLUMN_NUMBER, 0},
    {"tile_us", "µs per tile", FM_COLUMN_NUMBER, 2},
};

struct tiles {
    uint32_t free[TILES][FM_TILE_SIDE];
    uint16_t expected[TILES][FM_TILE_SIDE][FM_TILE_SIDE];
    uint16_t found[FM_TILE_SIDE][FM_TILE_SIDE];
};

static const fm_tile_steps steps = {10, 14, FM_CONNECT_8};

static void make_tiles(struct tiles *tiles, uint32_t density, fm_random *random)
{
    for (uint32_t t = 0; t < TILES; t++) {
        for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
            tiles->free[t][y] = 0;
            for (uint32_t x = 0; x < FM_TILE_SIDE; x++) {
                tiles->free[t][y] |= (uint32_t)(fm_random_below(random, 100) >= density) << x;
            }
        }
    }
}

static void solve(struct tiles *tiles, const fm_tile_kernel *kernel, uint32_t t)
{
    memset(tiles->found, 0xff, sizeof tiles->found);
    for (uint32_t y = 0; y < FM_TILE_SIDE; y++) {
        tiles->found[y][0] = (tiles->free[t][y] & 1) != 0 ? 0 : FM_TILE_NOWHERE;
    }
    kernel->sweep(tiles->free[t], &steps, tiles->found);
}

// Nanoseconds of one round.
static double play(struct tiles *tiles, const fm_tile_kernel *kernel)
{
    uint64_t begin = fm_lab_processor_ns();
    for (uint32_t t = 0; t < TILES; t++) {
        solve(tiles, kernel, t);
    }
    return (double)(fm_lab_processor_ns() - begin);
}

static void compare(const fm_lab *lab, struct tiles *tiles, const fm_tile_kernel *kernel)
{
    for (uint32_t t = 0; t < TILES; t++) {
        solve(tiles, kernel, t);
        if (memcmp(tiles->found, tiles->expected[t], sizeof tiles->found) != 0) {
            fm_lab_die(lab, "the kernel %s found other distances", kernel->name);
        }
    }
}

static void measure(fm_lab *lab, struct tiles *tiles, uint32_t density, uint32_t repeats,
                    fm_table *table)
{
    double best[KERNELS_MAX];
    for (uint32_t t = 0; t < TILES; t++) {
        solve(tiles, &fm_tile_kernel_plain, t);
        memcpy(tiles->expected[t], tiles->found, sizeof tiles->found);
    }
    for (uint32_t i = 0; i < repeats; i++) {
        for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
            if (fm_tile_kernels[k]->is_supported()) {
                double ns = play(tiles, fm_tile_kernels[k]);
                best[k] = i == 0 || ns < best[k] ? ns : best[k];
            }
        }
    }
    for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
        bool runs = fm_tile_kernels[k]->is_supported();
        if (runs) {
            compare(lab, tiles, fm_tile_kernels[k]);
        }
        fm_table_row(table);
        fm_table_text(table, fm_tile_kernels[k]->name);
        fm_table_number(table, density);
        fm_table_number(table, runs ? best[k] / 1e3 / TILES : NAN);
    }
}

static int run(fm_lab *lab)
{
    static struct tiles tiles;
    uint32_t repeats = (uint32_t)fm_lab_uint(lab, "repeats", 1, 10000, 15);
    fm_random random = fm_random_seed(lab->seed);
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    for (uint32_t i = 0; i < FM_COUNT_OF(densities); i++) {
        make_tiles(&tiles, densities[i], &random);
        measure(lab, &tiles, densities[i], repeats, &table);
    }
    const fm_report_fact facts[] = {{"tiles", TILES}, {"repeats", repeats}};
    fm_lab_report(lab, &table, facts, FM_COUNT_OF(facts));
    fm_table_fini(&table);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_tiles = {
    .name = "tiles",
    .arguments = "",
    .summary = "distances in a tile by instruction set",
    .details = "Solves random tiles of 32 x 32 cells with every kernel of goal fields that this\n"
               "processor can run. A dash stands for one that it cannot.",
    .options = options,
    .run = run,
};
