// test_labels.c: labels agree with a flood fill, after any edits, and depend on the map alone.
//
// Random maps of many sides and densities, under all three movement rules, are edited in single
// cells, in rectangles and all over. After each round every cell's label is compared with a flood
// by legal moves (two cells have one label exactly when the flood joins them), and with labels made
// from scratch. The nearest cell of a component is compared with a search of all cells. Memory runs
// out at random: labels that could not be updated say so, and are right after a later update.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "core/map/grid.h"
#include "core/map/labels.h"

#define WORLDS    60u
#define ROUNDS    12u
#define SIDE_MAX  220u
#define CELLS_MAX (SIDE_MAX * SIDE_MAX)
#define NEAREST   4u // questions in each round
#define EDITS_MAX 40u

struct bench {
    fm_random random;
    uint64_t seed;
    fm_grid *grid;
    fm_view view;
    fm_test_memory memory;
    fm_labels *labels;
    uint32_t component[CELLS_MAX]; // by the flood; 0: blocked
    uint32_t component_count;
    fm_cell stack[CELLS_MAX];
};

#define CHECK(bench, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("world %llu: %s", (unsigned long long)(bench)->seed, #condition);             \
        }                                                                                          \
    } while (0)

static uint32_t below(struct bench *b, uint32_t bound)
{
    return fm_random_below(&b->random, bound);
}

static fm_cell random_cell(struct bench *b)
{
    return fm_cell_at(below(b, b->grid->width), below(b, b->grid->height));
}

static uint32_t index_of(const struct bench *b, fm_cell cell)
{
    return (uint32_t)fm_grid_index(b->grid, cell);
}

// ---- the map ----

static void set_blocked(struct bench *b, fm_cell cell, bool blocked)
{
    if (fm_grid_set(b->grid, cell, blocked ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND, FM_COST_FLOOR) &&
        b->labels != NULL) {
        fm_labels_touch(b->labels, cell);
    }
}

static void add_noise(struct bench *b, uint32_t permille)
{
    for (uint32_t y = 0; y < b->grid->height; y++) {
        for (uint32_t x = 0; x < b->grid->width; x++) {
            if (below(b, 1000) < permille) {
                set_blocked(b, fm_cell_at(x, y), below(b, 4) != 0);
            }
        }
    }
}

// The rim of a rectangle, or all of it, blocked or freed.
static void add_rectangle(struct bench *b)
{
    fm_cell corner = random_cell(b);
    uint32_t width = 1 + below(b, 1 + b->grid->width / 2);
    uint32_t height = 1 + below(b, 1 + b->grid->height / 2);
    bool blocked = below(b, 3) != 0, rim = below(b, 2) == 0;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            bool on_rim = x == 0 || y == 0 || x == width - 1 || y == height - 1;
            if ((on_rim || !rim) &&
                fm_grid_contains(b->grid, fm_cell_x(corner) + x, fm_cell_y(corner) + y)) {
                set_blocked(b, fm_cell_at(fm_cell_x(corner) + x, fm_cell_y(corner) + y), blocked);
            }
        }
    }
}

static void edit(struct bench *b)
{
    uint32_t kind = below(b, 10);
    if (kind == 0) {
        add_noise(b, below(b, 600));
    } else if (kind < 4) {
        add_rectangle(b);
    } else {
        for (uint32_t count = 1 + below(b, EDITS_MAX); count > 0; count--) {
            set_blocked(b, random_cell(b), below(b, 2) == 0);
        }
    }
}

// ---- the flood ----

static void flood_from(struct bench *b, fm_cell start)
{
    uint32_t count = 0;
    b->component_count += 1;
    b->component[index_of(b, start)] = b->component_count;
    b->stack[count++] = start;
    while (count > 0) {
        fm_cell cell = b->stack[--count];
        uint32_t moves = fm_view_moves(&b->view, cell);
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            fm_cell next = fm_cell_step(cell, d);
            if ((moves >> d & 1) != 0 && b->component[index_of(b, next)] == 0) {
                b->component[index_of(b, next)] = b->component_count;
                b->stack[count++] = next;
            }
        }
    }
}

static void flood(struct bench *b)
{
    b->component_count = 0;
    memset(b->component, 0, sizeof b->component);
    for (uint32_t y = 0; y < b->grid->height; y++) {
        for (uint32_t x = 0; x < b->grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (!fm_grid_is_blocked(b->grid, cell) && b->component[index_of(b, cell)] == 0) {
                flood_from(b, cell);
            }
        }
    }
}

static fm_cell nearest_by_looking(const struct bench *b, fm_cell goal, uint32_t component)
{
    fm_cell best = FM_CELL_NONE;
    uint32_t best_distance = UINT32_MAX, best_square = UINT32_MAX;
    for (uint32_t y = 0; y < b->grid->height; y++) {
        for (uint32_t x = 0; x < b->grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (b->component[index_of(b, cell)] != component) {
                continue;
            }
            uint32_t dx = fm_cell_dx(cell, goal), dy = fm_cell_dy(cell, goal);
            uint32_t distance = fm_view_distance(&b->view, cell, goal), square = dx * dx + dy * dy;
            if (distance < best_distance || (distance == best_distance && square < best_square)) {
                best = cell; // cells come in the order of their numbers
                best_distance = distance;
                best_square = square;
            }
        }
    }
    return best;
}

// ---- checks ----

static void check_labels(struct bench *b)
{
    static uint32_t label_of[CELLS_MAX];     // by component
    static uint32_t component_of[CELLS_MAX]; // by label
    fm_labels *fresh;
    uint64_t units = 0;
    CHECK(b, fm_labels_create(&b->view, &fm_memory_libc, &fresh) == FM_OK);
    CHECK(b, fm_labels_update(fresh, UINT64_MAX, &units) == FM_OK);
    memset(label_of, 0, sizeof label_of);
    memset(component_of, 0, sizeof component_of);
    for (uint32_t y = 0; y < b->grid->height; y++) {
        for (uint32_t x = 0; x < b->grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            uint32_t component = b->component[index_of(b, cell)];
            uint32_t label = fm_labels_of(b->labels, cell);
            CHECK(b, label == fm_labels_of(fresh, cell));
            CHECK(b, (label == FM_LABEL_NONE) == (component == 0));
            CHECK(b, label <= b->component_count);
            if (component != 0 && label_of[component] == 0) {
                CHECK(b, component_of[label] == 0);
                label_of[component] = label;
                component_of[label] = component;
            }
            // Each component has one label, and no two have the same.
            CHECK(b, component == 0 || label == label_of[component]);
        }
    }
    fm_labels_destroy(fresh);
}

static void check_nearest(struct bench *b)
{
    for (uint32_t i = 0; i < NEAREST; i++) {
        fm_cell goal = random_cell(b), from = random_cell(b);
        uint32_t component = b->component[index_of(b, from)];
        if (component == 0) {
            continue;
        }
        uint32_t label = fm_labels_of(b->labels, from);
        fm_cell expected = nearest_by_looking(b, goal, component);
        uint64_t poor = 0, units = 0;
        b->memory.left = below(b, 3);
        CHECK(b, fm_labels_nearest(b->labels, goal, label, &poor) == expected);
        b->memory.left = UINT64_MAX;
        fm_labels_forget_answers(b->labels);
        CHECK(b, fm_labels_nearest(b->labels, goal, label, &units) == expected);
        CHECK(b, poor == units || poor == 0); // the answer was remembered
        uint64_t again = units;
        CHECK(b, fm_labels_nearest(b->labels, goal, label, &again) == expected);
        CHECK(b, again == units);
    }
}

// In pieces of units_max units, with memory for `left` more blocks at first, then with enough.
static void update(struct bench *b, uint64_t left, uint64_t units_max)
{
    uint64_t units = 0, before = 0;
    b->memory.left = left;
    fm_status status = FM_OK;
    while (status == FM_OK && !fm_labels_are_current(b->labels)) {
        before = units;
        status = fm_labels_update(b->labels, units_max, &units);
        CHECK(b, units > before || fm_labels_are_current(b->labels) || status != FM_OK);
    }
    b->memory.left = UINT64_MAX;
    CHECK(b, fm_labels_update(b->labels, UINT64_MAX, &units) == FM_OK);
    CHECK(b, fm_labels_are_current(b->labels));
    uint64_t blocks = ((b->grid->width + 63) / 64) * ((b->grid->height + 63) / 64);
    uint64_t cells = (uint64_t)b->grid->width * b->grid->height;
    // A run has at least two cells of its row, except at the row's end, and a part at least one
    // run. Running out of memory costs one block more.
    CHECK(b, units <= (blocks + 1) * FM_LABELS_BLOCK_UNITS + cells / FM_LABELS_RUN_STRIDE +
                          cells / FM_LABELS_NODE_STRIDE + 512);
}

static void play(struct bench *b, uint64_t seed)
{
    b->seed = seed;
    b->random = fm_random_seed(seed);
    uint32_t side_max = below(b, 3) == 0 ? 20 : SIDE_MAX;
    fm_connectivity connectivity = (fm_connectivity)below(b, 3);
    fm_step_costs steps = connectivity == FM_CONNECT_4 ? FM_STEPS_1 : FM_STEPS_10_14;
    b->labels = NULL;
    assert_int_equal(
        fm_grid_create(1 + below(b, side_max), 1 + below(b, side_max), &fm_memory_libc, &b->grid),
        FM_OK);
    b->view = fm_view_of_grid(b->grid, connectivity, steps);
    add_noise(b, below(b, 3) == 0 ? 0 : below(b, 1000));
    fm_test_memory_init(&b->memory, UINT64_MAX);
    CHECK(b, fm_labels_create(&b->view, &b->memory.memory, &b->labels) == FM_OK);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        update(b, below(b, 2) == 0 ? UINT64_MAX : below(b, 20),
               below(b, 2) == 0 ? UINT64_MAX : below(b, 100));
        flood(b);
        check_labels(b);
        check_nearest(b);
        edit(b);
    }
    fm_labels_destroy(b->labels);
    CHECK(b, b->memory.held == 0);
    fm_grid_destroy(b->grid);
}

static void labels_are_what_a_flood_finds(void **state)
{
    (void)state;
    struct bench *b = malloc(sizeof *b);
    assert_non_null(b);
    for (uint32_t i = 0; i < WORLDS; i++) {
        play(b, fm_test_seed() + i);
    }
    free(b);
}

// Many orders into one enclosed cell, and the cost of edits.
static void work_is_small_where_little_changes(void **state)
{
    (void)state;
    fm_grid *grid;
    fm_labels *labels;
    assert_int_equal(fm_grid_create(512, 512, &fm_memory_libc, &grid), FM_OK);
    fm_view view = fm_view_of_grid(grid, FM_CONNECT_8, FM_STEPS_10_14);
    assert_int_equal(fm_labels_create(&view, &fm_memory_libc, &labels), FM_OK);
    uint64_t units = 0;
    assert_int_equal(fm_labels_update(labels, UINT64_MAX, &units), FM_OK);
    uint64_t graph = fm_labels_graph_version(labels);
    fm_cell walled = fm_cell_at(300, 300);
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        fm_grid_set(grid, fm_cell_step(walled, d), FM_TERRAIN_WALL, FM_COST_FLOOR);
        fm_labels_touch(labels, fm_cell_step(walled, d));
    }
    units = 0;
    assert_int_equal(fm_labels_update(labels, UINT64_MAX, &units), FM_OK);
    assert_true(units <=
                FM_LABELS_BLOCK_UNITS + 67 / FM_LABELS_RUN_STRIDE + 65 / FM_LABELS_NODE_STRIDE);
    assert_int_not_equal(fm_labels_graph_version(labels), graph);
    assert_false(fm_labels_connect(labels, walled, fm_cell_at(0, 0)));
    // A wall that separates nothing changes no label.
    graph = fm_labels_graph_version(labels);
    fm_grid_set(grid, fm_cell_at(100, 100), FM_TERRAIN_WALL, FM_COST_FLOOR);
    fm_labels_touch(labels, fm_cell_at(100, 100));
    assert_int_equal(fm_labels_update(labels, UINT64_MAX, &units), FM_OK);
    assert_int_equal(fm_labels_graph_version(labels), graph);
    // One search answers a thousand calls.
    uint32_t label = fm_labels_of(labels, fm_cell_at(0, 0));
    units = 0;
    fm_cell nearest = fm_labels_nearest(labels, walled, label, &units);
    assert_int_equal(nearest, fm_cell_at(300, 298));
    uint64_t once = units;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(fm_labels_nearest(labels, walled, label, &units), nearest);
    }
    assert_int_equal(units, once);
    fm_labels_destroy(labels);
    fm_grid_destroy(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_what_a_flood_finds),
        cmocka_unit_test(work_is_small_where_little_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
