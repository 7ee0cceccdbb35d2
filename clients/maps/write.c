// clients/maps/write.c: maps as files, see maps.h.

#include "clients/maps/legend.h"
#include "clients/maps/maps.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COSTS_DARKEN 60u // per cent that the costliest cell is darker than open floor

static fm_terrain terrain_at(const fm_grid *grid, uint32_t x, uint32_t y)
{
    fm_terrain terrain = (fm_terrain)grid->terrain[(size_t)y * grid->width + x];
    return terrain == FM_TERRAIN_BUILDING ? FM_TERRAIN_WALL : terrain;
}

// ---- text ---------------------------------------------------------------------------------------

static fm_status write_moving_ai(const fm_grid *grid, char **bytes, size_t *size)
{
    *size = fm_map_written_size(grid);
    *bytes = malloc(*size);
    if (*bytes == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_map_write(grid, *bytes);
    return FM_OK;
}

// The letters of a .map; ground that is costlier is a digit.
static fm_status write_ascii(const fm_grid *grid, char **bytes, size_t *size)
{
    *size = (size_t)grid->height * (grid->width + 1);
    char *text = *bytes = malloc(*size);
    if (text == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            uint8_t cost = grid->cost[(size_t)y * grid->width + x];
            *text++ = cost > 1 ? (char)('0' + cost) : fm_terrain_letter(terrain_at(grid, x, y));
        }
        *text++ = '\n';
    }
    return FM_OK;
}

// Whether digits can express all costs.
static bool digits_suffice(const fm_grid *grid)
{
    for (size_t i = 0; i < (size_t)grid->width * grid->height; i++) {
        if (grid->cost[i] > 9 || (grid->cost[i] > 1 && grid->terrain[i] != FM_TERRAIN_GROUND)) {
            return false;
        }
    }
    return true;
}

static bool has_costs(const fm_grid *grid)
{
    for (size_t i = 0; i < (size_t)grid->width * grid->height; i++) {
        if (grid->cost[i] != FM_COST_FLOOR) {
            return true;
        }
    }
    return false;
}

// ---- pictures -----------------------------------------------------------------------------------

static uint32_t darken(uint32_t rgb, uint8_t cost)
{
    uint32_t share = 100 - COSTS_DARKEN * (cost - 1u) / (FM_COST_MAX - 1);
    share -= cost > 1 ? 15 : 0; // so that 2 differs from 1
    uint32_t red = (rgb >> 16) * share / 100, green = (rgb >> 8 & 255) * share / 100;
    return red << 16 | green << 8 | (rgb & 255) * share / 100;
}

// Pixels, 3 bytes each, to be freed; NULL when out of memory.
static uint8_t *make_pixels(const fm_grid *grid, uint32_t scale)
{
    uint32_t width = grid->width * scale, height = grid->height * scale;
    uint8_t *pixels = malloc((size_t)width * height * 3), *pixel = pixels;
    for (uint32_t y = 0; pixels != NULL && y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t cell_x = x / scale, cell_y = y / scale;
            uint32_t rgb = darken(fm_legend_colour_of(terrain_at(grid, cell_x, cell_y)),
                                  grid->cost[(size_t)cell_y * grid->width + cell_x]);
            *pixel++ = (uint8_t)(rgb >> 16);
            *pixel++ = (uint8_t)(rgb >> 8);
            *pixel++ = (uint8_t)rgb;
        }
    }
    return pixels;
}

fm_status fm_map_draw_png(const fm_grid *grid, uint32_t scale, char **bytes, size_t *size)
{
    uint8_t *pixels = make_pixels(grid, scale);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = grid->width * scale,
                       .height = grid->height * scale,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t needed = PNG_IMAGE_PNG_SIZE_MAX(image);
    char *file = pixels == NULL ? NULL : malloc(needed);
    bool written =
        file != NULL && png_image_write_to_memory(&image, file, &needed, 0, pixels, 0, NULL) != 0;
    free(pixels);
    if (!written) {
        free(file);
        return FM_ERR_NO_MEMORY;
    }
    *bytes = file;
    *size = needed;
    return FM_OK;
}

static fm_status write_ppm(const fm_grid *grid, char **bytes, size_t *size)
{
    char head[40];
    int head_size = snprintf(head, sizeof head, "P6\n%u %u\n255\n", grid->width, grid->height);
    size_t pixels_size = (size_t)grid->width * grid->height * 3;
    uint8_t *pixels = make_pixels(grid, 1);
    char *file = pixels == NULL ? NULL : malloc((size_t)head_size + pixels_size);
    if (file != NULL) {
        memcpy(file, head, (size_t)head_size);
        memcpy(file + head_size, pixels, pixels_size);
    }
    free(pixels);
    *bytes = file;
    *size = (size_t)head_size + pixels_size;
    return file == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

// ---- which --------------------------------------------------------------------------------------

static bool ends_with(const char *path, const char *ending)
{
    size_t size = strlen(path), ending_size = strlen(ending);
    return size >= ending_size && strcasecmp(path + size - ending_size, ending) == 0;
}

fm_status fm_map_convert(const fm_grid *grid, const char *path, char **bytes, size_t *size,
                         char *fault)
{
    bool is_map = ends_with(path, ".map"), is_text = ends_with(path, ".txt");
    bool is_png = ends_with(path, ".png"), is_ppm = ends_with(path, ".ppm");
    fault[0] = '\0';
    if (!is_map && !is_text && !is_png && !is_ppm) {
        snprintf(fault, FM_MAP_FAULT_SIZE, "%.400s: can be written: .map, .txt, .png and .ppm",
                 path);
        return FM_ERR_BAD_VALUE;
    }
    if (!is_map && (is_text ? !digits_suffice(grid) : has_costs(grid))) {
        snprintf(fault, FM_MAP_FAULT_SIZE, "%.400s: %s; a .map holds them", path,
                 is_text ? "ASCII has letters for costs of ground up to 9 only"
                         : "a picture has no colours for costs");
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = is_map    ? write_moving_ai(grid, bytes, size)
                       : is_text ? write_ascii(grid, bytes, size)
                       : is_png  ? fm_map_draw_png(grid, 1, bytes, size)
                                 : write_ppm(grid, bytes, size);
    if (status != FM_OK) {
        snprintf(fault, FM_MAP_FAULT_SIZE, "%s", fm_status_text(status));
    }
    return status;
}
