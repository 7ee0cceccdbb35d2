// clients/maps/text.c: maps that are letters: MovingAI's .map, read by core/map/map_file.c, and
// drawings without a header.

#include "clients/maps/legend.h"
#include "clients/maps/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- tables of costs ----------------------------------------------------------------------------

// Reads "f 4" and the like; such tables go with weighted maps of other tools.
static fm_status read_cost_line(const fm_map_input *input, const char *line, size_t size,
                                uint32_t number, fm_map_letters *letters)
{
    char place[FM_MAP_PLACE_SIZE], digits[16] = "";
    size_t at = 1;
    while (at < size && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)(size - at), line + at);
    char *end = digits;
    unsigned long cost = digits[0] >= '0' && digits[0] <= '9' ? strtoul(digits, &end, 10) : 0;
    if (end == digits || *end != '\0' || at == 1 || cost > FM_COST_MAX) {
        return fm_map_refuse(
            input, FM_ERR_BAD_FORMAT, fm_map_place_line(place, input->name, number, 1),
            "a line must be a letter, a blank and a cost: a whole number in 1..%u, or 0 for what "
            "cannot be entered",
            FM_COST_MAX);
    }
    uint8_t letter = (uint8_t)line[0];
    uint8_t terrain = letters->terrain[letter];
    if (cost == 0 && (terrain == FM_TERRAIN_UNKNOWN || terrain == FM_TERRAIN_GROUND)) {
        terrain = FM_TERRAIN_WALL;
    } else if (cost > 0) {
        terrain = FM_TERRAIN_GROUND;
    }
    letters->terrain[letter] = terrain;
    letters->cost[letter] = cost > 0 ? (uint8_t)cost : FM_COST_FLOOR;
    return FM_OK;
}

static fm_status read_costs(const fm_map_input *table, fm_map_letters *letters)
{
    const char *line = table->bytes, *end = table->bytes + table->size;
    for (uint32_t number = 1; line < end; number++) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((next == NULL ? end : next) - line);
        size -= size > 0 && line[size - 1] == '\r';
        fm_status status = size == 0 ? FM_OK : read_cost_line(table, line, size, number, letters);
        if (status != FM_OK) {
            return status;
        }
        line = next == NULL ? end : next + 1;
    }
    return FM_OK;
}

// FILE.cost, where there is one.
static fm_status find_costs(const fm_map_input *input, fm_map_letters *letters)
{
    char place[FM_MAP_PLACE_SIZE];
    char *bytes;
    fm_map_input table;
    fm_status status = fm_map_read_beside(input, ".cost", place, &bytes, &table);
    if (status == FM_OK && bytes != NULL) {
        status = read_costs(&table, letters);
        free(bytes);
    }
    return status;
}

// ---- MovingAI -----------------------------------------------------------------------------------

fm_status fm_read_moving_ai(const fm_map_input *input, fm_grid **out)
{
    fm_legend legend;
    fm_text_error error = {.message = ""};
    char place[FM_MAP_PLACE_SIZE];
    fm_status status = fm_legend_find(input, &fm_map_letters_default, &legend);
    if (status == FM_OK) {
        status = find_costs(input, &legend.letters);
    }
    if (status != FM_OK) {
        return status;
    }
    status =
        fm_map_read_letters(input->bytes, input->size, &legend.letters, input->memory, out, &error);
    if (status != FM_OK) {
        fm_map_place_line(place, input->name, error.line, error.column);
        fm_map_refuse(input, status, place, "%s", error.message);
    }
    return status;
}

// ---- drawings -----------------------------------------------------------------------------------

#define LETTER(letter, kind) .terrain[letter] = kind, .cost[letter] = FM_COST_FLOOR
#define DIGIT(letter)        .terrain[letter] = FM_TERRAIN_GROUND, .cost[letter] = letter - '0'

static const fm_map_letters drawing_letters = {
    LETTER('.', FM_TERRAIN_GROUND),
    LETTER('G', FM_TERRAIN_GROUND),
    LETTER('_', FM_TERRAIN_GROUND),
    LETTER('#', FM_TERRAIN_WALL),
    LETTER('O', FM_TERRAIN_WALL),
    LETTER('X', FM_TERRAIN_WALL),
    LETTER('x', FM_TERRAIN_WALL),
    LETTER('@', FM_TERRAIN_OUT),
    LETTER(' ', FM_TERRAIN_OUT),
    LETTER('T', FM_TERRAIN_TREES),
    LETTER('^', FM_TERRAIN_TREES),
    LETTER('S', FM_TERRAIN_SWAMP),
    LETTER('%', FM_TERRAIN_SWAMP),
    LETTER('W', FM_TERRAIN_WATER),
    LETTER('~', FM_TERRAIN_WATER),
    DIGIT('1'),
    DIGIT('2'),
    DIGIT('3'),
    DIGIT('4'),
    DIGIT('5'),
    DIGIT('6'),
    DIGIT('7'),
    DIGIT('8'),
    DIGIT('9'),
};

struct drawing {
    const char *rest, *end;
    const char *row;
    size_t row_size;
};

// The next row, without its end; false behind the last one.
static bool next_row(struct drawing *drawing)
{
    if (drawing->rest == drawing->end) {
        return false;
    }
    const char *next = memchr(drawing->rest, '\n', (size_t)(drawing->end - drawing->rest));
    drawing->row = drawing->rest;
    drawing->row_size = (size_t)((next == NULL ? drawing->end : next) - drawing->rest);
    drawing->rest = next == NULL ? drawing->end : next + 1;
    drawing->row_size -= drawing->row_size > 0 && drawing->row[drawing->row_size - 1] == '\r';
    return true;
}

// Empty lines at the end are no rows.
static struct drawing begin(const fm_map_input *input)
{
    size_t size = input->size;
    while (size > 0 && (input->bytes[size - 1] == '\n' || input->bytes[size - 1] == '\r')) {
        size--;
    }
    return (struct drawing){.rest = input->bytes, .end = input->bytes + size};
}

static fm_status check_rows(const fm_map_input *input, const fm_map_letters *letters,
                            uint32_t *width, uint32_t *height)
{
    char place[FM_MAP_PLACE_SIZE];
    struct drawing drawing = begin(input);
    uint64_t longest = 0, rows = 0, short_row = 0, first_size = 0;
    for (; next_row(&drawing); rows++) {
        for (size_t x = 0; x < drawing.row_size; x++) {
            uint8_t letter = (uint8_t)drawing.row[x];
            if (letters->terrain[letter] == FM_TERRAIN_UNKNOWN) {
                fm_map_place_line(place, input->name, rows + 1, x + 1);
                return fm_map_refuse(input, FM_ERR_BAD_FORMAT, place,
                                     letter > ' ' && letter <= '~'
                                         ? "'%c' is no terrain; %.100s.yaml may say which it is"
                                         : "byte %u is no terrain; %.100s.yaml may say which it is",
                                     letter, fm_map_base_name(input->name));
            }
        }
        first_size = rows == 0 ? drawing.row_size : first_size;
        short_row = drawing.row_size != first_size && short_row == 0 ? rows + 1 : short_row;
        longest = drawing.row_size > longest ? drawing.row_size : longest;
    }
    if (short_row > 0 && letters->terrain[' '] == FM_TERRAIN_UNKNOWN) {
        return fm_map_refuse(input, FM_ERR_BAD_FORMAT,
                             fm_map_place_line(place, input->name, short_row, 0),
                             "this row is not as long as the first, which has %llu letters",
                             (unsigned long long)first_size);
    }
    *width = (uint32_t)longest;
    *height = (uint32_t)rows;
    return fm_map_check_sides(input, input->name, longest, rows);
}

fm_status fm_read_ascii(const fm_map_input *input, fm_grid **out)
{
    fm_legend legend;
    uint32_t width = 0, height = 0;
    fm_grid *grid;
    fm_status status = fm_legend_find(input, &drawing_letters, &legend);
    if (status == FM_OK) {
        status = check_rows(input, &legend.letters, &width, &height);
    }
    if (status == FM_OK) {
        status = fm_map_make_grid(input, width, height, &grid);
    }
    if (status != FM_OK) {
        return status;
    }
    struct drawing drawing = begin(input);
    for (uint32_t y = 0; next_row(&drawing); y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint8_t letter = x < drawing.row_size ? (uint8_t)drawing.row[x] : ' ';
            fm_grid_set(grid, fm_cell_at(x, y), (fm_terrain)legend.letters.terrain[letter],
                        legend.letters.cost[letter]);
        }
    }
    *out = grid;
    return FM_OK;
}
