// test_cli_parts.c: what the command-line client parses and draws.
//
// Goal: arguments are parsed exactly or refused as a whole; text from others cannot send commands
// to the terminal; a map of any size is drawn on a canvas of any size, with each agent in its
// place. Method: tables of cases for the words, random sizes from a printed seed for the pictures.

#include "tests/support/support.h"

#include "clients/cli/base/canvas.h"
#include "clients/cli/base/colours.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"
#include "clients/cli/watch/paint.h"
#include "core/base/random.h"

static void test_numbers_and_places(void **state)
{
    (void)state;
    uint64_t number;
    double real;
    fm_cell cell;
    fm_rect rect;
    assert_true(fm_parse_uint("0", 5, &number) && number == 0);
    assert_true(fm_parse_uint("18446744073709551615", UINT64_MAX, &number));
    assert_true(number == UINT64_MAX);
    static const char *const no_numbers[] = {"",    "-1", "+1", " 1",  "1 ",
                                             "0x1", "6",  "1,", "1e3", "18446744073709551616"};
    for (size_t i = 0; i < FM_COUNT_OF(no_numbers); i++) {
        assert_false(fm_parse_uint(no_numbers[i], 5, &number));
    }
    assert_true(fm_parse_real("2.5", &real) && real == 2.5);
    assert_false(fm_parse_real("", &real) || fm_parse_real("2.5s", &real) ||
                 fm_parse_real("nan", &real));
    assert_true(fm_parse_cell("17,4095", &cell) && cell == fm_cell_at(17, 4095));
    fm_cell cells[3];
    assert_int_equal(fm_parse_cells("1,2", cells, 3), 1);
    assert_int_equal(fm_parse_cells("1,2/3,4/5,6", cells, 3), 3);
    assert_int_equal(cells[2], fm_cell_at(5, 6));
    static const char *const nonsense[] = {"",      "1",       "1,2/",       "/1,2",
                                           "1,2,3", "1,2/3;4", "1,2/4096,0", "1,1/2,2/3,3/4,4"};
    for (uint32_t i = 0; i < FM_COUNT_OF(nonsense); i++) {
        assert_int_equal(fm_parse_cells(nonsense[i], cells, 3), 0);
    }
    assert_false(fm_parse_cell("4096,1", &cell) || fm_parse_cell("1", &cell) ||
                 fm_parse_cell("1,2,3", &cell) || fm_parse_cell("1;2", &cell) ||
                 fm_parse_cell("-1,2", &cell) || fm_parse_cell(",2", &cell));
    assert_true(fm_parse_rect("1,2,3,4", &rect) && rect.x == 1 && rect.y == 2 && rect.width == 3 &&
                rect.height == 4);
    assert_false(fm_parse_rect("1,2,0,4", &rect) || fm_parse_rect("1,2,3", &rect) ||
                 fm_parse_rect("1,2,3,4,5", &rect));
}

// `top` and `watch` print five in one line.
static void test_many_figures_in_one_line(void **state)
{
    (void)state;
    char line[160];
    snprintf(line, sizeof line, "%s %s %s %s %s %s", fm_report_grouped(1234567),
             fm_report_size(2048), fm_report_grouped(3), fm_report_size(5ull << 30),
             fm_report_grouped(4000), fm_report_size(6));
    assert_string_equal(line, "1,234,567 2.0 KiB 3 5.0 GiB 4,000 6 bytes");
}

static void test_lists_of_ids(void **state)
{
    (void)state;
    fm_id_list list = {.ids = NULL};
    assert_true(fm_parse_ids("7", &list));
    assert_true(fm_parse_ids("1-3,9,4294967297-4294967298", &list)); // appends
    static const uint64_t wanted[] = {7, 1, 2, 3, 9, 4294967297, 4294967298};
    assert_int_equal(list.count, FM_COUNT_OF(wanted));
    assert_memory_equal(list.ids, wanted, sizeof wanted);
    assert_true(fm_parse_ids("3,8,8,7", &list));
    assert_true(fm_id_list_drop_doubles(&list));
    static const uint64_t once[] = {7, 1, 2, 3, 9, 4294967297, 4294967298, 8};
    assert_int_equal(list.count, FM_COUNT_OF(once));
    assert_memory_equal(list.ids, once, sizeof once);
    static const char *const wrong[] = {
        "",   ",",    "1,", ",1",  "3-1",   "1-",
        "-1", "1--2", "a",  "1 2", "1-2-3", "1-9007199254740991"}; // more than the greatest id
    for (size_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        fm_id_list none = {.ids = NULL};
        assert_false(fm_parse_ids(wrong[i], &none));
        free(none.ids);
    }
    free(list.ids);
}

// Checks that `text` becomes exactly these codes in a row.
static void expect_row(const char *text, const uint32_t *codes, uint32_t count)
{
    fm_canvas canvas = {.columns = 0};
    assert_true(fm_canvas_resize(&canvas, 40, 2));
    assert_int_equal(fm_canvas_write(&canvas, 0, 1, FM_CANVAS_DEFAULT, text), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(canvas.glyphs[40 + i].code, codes[i]);
    }
    fm_canvas_fini(&canvas);
}

static void test_text_cannot_steer_the_terminal(void **state)
{
    (void)state;
    expect_row("a\u00e9\u25cf", (uint32_t[]){'a', 0xe9, 0x25cf}, 3);
    expect_row("\033[2J", (uint32_t[]){'?', '[', '2', 'J'}, 4);
    expect_row("\x7f\n\t", (uint32_t[]){'?', '?', '?'}, 3);
    expect_row("\xc2\x9b"
               "2J",
               (uint32_t[]){'?', '2', 'J'}, 3);        // the one-character form of ESC [
    expect_row("\xe2\x96", (uint32_t[]){'?', '?'}, 2); // cut off
    expect_row("\xff\x80x", (uint32_t[]){'?', '?', 'x'}, 3);
    expect_row("\xf0\x9f\x98\x80", (uint32_t[]){'?'}, 1); // may be two columns wide
}

static void test_text_is_cut_at_the_edge(void **state)
{
    (void)state;
    fm_canvas canvas = {.columns = 0};
    assert_true(fm_canvas_resize(&canvas, 3, 1));
    fm_canvas_write(&canvas, 1, 0, 0, "abc");
    fm_canvas_write(&canvas, 0, 1, 0, "below");
    assert_int_equal(canvas.glyphs[0].code, ' ');
    assert_int_equal(canvas.glyphs[2].code, 'b');
    fm_canvas_fini(&canvas);
}

// A view with random terrain and one agent for each of some random cells.
struct world {
    fm_mirror view;
    fm_mirror_agent agents[20];
};

static void make_world(struct world *world, fm_random *random, uint32_t width, uint32_t height)
{
    world->view = (fm_mirror){
        .rect = {fm_random_below(random, 50), fm_random_below(random, 50), width, height},
        .looks = malloc((size_t)width * height * sizeof(uint16_t)),
        .agents = world->agents,
        .agent_count = fm_random_below(random, FM_COUNT_OF(world->agents) + 1),
    };
    for (uint32_t i = 0; i < width * height; i++) {
        world->view.looks[i] = (uint16_t)fm_random_below(random, FM_TERRAIN_COUNT);
    }
    for (uint32_t i = 0; i < world->view.agent_count; i++) {
        world->agents[i] = (fm_mirror_agent){
            .id = i + 1,
            .team = 1 + i % 8,
            .cell = fm_cell_at(world->view.rect.x + fm_random_below(random, width),
                               world->view.rect.y + fm_random_below(random, height)),
            .state = FM_AGENT_MOVING,
        };
    }
}

static uint32_t count_glyphs(const fm_canvas *canvas, uint32_t colour)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < canvas->columns * canvas->rows; i++) {
        count += canvas->glyphs[i].foreground == colour || canvas->glyphs[i].background == colour;
    }
    return count;
}

static void test_any_map_on_any_canvas(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 300; round++) {
        struct world world;
        fm_canvas canvas = {.colours = (fm_canvas_colours)fm_random_below(&random, 3)};
        uint32_t columns = 1 + fm_random_below(&random, 90),
                 rows = 1 + fm_random_below(&random, 40);
        make_world(&world, &random, 1 + fm_random_below(&random, 200),
                   1 + fm_random_below(&random, 200));
        assert_true(fm_canvas_resize(&canvas, columns, rows));
        uint32_t first_row = fm_random_below(&random, rows);
        fm_scene scene = fm_scene_of(&world.view);
        fm_paint_scene(&canvas, first_row, rows - first_row, &scene);
        for (uint32_t i = 0; i < columns * first_row; i++) {
            assert_int_equal(canvas.glyphs[i].code, ' '); // nothing is drawn above its place
        }
        if (world.view.agent_count > 0 && canvas.colours != FM_COLOURS_NONE) {
            // The last agent is drawn over all others.
            uint32_t team = world.agents[world.view.agent_count - 1].team;
            assert_true(count_glyphs(&canvas, fm_colour_of_team(team)) > 0);
        }
        fm_canvas_fini(&canvas);
        free(world.view.looks);
    }
}

// As many pixels as cells: each agent has its own pixel.
static void test_agents_are_drawn_where_they_stand(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct world world;
    fm_canvas canvas = {.colours = FM_COLOURS_TRUE};
    make_world(&world, &random, 60, 40);
    assert_true(fm_canvas_resize(&canvas, 60, 20));
    fm_scene scene = fm_scene_of(&world.view);
    fm_paint_scene(&canvas, 0, 20, &scene);
    for (uint32_t i = 0; i < world.view.agent_count; i++) {
        uint32_t x = fm_cell_x(world.agents[i].cell) - world.view.rect.x;
        uint32_t y = fm_cell_y(world.agents[i].cell) - world.view.rect.y;
        const fm_glyph *glyph = &canvas.glyphs[y / 2 * 60 + x];
        uint32_t drawn = y % 2 == 0 ? glyph->foreground : glyph->background;
        bool covered = false; // by a later agent in the same cell
        for (uint32_t k = i + 1; k < world.view.agent_count; k++) {
            covered = covered || world.agents[k].cell == world.agents[i].cell;
        }
        assert_true(covered || drawn == fm_colour_of_team(world.agents[i].team));
    }
    fm_canvas_fini(&canvas);
    free(world.view.looks);
}

// ---- viewports ----------------------------------------------------------------------------------

static fm_rect random_bounds(fm_random *random)
{
    return (fm_rect){fm_random_below(random, 50), fm_random_below(random, 50),
                     1 + fm_random_below(random, 1500), 1 + fm_random_below(random, 1500)};
}

// Shown cells lie on the map and fit into the pixels.
static void expect_sound(const fm_frame *frame, const fm_rect *bounds, uint32_t width,
                         uint32_t height)
{
    assert_true(frame->width > 0 && frame->left + frame->width <= width);
    assert_true(frame->height > 0 && frame->height <= height);
    assert_true(frame->rect.width > 0 && frame->rect.height > 0);
    assert_true(frame->rect.x >= bounds->x &&
                frame->rect.x + frame->rect.width <= bounds->x + bounds->width);
    assert_true(frame->rect.y >= bounds->y &&
                frame->rect.y + frame->rect.height <= bounds->y + bounds->height);
}

static void test_any_keys_show_a_part_of_the_map(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 300; round++) {
        fm_rect bounds = random_bounds(&random);
        fm_viewport viewport = {.whole = true};
        for (int press = 0; press < 60; press++) {
            // Sometimes the terminal changes its size.
            uint32_t width = 1 + fm_random_below(&random, 200);
            uint32_t height = 2 + 2 * fm_random_below(&random, 60);
            for (int i = 0; i < 5; i++) {
                switch (fm_random_below(&random, 3)) {
                case 0:
                    fm_viewport_zoom(&viewport, fm_random_below(&random, 3) == 0 ? -1 : 1, &bounds,
                                     width, height);
                    break;
                case 1:
                    fm_viewport_pan(&viewport, (int)fm_random_below(&random, 3) - 1,
                                    (int)fm_random_below(&random, 3) - 1, &bounds, width, height);
                    break;
                case 2:
                    fm_viewport_center(
                        &viewport, fm_cell_at(bounds.x + fm_random_below(&random, bounds.width),
                                              bounds.y + fm_random_below(&random, bounds.height)));
                    break;
                }
                fm_frame frame = fm_viewport_frame(&viewport, &bounds, width, height);
                expect_sound(&frame, &bounds, width, height);
            }
        }
    }
}

// Each `+` halves what is shown, from the whole map down to 1/8 cell a character, and `-` goes
// back.
static void test_zoom_is_a_ladder(void **state)
{
    (void)state;
    // 16 cells a pixel would show everything in 80 x 40 pixels.
    static const uint32_t heights[] = {512, 320, 160, 80, 40, 20, 10, 5, 5};
    fm_rect bounds = {0, 0, 512, 512};
    fm_viewport viewport = {.whole = true};
    for (size_t i = 0; i < FM_COUNT_OF(heights); i++) {
        assert_int_equal(fm_viewport_frame(&viewport, &bounds, 80, 40).rect.height, heights[i]);
        fm_viewport_zoom(&viewport, 1, &bounds, 80, 40);
        assert_false(viewport.whole);
    }
    for (size_t i = 0; i < FM_COUNT_OF(heights); i++) {
        assert_false(viewport.whole && i < FM_COUNT_OF(heights) - 2);
        fm_viewport_zoom(&viewport, -1, &bounds, 80, 40);
    }
    assert_true(viewport.whole);
}

// However many steps went beyond the edge, one step back moves the picture.
static void test_no_step_is_lost_at_the_edge(void **state)
{
    (void)state;
    fm_rect bounds = {10, 20, 300, 200};
    fm_viewport viewport = {.zoom = 0, .x = 100, .y = 100};
    for (int i = 0; i < 100; i++) {
        fm_viewport_pan(&viewport, -1, 1, &bounds, 80, 40);
    }
    fm_rect corner = fm_viewport_frame(&viewport, &bounds, 80, 40).rect;
    assert_int_equal(corner.x, 10);
    assert_int_equal(corner.y + corner.height, 220);
    fm_viewport_pan(&viewport, 1, -1, &bounds, 80, 40);
    fm_rect back = fm_viewport_frame(&viewport, &bounds, 80, 40).rect;
    assert_int_equal(back.x, 10 + 80 / 8);
    assert_int_equal(back.y, corner.y - 40 / 8);
}

// Marks are drawn over everything, with colours and without.
static void test_the_selected_agent_stands_out(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 60; round++) {
        struct world world;
        fm_canvas canvas = {.colours = (fm_canvas_colours)(round % 3)};
        make_world(&world, &random, 40, 30);
        const fm_rect *rect = &world.view.rect;
        assert_true(fm_canvas_resize(&canvas, 80, 30)); // 2 x 2 pixels a cell
        fm_viewport viewport = {
            .zoom = 1, .x = rect->x + rect->width / 2, .y = rect->y + rect->height / 2};
        fm_scene scene = fm_scene_of(&world.view);
        scene.viewport = &viewport;
        scene.selected = fm_cell_at(rect->x + 3, rect->y + 5);
        scene.goal = fm_cell_at(rect->x + 30, rect->y + 20);
        fm_cell path[] = {fm_cell_at(rect->x + 4, rect->y + 6)};
        scene.path = path;
        scene.path_count = 1;
        fm_paint_scene(&canvas, 0, 30, &scene);
        assert_int_equal(canvas.glyphs[5 * 80 + 2 * 3 + 1].code, '@');
        assert_int_equal(canvas.glyphs[20 * 80 + 2 * 30 + 1].code, 'X');
        fm_canvas_fini(&canvas);
        free(world.view.looks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_keys_show_a_part_of_the_map),
        cmocka_unit_test(test_zoom_is_a_ladder),
        cmocka_unit_test(test_no_step_is_lost_at_the_edge),
        cmocka_unit_test(test_the_selected_agent_stands_out),
        cmocka_unit_test(test_numbers_and_places),
        cmocka_unit_test(test_lists_of_ids),
        cmocka_unit_test(test_many_figures_in_one_line),
        cmocka_unit_test(test_text_cannot_steer_the_terminal),
        cmocka_unit_test(test_text_is_cut_at_the_edge),
        cmocka_unit_test(test_any_map_on_any_canvas),
        cmocka_unit_test(test_agents_are_drawn_where_they_stand),
    };
    return cmocka_run_group_tests_name("cli parts", tests, NULL, NULL);
}
