// clients/maps/png.c: PNG, read by libpng. Its errors come by longjmp(): what must survive one
// stands in struct reading, which the caller owns.

#include "clients/maps/picture.h"
#include "clients/maps/readers.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES_MAX                                                                            \
    ((png_alloc_size_t)8 << 20) // of a chunk that is no picture: profiles, texts

struct reading {
    const fm_map_input *input;
    size_t at; // bytes handed to libpng
    char message[160];
    png_structp png;
    png_infop info;
    png_bytepp rows; // one block: pointers, then pixels
    uint32_t width, height;
    int depth; // bits per sample, 8 or 16
    fm_colouring colouring;
};

static void on_read(png_structp png, png_bytep bytes, size_t size)
{
    struct reading *reading = png_get_io_ptr(png);
    if (size > reading->input->size - reading->at) {
        png_error(png, "the file ends too early");
    }
    memcpy(bytes, reading->input->bytes + reading->at, size);
    reading->at += size;
}

static void on_error(png_structp png, png_const_charp message)
{
    struct reading *reading = png_get_error_ptr(png);
    snprintf(reading->message, sizeof reading->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

// Whatever the file has, pixels become red, green, blue and opacity of 8 or 16 bits.
static void ask_for_rgba(struct reading *reading)
{
    png_structp png = reading->png;
    png_set_expand(png); // palettes, 1, 2 and 4 bits, transparent colours
    png_set_gray_to_rgb(png);
    png_set_filler(png, 0xffff, PNG_FILLER_AFTER);
    if (reading->depth == 16) {
        png_set_swap(png); // the file is big-endian
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, reading->info);
}

// Runs under setjmp().
static void read_rows(struct reading *reading)
{
    png_structp png = reading->png;
    png_set_user_limits(png, FM_SIDE_MAX, FM_SIDE_MAX);
    png_set_chunk_malloc_max(png, CHUNK_BYTES_MAX);
    png_set_read_fn(png, reading, on_read);
    png_read_info(png, reading->info);
    reading->width = png_get_image_width(png, reading->info);
    reading->height = png_get_image_height(png, reading->info);
    reading->depth = png_get_bit_depth(png, reading->info) == 16 ? 16 : 8;
    ask_for_rgba(reading);
    size_t row_size = (size_t)reading->width * 4 * (size_t)(reading->depth / 8);
    if (png_get_rowbytes(png, reading->info) != row_size) {
        png_error(png, "rows of an unexpected size");
    }
    size_t pointers_size = reading->height * sizeof *reading->rows;
    reading->rows = malloc(pointers_size + row_size * reading->height);
    if (reading->rows == NULL) {
        png_error(png, "out of memory");
    }
    memset(reading->rows, 0, pointers_size + row_size * reading->height);
    for (uint32_t y = 0; y < reading->height; y++) {
        reading->rows[y] = (png_bytep)reading->rows + pointers_size + row_size * y;
    }
    png_read_image(png, reading->rows);
    png_read_end(png, NULL);
}

static bool try_to_read(struct reading *reading)
{
    reading->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, on_error, on_warning);
    reading->info = reading->png == NULL ? NULL : png_create_info_struct(reading->png);
    if (reading->info == NULL) {
        snprintf(reading->message, sizeof reading->message, "out of memory");
        return false;
    }
    if (setjmp(png_jmpbuf(reading->png)) != 0) {
        return false;
    }
    read_rows(reading);
    return true;
}

static fm_pixel pixel_of(const struct reading *reading, uint32_t x, uint32_t y)
{
    if (reading->depth == 8) {
        const uint8_t *rgba = reading->rows[y] + (size_t)x * 4;
        return (fm_pixel){rgba[0], rgba[1], rgba[2], rgba[3] < 0x80,
                          fm_brightness(rgba[0], rgba[1], rgba[2])};
    }
    uint16_t rgba[4];
    memcpy(rgba, reading->rows[y] + (size_t)x * sizeof rgba, sizeof rgba);
    return (fm_pixel){(uint8_t)(rgba[0] >> 8), (uint8_t)(rgba[1] >> 8), (uint8_t)(rgba[2] >> 8),
                      rgba[3] < 0x8000, fm_brightness(rgba[0], rgba[1], rgba[2])};
}

static fm_status colour(struct reading *reading)
{
    fm_status status =
        fm_colouring_begin(&reading->colouring, reading->input, reading->width, reading->height);
    for (uint32_t y = 0; status == FM_OK && y < reading->height; y++) {
        for (uint32_t x = 0; status == FM_OK && x < reading->width; x++) {
            status = fm_colouring_set(&reading->colouring, x, y, pixel_of(reading, x, y));
        }
    }
    return status;
}

fm_status fm_read_png(const fm_map_input *input, fm_grid **out)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL) {
        return fm_map_refuse_memory(input);
    }
    reading->input = input;
    fm_status status = FM_OK;
    if (!try_to_read(reading)) {
        status = fm_map_refuse(input, FM_ERR_BAD_FORMAT, input->name,
                               "this PNG cannot be read near byte %zu: %s (a map has 1 to %u "
                               "pixels on each side)",
                               reading->at, reading->message, FM_SIDE_MAX);
    }
    if (status == FM_OK) {
        status = colour(reading);
    }
    if (status == FM_OK) {
        *out = reading->colouring.grid;
    } else {
        fm_grid_destroy(reading->colouring.grid);
    }
    png_destroy_read_struct(&reading->png, &reading->info, NULL);
    free(reading->rows);
    free(reading);
    return status;
}
