// core/map/map_file.c: the .map and .scen formats, see map_file.h.
//
// Both readers take one line at a time through next_line(), which hides LF and CRLF and counts
// lines, and report every damage through refuse(), which is the only place that fills a
// fm_text_error. Every text is walked twice: once to check it, once to fill what was allocated for
// it. The second walk cannot fail, so nothing has to be undone half way.

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

// Moves on to the next line. Past the last one there is an empty line, so that an error there has
// a place, and the answer is false.
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

static fm_status read_header(struct reader *reader, uint32_t *width, uint32_t *height)
{
    fm_status status = read_literal(reader, "type octile");
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

// FM_TERRAIN_UNKNOWN, which is 0, for every byte that is no terrain in a file.
static fm_terrain terrain_of(char letter)
{
    static const uint8_t terrains[256] = {
#define X(enumerator, terrain_letter, name) [terrain_letter] = enumerator,
        FM_TERRAIN_LIST(X)
#undef X
            ['G'] = FM_TERRAIN_GROUND,
    };
    _Static_assert(FM_TERRAIN_UNKNOWN == 0, "bytes that are no terrain must read as unknown");
    fm_terrain terrain = (fm_terrain)terrains[(uint8_t)letter];
    return terrain == FM_TERRAIN_BUILDING ? FM_TERRAIN_UNKNOWN : terrain;
}

static fm_status check_letter(const struct reader *reader, size_t x)
{
    char letter = reader->line[x];
    if (terrain_of(letter) != FM_TERRAIN_UNKNOWN) {
        return FM_OK;
    }
    if (letter > ' ' && letter <= '~') {
        return refuse(reader, x + 1, FM_ERR_BAD_FORMAT,
                      "'%c' is no terrain; the letters are . G @ O T S W.", letter);
    }
    return refuse(reader, x + 1, FM_ERR_BAD_FORMAT,
                  "Byte 0x%02x is no terrain; the letters are . G @ O T S W.", (uint8_t)letter);
}

// The leftmost damage of a row is the one to report.
static fm_status check_row(const struct reader *reader, uint32_t y, uint32_t width)
{
    size_t letter_count = reader->line_size < width ? reader->line_size : width;
    for (size_t x = 0; x < letter_count; x++) {
        fm_status status = check_letter(reader, x);
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

static fm_status check_rows(struct reader *reader, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        next_line(reader);
        if (reader->line_size == 0 && rest_is_blank(*reader)) {
            return refuse(reader, 1, FM_ERR_BAD_FORMAT,
                          "The map ends after %u rows, but the height is %u.", y, height);
        }
        fm_status status = check_row(reader, y, width);
        if (status != FM_OK) {
            return status;
        }
    }
    while (next_line(reader)) {
        if (!line_is_blank(reader)) {
            return refuse(reader, skip_blanks(reader, 0) + 1, FM_ERR_BAD_FORMAT,
                          "The map must end after its %u rows, but text follows.", height);
        }
    }
    return FM_OK;
}

static void fill_row(const struct reader *reader, uint32_t y, fm_grid *grid)
{
    for (uint32_t x = 0; x < grid->width; x++) {
        fm_terrain terrain = terrain_of(reader->line[x]);
        if (terrain != FM_TERRAIN_GROUND) {
            fm_grid_set(grid, fm_cell_at(x, y), terrain, FM_COST_FLOOR);
        }
    }
}

fm_status fm_map_read(const char *text, size_t size, const fm_memory *memory, fm_grid **out,
                      fm_text_error *error)
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
    status = check_rows(&reader, width, height);
    if (status != FM_OK) {
        return status;
    }
    fm_grid *grid;
    if (fm_grid_create(width, height, memory, &grid) != FM_OK) {
        return refuse_memory(&reader);
    }
    for (uint32_t y = 0; y < height; y++) {
        next_line(&rows);
        fill_row(&rows, y, grid);
    }
    *out = grid;
    return FM_OK;
}

#define MAP_HEADER "type octile\nheight %u\nwidth %u\nmap\n"

size_t fm_map_written_size(const fm_grid *grid)
{
    int header_size = snprintf(NULL, 0, MAP_HEADER, grid->height, grid->width);
    return (size_t)header_size + (size_t)grid->height * (grid->width + 1);
}

void fm_map_write(const fm_grid *grid, char *text)
{
    char header[80];
    int header_size = snprintf(header, sizeof header, MAP_HEADER, grid->height, grid->width);
    memcpy(text, header, (size_t)header_size);
    text += header_size;

    const uint8_t *terrain = grid->terrain;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_terrain written =
                *terrain == FM_TERRAIN_BUILDING ? FM_TERRAIN_WALL : (fm_terrain)*terrain;
            *text++ = fm_terrain_letter(written);
            terrain++;
        }
        *text++ = '\n';
    }
}

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
static bool parse_length(const char *field, size_t field_size, double *out)
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
    *out = strtod(digits, &end);
    return end == digits + field_size && isfinite(*out);
}

static fm_status take_length(const struct reader *reader, size_t *at, double *out)
{
    const char *field;
    size_t field_size;
    fm_status status = take_field(reader, "optimal length", at, &field, &field_size);
    if (status != FM_OK) {
        return status;
    }
    if (!parse_length(field, field_size, out)) {
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
        status = take_length(reader, &at, &problem->optimal_length);
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
