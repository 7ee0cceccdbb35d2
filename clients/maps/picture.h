// clients/maps/picture.h: from pixels to cells, for the readers of picture formats. A pixel is a
// cell.

#pragma once

#include "clients/maps/legend.h"

typedef struct fm_pixel {
    uint8_t red, green, blue;
    bool transparent;
    uint32_t height; // brightness as the file has it, not brought down to 8 bits
} fm_pixel;

typedef struct fm_colouring {
    const fm_map_input *input;
    fm_legend legend;
    fm_grid *grid;
} fm_colouring;

/// Finds the picture's legend and makes the grid.
///
/// @param width, height  as the file claims; checked here
/// @return FM_OK; FM_ERR_BAD_SIZE, or as fm_legend_find()
FM_CHECKED fm_status fm_colouring_begin(fm_colouring *colouring, const fm_map_input *input,
                                        uint64_t width, uint64_t height);

/// Sets a cell. @return FM_OK, or FM_ERR_BAD_VALUE when the legend does not know the pixel
FM_CHECKED fm_status fm_colouring_set(fm_colouring *colouring, uint32_t x, uint32_t y,
                                      fm_pixel pixel);

/// Brightness of a colour; of a grey exactly that.
static inline uint32_t fm_brightness(uint32_t red, uint32_t green, uint32_t blue)
{
    return (299 * red + 587 * green + 114 * blue) / 1000;
}
