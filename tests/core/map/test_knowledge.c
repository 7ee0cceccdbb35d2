// test_knowledge.c: a team knows what it has seen, and nothing else.
//
// Method: a plain model runs beside the real knowledge. Agents stand at random cells of random maps
// and look; after each look every cell of the map is compared: seen cells are known as they were
// when last seen, the others are unknown and count as free. In between, the true map is edited.
// Some knowledges note from which cells nothing is left to learn, and no agent looks from there.

#include "core/generate/generate.h"
#include "core/map/knowledge.h"
#include "core/map/line_of_sight.h"
#include "core/map/look_all.h"
#include "tests/support/support.h"

#define SIDE_MAX 70u

struct model {
    bool known[SIDE_MAX][SIDE_MAX];
    uint8_t terrain[SIDE_MAX][SIDE_MAX];
};

static fm_grid *random_grid(fm_random *random)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_RANDOM;
    options.width = 1 + fm_random_below(random, SIDE_MAX);
    options.height = 1 + fm_random_below(random, SIDE_MAX);
    options.blocked_permille = fm_random_below(random, 500);
    options.seed = fm_random_next(random);
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    return grid;
}

static bool is_in_range(fm_sense_rules rules, int32_t dx, int32_t dy)
{
    int32_t radius = (int32_t)rules.radius;
    switch (rules.shape) {
    case FM_SENSE_SQUARE:
        return abs(dx) <= radius && abs(dy) <= radius;
    case FM_SENSE_DIAMOND:
        return abs(dx) + abs(dy) <= radius;
    case FM_SENSE_DISC:
        return dx * dx + dy * dy <= radius * (radius + 1);
    }
    FM_UNREACHABLE();
}

// With line of sight the model takes the seen cells from the real code, and checks that they are in
// range.
static void model_look(struct model *model, const fm_grid *grid, const fm_line_of_sight *sight,
                       fm_cell from)
{
    static fm_cell cells[FM_SIGHT_RAYS_MAX];
    uint32_t count = 0;
    if (sight->rules.line_of_sight) {
        count = fm_line_of_sight_visible(sight, &grid->blocked, from, cells);
    } else {
        for (uint32_t y = 0; y < grid->height; y++) {
            for (uint32_t x = 0; x < grid->width; x++) {
                if (is_in_range(sight->rules, (int32_t)x - (int32_t)fm_cell_x(from),
                                (int32_t)y - (int32_t)fm_cell_y(from))) {
                    cells[count++] = fm_cell_at(x, y);
                }
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = fm_cell_x(cells[i]), y = fm_cell_y(cells[i]);
        assert_true(is_in_range(sight->rules, (int32_t)x - (int32_t)fm_cell_x(from),
                                (int32_t)y - (int32_t)fm_cell_y(from)));
        model->known[y][x] = true;
        model->terrain[y][x] = grid->terrain[y * grid->width + x];
    }
}

static void compare(const struct model *model, const fm_knowledge *knowledge)
{
    uint64_t known = 0;
    for (uint32_t y = 0; y < knowledge->truth->height; y++) {
        for (uint32_t x = 0; x < knowledge->truth->width; x++) {
            fm_learned look = fm_knowledge_look_up(knowledge, fm_cell_at(x, y));
            bool blocked = fm_view_is_blocked(&knowledge->view, fm_cell_at(x, y));
            known += model->known[y][x];
            if (!model->known[y][x]) {
                assert_int_equal(look.terrain, FM_TERRAIN_UNKNOWN);
                assert_false(blocked);
                continue;
            }
            assert_int_equal(look.terrain, model->terrain[y][x]);
            assert_int_equal(blocked, model->terrain[y][x] != FM_TERRAIN_GROUND);
            if (knowledge->blocked_transposed.words != NULL) {
                assert_int_equal(blocked,
                                 fm_bitmap_get(&knowledge->blocked_transposed, fm_cell_at(y, x)));
            }
        }
    }
    assert_int_equal(knowledge->known_count, known);
}

// Some cells of one word of a row from x on become walls, or ground.
static void edit(fm_knowledge *knowledge, fm_grid *grid, uint32_t x, uint32_t y, fm_random *random)
{
    fm_terrain after = fm_random_below(random, 2) ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND;
    fm_edited_word edited = {.y = y, .word = x / 64};
    uint32_t end = fm_min(x + 1 + fm_random_below(random, 2) * fm_random_below(random, 64),
                          fm_min(grid->width, edited.word * 64 + 64));
    for (; x < end; x += 1 + fm_random_below(random, 2) * fm_random_below(random, 9)) {
        edited.mask |= UINT64_C(1) << x % 64;
    }
    assert_int_equal(fm_knowledge_prepare_for_edits(knowledge, &edited, 1), FM_OK);
    for (uint64_t left = edited.mask; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left);
        fm_cell cell = fm_cell_at(edited.word * 64 + bit, y);
        edited.terrain_before[bit] = grid->terrain[fm_grid_index(grid, cell)];
        if (!fm_grid_set(grid, cell, after, 1)) {
            edited.mask &= ~(UINT64_C(1) << bit);
        }
    }
    fm_knowledge_note_edits(knowledge, &edited, 1);
}

static void knows_what_it_has_seen(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 60; run++) {
        fm_grid *grid = random_grid(&random);
        fm_sense_rules rules = {.radius = 1 + fm_random_below(&random, run % 4 == 0 ? 64 : 9),
                                .shape = (fm_sense_shape)fm_random_below(&random, 3),
                                .line_of_sight = fm_random_below(&random, 2) == 0};
        fm_line_of_sight *sight;
        fm_knowledge *knowledge;
        assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &sight), FM_OK);
        assert_int_equal(
            fm_knowledge_create(grid, sight,
                                rules.shape == FM_SENSE_DIAMOND ? FM_CONNECT_4 : FM_CONNECT_8,
                                rules.shape == FM_SENSE_DIAMOND ? FM_STEPS_1 : FM_STEPS_10_14,
                                false, &fm_memory_libc, &knowledge),
            FM_OK);
        struct model *model = calloc(1, sizeof *model);
        bool notes = fm_random_below(&random, 2) == 0;
        if (notes) {
            fm_knowledge_keep_sensed_from(knowledge);
        }
        uint32_t side = 1 + fm_random_below(&random, 8); // many looks from the same cells, or few
        for (uint32_t step = 0; step < 40; step++) {
            uint32_t x = fm_random_below(&random, fm_min(grid->width, side * side));
            uint32_t y = fm_random_below(&random, fm_min(grid->height, side * side));
            if (fm_random_below(&random, 3) == 0) {
                edit(knowledge, grid, x, y, &random);
            } else {
                // As the sense stage does: who has no news does not look.
                if (fm_knowledge_has_news(knowledge, NULL, fm_cell_at(x, y))) {
                    fm_knowledge_sense(knowledge, NULL, fm_cell_at(x, y));
                    assert_true(!notes ||
                                !fm_knowledge_has_news(knowledge, NULL, fm_cell_at(x, y)));
                }
                model_look(model, grid, sight, fm_cell_at(x, y));
            }
            compare(model, knowledge);
        }
        free(model);
        fm_knowledge_destroy(knowledge);
        fm_line_of_sight_destroy(sight);
        fm_grid_destroy(grid);
    }
}

// A team remembers only cells that it knows, in pages, and only until it sees them again. With
// thousands of teams, a byte a cell for each would be gigabytes.
static void edits_cost_who_knows_the_cells(void **state)
{
    (void)state;
    const fm_sense_rules rules = {.radius = 3, .shape = FM_SENSE_SQUARE};
    fm_grid *grid;
    fm_line_of_sight *sight;
    fm_knowledge *knowledge;
    fm_test_memory memory;
    fm_test_memory_init(&memory, UINT64_MAX);
    assert_int_equal(fm_grid_create(1024, 1024, &fm_memory_libc, &grid), FM_OK);
    assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &sight), FM_OK);
    assert_int_equal(fm_knowledge_create(grid, sight, FM_CONNECT_8, FM_STEPS_10_14, false,
                                         &memory.memory, &knowledge),
                     FM_OK);
    fm_knowledge_sense(knowledge, NULL, fm_cell_at(100, 100));
    size_t before = fm_knowledge_bytes(knowledge);
    memory.left = 0;
    fm_edited_word unknown = {.y = 500, .word = 3, .mask = UINT64_MAX};
    assert_int_equal(fm_knowledge_prepare_for_edits(knowledge, &unknown, 1), FM_OK);
    fm_knowledge_note_edits(knowledge, &unknown, 1);
    assert_int_equal(fm_knowledge_bytes(knowledge), before);

    fm_edited_word edited = {.y = 100, .word = 1, .mask = UINT64_MAX};
    for (uint32_t blocks = 0; blocks < 2; blocks++) {
        memory.left = blocks;
        assert_int_equal(fm_knowledge_prepare_for_edits(knowledge, &edited, 1), FM_ERR_NO_MEMORY);
        assert_false(fm_knowledge_has_news(knowledge, NULL, fm_cell_at(100, 100)));
    }
    memory.left = 1;
    assert_int_equal(fm_knowledge_prepare_for_edits(knowledge, &edited, 1), FM_OK);
    memset(edited.terrain_before, FM_TERRAIN_GROUND, sizeof edited.terrain_before);
    assert_true(fm_grid_set(grid, fm_cell_at(100, 100), FM_TERRAIN_WALL, 1));
    fm_knowledge_note_edits(knowledge, &edited, 1);
    assert_true(fm_knowledge_bytes(knowledge) < before + 8000);
    assert_int_equal(fm_knowledge_look_up(knowledge, fm_cell_at(100, 100)).terrain,
                     FM_TERRAIN_GROUND);
    assert_true(fm_knowledge_has_news(knowledge, NULL, fm_cell_at(100, 100)));
    uint64_t held = memory.held;
    memory.left = UINT64_MAX;
    fm_knowledge_sense(knowledge, NULL, fm_cell_at(100, 100));
    assert_int_equal(fm_knowledge_look_up(knowledge, fm_cell_at(100, 100)).terrain,
                     FM_TERRAIN_WALL);
    assert_int_equal(fm_stale_count(&knowledge->stale), 0);
    assert_true(memory.held <= held); // the page is gone, what else was learned may take a block
    fm_knowledge_destroy(knowledge);
    assert_int_equal(memory.held, 0);
    fm_line_of_sight_destroy(sight);
    fm_grid_destroy(grid);
}

// An agent always sees its neighbours, or it would walk into what it cannot see.
static void neighbours_are_always_seen(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t run = 0; run < 200; run++) {
        fm_grid *grid = random_grid(&random);
        fm_sense_rules rules = {.radius = 1 + fm_random_below(&random, 5),
                                .shape =
                                    fm_random_below(&random, 2) ? FM_SENSE_SQUARE : FM_SENSE_DISC,
                                .line_of_sight = true};
        fm_line_of_sight *sight;
        assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &sight), FM_OK);
        fm_cell from = fm_cell_at(fm_random_below(&random, grid->width),
                                  fm_random_below(&random, grid->height));
        static fm_cell cells[FM_SIGHT_RAYS_MAX];
        uint32_t count = fm_line_of_sight_visible(sight, &grid->blocked, from, cells);
        uint32_t near = 0, expected = 0;
        for (uint32_t i = 0; i < count; i++) {
            near += fm_cell_dx(cells[i], from) <= 1 && fm_cell_dy(cells[i], from) <= 1;
        }
        for (int32_t dy = -1; dy <= 1; dy++) {
            for (int32_t dx = -1; dx <= 1; dx++) {
                expected += fm_grid_contains(grid, (int64_t)fm_cell_x(from) + dx,
                                             (int64_t)fm_cell_y(from) + dy);
            }
        }
        assert_int_equal(near, expected);
        fm_line_of_sight_destroy(sight);
        fm_grid_destroy(grid);
    }
}

static bool is_in_window(const fm_sight_window *window, fm_cell cell)
{
    int64_t x = (int64_t)fm_cell_x(cell) - window->left, y = (int64_t)fm_cell_y(cell) - window->top;
    return x >= 0 && x < 64 && y >= 0 && y < window->side && (window->rows[y] >> x & 1) != 0;
}

static uint32_t random_side(fm_random *random)
{
    static const uint32_t sides[] = {1, 2, 63, 64, 65, FM_SIDE_MAX - 1, FM_SIDE_MAX};
    return fm_random_below(random, 3) == 0 ? sides[fm_random_below(random, FM_COUNT_OF(sides))]
                                           : 1 + fm_random_below(random, 150);
}

// The window of a cell has the cells that lines reach, and no other.
static void windows_show_what_lines_reach(void **state)
{
    (void)state;
    static fm_cell cells[FM_SIGHT_RAYS_MAX];
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 120; round++) {
        uint32_t width = random_side(&random), height = random_side(&random);
        height = width > 150 ? fm_min(height, 70) : height;
        fm_grid *grid;
        assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t i = fm_random_below(&random, width * height / 2 + 1); i > 0; i--) {
            fm_grid_set(
                grid, fm_cell_at(fm_random_below(&random, width), fm_random_below(&random, height)),
                FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        fm_sense_rules rules = {.radius = 1 + fm_random_below(&random, FM_SIGHT_WINDOW_RADIUS_MAX),
                                .shape = (fm_sense_shape)fm_random_below(&random, 3),
                                .line_of_sight = true};
        fm_line_of_sight *sight;
        assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &sight), FM_OK);
        for (uint32_t i = 0; i < 60; i++) {
            bool at_the_end = i % 3 == 0;
            fm_cell from = fm_cell_at(
                width - 1 - fm_random_below(&random, at_the_end ? fm_min(width, 3) : width),
                height - 1 - fm_random_below(&random, at_the_end ? fm_min(height, 3) : height));
            fm_sight_window window;
            fm_line_of_sight_window(sight, grid, from, &window);
            uint32_t count = fm_line_of_sight_visible(sight, &grid->blocked, from, cells);
            for (uint32_t k = 0; k < count; k++) {
                assert_true(is_in_window(&window, cells[k]));
            }
            for (uint32_t row = 0; row < window.side; row++) {
                count -= (uint32_t)__builtin_popcountll(window.rows[row]);
            }
            assert_int_equal(count, 0);
        }
        fm_line_of_sight_destroy(sight);
        fm_grid_destroy(grid);
    }
}

// Looking from many cells at once gives the same as looking from each of them.
static void many_see_what_each_of_them_sees(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 300; round++) {
        uint32_t width = 1 + fm_random_below(&random, 400),
                 height = 1 + fm_random_below(&random, 70);
        fm_sense_rules rules = {.radius = 1 + fm_random_below(&random, FM_SENSE_RADIUS_MAX),
                                .shape = (fm_sense_shape)fm_random_below(&random, 3),
                                .line_of_sight = fm_random_below(&random, 2) == 0};
        fm_grid *grid;
        fm_line_of_sight *sight;
        fm_knowledge *knowledge;
        fm_bitmap eyes, each, all;
        assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
        for (uint32_t i = fm_random_below(&random, 60); i > 0; i--) {
            fm_grid_set(
                grid, fm_cell_at(fm_random_below(&random, width), fm_random_below(&random, height)),
                FM_TERRAIN_WALL, FM_COST_FLOOR);
        }
        bool four = rules.shape == FM_SENSE_DIAMOND;
        assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &sight), FM_OK);
        assert_int_equal(fm_knowledge_create(grid, sight, four ? FM_CONNECT_4 : FM_CONNECT_8,
                                             four ? FM_STEPS_1 : FM_STEPS_10_14, false,
                                             &fm_memory_libc, &knowledge),
                         FM_OK);
        assert_int_equal(fm_bitmap_init(&eyes, width, height, false, &fm_memory_libc), FM_OK);
        assert_int_equal(fm_bitmap_init(&each, width, height, false, &fm_memory_libc), FM_OK);
        assert_int_equal(fm_bitmap_init(&all, width, height, false, &fm_memory_libc), FM_OK);
        for (uint32_t i = fm_random_below(&random, 12); i > 0; i--) {
            fm_cell eye =
                fm_cell_at(fm_random_below(&random, width), fm_random_below(&random, height));
            uint32_t side_by_side = 1 + fm_random_below(&random, 2) * fm_random_below(&random, 9);
            for (uint32_t x = fm_cell_x(eye); side_by_side > 0 && x < width; side_by_side--, x++) {
                eye = fm_cell_at(x, fm_cell_y(eye));
                fm_bitmap_set(&eyes, eye);
                fm_knowledge_look(knowledge, NULL, eye, &each);
            }
        }
        fm_look_all(knowledge, &eyes, &all);
        assert_memory_equal(all.words, each.words, all.size);
        fm_bitmap_fini(&eyes, &fm_memory_libc);
        fm_bitmap_fini(&each, &fm_memory_libc);
        fm_bitmap_fini(&all, &fm_memory_libc);
        fm_knowledge_destroy(knowledge);
        fm_line_of_sight_destroy(sight);
        fm_grid_destroy(grid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_it_has_seen),
        cmocka_unit_test(edits_cost_who_knows_the_cells),
        cmocka_unit_test(neighbours_are_always_seen),
        cmocka_unit_test(windows_show_what_lines_reach),
        cmocka_unit_test(many_see_what_each_of_them_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
