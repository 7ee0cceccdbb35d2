// Goal: a map that is written and read again is the same map; every damaged text is refused at the
// line and column where it breaks the format; the readers read nothing but the text. Method:
// pictures small enough to check by eye, one table of damaged texts per format, random maps with
// random damage, and every benchmark map. Texts are copied into blocks of exactly their size first,
// so that the asan build finds a read past the end.

#include "core/base/random.h"
#include "core/map/map_file.h"
#include "tests/support/support.h"

struct damage {
    const char *text;
    fm_status status;
    uint32_t line, column;
    const char *message; // some words of it
};

static fm_status read_map(const char *text, size_t size, fm_grid **grid, fm_text_error *error)
{
    char *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, text, size);
    fm_status status = fm_map_read(exact, size, &fm_memory_libc, grid, error);
    free(exact);
    return status;
}

static fm_status read_scen(const char *text, size_t size, fm_problem **problems, uint32_t *count,
                           fm_text_error *error)
{
    char *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, text, size);
    fm_status status = fm_scen_read(exact, size, &fm_memory_libc, problems, count, error);
    free(exact);
    return status;
}

static char *write_map(const fm_grid *grid, size_t *size)
{
    *size = fm_map_written_size(grid);
    char *text = malloc(*size);
    fm_map_write(grid, text);
    return text;
}

static void assert_terrain(const fm_grid *grid, const char *letters)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            fm_terrain terrain = (fm_terrain)grid->terrain[fm_grid_index(grid, cell)];
            assert_int_equal(fm_terrain_letter(terrain), letters[y * grid->width + x]);
            assert_int_equal(fm_grid_is_blocked(grid, cell), terrain != FM_TERRAIN_GROUND);
        }
    }
}

static void assert_damage(const struct damage *damage, fm_status status, const fm_text_error *error)
{
    if (status != damage->status || error->line != damage->line ||
        error->column != damage->column || strstr(error->message, damage->message) == NULL) {
        fail_msg("for <%s>: %s at %u:%u, \"%s\"; expected %s at %u:%u, \"...%s...\"", damage->text,
                 fm_status_name(status), error->line, error->column, error->message,
                 fm_status_name(damage->status), damage->line, damage->column, damage->message);
    }
}

static void every_letter_is_read_and_written(void **state)
{
    (void)state;
    const char *text = "type octile\nheight 2\nwidth 4\nmap\n.G@O\nTSW.\n";
    fm_grid *grid;
    assert_int_equal(read_map(text, strlen(text), &grid, NULL), FM_OK);
    assert_int_equal(grid->width, 4);
    assert_int_equal(grid->height, 2);
    assert_int_equal(grid->free_count, 3);
    assert_terrain(grid, "..@OTSW.");

    size_t size;
    char *written = write_map(grid, &size);
    const char *expected = "type octile\nheight 2\nwidth 4\nmap\n..@O\nTSW.\n";
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(written, expected, size);
    free(written);
    fm_grid_destroy(grid);
}

static void other_types_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"type tile\nheight 1\nwidth 3\nmap\n.@.\n",
                                        "type weighted\nheight 1\nwidth 3\nmap\n.@.\n"};
    for (size_t i = 0; i < FM_COUNT_OF(texts); i++) {
        fm_grid *grid;
        assert_int_equal(read_map(texts[i], strlen(texts[i]), &grid, NULL), FM_OK);
        assert_terrain(grid, ".@.");
        fm_grid_destroy(grid);
    }
}

static void costs_are_read_and_written(void **state)
{
    (void)state;
    const char *text = "type octile\nheight 3\nwidth 4\nmap\n....\n.T..\n....\n"
                       "costs\n 1 1 1 250\r\n4x7\n1x2 2\t2x1  \n\n";
    static const uint8_t costs[] = {1, 1, 1, 250, 7, 7, 7, 7, 2, 2, 1, 1};
    fm_grid *grid;
    fm_text_error error = {.message = ""};
    assert_int_equal(read_map(text, strlen(text), &grid, &error), FM_OK);
    assert_true(grid->weighted);
    assert_memory_equal(grid->cost, costs, sizeof costs);
    assert_terrain(grid, ".....T......");

    size_t size;
    char *written = write_map(grid, &size);
    const char *expected = "type octile\nheight 3\nwidth 4\nmap\n....\n.T..\n....\n"
                           "costs\n3x1 250\n4x7\n2x2 2x1\n";
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(written, expected, size);
    free(written);
    fm_grid_destroy(grid);
}

static void a_map_may_have_letters_of_its_own(void **state)
{
    (void)state;
    fm_map_letters letters = {.terrain = {['.'] = FM_TERRAIN_GROUND,
                                          ['a'] = FM_TERRAIN_GROUND,
                                          [' '] = FM_TERRAIN_OUT,
                                          ['%'] = FM_TERRAIN_SWAMP},
                              .cost = {['.'] = 1, ['a'] = 9, [' '] = 1, ['%'] = 3}};
    static const uint8_t costs[] = {1, 9, 1, 3};
    const char *text = "type octile\nheight 1\nwidth 4\nmap\n.a %\n";
    fm_grid *grid;
    fm_text_error error;
    assert_int_equal(
        fm_map_read_letters(text, strlen(text), &letters, &fm_memory_libc, &grid, &error), FM_OK);
    assert_terrain(grid, "..@S");
    assert_memory_equal(grid->cost, costs, sizeof costs);
    fm_grid_destroy(grid);

    text = "type octile\nheight 1\nwidth 2\nmap\n.T\n";
    assert_int_equal(
        fm_map_read_letters(text, strlen(text), &letters, &fm_memory_libc, &grid, &error),
        FM_ERR_BAD_FORMAT);
    assert_string_equal(error.message, "'T' is no terrain; the letters are % . a.");
}

static void line_ends_and_blank_lines_at_the_end_do_not_matter(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "type octile\nheight 2\nwidth 3\nmap\n.@.\nT..\n",
        "type octile\nheight 2\nwidth 3\nmap\n.@.\nT..",
        "type octile\r\nheight 2\r\nwidth 3\r\nmap\r\n.@.\r\nT..\r\n",
        "type octile\r\nheight 2\r\nwidth 3\r\nmap\r\n.@.\r\nT..\r",
        "type octile\nheight 2\r\nwidth 3\nmap\r\n.@.\nT..\r\n",
        "type octile\nheight 2\nwidth 3\nmap\n.@.\nT..\n\n\r\n  \t\n \n  ",
    };
    for (size_t i = 0; i < FM_COUNT_OF(texts); i++) {
        fm_grid *grid;
        fm_text_error error = {0};
        assert_int_equal(read_map(texts[i], strlen(texts[i]), &grid, &error), FM_OK);
        assert_terrain(grid, ".@.T..");
        fm_grid_destroy(grid);
    }
}

static void a_damaged_map_is_refused_where_it_is_damaged(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        // header
        {"", FM_ERR_BAD_FORMAT, 1, 1, "\"type octile\""},
        {"\ntype octile\n", FM_ERR_BAD_FORMAT, 1, 1, "\"type octile\""},
        {"type tiles\nheight 1\n", FM_ERR_BAD_FORMAT, 1, 1, "\"type octile\""},
        {"\x89PNG\r\n", FM_ERR_BAD_FORMAT, 1, 1, "'fogmarch map convert'"},
        // costs
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n", FM_ERR_BAD_FORMAT, 7, 1,
         "costs for 0 cells"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n1\n", FM_ERR_BAD_FORMAT, 7, 2,
         "costs for 1 cells"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n1 2x1\n", FM_ERR_BAD_FORMAT, 7, 3,
         "more cells than the width"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n1 0\n", FM_ERR_BAD_FORMAT, 7, 3,
         "must be 1..250"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n2x251\n", FM_ERR_BAD_FORMAT, 7, 1,
         "must be 1..250"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n0x1 2x1\n", FM_ERR_BAD_FORMAT, 7, 1,
         "must be 1..250"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\nx1 1\n", FM_ERR_BAD_FORMAT, 7, 1,
         "must be 1..250"},
        {"type octile\nheight 1\nwidth 2\nmap\n..\ncosts\n1 1\n1 1\n", FM_ERR_BAD_FORMAT, 8, 1,
         "text follows"},
        {"type octile \nheight 1\n", FM_ERR_BAD_FORMAT, 1, 1, "\"type octile\""},
        {"\xef\xbb\xbftype octile\n", FM_ERR_BAD_FORMAT, 1, 1, "\"type octile\""},
        {"type octile", FM_ERR_BAD_FORMAT, 2, 1, "\"height\" and a number"},
        {"type octile\nwidth 1\nheight 1\n", FM_ERR_BAD_FORMAT, 2, 1, "\"height\" and a number"},
        {"type octile\nheight1\n", FM_ERR_BAD_FORMAT, 2, 1, "\"height\" and a number"},
        {"type octile\nheight 1\nmap\n.\n", FM_ERR_BAD_FORMAT, 3, 1, "\"width\" and a number"},
        {"type octile\nheight 1\nwidth 1\n.\n", FM_ERR_BAD_FORMAT, 4, 1, "\"map\""},
        {"type octile\nheight 1\nwidth 1", FM_ERR_BAD_FORMAT, 4, 1, "\"map\""},
        // sizes
        {"type octile\nheight\n", FM_ERR_BAD_FORMAT, 2, 7, "height must be a whole number"},
        {"type octile\nheight \n", FM_ERR_BAD_FORMAT, 2, 8, "height must be a whole number"},
        {"type octile\nheight x\n", FM_ERR_BAD_FORMAT, 2, 8, "height must be a whole number"},
        {"type octile\nheight -1\n", FM_ERR_BAD_FORMAT, 2, 8, "height must be a whole number"},
        {"type octile\nheight 1.5\n", FM_ERR_BAD_FORMAT, 2, 8, "height must be a whole number"},
        {"type octile\nheight 1 \n", FM_ERR_BAD_FORMAT, 2, 8, "height must be a whole number"},
        {"type octile\nheight 0\n", FM_ERR_BAD_SIZE, 2, 8, "1..4096"},
        {"type octile\nheight 4097\n", FM_ERR_BAD_SIZE, 2, 8, "1..4096"},
        {"type octile\nheight 1\nwidth  4097\n", FM_ERR_BAD_SIZE, 3, 8, "width must be 1..4096"},
        {"type octile\nheight 1\nwidth 4294967297\n", FM_ERR_BAD_SIZE, 3, 7, "1..4096"},
        {"type octile\nheight 1\nwidth 99999999999999999999999\n", FM_ERR_BAD_SIZE, 3, 7,
         "1..4096"},
        // rows
        {"type octile\nheight 2\nwidth 3\nmap\n...\n..\n", FM_ERR_BAD_FORMAT, 6, 3,
         "Row 1 has 2 letters, but the width is 3"},
        {"type octile\nheight 2\nwidth 3\nmap\n..\n...\n", FM_ERR_BAD_FORMAT, 5, 3, "Row 0 has 2"},
        {"type octile\nheight 2\nwidth 3\nmap\n\n...\n", FM_ERR_BAD_FORMAT, 5, 1, "Row 0 has 0"},
        {"type octile\nheight 2\nwidth 3\nmap\n...\n....\n", FM_ERR_BAD_FORMAT, 6, 4,
         "Row 1 has 4"},
        {"type octile\nheight 2\nwidth 3\nmap\r\n... \r\n...\r\n", FM_ERR_BAD_FORMAT, 5, 4,
         "Row 0 has 4"},
        {"type octile\nheight 4096\nwidth 4096\nmap\n...", FM_ERR_BAD_FORMAT, 5, 4, "Row 0 has 3"},
        {"type octile\nheight 2\nwidth 3\nmap\n.x.\n...\n", FM_ERR_BAD_FORMAT, 5, 2,
         "'x' is no terrain"},
        {"type octile\nheight 2\nwidth 3\nmap\n..?\n...\n", FM_ERR_BAD_FORMAT, 5, 3,
         "'?' is no terrain"},
        {"type octile\nheight 2\nwidth 3\nmap\n...\nt..\n", FM_ERR_BAD_FORMAT, 6, 1,
         "'t' is no terrain"},
        {"type octile\nheight 1\nwidth 3\nmap\n.B.\n", FM_ERR_BAD_FORMAT, 5, 2,
         "'B' is no terrain"},
        {"type octile\nheight 2\nwidth 3\nmap\n.. \n...\n", FM_ERR_BAD_FORMAT, 5, 3, "Byte 0x20"},
        {"type octile\nheight 2\nwidth 3\nmap\n.\xff.\n...\n", FM_ERR_BAD_FORMAT, 5, 2,
         "Byte 0xff"},
        {"type octile\nheight 2\nwidth 3\nmap\n.\r.\n...\n", FM_ERR_BAD_FORMAT, 5, 2, "Byte 0x0d"},
        {"type octile\nheight 2\nwidth 3\nmap\n...\n..\r\r\n", FM_ERR_BAD_FORMAT, 6, 3,
         "Byte 0x0d"},
        {"type octile\nheight 2\nwidth 3\nmap\nx\n...\n", FM_ERR_BAD_FORMAT, 5, 1, "'x'"},
        {"type octile\nheight 2\nwidth 3\nmap\n...x\n...\n", FM_ERR_BAD_FORMAT, 5, 4,
         "Row 0 has 4"},
        // number of rows
        {"type octile\nheight 2\nwidth 3\nmap\n", FM_ERR_BAD_FORMAT, 5, 1,
         "ends after 0 rows, but the height is 2"},
        {"type octile\nheight 2\nwidth 3\nmap\n...", FM_ERR_BAD_FORMAT, 6, 1, "ends after 1 rows"},
        {"type octile\nheight 3\nwidth 3\nmap\n...\n\n \n", FM_ERR_BAD_FORMAT, 6, 1,
         "ends after 1 rows"},
        {"type octile\nheight 2\nwidth 3\nmap\n...\n...\n...\n", FM_ERR_BAD_FORMAT, 7, 1,
         "end after its 2 rows"},
        {"type octile\nheight 1\nwidth 3\nmap\n...\n\n\t junk\n", FM_ERR_BAD_FORMAT, 7, 3,
         "end after its 1 rows"},
    };
    for (size_t i = 0; i < FM_COUNT_OF(damages); i++) {
        fm_grid *grid = NULL;
        fm_text_error error = {0};
        fm_status status = read_map(damages[i].text, strlen(damages[i].text), &grid, &error);
        assert_damage(&damages[i], status, &error);
        assert_null(grid);
        assert_int_equal(read_map(damages[i].text, strlen(damages[i].text), &grid, NULL), status);
    }
}

static void a_nul_is_an_ordinary_wrong_letter(void **state)
{
    (void)state;
    static const char text[] = "type octile\nheight 1\nwidth 3\nmap\n.\0.\n";
    fm_grid *grid;
    fm_text_error error;
    assert_int_equal(read_map(text, sizeof text - 1, &grid, &error), FM_ERR_BAD_FORMAT);
    assert_int_equal(error.line, 5);
    assert_int_equal(error.column, 2);
    assert_non_null(strstr(error.message, "Byte 0x00"));
}

static void without_memory_nothing_is_left_behind(void **state)
{
    (void)state;
    const char *map = "type octile\nheight 1\nwidth 3\nmap\n.@.\n";
    const char *scen = "version 1\n0 m 3 1 0 0 2 0 2\n";
    fm_status status = FM_ERR_NO_MEMORY;
    for (uint64_t left = 0; status != FM_OK; left++) {
        fm_test_memory scarce;
        fm_test_memory_init(&scarce, left);
        fm_text_error error = {.line = 9, .column = 9};
        fm_grid *grid = NULL;
        status = fm_map_read(map, strlen(map), &scarce.memory, &grid, &error);
        if (status != FM_OK) {
            assert_int_equal(status, FM_ERR_NO_MEMORY);
            assert_int_equal(error.line, 0);
            assert_null(grid);
        }
        fm_grid_destroy(grid);
        assert_int_equal(scarce.held, 0);
    }
    fm_test_memory scarce;
    fm_test_memory_init(&scarce, 0);
    fm_problem *problems = NULL;
    uint32_t count;
    fm_text_error error = {.line = 9};
    assert_int_equal(fm_scen_read(scen, strlen(scen), &scarce.memory, &problems, &count, &error),
                     FM_ERR_NO_MEMORY);
    assert_int_equal(error.line, 0);
    assert_null(problems);
}

static void a_text_beyond_the_limit_is_refused_unread(void **state)
{
    (void)state;
    // The reader decides by the size alone and does not use the pointer.
    fm_grid *grid;
    fm_problem *problems;
    uint32_t count;
    fm_text_error error;
    assert_int_equal(fm_map_read("", FM_TEXT_SIZE_MAX + 1, &fm_memory_libc, &grid, &error),
                     FM_ERR_LIMIT);
    assert_int_equal(error.line, 0);
    assert_int_equal(
        fm_scen_read("", FM_TEXT_SIZE_MAX + 1, &fm_memory_libc, &problems, &count, &error),
        FM_ERR_LIMIT);
}

static void problems_are_read(void **state)
{
    (void)state;
    const char *text = "version 1\r\n"
                       "0\tmaps/dao/a.map\t530\t481\t106\t123\t108\t121\t2.82843\r\n"
                       "\r\n"
                       "12 b.map 4096 1 4095 0 0 0 1.5e+03 ";
    fm_problem *problems;
    uint32_t count;
    assert_int_equal(read_scen(text, strlen(text), &problems, &count, NULL), FM_OK);
    assert_int_equal(count, 2);
    assert_int_equal(problems[0].bucket, 0);
    assert_int_equal(problems[0].map_width, 530);
    assert_int_equal(problems[0].map_height, 481);
    assert_int_equal(problems[0].start, fm_cell_at(106, 123));
    assert_int_equal(problems[0].goal, fm_cell_at(108, 121));
    assert_true(problems[0].optimal_length == 2.82843);
    assert_true(problems[0].length_unit > 0.9e-5 && problems[0].length_unit < 1.1e-5);
    assert_int_equal(problems[1].bucket, 12);
    assert_int_equal(problems[1].start, fm_cell_at(4095, 0));
    assert_int_equal(problems[1].goal, fm_cell_at(0, 0));
    assert_true(problems[1].optimal_length == 1500);
    assert_true(problems[1].length_unit == 0);
    fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);

    problems = (fm_problem *)&count;
    assert_int_equal(read_scen("version 1.0\n\n", 13, &problems, &count, NULL), FM_OK);
    assert_int_equal(count, 0);
    assert_null(problems);
}

static void a_damaged_problem_file_is_refused_where_it_is_damaged(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        {"", FM_ERR_BAD_FORMAT, 1, 1, "\"version 1\""},
        {"version 2\n", FM_ERR_BAD_FORMAT, 1, 1, "\"version 1\""},
        {"0 m 3 2 0 0 1 1 1.4\n", FM_ERR_BAD_FORMAT, 1, 1, "\"version 1\""},
        {"version 1\nx m 3 2 0 0 1 1 1.4\n", FM_ERR_BAD_FORMAT, 2, 1, "bucket must be a whole"},
        {"version 1\n0", FM_ERR_BAD_FORMAT, 2, 2, "before its map."},
        {"version 1\n0 m\r\n", FM_ERR_BAD_FORMAT, 2, 4, "before its map width"},
        {"version 1\n0 m 0 2 0 0 1 1 1\n", FM_ERR_BAD_FORMAT, 2, 5, "map width must be 1..4096"},
        {"version 1\n0 m 3 4097 0 0 1 1 1\n", FM_ERR_BAD_FORMAT, 2, 7,
         "map height must be 1..4096"},
        {"version 1\n0 m 3 2 -1 0 1 1 1\n", FM_ERR_BAD_FORMAT, 2, 9, "start x must be a whole"},
        {"version 1\n0 m 3 2 3 0 1 1 1\n", FM_ERR_BAD_FORMAT, 2, 9, "start x must be 0..2"},
        {"version 1\n\n0\tm\t3\t2\t0\t2\t1\t1\t1\n", FM_ERR_BAD_FORMAT, 3, 11,
         "start y must be 0..1"},
        {"version 1\n0 m 3 2 0 0 1e0 1 1\n", FM_ERR_BAD_FORMAT, 2, 13, "goal x must be a whole"},
        {"version 1\n0 m 3 2 0 0 1 4294967296 1\n", FM_ERR_BAD_FORMAT, 2, 15,
         "goal y must be 0..1"},
        {"version 1\n0 m 3 2 0 0 1 1 \n", FM_ERR_BAD_FORMAT, 2, 17, "before its optimal length"},
        {"version 1\n0 m 3 2 0 0 1 1 -1\n", FM_ERR_BAD_FORMAT, 2, 17, "optimal length must be"},
        {"version 1\n0 m 3 2 0 0 1 1 nan\n", FM_ERR_BAD_FORMAT, 2, 17, "optimal length must be"},
        {"version 1\n0 m 3 2 0 0 1 1 0x1p3\n", FM_ERR_BAD_FORMAT, 2, 17, "optimal length must be"},
        {"version 1\n0 m 3 2 0 0 1 1 1e999\n", FM_ERR_BAD_FORMAT, 2, 17, "optimal length must be"},
        {"version 1\n0 m 3 2 0 0 1 1 1.4.1\n", FM_ERR_BAD_FORMAT, 2, 17, "optimal length must be"},
        {"version 1\n0 m 3 2 0 0 1 1 1\n0 m 3 2 0 0 1 1 1  2\n", FM_ERR_BAD_FORMAT, 3, 20,
         "end after its optimal length"},
    };
    for (size_t i = 0; i < FM_COUNT_OF(damages); i++) {
        fm_problem *problems = NULL;
        uint32_t count = 7;
        fm_text_error error = {0};
        const char *text = damages[i].text;
        fm_status status = read_scen(text, strlen(text), &problems, &count, &error);
        assert_damage(&damages[i], status, &error);
        assert_null(problems);
        assert_int_equal(count, 7);
    }
}

static fm_grid *random_grid(fm_random *random, uint32_t cost_max)
{
    uint32_t width = 1 + fm_random_below(random, 80), height = 1 + fm_random_below(random, 40);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
    uint8_t cost = FM_COST_FLOOR;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            fm_terrain terrain = 1 + fm_random_below(random, FM_TERRAIN_BUILDING - 1);
            if (fm_random_below(random, 4) == 0) { // runs
                cost = (uint8_t)(1 + fm_random_below(random, cost_max));
            }
            fm_grid_set(grid, fm_cell_at(x, y), terrain, cost);
        }
    }
    return grid;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 200; round++) {
        fm_grid *grid = random_grid(&random, round % 2 == 0 ? FM_COST_FLOOR : FM_COST_MAX), *again;
        size_t size;
        char *text = write_map(grid, &size);
        assert_int_equal(read_map(text, size, &again, NULL), FM_OK);
        assert_int_equal(again->width, grid->width);
        assert_int_equal(again->height, grid->height);
        assert_int_equal(again->free_count, grid->free_count);
        assert_memory_equal(again->terrain, grid->terrain, (size_t)grid->width * grid->height);
        assert_memory_equal(again->cost, grid->cost, (size_t)grid->width * grid->height);
        assert_memory_equal(again->blocked.words, grid->blocked.words, grid->blocked.size);
        fm_grid_destroy(again);
        fm_grid_destroy(grid);
        free(text);
    }
}

// Position of a byte as line and column.
static void locate(const char *text, size_t at, uint32_t *line, uint32_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at; i++) {
        *column = text[i] == '\n' ? 1 : *column + 1;
        *line += text[i] == '\n';
    }
}

// If any byte of the rows is damaged, the error names exactly its place.
static void a_spoilt_row_is_located(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 500; round++) {
        fm_grid *grid = random_grid(&random, FM_COST_FLOOR), *again;
        size_t size;
        char *text = write_map(grid, &size);
        size_t rows = size - (size_t)grid->height * (grid->width + 1);
        size_t at = rows + fm_random_below(&random, (uint32_t)(size - rows));
        fm_text_error error;
        uint32_t line, column;
        locate(text, at, &line, &column);
        bool was_end = text[at] == '\n';
        text[at] = '#';
        assert_int_equal(read_map(text, size, &again, &error), FM_ERR_BAD_FORMAT);
        assert_int_equal(error.line, line);
        assert_int_equal(error.column, column);
        assert_non_null(strstr(error.message, was_end ? "letters" : "'#'"));
        fm_grid_destroy(grid);
        free(text);
    }
}

// Any bytes are accepted or refused, and an error always says where.
static void any_damage_is_accepted_or_refused(void **state)
{
    (void)state;
    static const char bytes[] = ".G@OTSW?\n\r\t 0123456789typeoctilheigwdmapvrsn\0\xff";
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 3000; round++) {
        char text[160];
        bool scen = round % 2 == 1;
        const char *origin = scen ? "version 1\n0 m 3 2 0 0 1 1 1.4\n7\tm\t3\t2\t0\t0\t2\t1\t2.4\n"
                                  : "type octile\r\nheight 3\nwidth 4\nmap\n.G@O\r\nTSW.\n....\n";
        size_t size = strlen(origin);
        memcpy(text, origin, size);
        for (uint32_t edits = fm_random_below(&random, 4); edits > 0; edits--) {
            size_t at = fm_random_below(&random, (uint32_t)size);
            text[at] = bytes[fm_random_below(&random, sizeof bytes - 1)];
        }
        size -= fm_random_below(&random, 2) * fm_random_below(&random, (uint32_t)size);

        fm_text_error error = {0};
        fm_grid *grid;
        fm_problem *problems;
        uint32_t count;
        fm_status status = scen ? read_scen(text, size, &problems, &count, &error)
                                : read_map(text, size, &grid, &error);
        if (status != FM_OK) {
            assert_true(error.line >= 1 && error.column >= 1 && error.message[0] != '\0');
        } else if (scen) {
            fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);
        } else {
            fm_grid_destroy(grid);
        }
    }
}

static void every_benchmark_map_is_read(void **state)
{
    (void)state;
    glob_t paths = fm_test_find_maps("*.map");
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        size_t size, written_size;
        char *text = fm_test_read_file(paths.gl_pathv[i], &size);
        fm_grid *grid;
        fm_text_error error;
        if (fm_map_read(text, size, &fm_memory_libc, &grid, &error) != FM_OK) {
            fail_msg("%s:%u:%u: %s", paths.gl_pathv[i], error.line, error.column, error.message);
        }
        // They all end in LF and use no G, so they are written as they were read.
        char *written = write_map(grid, &written_size);
        assert_int_equal(written_size, size);
        assert_memory_equal(written, text, size);
        free(written);
        free(text);
        fm_grid_destroy(grid);
    }
    globfree(&paths);
}

static void every_benchmark_problem_file_is_read(void **state)
{
    (void)state;
    glob_t paths = fm_test_find_maps("*.scen");
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        size_t size;
        char *text = fm_test_read_file(paths.gl_pathv[i], &size);
        fm_problem *problems;
        uint32_t count;
        fm_text_error error;
        if (fm_scen_read(text, size, &fm_memory_libc, &problems, &count, &error) != FM_OK) {
            fail_msg("%s:%u:%u: %s", paths.gl_pathv[i], error.line, error.column, error.message);
        }
        assert_true(count >= 100);
        fm_memory_release(&fm_memory_libc, problems, count * sizeof *problems);
        free(text);
    }
    globfree(&paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_letter_is_read_and_written),
        cmocka_unit_test(other_types_are_read),
        cmocka_unit_test(costs_are_read_and_written),
        cmocka_unit_test(a_map_may_have_letters_of_its_own),
        cmocka_unit_test(line_ends_and_blank_lines_at_the_end_do_not_matter),
        cmocka_unit_test(a_damaged_map_is_refused_where_it_is_damaged),
        cmocka_unit_test(a_nul_is_an_ordinary_wrong_letter),
        cmocka_unit_test(without_memory_nothing_is_left_behind),
        cmocka_unit_test(a_text_beyond_the_limit_is_refused_unread),
        cmocka_unit_test(problems_are_read),
        cmocka_unit_test(a_damaged_problem_file_is_refused_where_it_is_damaged),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_spoilt_row_is_located),
        cmocka_unit_test(any_damage_is_accepted_or_refused),
        cmocka_unit_test(every_benchmark_map_is_read),
        cmocka_unit_test(every_benchmark_problem_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
