// core/map/map_file.c: the .map and .scen formats, see map_file.h.
//
// Both readers take one line at a time through next_line(), which hides LF and CRLF and counts
// lines, and report every error through refuse(), which is the only place that fills a
// fm_text_error. Every text is walked twice: once to check it, once to fill what was allocated for
// it. The second walk cannot fail, so nothing has to be undone half way. Costs are walked as runs,
// so that a short text costs little.

#include "core/map/map_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    const char *rest; // begins at the next line
    const char *end;
    uint32_t line_number;
    const char *line; // the current line, without its end
    size_t line_size;
    fm_text_error *error; // may be NULL
};

// Columns count from 1.
__attribute__((format(printf, 4, 5))) static fm_status
refuse(const struct reader *reader, size_t column, fm_status status, const char *format, ...)
{
    fm_text_error *error = reader->error;
    if (error != NULL) {
        error->line = column == 0 ? 0 : reader->line_number;
        error->column = (uint32_t)column;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

static fm_status refuse_memory(const struct reader *reader)
{
    return refuse(reader, 0, FM_ERR_NO_MEMORY, "%s", fm_status_text(FM_ERR_NO_MEMORY));
}

static fm_status reader_start(struct reader *reader, const char *text, size_t size,
                              fm_text_error *error)
{
    *reader = (struct reader){.rest = text, .end = text + size, .line = text, .error = error};
    if (size > FM_TEXT_SIZE_MAX) {
        return refuse(reader, 0, FM_ERR_LIMIT, "The text is longer than %zu bytes.",
                      FM_TEXT_SIZE_MAX);
    }
    return FM_OK;
}

// Moves on to the next line. Past the last one it sets an empty line, so that an error there has a
// place, and returns false.
static bool next_line(struct reader *reader)
{
    reader->line_number += 1;
    reader->line = reader->rest;
    reader->line_size = 0;
    if (reader->rest == reader->end) {
        return false;
    }
    const char *line_end = memchr(reader->rest, '\n', (size_t)(reader->end - reader->rest));
    reader->rest = line_end != NULL ? line_end + 1 : reader->end;
    line_end = line_end != NULL ? line_end : reader->end;
    if (line_end > reader->line && line_end[-1] == '\r') {
        line_end -= 1;
    }
    reader->line_size = (size_t)(line_end - reader->line);
    return true;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

// Position of the first byte at or after `from` that is not a blank; line_size when there is none.
static size_t skip_blanks(const struct reader *reader, size_t from)
{
    while (from < reader->line_size && is_blank(reader->line[from])) {
        from += 1;
    }
    return from;
}

static size_t skip_field(const struct reader *reader, size_t from)
{
    while (from < reader->line_size && !is_blank(reader->line[from])) {
        from += 1;
    }
    return from;
}

static bool line_is_blank(const struct reader *reader)
{
    return skip_blanks(reader, 0) == reader->line_size;
}

static bool line_is(const struct reader *reader, const char *expected)
{
    size_t size = strlen(expected);
    return reader->line_size == size && memcmp(reader->line, expected, size) == 0;
}

// Reads decimal digits and nothing else. Numbers too large for 32 bits become UINT32_MAX, which
// is out of every range that is asked for here.
static bool parse_number(const char *digits, size_t size, uint32_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return false;
        }
        number = number * 10 + (uint64_t)(digits[i] - '0');
        number = number < UINT32_MAX ? number : UINT32_MAX;
    }
    *out = (uint32_t)number;
    return size > 0;
}

static fm_status read_literal(struct reader *reader, const char *expected)
{
    next_line(reader);
    if (!line_is(reader, expected)) {
        return refuse(reader, 1, FM_ERR_BAD_FORMAT, "This line must read \"%s\".", expected);
    }
    return FM_OK;
}

// Reads a line such as "height 512".
static fm_status read_side(struct reader *reader, const char *name, uint32_t *out)
{
    next_line(reader);
    size_t name_size = strlen(name);
    if (reader->line_size < name_size || memcmp(reader->line, name, name_size) != 0 ||
        (reader->line_size > name_size && !is_blank(reader->line[name_size]))) {
        return refuse(reader, 1, FM_ERR_BAD_FORMAT, "This line must read \"%s\" and a number.",
                      name);
    }
    size_t from = skip_blanks(reader, name_size);
    uint32_t side;
    if (!parse_number(reader->line + from, reader->line_size - from, &side)) {
        return refuse(reader, from + 1, FM_ERR_BAD_FORMAT, "The %s must be a whole number.", name);
    }
    if (side < 1 || side > FM_SIDE_MAX) {
        return refuse(reader, from + 1, FM_ERR_BAD_SIZE, "The %s must be 1..%u cells.", name,
                      FM_SIDE_MAX);
    }
    *out = side;
    return FM_OK;
}

// How many directions there are is a rule of the world, so `tile` maps are read as `octile` ones.
static fm_status read_type(struct reader *reader)
{
    next_line(reader);
    if (line_is(reader, "type octile") || line_is(reader, "type tile") ||
        line_is(reader, "type weighted")) {
        return FM_OK;
    }
    return refuse(reader, 1, FM_ERR_BAD_FORMAT,
                  "This line must read \"type octile\", \"type tile\" or \"type weighted\"; "
                  "'fogmarch map convert' makes such a map of other files.");
}

static fm_status read_header(struct reader *reader, uint32_t *width, uint32_t *height)
{
    fm_status status = read_type(reader);
    if (status == FM_OK) {
        status = read_side(reader, "height", height);
    }
    if (status == FM_OK) {
        status = read_side(reader, "width", width);
    }
    if (status == FM_OK) {
        status = read_literal(reader, "map");
    }
    return status;
}

#define LETTER(letter, kind) .terrain[letter] = kind, .cost[letter] = FM_COST_FLOOR

// Buildings are never in a file.
const fm_map_letters fm_map_letters_default = {
    LETTER('.', FM_TERRAIN_GROUND), LETTER('G', FM_TERRAIN_GROUND), LETTER('@', FM_TERRAIN_OUT),
    LETTER('T', FM_TERRAIN_TREES),  LETTER('S', FM_TERRAIN_SWAMP),  LETTER('W', FM_TERRAIN_WATER),
    LETTER('O', FM_TERRAIN_WALL),
};
_Static_assert(FM_TERRAIN_UNKNOWN == 0, "bytes that are no terrain must read as unknown");

// The printable characters, as many as there is room for.
static void list_letters(const fm_map_letters *letters, char *text, size_t size)
{
    size_t length = 0;
    for (int letter = '!'; letter <= '~' && length + 6 < size; letter++) {
        if (letters->terrain[letter] != FM_TERRAIN_UNKNOWN) {
            text[length++] = ' ';
            text[length++] = (char)letter;
        }
    }
    text[length] = '\0';
}

static fm_status check_letter(const struct reader *reader, const fm_map_letters *letters, size_t x)
{
    uint8_t letter = (uint8_t)reader->line[x];
    if (letters->terrain[letter] != FM_TERRAIN_UNKNOWN) {
        return FM_OK;
    }
    char known[100];
    list_letters(letters, known, sizeof known);
    if (letter > ' ' && letter <= '~') {
        return refuse(reader, x + 1, FM_ERR_BAD_FORMAT, "'%c' is no terrain; the letters are%s.",
                      letter, known);
    }
    return refuse(reader, x + 1, FM_ERR_BAD_FORMAT, "Byte 0x%02x is no terrain; the letters are%s.",
                  letter, known);
}

// Reports the leftmost error of a row.
static fm_status check_row(const struct reader *reader, const fm_map_letters *letters, uint32_t y,
                           uint32_t width)
{
    size_t letter_count = reader->line_size < width ? reader->line_size : width;
    for (size_t x = 0; x < letter_count; x++) {
        fm_status status = check_letter(reader, letters, x);
        if (status != FM_OK) {
            return status;
        }
    }
    if (reader->line_size != width) {
        return refuse(reader, letter_count + 1, FM_ERR_BAD_FORMAT,
                      "Row %u has %zu letters, but the width is %u.", y, reader->line_size, width);
    }
    return FM_OK;
}

static bool rest_is_blank(struct reader reader)
{
    while (line_is_blank(&reader)) {
        if (!next_line(&reader)) {
            return true;
        }
    }
    return false;
}

static fm_status check_rows(struct reader *reader, const fm_map_letters *letters, uint32_t width,
                            uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        next_line(reader);
        if (reader->line_size == 0 && rest_is_blank(*reader)) {
            return refuse(reader, 1, FM_ERR_BAD_FORMAT,
                          "The map ends after %u rows, but the height is %u.", y, height);
        }
        fm_status status = check_row(reader, letters, y, width);
        if (status != FM_OK) {
            return status;
        }
    }
    return FM_OK;
}

// ---- costs --------------------------------------------------------------------------------------

// Takes the next run of a line of costs, "4" or "12x4". False at the end of the line; then, or when
// the run is damaged, `count` is 0.
static bool take_run(const struct reader *reader, size_t *at, uint32_t *count, uint32_t *cost)
{
    size_t from = skip_blanks(reader, *at);
    size_t to = skip_field(reader, from);
    const char *field = reader->line + from;
    const char *times = memchr(field, 'x', to - from);
    size_t count_size = times != NULL ? (size_t)(times - field) + 1 : 0;
    *at = from;
    *count = 0;
    if (from == to) {
        return false;
    }
    uint32_t number = 1;
    if ((times == NULL || parse_number(field, count_size - 1, &number)) && number > 0 &&
        parse_number(field + count_size, to - from - count_size, cost) && *cost >= 1 &&
        *cost <= FM_COST_MAX) {
        *count = number;
        *at = to;
    }
    return true;
}

static fm_status check_line_of_costs(const struct reader *reader, uint32_t y, uint32_t width)
{
    uint32_t x = 0, count, cost;
    size_t at = 0, begin = 0;
    for (; take_run(reader, &at, &count, &cost); begin = at) {
        if (count == 0) {
            return refuse(reader, at + 1, FM_ERR_BAD_FORMAT,
                          "A cost must be 1..%u, or a count, an x and a cost, such as 12x4.",
                          FM_COST_MAX);
        }
        if (count > width - x) {
            return refuse(reader, skip_blanks(reader, begin) + 1, FM_ERR_BAD_FORMAT,
                          "Row %u has costs for more cells than the width of %u.", y, width);
        }
        x += count;
    }
    if (x != width) {
        return refuse(reader, reader->line_size + 1, FM_ERR_BAD_FORMAT,
                      "Row %u has costs for %u cells, but the width is %u.", y, x, width);
    }
    return FM_OK;
}

// Reads what may follow the rows.
static fm_status check_rest(struct reader *reader, uint32_t width, uint32_t height)
{
    bool more = next_line(reader);
    if (more && line_is(reader, "costs")) {
        for (uint32_t y = 0; y < height; y++) {
            next_line(reader);
            fm_status status = check_line_of_costs(reader, y, width);
            if (status != FM_OK) {
                return status;
            }
        }
        more = next_line(reader);
    }
    for (; more; more = next_line(reader)) {
        if (!line_is_blank(reader)) {
            return refuse(reader, skip_blanks(reader, 0) + 1, FM_ERR_BAD_FORMAT,
                          "The map must end after its %u rows, or \"costs\" and as many rows of "
                          "them, but text follows.",
                          height);
        }
    }
    return FM_OK;
}

static void fill_costs(struct reader *reader, fm_grid *grid)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        next_line(reader);
        uint32_t x = 0, count, cost;
        size_t at = 0;
        while (take_run(reader, &at, &count, &cost)) {
            for (; count > 0; count--, x++) {
                fm_cell cell = fm_cell_at(x, y);
                fm_terrain terrain = (fm_terrain)grid->terrain[fm_grid_index(grid, cell)];
                fm_grid_set(grid, cell, terrain, (uint8_t)cost);
            }
        }
    }
}

static void fill_row(const struct reader *reader, const fm_map_letters *letters, uint32_t y,
                     fm_grid *grid)
{
    for (uint32_t x = 0; x < grid->width; x++) {
        uint8_t letter = (uint8_t)reader->line[x];
        if (letters->terrain[letter] != FM_TERRAIN_GROUND || letters->cost[letter] != 1) {
            fm_grid_set(grid, fm_cell_at(x, y), (fm_terrain)letters->terrain[letter],
                        letters->cost[letter]);
        }
    }
}

fm_status fm_map_read_letters(const char *text, size_t size, const fm_map_letters *letters,
                              const fm_memory *memory, fm_grid **out, fm_text_error *error)
{
    struct reader reader;
    uint32_t width, height;
    fm_status status = reader_start(&reader, text, size, error);
    if (status == FM_OK) {
        status = read_header(&reader, &width, &height);
    }
    if (status != FM_OK) {
        return status;
    }
    struct reader rows = reader;
    status = check_rows(&reader, letters, width, height);
    if (status == FM_OK) {
        status = check_rest(&reader, width, height);
    }
    if (status != FM_OK) {
        return status;
    }
    fm_grid *grid;
    if (fm_grid_create(width, height, memory, &grid) != FM_OK) {
        return refuse_memory(&reader);
    }
    for (uint32_t y = 0; y < height; y++) {
        next_line(&rows);
        fill_row(&rows, letters, y, grid);
    }
    if (next_line(&rows) && line_is(&rows, "costs")) {
        fill_costs(&rows, grid);
    }
    *out = grid;
    return FM_OK;
}

fm_status fm_map_read(const char *text, size_t size, const fm_memory *memory, fm_grid **out,
                      fm_text_error *error)
{
    return fm_map_read_letters(text, size, &fm_map_letters_default, memory, out, error);
}

// ---- writing ------------------------------------------------------------------------------------

#define MAP_HEADER "type octile\nheight %u\nwidth %u\nmap\n"

// What was written so far; without `text` it is only counted.
struct writer {
    char *text;
    size_t size;
};

static void write_bytes(struct writer *writer, const char *bytes, size_t size)
{
    if (writer->text != NULL) {
        memcpy(writer->text + writer->size, bytes, size);
    }
    writer->size += size;
}

static void write_rows(struct writer *writer, const fm_grid *grid)
{
    const uint8_t *terrain = grid->terrain;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_terrain written =
                *terrain == FM_TERRAIN_BUILDING ? FM_TERRAIN_WALL : (fm_terrain)*terrain;
            const char letter = fm_terrain_letter(written);
            write_bytes(writer, &letter, 1);
            terrain++;
        }
        write_bytes(writer, "\n", 1);
    }
}

static bool has_costs(const fm_grid *grid)
{
    size_t cell_count = (size_t)grid->width * grid->height;
    for (size_t i = 0; grid->weighted && i < cell_count; i++) {
        if (grid->cost[i] != FM_COST_FLOOR) {
            return true;
        }
    }
    return false;
}

static void write_line_of_costs(struct writer *writer, const uint8_t *costs, uint32_t width)
{
    for (uint32_t x = 0, count; x < width; x += count) {
        for (count = 1; x + count < width && costs[x + count] == costs[x]; count++) {
        }
        char run[24];
        int size = count == 1
                       ? snprintf(run, sizeof run, "%s%u", x == 0 ? "" : " ", costs[x])
                       : snprintf(run, sizeof run, "%s%ux%u", x == 0 ? "" : " ", count, costs[x]);
        write_bytes(writer, run, (size_t)size);
    }
    write_bytes(writer, "\n", 1);
}

static size_t write_map(const fm_grid *grid, char *text)
{
    struct writer writer = {.text = text};
    char header[80];
    int header_size = snprintf(header, sizeof header, MAP_HEADER, grid->height, grid->width);
    write_bytes(&writer, header, (size_t)header_size);
    write_rows(&writer, grid);
    if (has_costs(grid)) {
        write_bytes(&writer, "costs\n", 6);
        for (uint32_t y = 0; y < grid->height; y++) {
            write_line_of_costs(&writer, grid->cost + (size_t)y * grid->width, grid->width);
        }
    }
    return writer.size;
}

size_t fm_map_written_size(const fm_grid *grid)
{
    return write_map(grid, NULL);
}

void fm_map_write(const fm_grid *grid, char *text)
{
    write_map(grid, text);
}

// ---- problems -----------------------------------------------------------------------------------

// Takes the next field of the current line.
//
// @param at  position in the line; moved behind the field
static fm_status take_field(const struct reader *reader, const char *name, size_t *at,
                            const char **field, size_t *field_size)
{
    size_t from = skip_blanks(reader, *at);
    if (from == reader->line_size) {
        return refuse(reader, from + 1, FM_ERR_BAD_FORMAT, "The problem ends before its %s.", name);
    }
    *at = skip_field(reader, from);
    *field = reader->line + from;
    *field_size = *at - from;
    return FM_OK;
}

static size_t column_of(const struct reader *reader, const char *field)
{
    return (size_t)(field - reader->line) + 1;
}

// Takes a number in min..max.
static fm_status take_number(const struct reader *reader, const char *name, size_t *at,
                             uint32_t min, uint32_t max, uint32_t *out)
{
    const char *field;
    size_t field_size;
    fm_status status = take_field(reader, name, at, &field, &field_size);
    if (status != FM_OK) {
        return status;
    }
    if (!parse_number(field, field_size, out)) {
        return refuse(reader, column_of(reader, field), FM_ERR_BAD_FORMAT,
                      "The %s must be a whole number.", name);
    }
    if (*out < min || *out > max) {
        return refuse(reader, column_of(reader, field), FM_ERR_BAD_FORMAT, "The %s must be %u..%u.",
                      name, min, max);
    }
    return FM_OK;
}

// strtod() also takes nan, inf and hexadecimal numbers, which no length is.
//
// @param unit  receives the unit of the last decimal; 0 for a whole number or one with an exponent
static bool parse_length(const char *field, size_t field_size, double *out, double *unit)
{
    char digits[64];
    if (field_size >= sizeof digits || field[0] < '0' || field[0] > '9') {
        return false;
    }
    memcpy(digits, field, field_size);
    digits[field_size] = '\0';
    if (strspn(digits, "0123456789.eE+-") != field_size) {
        return false;
    }
    char *end;
    const char *point = strpbrk(digits, "eE") == NULL ? strchr(digits, '.') : NULL;
    *unit = point == NULL || point[1] == '\0' ? 0 : pow(10, -(double)strlen(point + 1));
    *out = strtod(digits, &end);
    return end == digits + field_size && isfinite(*out);
}

static fm_status take_length(const struct reader *reader, size_t *at, fm_problem *problem)
{
    const char *field;
    size_t field_size;
    fm_status status = take_field(reader, "optimal length", at, &field, &field_size);
    if (status != FM_OK) {
        return status;
    }
    if (!parse_length(field, field_size, &problem->optimal_length, &problem->length_unit)) {
        return refuse(reader, column_of(reader, field), FM_ERR_BAD_FORMAT,
                      "The optimal length must be a decimal number of at least 0.");
    }
    return FM_OK;
}

static fm_status take_cell(const struct reader *reader, const char *x_name, const char *y_name,
                           size_t *at, const fm_problem *problem, fm_cell *out)
{
    uint32_t x, y;
    fm_status status = take_number(reader, x_name, at, 0, problem->map_width - 1, &x);
    if (status == FM_OK) {
        status = take_number(reader, y_name, at, 0, problem->map_height - 1, &y);
    }
    if (status == FM_OK) {
        *out = fm_cell_at(x, y);
    }
    return status;
}

// Reads the current line.
static fm_status read_problem(const struct reader *reader, fm_problem *problem)
{
    size_t at = 0;
    const char *map;
    size_t map_size;
    fm_status status = take_number(reader, "bucket", &at, 0, UINT32_MAX - 1, &problem->bucket);
    if (status == FM_OK) {
        status = take_field(reader, "map", &at, &map, &map_size);
    }
    if (status == FM_OK) {
        status = take_number(reader, "map width", &at, 1, FM_SIDE_MAX, &problem->map_width);
    }
    if (status == FM_OK) {
        status = take_number(reader, "map height", &at, 1, FM_SIDE_MAX, &problem->map_height);
    }
    if (status == FM_OK) {
        status = take_cell(reader, "start x", "start y", &at, problem, &problem->start);
    }
    if (status == FM_OK) {
        status = take_cell(reader, "goal x", "goal y", &at, problem, &problem->goal);
    }
    if (status == FM_OK) {
        status = take_length(reader, &at, problem);
    }
    if (status == FM_OK && skip_blanks(reader, at) < reader->line_size) {
        status = refuse(reader, skip_blanks(reader, at) + 1, FM_ERR_BAD_FORMAT,
                        "The problem must end after its optimal length, but text follows.");
    }
    return status;
}

// Reads the remaining lines, skipping blank ones.
//
// @param problems  NULL to check and count only
static fm_status read_problems(struct reader reader, fm_problem *problems, uint32_t *count)
{
    uint32_t read_count = 0;
    while (next_line(&reader)) {
        if (line_is_blank(&reader)) {
            continue;
        }
        fm_problem problem;
        fm_status status = read_problem(&reader, &problem);
        if (status != FM_OK) {
            return status;
        }
        if (problems != NULL) {
            problems[read_count] = problem;
        }
        read_count += 1;
    }
    *count = read_count;
    return FM_OK;
}

fm_status fm_scen_read(const char *text, size_t size, const fm_memory *memory,
                       fm_problem **problems, uint32_t *count, fm_text_error *error)
{
    struct reader reader;
    fm_status status = reader_start(&reader, text, size, error);
    if (status != FM_OK) {
        return status;
    }
    next_line(&reader);
    if (!line_is(&reader, "version 1") && !line_is(&reader, "version 1.0")) {
        return refuse(&reader, 1, FM_ERR_BAD_FORMAT, "This line must read \"version 1\".");
    }
    uint32_t problem_count;
    status = read_problems(reader, NULL, &problem_count);
    if (status != FM_OK) {
        return status;
    }
    fm_problem *read = NULL;
    if (problem_count > 0) {
        read = fm_memory_allocate_zeroed(memory, problem_count, sizeof *read);
        if (read == NULL) {
            return refuse_memory(&reader);
        }
        status = read_problems(reader, read, &problem_count);
        FM_ASSERT(status == FM_OK);
    }
    *problems = read;
    *count = problem_count;
    return FM_OK;
}
