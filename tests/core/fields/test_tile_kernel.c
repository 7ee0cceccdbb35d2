// Goal: all kernels give exactly the distances in a tile, the offers from row to row and the least
// keys that their definitions say, with every instruction set. Method: random
// tiles (open, sprinkled, dense, mazes of thin walls), random seeds, every rule of movement and of
// costs, against cell-by-cell relaxation. Kernels that this processor cannot run are named and left
// out.

#include "core/base/random.h"
#include "core/fields/tile_kernel.h"
#include "tests/support/support.h"

#define SIDE  FM_TILE_SIDE
#define TILES 400u

struct tile {
    fm_random random;
    uint32_t free[SIDE];
    uint8_t weights[SIDE][SIDE];
    bool is_weighted;
    fm_tile_steps steps;
    uint32_t distances[SIDE][SIDE]; // FM_COST_INFINITE: none
};

static uint32_t below(struct tile *tile, uint32_t bound)
{
    return fm_random_below(&tile->random, bound);
}

static bool is_free(const struct tile *tile, int32_t x, int32_t y)
{
    return x >= 0 && y >= 0 && x < (int32_t)SIDE && y < (int32_t)SIDE && (tile->free[y] >> x & 1);
}

// Corridors one cell wide that wind through the whole tile.
static void make_serpentine(struct tile *tile)
{
    for (uint32_t y = 0; y < SIDE; y++) {
        tile->free[y] = y % 2 == 0 ? UINT32_MAX : y % 4 == 1 ? 0x80000000u : 1u;
    }
}

static void make_tile(struct tile *tile, uint64_t seed)
{
    static const fm_tile_steps steps[] = {{10, 14, FM_CONNECT_8},
                                          {70, 99, FM_CONNECT_8},
                                          {10, 14, FM_CONNECT_8_CORNERS},
                                          {70, 99, FM_CONNECT_8_CORNERS},
                                          {10, 14, FM_CONNECT_4},
                                          {70, 99, FM_CONNECT_4},
                                          {1, 1, FM_CONNECT_4}};
    static const uint32_t densities[] = {0, 10, 35, 50, 90}; // of 100
    *tile = (struct tile){.random = fm_random_seed(seed)};
    tile->steps = steps[below(tile, FM_COUNT_OF(steps))];
    uint32_t density = densities[below(tile, FM_COUNT_OF(densities))];
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            tile->free[y] |= (uint32_t)(below(tile, 100) >= density) << x;
            tile->weights[y][x] = 1;
            tile->distances[y][x] = FM_COST_INFINITE;
        }
    }
    if (below(tile, 10) == 0) {
        make_serpentine(tile);
    }
}

static void make_weights(struct tile *tile)
{
    tile->is_weighted = true;
    tile->steps.straight *= 2;
    tile->steps.diagonal *= 2;
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            tile->weights[y][x] = (uint8_t)(1 + below(tile, 250));
        }
    }
}

static void seed_tile(struct tile *tile, uint32_t largest)
{
    uint32_t count = below(tile, 4) == 0 ? SIDE : below(tile, 6);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = below(tile, SIDE), y = below(tile, SIDE);
        if (is_free(tile, (int32_t)x, (int32_t)y)) {
            tile->distances[y][x] = below(tile, largest + 1);
        }
    }
}

static bool is_legal(const struct tile *tile, int32_t x, int32_t y, uint32_t d)
{
    int32_t dx = fm_direction_dx[d], dy = fm_direction_dy[d];
    if (!is_free(tile, x, y) || !is_free(tile, x + dx, y + dy)) {
        return false;
    }
    if (d % 2 == 0) {
        return true;
    }
    uint32_t beside = (uint32_t)is_free(tile, x + dx, y) + is_free(tile, x, y + dy);
    return tile->steps.connectivity == FM_CONNECT_8           ? beside == 2
           : tile->steps.connectivity == FM_CONNECT_8_CORNERS ? beside >= 1
                                                              : false;
}

static bool relax(struct tile *tile, uint32_t x, uint32_t y)
{
    bool changed = false;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        if (is_legal(tile, (int32_t)x, (int32_t)y, d)) {
            uint32_t nx = x + (uint32_t)fm_direction_dx[d], ny = y + (uint32_t)fm_direction_dy[d];
            uint32_t step = d % 2 == 0 ? tile->steps.straight : tile->steps.diagonal;
            uint32_t cost =
                tile->distances[ny][nx] + step * (tile->weights[y][x] + tile->weights[ny][nx]) / 2;
            if (cost < tile->distances[y][x]) {
                tile->distances[y][x] = cost;
                changed = true;
            }
        }
    }
    return changed;
}

static void solve(struct tile *tile)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t y = 0; y < SIDE; y++) {
            for (uint32_t x = 0; x < SIDE; x++) {
                changed |= relax(tile, x, y);
            }
        }
    }
}

static void narrow(const struct tile *tile, uint16_t distances[SIDE][SIDE])
{
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t distance = tile->distances[y][x];
            assert_true(distance == FM_COST_INFINITE || distance < FM_TILE_NOWHERE);
            distances[y][x] = (uint16_t)(distance < FM_TILE_NOWHERE ? distance : FM_TILE_NOWHERE);
        }
    }
}

static void kernels_find_distances(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TILES; i++) {
        struct tile tile;
        uint16_t seeds[SIDE][SIDE], expected[SIDE][SIDE], found[SIDE][SIDE];
        make_tile(&tile, fm_test_seed() + i);
        uint32_t largest = FM_TILE_NOWHERE - 1 - fm_tile_way_max(&tile.steps);
        seed_tile(&tile, below(&tile, 2) == 0 ? largest : 300);
        narrow(&tile, seeds);
        solve(&tile);
        narrow(&tile, expected);
        for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
            if (!fm_tile_kernels[k]->is_supported()) {
                continue;
            }
            memcpy(found, seeds, sizeof found);
            fm_tile_kernels[k]->sweep(tile.free, &tile.steps, found);
            if (memcmp(found, expected, sizeof found) != 0) {
                fail_msg("%s: tile %u", fm_tile_kernels[k]->name, i);
            }
        }
    }
}

static void wide_sweep_finds_distances(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TILES; i++) {
        struct tile tile;
        uint32_t found[SIDE][SIDE];
        make_tile(&tile, fm_test_seed() + 1000 + i);
        if (i % 2 == 0) {
            make_weights(&tile);
        }
        seed_tile(&tile, 10000000);
        memcpy(found, tile.distances, sizeof found);
        fm_tile_sweep_wide(tile.free,
                           tile.is_weighted ? (const uint8_t(*)[SIDE])tile.weights : NULL,
                           &tile.steps, found);
        solve(&tile);
        assert_memory_equal(found, tile.distances, sizeof found);
    }
}

// ---- between tiles ----

static uint32_t plain_offer(const struct tile *tile, uint32_t i)
{
    uint32_t best = FM_COST_INFINITE;
    for (int32_t d = -1; d <= 1; d++) {
        int32_t x = (int32_t)i + d;
        uint32_t direction = d == 0 ? FM_NORTH : d < 0 ? FM_NORTH_WEST : FM_NORTH_EAST;
        if (is_legal(tile, (int32_t)i, 1, direction)) {
            uint32_t step = d == 0 ? tile->steps.straight : tile->steps.diagonal;
            uint32_t cost = tile->distances[0][x] + step;
            best = cost < best ? cost : best;
        }
    }
    return best;
}

static void rows_offer_what_steps_cost(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TILES; i++) {
        struct tile tile;
        make_tile(&tile, fm_test_seed() + 2000 + i);
        for (uint32_t x = 0; x < SIDE; x++) {
            if (is_free(&tile, (int32_t)x, 0) && below(&tile, 8) != 0) {
                tile.distances[0][x] = below(&tile, 1000000);
            }
        }
        fm_tile_passage passage =
            fm_tile_passage_between(tile.free[0], tile.free[1], tile.steps.connectivity);
        for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
            uint32_t offers[SIDE];
            if (!fm_tile_kernels[k]->is_supported()) {
                continue;
            }
            fm_tile_kernels[k]->cross(tile.distances[0], &passage, &tile.steps, offers);
            for (uint32_t x = 0; x < SIDE; x++) {
                assert_int_equal(offers[x], plain_offer(&tile, x));
            }
        }
    }
}

static void keys_are_the_least_sums(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TILES; i++) {
        struct tile tile;
        make_tile(&tile, fm_test_seed() + 3000 + i);
        int32_t left = (int32_t)below(&tile, 500), top = (int32_t)below(&tile, 500);
        fm_tile_estimate estimate = {
            .box = {left, top, left + (int32_t)below(&tile, 50), top + (int32_t)below(&tile, 50)},
            .steps = tile.steps,
            .weight_1024 = 1024 + below(&tile, 1025)};
        fm_tile_row row = {(int32_t)below(&tile, 500), (int32_t)below(&tile, 500),
                           below(&tile, 2) == 0};
        fm_view view = {.step = {tile.steps.straight, tile.steps.diagonal},
                        .connectivity = tile.steps.connectivity};
        uint32_t offers[SIDE], known[SIDE], least = FM_COST_INFINITE;
        for (uint32_t x = 0; x < SIDE; x++) {
            offers[x] = below(&tile, 3) == 0 ? FM_COST_INFINITE : below(&tile, 1000);
            known[x] = below(&tile, 3) == 0 ? FM_COST_INFINITE : below(&tile, 1000);
            fm_cell cell = fm_cell_at((uint32_t)row.x + (row.is_vertical ? 0 : x),
                                      (uint32_t)row.y + (row.is_vertical ? x : 0));
            uint32_t h = fm_box_distance(&view, tile.steps.connectivity == FM_CONNECT_4,
                                         &estimate.box, cell);
            uint32_t key = offers[x] + (uint32_t)((uint64_t)h * estimate.weight_1024 / 1024);
            least = offers[x] < known[x] && key < least ? key : least;
        }
        for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
            if (fm_tile_kernels[k]->is_supported()) {
                assert_int_equal(fm_tile_kernels[k]->least_key(offers, known, &row, &estimate),
                                 least);
            }
        }
    }
}

static void the_best_kernel_runs_here(void **state)
{
    (void)state;
    assert_true(fm_tile_kernel_best()->is_supported());
    for (uint32_t k = 0; fm_tile_kernels[k] != NULL; k++) {
        print_message("kernel %s: %s\n", fm_tile_kernels[k]->name,
                      fm_tile_kernels[k]->is_supported() ? "tested" : "not on this processor");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_find_distances),     cmocka_unit_test(wide_sweep_finds_distances),
        cmocka_unit_test(rows_offer_what_steps_cost), cmocka_unit_test(keys_are_the_least_sums),
        cmocka_unit_test(the_best_kernel_runs_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
