// clients/maps/pnm.c: PGM and PPM, as numbers (P2, P3) or as bytes (P5, P6).
//
// Source: netpbm's pages pgm(5) and ppm(5).

#include "clients/maps/picture.h"
#include "clients/maps/readers.h"

struct reader {
    const fm_map_input *input;
    size_t at;
    bool is_plain;    // numbers
    uint32_t samples; // per pixel, 1 or 3
    uint32_t width, height, largest;
    fm_colouring colouring;
};

static fm_status refuse(const struct reader *reader, const char *what)
{
    uint64_t line = 1;
    char place[FM_MAP_PLACE_SIZE];
    for (size_t i = 0; reader->is_plain && i < reader->at && i < reader->input->size; i++) {
        line += reader->input->bytes[i] == '\n';
    }
    fm_map_place_line(place, reader->input->name, line, 0);
    return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, place, "%s, near byte %zu", what,
                         reader->at);
}

static bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static void skip_blanks(struct reader *reader)
{
    const fm_map_input *input = reader->input;
    bool comment = false;
    for (; reader->at < input->size; reader->at++) {
        char letter = input->bytes[reader->at];
        comment = letter == '#' || (comment && letter != '\n');
        if (!comment && !is_blank(letter)) {
            return;
        }
    }
}

static fm_status read_number(struct reader *reader, uint32_t max, const char *what, uint32_t *out)
{
    const fm_map_input *input = reader->input;
    uint64_t number = 0;
    skip_blanks(reader);
    size_t begin = reader->at;
    for (; reader->at < input->size && input->bytes[reader->at] >= '0' &&
           input->bytes[reader->at] <= '9';
         reader->at++) {
        number = number * 10 + (uint64_t)(input->bytes[reader->at] - '0');
        number = number < UINT32_MAX ? number : UINT32_MAX;
    }
    if (reader->at == begin || number > max) {
        return refuse(reader, what);
    }
    *out = (uint32_t)number;
    return FM_OK;
}

static fm_status read_head(struct reader *reader)
{
    char kind = reader->input->size < 2 ? '\0' : reader->input->bytes[1];
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6') {
        return refuse(reader, "the file must begin with P2, P3, P5 or P6");
    }
    reader->is_plain = kind == '2' || kind == '3';
    reader->samples = kind == '3' || kind == '6' ? 3 : 1;
    reader->at = 2;
    fm_status status = read_number(reader, UINT32_MAX, "wanted: the width", &reader->width);
    if (status == FM_OK) {
        status = read_number(reader, UINT32_MAX, "wanted: the height", &reader->height);
    }
    if (status == FM_OK) {
        status =
            fm_map_check_sides(reader->input, reader->input->name, reader->width, reader->height);
    }
    if (status == FM_OK) {
        status = read_number(reader, UINT16_MAX, "wanted: the largest value, 1..65535",
                             &reader->largest);
    }
    if (status == FM_OK && reader->largest == 0) {
        status = refuse(reader, "wanted: the largest value, 1..65535");
    }
    reader->at += 1; // exactly one blank stands before bytes
    return status;
}

// Files that end too early cost nothing.
static fm_status check_size(const struct reader *reader)
{
    uint64_t samples = (uint64_t)reader->width * reader->height * reader->samples;
    uint64_t least = samples * (reader->is_plain ? 2 : reader->largest > UINT8_MAX ? 2 : 1);
    uint64_t left =
        reader->at < reader->input->size ? reader->input->size - reader->at + reader->is_plain : 0;
    return left >= least ? FM_OK : refuse(reader, "the file ends too early");
}

static fm_status read_sample(struct reader *reader, uint32_t *out)
{
    if (reader->is_plain) {
        return read_number(reader, reader->largest, "wanted: a number up to the largest value",
                           out);
    }
    const uint8_t *bytes = (const uint8_t *)reader->input->bytes + reader->at;
    bool is_wide = reader->largest > UINT8_MAX;
    *out = is_wide ? (uint32_t)bytes[0] << 8 | bytes[1] : bytes[0];
    reader->at += is_wide ? 2 : 1;
    return *out <= reader->largest ? FM_OK : refuse(reader, "a value is above the largest");
}

static fm_status read_pixel(struct reader *reader, fm_pixel *pixel)
{
    uint32_t values[3] = {0};
    for (uint32_t i = 0; i < reader->samples; i++) {
        fm_status status = read_sample(reader, &values[i]);
        if (status != FM_OK) {
            return status;
        }
    }
    if (reader->samples == 1) {
        values[1] = values[2] = values[0];
    }
    *pixel = (fm_pixel){.red = (uint8_t)(values[0] * 255 / reader->largest),
                        .green = (uint8_t)(values[1] * 255 / reader->largest),
                        .blue = (uint8_t)(values[2] * 255 / reader->largest),
                        .height = fm_brightness(values[0], values[1], values[2])};
    return FM_OK;
}

fm_status fm_read_pnm(const fm_map_input *input, fm_grid **out)
{
    struct reader reader = {.input = input};
    fm_status status = read_head(&reader);
    if (status == FM_OK) {
        status = check_size(&reader);
    }
    if (status == FM_OK) {
        status = fm_colouring_begin(&reader.colouring, input, reader.width, reader.height);
    }
    for (uint32_t y = 0; status == FM_OK && y < reader.height; y++) {
        for (uint32_t x = 0; status == FM_OK && x < reader.width; x++) {
            fm_pixel pixel;
            status = read_pixel(&reader, &pixel);
            if (status == FM_OK) {
                status = fm_colouring_set(&reader.colouring, x, y, pixel);
            }
        }
    }
    if (status != FM_OK) {
        fm_grid_destroy(reader.colouring.grid);
        return status;
    }
    *out = reader.colouring.grid;
    return FM_OK;
}
