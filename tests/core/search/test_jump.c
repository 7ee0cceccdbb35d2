// test_jump.c: a jump-point search finds what a plain search finds.
//
// Random maps of many shapes and densities, with edits between searches, are searched by jump
// points and by a label-correcting search that looks at one cell after the other. Costs must be
// equal, and the path must be legal and have that cost. Searches are
// stopped at random expansions, and one search's memory serves for all of them.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "core/map/grid.h"
#include "core/search/scratch.h"

#define SIDE_MAX 160u

struct bench {
    fm_random random;
    fm_grid *grid;
    fm_view view;
    fm_jump_search *search;
    uint32_t distance[SIDE_MAX * SIDE_MAX];
    fm_cell queue[SIDE_MAX * SIDE_MAX + 1]; // ring: each cell is in it at most once
    bool queued[SIDE_MAX * SIDE_MAX];
};

static fm_cell random_cell(struct bench *b)
{
    return fm_cell_at(fm_random_below(&b->random, b->grid->width),
                      fm_random_below(&b->random, b->grid->height));
}

static void block(struct bench *b, fm_cell cell, bool blocked)
{
    fm_grid_set(b->grid, cell, blocked ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND, FM_COST_FLOOR);
}

static void add_noise(struct bench *b)
{
    uint32_t permille = fm_random_below(&b->random, 500);
    for (uint32_t y = 0; y < b->grid->height; y++) {
        for (uint32_t x = 0; x < b->grid->width; x++) {
            if (fm_random_below(&b->random, 1000) < permille) {
                block(b, fm_cell_at(x, y), true);
            }
        }
    }
}

// Rectangles of walls and of floor, one over the other, as on game maps.
static void add_rectangles(struct bench *b)
{
    uint32_t count = 1 + fm_random_below(&b->random, 60);
    for (uint32_t i = 0; i < count; i++) {
        fm_cell corner = random_cell(b);
        uint32_t width = 1 + fm_random_below(&b->random, 1 + b->grid->width / 3);
        uint32_t height = 1 + fm_random_below(&b->random, 1 + b->grid->height / 3);
        bool blocked = fm_random_below(&b->random, 3) != 0;
        for (uint32_t y = fm_cell_y(corner); y < fm_cell_y(corner) + height; y++) {
            for (uint32_t x = fm_cell_x(corner); x < fm_cell_x(corner) + width; x++) {
                if (fm_grid_contains(b->grid, x, y)) {
                    block(b, fm_cell_at(x, y), blocked);
                }
            }
        }
    }
}

static void make_map(struct bench *b)
{
    uint32_t side_max = fm_random_below(&b->random, 4) == 0 ? SIDE_MAX : 24;
    uint32_t width = 1 + fm_random_below(&b->random, side_max);
    uint32_t height = 1 + fm_random_below(&b->random, side_max);
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &b->grid), FM_OK);
    switch (fm_random_below(&b->random, 3)) {
    case 0:
        add_noise(b);
        break;
    case 1:
        add_rectangles(b);
        break;
    default:
        add_rectangles(b);
        add_noise(b);
        break;
    }
    b->view = fm_view_of_grid(b->grid, FM_CONNECT_8,
                              fm_random_below(&b->random, 2) ? FM_STEPS_10_14 : FM_STEPS_70_99);
}

static uint32_t *distance_of(struct bench *b, fm_cell cell)
{
    return &b->distance[fm_cell_y(cell) * SIDE_MAX + fm_cell_x(cell)];
}

// True distances from a cell to all others.
static void measure(struct bench *b, fm_cell from)
{
    for (uint32_t i = 0; i < FM_COUNT_OF(b->distance); i++) {
        b->distance[i] = FM_COST_INFINITE;
        b->queued[i] = false;
    }
    uint32_t head = 0, tail = 0;
    *distance_of(b, from) = 0;
    b->queue[tail++] = from;
    while (head != tail) {
        fm_cell cell = b->queue[head];
        head = (head + 1) % FM_COUNT_OF(b->queue);
        b->queued[fm_cell_y(cell) * SIDE_MAX + fm_cell_x(cell)] = false;
        for (uint32_t moves = fm_view_moves(&b->view, cell); moves != 0; moves &= moves - 1) {
            uint32_t d = (uint32_t)__builtin_ctz(moves);
            fm_cell next = fm_cell_step(cell, d);
            uint32_t distance = *distance_of(b, cell) + b->view.step[d & 1];
            if (distance < *distance_of(b, next)) {
                *distance_of(b, next) = distance;
                bool *queued = &b->queued[fm_cell_y(next) * SIDE_MAX + fm_cell_x(next)];
                if (!*queued) {
                    *queued = true;
                    b->queue[tail] = next;
                    tail = (tail + 1) % FM_COUNT_OF(b->queue);
                }
            }
        }
    }
}

static fm_jump_state run(struct bench *b, uint32_t grant)
{
    fm_work work = {.expansions_max = grant};
    fm_jump_state state;
    do {
        uint32_t before = work.expansions;
        state = fm_jump_search_advance(b->search, &work);
        assert_true(work.expansions - before <= grant);
        assert_true(state != FM_JUMP_RUNNING || work.expansions - before == grant);
    } while (state == FM_JUMP_RUNNING);
    return state;
}

// Walks the path cell by cell.
static void check_path(struct bench *b, fm_cell start, fm_cell goal, uint32_t cost)
{
    static fm_cell turns[SIDE_MAX * SIDE_MAX];
    uint32_t count = fm_jump_search_turns(b->search, turns, FM_COUNT_OF(turns));
    assert_true(count >= 1 && count <= FM_COUNT_OF(turns));
    assert_int_equal(turns[0], start);
    assert_int_equal(turns[count - 1], goal);
    uint32_t walked = 0, last = FM_DIRECTION_COUNT;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t dx = fm_cell_dx(turns[i - 1], turns[i]), dy = fm_cell_dy(turns[i - 1], turns[i]);
        assert_true(dx == dy || dx == 0 || dy == 0);
        uint32_t d = fm_turn_direction(turns[i - 1], turns[i]);
        assert_true(d != last);
        last = d;
        fm_cell cell = turns[i - 1];
        for (uint32_t steps = fm_turn_steps(turns[i - 1], turns[i]); steps > 0; steps--) {
            assert_true(fm_view_moves(&b->view, cell) >> d & 1);
            cell = fm_cell_step(cell, d);
            walked += b->view.step[d & 1];
        }
        assert_int_equal(cell, turns[i]);
    }
    assert_int_equal(walked, cost);

    fm_cell head[2];
    assert_int_equal(fm_jump_search_turns(b->search, head, 2), count);
    assert_int_equal(head[0], turns[0]);
    assert_true(count < 2 || head[1] == turns[1]);
}

static void check_pair(struct bench *b, fm_cell start, fm_cell goal)
{
    uint32_t expected = *distance_of(b, goal);
    uint32_t grant =
        fm_random_below(&b->random, 3) == 0 ? UINT32_MAX : 1 + fm_random_below(&b->random, 9);
    fm_jump_search_begin(b->search, &b->view, start, goal, FM_COST_INFINITE);
    fm_jump_state state = run(b, grant);
    if (expected == FM_COST_INFINITE) {
        assert_int_equal(state, FM_JUMP_UNREACHABLE);
        return;
    }
    assert_int_equal(state, FM_JUMP_FOUND);
    assert_int_equal(fm_jump_search_cost(b->search), expected);
    check_path(b, start, goal, expected);

    fm_jump_search_begin(b->search, &b->view, start, goal, expected);
    assert_int_equal(run(b, grant), FM_JUMP_UNREACHABLE);
    fm_jump_search_begin(b->search, &b->view, start, goal, expected + 1);
    assert_int_equal(run(b, grant), FM_JUMP_FOUND);
    assert_int_equal(fm_jump_search_cost(b->search), expected);
}

static void costs_and_paths_match_a_plain_search(void **state)
{
    (void)state;
    static struct bench b;
    b.random = fm_random_seed(fm_test_seed());
    assert_int_equal(fm_jump_search_create(&fm_memory_libc, &b.search), FM_OK);
    const char *count = getenv("FOGMARCH_JUMP_MAPS");
    for (uint32_t maps = count == NULL ? 4000 : (uint32_t)atoi(count); maps > 0; maps--) {
        make_map(&b);
        for (uint32_t i = 0; i < 4; i++) {
            fm_cell start = random_cell(&b);
            measure(&b, start);
            for (uint32_t j = 0; j < 8; j++) {
                check_pair(&b, start, random_cell(&b));
            }
            for (uint32_t edits = fm_random_below(&b.random, 6); edits > 0; edits--) {
                block(&b, random_cell(&b), fm_random_below(&b.random, 2));
            }
        }
        fm_grid_destroy(b.grid);
    }
    fm_jump_search_destroy(b.search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_and_paths_match_a_plain_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
