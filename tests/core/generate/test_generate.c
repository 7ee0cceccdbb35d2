// Goal: every generator keeps the promises of generate.h for every seed, and always gives the same
// map for the same options.
// Method: counts and walks check the promises on maps from many random seeds; one digest over a map
// of each kind is compared with a golden value; errors must name the option that is out of range.

#include "core/generate/generate.h"
#include "core/generate/symmetry.h"
#include "tests/support/support.h"

// Turns that do not fit the lattice move every edge by up to a cell, and sometimes a pocket or a
// sliver between two edges: in 1,000 small maps at most 3 permille of the cells.
#define UNLIKE_PERMILLE_MAX 10

static fm_grid *generate(const fm_generate_options *options, fm_cell *bases)
{
    fm_grid *grid;
    char error[160] = "";
    if (fm_generate(options, &fm_memory_libc, &grid, bases, error, sizeof error) != FM_OK) {
        fail_msg("%s", error);
    }
    assert_int_equal(grid->width, options->width);
    assert_int_equal(grid->height, options->height);
    return grid;
}

static bool blocked(const fm_grid *grid, uint32_t x, uint32_t y)
{
    return fm_grid_is_blocked(grid, fm_cell_at(x, y));
}

static uint32_t odd_side(fm_random *random)
{
    return FM_MAZE_SIDE_MIN + 2 * fm_random_below(random, 40);
}

// Cells that straight steps reach from one, that one included.
static uint64_t count_reached(const fm_grid *grid, fm_cell from)
{
    size_t cell_count = (size_t)grid->width * grid->height;
    bool *reached = calloc(cell_count, sizeof *reached);
    fm_cell *queue = malloc(cell_count * sizeof *queue);
    uint64_t head = 0, count = 0;
    queue[count++] = from;
    reached[fm_grid_index(grid, from)] = true;
    while (head < count) {
        fm_cell cell = queue[head++];
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
            int64_t x = (int64_t)fm_cell_x(cell) + fm_direction_dx[d];
            int64_t y = (int64_t)fm_cell_y(cell) + fm_direction_dy[d];
            if (!fm_grid_contains(grid, x, y) || blocked(grid, (uint32_t)x, (uint32_t)y)) {
                continue;
            }
            fm_cell next = fm_cell_at((uint32_t)x, (uint32_t)y);
            if (!reached[fm_grid_index(grid, next)]) {
                reached[fm_grid_index(grid, next)] = true;
                queue[count++] = next;
            }
        }
    }
    free(reached);
    free(queue);
    return count;
}

static void options_out_of_range_name_themselves(void **state)
{
    (void)state;
    fm_generate_options good = fm_generate_options_default();
    good.width = good.height = 65;
    good.walls_removed = 0;
    struct {
        fm_generator generator;
        uint32_t value;
        size_t offset;
        fm_status status;
        const char *name;
    } const wrongs[] = {
#define WRONG(generator, option, value, status)                                                    \
    {generator, value, offsetof(fm_generate_options, option), status, #option ":"}
        WRONG(FM_GENERATOR_OPEN, width, 0, FM_ERR_BAD_SIZE),
        WRONG(FM_GENERATOR_OPEN, width, 4097, FM_ERR_BAD_SIZE),
        WRONG(FM_GENERATOR_SKIRMISH, height, 0, FM_ERR_BAD_SIZE),
        WRONG(FM_GENERATOR_MAZE, height, UINT32_MAX, FM_ERR_BAD_SIZE),
        WRONG(FM_GENERATOR_MAZE, width, 3, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_MAZE, width, 64, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_MAZE, height, 4096, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_MAZE, walls_removed, 63 * 63 - 2 * 32 * 32 + 2, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_ROOMS, room_side, 1, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_ROOMS, room_side, UINT32_MAX, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_RANDOM, blocked_permille, 1001, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_SKIRMISH, width, 63, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_SKIRMISH, height, 63, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_SKIRMISH, players, 1, FM_ERR_BAD_VALUE),
        WRONG(FM_GENERATOR_SKIRMISH, players, 9, FM_ERR_BAD_VALUE),
#undef WRONG
    };
    for (size_t i = 0; i < FM_COUNT_OF(wrongs); i++) {
        fm_generate_options options = good;
        options.generator = wrongs[i].generator;
        memcpy((char *)&options + wrongs[i].offset, &wrongs[i].value, sizeof(uint32_t));
        fm_grid *grid = NULL;
        char error[160] = "";
        assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, error, sizeof error),
                         wrongs[i].status);
        assert_null(grid);
        assert_memory_equal(error, wrongs[i].name, strlen(wrongs[i].name));
        assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0),
                         wrongs[i].status);
    }
    fm_generate_options strange = good;
    strange.generator = (fm_generator)99;
    fm_grid *grid;
    assert_int_equal(fm_generate(&strange, &fm_memory_libc, &grid, NULL, NULL, 0),
                     FM_ERR_BAD_VALUE);
}

static void without_memory_nothing_is_left_behind(void **state)
{
    (void)state;
    for (int i = FM_GENERATOR_OPEN; i <= FM_GENERATOR_SKIRMISH; i++) {
        fm_generate_options options = fm_generate_options_default();
        options.generator = (fm_generator)i;
        options.width = options.height = 65;
        fm_status status = FM_ERR_NO_MEMORY;
        for (uint64_t left = 0; status != FM_OK; left++) {
            fm_test_memory scarce;
            fm_test_memory_init(&scarce, left);
            fm_grid *grid = NULL;
            status = fm_generate(&options, &scarce.memory, &grid, NULL, NULL, 0);
            assert_true(status == FM_OK || (status == FM_ERR_NO_MEMORY && grid == NULL));
            fm_grid_destroy(grid);
            assert_int_equal(scarce.held, 0);
        }
    }
}

static void an_open_map_is_open(void **state)
{
    (void)state;
    fm_generate_options options = {.generator = FM_GENERATOR_OPEN, .width = 1, .height = 70};
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    fm_grid *grid = generate(&options, bases);
    assert_int_equal(grid->free_count, 70);
    for (size_t i = 0; i < FM_COUNT_OF(bases); i++) {
        assert_int_equal(bases[i], FM_CELL_NONE);
    }
    fm_grid_destroy(grid);
}

static void assert_border_is_blocked(const fm_grid *grid)
{
    for (uint32_t x = 0; x < grid->width; x++) {
        assert_true(blocked(grid, x, 0) && blocked(grid, x, grid->height - 1));
    }
    for (uint32_t y = 0; y < grid->height; y++) {
        assert_true(blocked(grid, 0, y) && blocked(grid, grid->width - 1, y));
    }
}

// All corridors joined by one opening less than there are lattice cells: a tree, so there is
// exactly one way from each cell to each other.
static void a_maze_is_perfect_before_walls_are_removed(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 100; round++) {
        fm_generate_options options = {.generator = FM_GENERATOR_MAZE,
                                       .width = odd_side(&random),
                                       .height = odd_side(&random),
                                       .seed = fm_random_next(&random)};
        fm_grid *grid = generate(&options, NULL);
        assert_border_is_blocked(grid);
        for (uint32_t y = 1; y + 1 < grid->height; y++) {
            for (uint32_t x = 1; x + 1 < grid->width; x++) {
                assert_true(x % 2 == 0 || y % 2 == 0 || !blocked(grid, x, y));
                assert_true(x % 2 == 1 || y % 2 == 1 || blocked(grid, x, y));
            }
        }
        uint64_t lattice_count = (uint64_t)(grid->width / 2) * (grid->height / 2);
        assert_int_equal(grid->free_count, 2 * lattice_count - 1);
        assert_int_equal(count_reached(grid, fm_cell_at(1, 1)), grid->free_count);
        fm_grid_destroy(grid);
    }
}

static void a_maze_loses_as_many_walls_as_asked(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 100; round++) {
        fm_generate_options options = {.generator = FM_GENERATOR_MAZE,
                                       .width = odd_side(&random),
                                       .height = odd_side(&random),
                                       .seed = fm_random_next(&random)};
        fm_grid *perfect = generate(&options, NULL);
        uint64_t interior = (uint64_t)(options.width - 2) * (options.height - 2);
        uint32_t walls = (uint32_t)(interior - perfect->free_count);
        // Every tenth round removes all of them.
        options.walls_removed = round % 10 == 0 ? walls : fm_random_below(&random, walls + 1);
        fm_grid *grid = generate(&options, NULL);
        assert_border_is_blocked(grid);
        assert_int_equal(grid->free_count, perfect->free_count + options.walls_removed);
        for (uint32_t y = 0; y < grid->height; y++) {
            for (uint32_t x = 0; x < grid->width; x++) {
                assert_true(blocked(perfect, x, y) || !blocked(grid, x, y));
            }
        }
        fm_grid_destroy(grid);
        fm_grid_destroy(perfect);
    }
}

// Six standard deviations: a fair draw fails once in five hundred million runs.
static void assert_share(uint64_t hits, uint64_t draws, double share)
{
    double expected = (double)draws * share;
    double deviation = (double)hits - expected;
    if (deviation * deviation > 36 * expected * (1 - share)) {
        fail_msg("%llu of %llu, expected %.0f", (unsigned long long)hits, (unsigned long long)draws,
                 expected);
    }
}

// Pillars, and the cells in each half of the map, are removed in proportion to their number.
static void removed_walls_are_drawn_uniformly(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    enum {
        SIDE = 41,
        ROUNDS = 200,
        REMOVED = 60
    };
    uint64_t pillars = 0, northern = 0;
    for (int round = 0; round < ROUNDS; round++) {
        fm_generate_options options = {.generator = FM_GENERATOR_MAZE,
                                       .width = SIDE,
                                       .height = SIDE,
                                       .seed = fm_random_next(&random)};
        fm_grid *perfect = generate(&options, NULL);
        options.walls_removed = REMOVED;
        fm_grid *grid = generate(&options, NULL);
        for (uint32_t y = 1; y < SIDE; y++) {
            for (uint32_t x = 1; x < SIDE; x++) {
                bool removed = blocked(perfect, x, y) && !blocked(grid, x, y);
                pillars += removed && x % 2 == 0 && y % 2 == 0;
                northern += removed && x < y;
            }
        }
        fm_grid_destroy(grid);
        fm_grid_destroy(perfect);
    }
    const double wall_count = 39 * 39 - (2 * 20 * 20 - 1);
    assert_share(pillars, ROUNDS * REMOVED, 19 * 19 / wall_count);
    // All walls are removed equally often, wherever they lie in the maze: half of the cells off the
    // diagonal lie below it. The diagonal holds only lattice cells and the 19 pillars.
    assert_share(northern, ROUNDS * REMOVED, (wall_count - 19) / 2 / wall_count);
}

// Walls are where they should be, and all gaps are doors in walls that two rooms share.
static void rooms_have_at_most_one_door_to_each_neighbour(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint64_t doors = 0, shared_walls = 0;
    for (int round = 0; round < 60; round++) {
        fm_generate_options options = {.generator = FM_GENERATOR_ROOMS,
                                       .width = 1 + fm_random_below(&random, 150),
                                       .height = 1 + fm_random_below(&random, 150),
                                       .seed = fm_random_next(&random),
                                       .room_side = 2 + fm_random_below(&random, 12)};
        fm_grid *grid = generate(&options, NULL);
        uint32_t side = options.room_side, pitch = side + 1;
        // Gaps of the wall east of, and of the wall south of, each room.
        uint32_t columns = options.width / pitch + 1, rows = options.height / pitch + 1;
        uint32_t(*gaps)[2] = calloc((size_t)columns * rows, sizeof *gaps);
        for (uint32_t y = 0; y < grid->height; y++) {
            for (uint32_t x = 0; x < grid->width; x++) {
                bool east = x % pitch == side, south = y % pitch == side;
                assert_true(east || south || !blocked(grid, x, y));
                assert_true(!(east && south) || blocked(grid, x, y));
                if (east != south && !blocked(grid, x, y)) {
                    gaps[y / pitch * columns + x / pitch][south] += 1;
                }
            }
        }
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t column = 0; column < columns; column++) {
                uint32_t *room = gaps[row * columns + column];
                bool real = column * pitch < options.width && row * pitch < options.height;
                bool shared[2] = {real && (column + 1) * pitch < options.width,
                                  real && (row + 1) * pitch < options.height};
                for (int i = 0; i < 2; i++) {
                    assert_true(room[i] <= shared[i]);
                    doors += room[i];
                    shared_walls += shared[i];
                }
            }
        }
        free(gaps);
        fm_grid_destroy(grid);
    }
    assert_share(doors, shared_walls, 0.9);
}

static void random_obstacles_are_as_many_as_asked(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t permille = 0; permille <= 1000; permille += 50) {
        fm_generate_options options = {.generator = FM_GENERATOR_RANDOM,
                                       .width = 1 + fm_random_below(&random, 200),
                                       .height = 1 + fm_random_below(&random, 200),
                                       .seed = fm_random_next(&random),
                                       .blocked_permille = permille};
        fm_grid *grid = generate(&options, NULL);
        uint64_t cell_count = (uint64_t)options.width * options.height;
        assert_int_equal(cell_count - grid->free_count, (cell_count * permille + 500) / 1000);
        fm_grid_destroy(grid);
    }
}

static fm_generate_options random_skirmish(fm_random *random, uint32_t players, bool square)
{
    fm_generate_options options = fm_generate_options_default();
    options.players = players;
    options.seed = fm_random_next(random);
    options.width = FM_SKIRMISH_SIDE_MIN + fm_random_below(random, 150);
    options.height = square ? options.width : FM_SKIRMISH_SIDE_MIN + fm_random_below(random, 150);
    return options;
}

// The cell that an image maps a cell to; false when that is off the map.
static bool image_cell(const fm_grid *grid, const fm_matrix *image, fm_cell cell, fm_cell *out)
{
    fm_point point = fm_point_of_cell(fm_cell_x(cell), fm_cell_y(cell), grid->width, grid->height);
    point = fm_matrix_apply(image, point);
    int64_t x = fm_point_column(point.x, grid->width);
    int64_t y = fm_point_column(point.y, grid->height);
    if (!fm_grid_contains(grid, x, y)) {
        return false;
    }
    *out = fm_cell_at((uint32_t)x, (uint32_t)y);
    return true;
}

// Whether there is a terrain within `radius` of a cell.
static bool terrain_is_near(const fm_grid *grid, fm_cell cell, uint8_t terrain, int64_t radius)
{
    for (int64_t dy = -radius; dy <= radius; dy++) {
        for (int64_t dx = -radius; dx <= radius; dx++) {
            int64_t x = fm_cell_x(cell) + dx, y = fm_cell_y(cell) + dy;
            if (fm_grid_contains(grid, x, y) &&
                grid->terrain[(size_t)y * grid->width + (size_t)x] == terrain) {
                return true;
            }
        }
    }
    return false;
}

// Cells whose terrain is nowhere within `radius` of their image, in permille of the map.
static uint64_t unlike_permille(const fm_grid *grid, const fm_matrix *image, int64_t radius)
{
    uint64_t unlike = 0, cell_count = (uint64_t)grid->width * grid->height;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y), other;
            uint8_t terrain = grid->terrain[fm_grid_index(grid, cell)];
            unlike += image_cell(grid, image, cell, &other) &&
                      !terrain_is_near(grid, other, terrain, radius);
        }
    }
    return (unlike * 1000 + cell_count - 1) / cell_count;
}

// A half turn maps cells onto cells whatever the number of players.
static void assert_symmetric(const fm_generate_options *options, const fm_grid *grid,
                             const fm_cell *bases)
{
    uint32_t players = options->players;
    fm_symmetry symmetry = fm_symmetry_for(players, grid->width, grid->height);
    for (uint32_t k = 0; k < players; k++) {
        bool exact = symmetry.exact || (players % 2 == 0 && k == players / 2);
        uint64_t unlike = unlike_permille(grid, &symmetry.image[k], exact ? 0 : 1);
        if (unlike > (exact ? 0 : UNLIKE_PERMILLE_MAX)) {
            fail_msg("%u x %u, seed %llu, image %u of %u: %u permille of the cells differ",
                     grid->width, grid->height, (unsigned long long)options->seed, k, players,
                     (unsigned)unlike);
        }
        fm_cell base;
        assert_true(image_cell(grid, &symmetry.image[k], bases[0], &base));
        assert_int_equal(base, bases[k]);
    }
}

static void assert_bases_are_clear(const fm_grid *grid, const fm_cell *bases, uint32_t players)
{
    for (uint32_t i = 0; i < FM_GENERATE_PLAYERS_MAX; i++) {
        if (i >= players) {
            assert_int_equal(bases[i], FM_CELL_NONE);
            continue;
        }
        for (uint32_t y = fm_cell_y(bases[i]) - 2; y <= fm_cell_y(bases[i]) + 2; y++) {
            for (uint32_t x = fm_cell_x(bases[i]) - 2; x <= fm_cell_x(bases[i]) + 2; x++) {
                assert_true(fm_grid_contains(grid, x, y) && !blocked(grid, x, y));
            }
        }
        for (uint32_t j = 0; j < i; j++) {
            uint32_t dx = fm_cell_dx(bases[i], bases[j]), dy = fm_cell_dy(bases[i], bases[j]);
            assert_true(dx > 8 || dy > 8);
        }
    }
}

static void skirmish_maps_are_symmetric_and_connected(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 20; round++) {
        for (uint32_t players = 2; players <= FM_GENERATE_PLAYERS_MAX; players++) {
            fm_generate_options options = random_skirmish(&random, players, round % 2 == 0);
            fm_cell bases[FM_GENERATE_PLAYERS_MAX];
            fm_grid *grid = generate(&options, bases);
            assert_bases_are_clear(grid, bases, players);
            assert_symmetric(&options, grid, bases);
            assert_int_equal(count_reached(grid, bases[0]), grid->free_count);
            fm_grid_destroy(grid);
        }
    }
}

// A pocket's image may fall between the two middle rows of the map; neither pocket may be closed.
static void images_in_the_middle_favour_no_side(void **state)
{
    (void)state;
    fm_generate_options options = fm_generate_options_default();
    options.players = 6;
    options.width = options.height = 66;
    options.seed = 15946122169800557764u;
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    fm_grid *grid = generate(&options, bases);
    assert_symmetric(&options, grid, bases);
    fm_grid_destroy(grid);
}

// Every map has room to move, and together the maps have every feature, though not each has a lake.
static void skirmish_maps_have_all_terrains(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t players = 2; players <= FM_GENERATE_PLAYERS_MAX; players++) {
        uint64_t total[FM_TERRAIN_COUNT] = {0};
        for (int round = 0; round < 8; round++) {
            fm_generate_options options = random_skirmish(&random, players, true);
            options.width = options.height = 256;
            fm_grid *grid = generate(&options, NULL);
            uint64_t count[FM_TERRAIN_COUNT] = {0};
            for (size_t i = 0; i < 256 * 256; i++) {
                count[grid->terrain[i]] += 1;
                total[grid->terrain[i]] += 1;
            }
            assert_in_range(count[FM_TERRAIN_GROUND] * 1000 / (256 * 256), 350, 900);
            fm_grid_destroy(grid);
        }
        assert_true(total[FM_TERRAIN_WALL] * 1000 / (8 * 256 * 256) >= 5);
        assert_true(total[FM_TERRAIN_TREES] * 1000 / (8 * 256 * 256) >= 5);
        assert_true(total[FM_TERRAIN_WATER] * 1000 / (8 * 256 * 256) >= 5);
    }
}

// On long thin maps there are few sites, and the first road graph may be disconnected.
static void extreme_shapes_work(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t players = 2; players <= FM_GENERATE_PLAYERS_MAX; players++) {
        fm_generate_options options = random_skirmish(&random, players, false);
        options.width = players % 2 == 0 ? FM_SIDE_MAX : FM_SKIRMISH_SIDE_MIN;
        options.height = players % 2 == 0 ? FM_SKIRMISH_SIDE_MIN : FM_SIDE_MAX;
        fm_cell bases[FM_GENERATE_PLAYERS_MAX];
        fm_grid *grid = generate(&options, bases);
        assert_symmetric(&options, grid, bases);
        assert_int_equal(count_reached(grid, bases[0]), grid->free_count);
        fm_grid_destroy(grid);
    }
}

static uint64_t digest_grid(const fm_grid *grid, uint64_t digest)
{
    for (size_t i = 0; i < (size_t)grid->width * grid->height; i++) {
        digest = fm_mix64(digest ^ grid->terrain[i]) + i;
    }
    return digest;
}

// The golden values. Saved games, benchmarks and bug reports name maps by their options, so these
// change only when a generator is meant to change, and CHANGELOG.md says so. To renew them, copy
// the values that the failing test prints.
static const struct {
    fm_generator generator;
    uint32_t players, width, height;
    uint64_t digest;
} golden[] = {
    {FM_GENERATOR_OPEN, 2, 201, 201, 0x7e79b7b51323eed6},
    {FM_GENERATOR_MAZE, 2, 201, 201, 0x7ff24f107b7060d0},
    {FM_GENERATOR_ROOMS, 2, 201, 201, 0xd09481ba095c3c68},
    {FM_GENERATOR_RANDOM, 2, 201, 201, 0x7370d529f04876a6},
    {FM_GENERATOR_SKIRMISH, 2, 201, 130, 0x7e9e8c2be5e26771},
    {FM_GENERATOR_SKIRMISH, 3, 201, 201, 0x567ba0ec384ce316},
    {FM_GENERATOR_SKIRMISH, 4, 201, 201, 0x6593e9248feab5ab},
    {FM_GENERATOR_SKIRMISH, 4, 512, 512, 0x62a028e8ab296ee2},
    {FM_GENERATOR_SKIRMISH, 7, 201, 201, 0x2f1031befaef7e1e},
    {FM_GENERATOR_SKIRMISH, 8, 201, 201, 0x4ec06cc22ab02c9a},
};

static void maps_are_the_same_for_ever(void **state)
{
    (void)state;
    uint32_t changed = 0;
    for (size_t i = 0; i < FM_COUNT_OF(golden); i++) {
        fm_generate_options options = fm_generate_options_default();
        options.generator = golden[i].generator;
        options.players = golden[i].players;
        options.width = golden[i].width;
        options.height = golden[i].height;
        fm_grid *grid = generate(&options, NULL);
        uint64_t digest = digest_grid(grid, 1);
        if (digest != golden[i].digest) {
            print_error("generator %d for %u, %u x %u: 0x%016llx\n", (int)options.generator,
                        options.players, options.width, options.height, (unsigned long long)digest);
            changed += 1;
        }
        fm_grid_destroy(grid);
    }
    assert_int_equal(changed, 0);
}

static void another_seed_is_another_map(void **state)
{
    (void)state;
    for (int i = FM_GENERATOR_MAZE; i <= FM_GENERATOR_SKIRMISH; i++) {
        fm_generate_options options = fm_generate_options_default();
        options.generator = (fm_generator)i;
        options.width = options.height = 101;
        fm_grid *first = generate(&options, NULL);
        options.seed += 1;
        fm_grid *second = generate(&options, NULL);
        assert_memory_not_equal(first->terrain, second->terrain, 101 * 101);
        fm_grid_destroy(first);
        fm_grid_destroy(second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_out_of_range_name_themselves),
        cmocka_unit_test(without_memory_nothing_is_left_behind),
        cmocka_unit_test(an_open_map_is_open),
        cmocka_unit_test(a_maze_is_perfect_before_walls_are_removed),
        cmocka_unit_test(a_maze_loses_as_many_walls_as_asked),
        cmocka_unit_test(removed_walls_are_drawn_uniformly),
        cmocka_unit_test(rooms_have_at_most_one_door_to_each_neighbour),
        cmocka_unit_test(random_obstacles_are_as_many_as_asked),
        cmocka_unit_test(skirmish_maps_are_symmetric_and_connected),
        cmocka_unit_test(images_in_the_middle_favour_no_side),
        cmocka_unit_test(skirmish_maps_have_all_terrains),
        cmocka_unit_test(extreme_shapes_work),
        cmocka_unit_test(maps_are_the_same_for_ever),
        cmocka_unit_test(another_seed_is_another_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
