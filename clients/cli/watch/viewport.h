// clients/cli/watch/viewport.h: which part of a map is shown, and how large.
//
// The screen is a grid of pixels: as wide as a character, half as high. Either the whole map is
// scaled to fit into it, or a cell takes 2^zoom pixels in each direction (below 0: a pixel shows
// 2^-zoom cells in each direction), and the viewport says which cell is in the middle. Everything
// here is arithmetic.

#pragma once

#include "core/world/world.h"

#define FM_ZOOM_MAX 3 // 8 x 8 pixels a cell
#define FM_ZOOM_MIN (-8)

typedef struct fm_viewport {
    bool whole;    // everything is shown, scaled to fit; the rest is of no meaning then
    int zoom;      // FM_ZOOM_MIN..FM_ZOOM_MAX
    uint32_t x, y; // cell in the middle
} fm_viewport;

// How cells are laid over pixels.
typedef struct fm_frame {
    fm_rect rect;           // the cells that are shown
    uint32_t width, height; // pixels that show them, from the top
    uint32_t left;          // pixels left free at the left
} fm_frame;

/// Lays the viewport over so many pixels.
///
/// @param bounds      the cells that there are; not empty
/// @param width_max   pixels, from 1
/// @param height_max  pixels, from 1
fm_frame fm_viewport_frame(const fm_viewport *viewport, const fm_rect *bounds, uint32_t width_max,
                           uint32_t height_max);

/// Shows cells larger (steps > 0) or smaller by so many powers of two; smaller than the whole map
/// is the whole map. Parameters as above.
void fm_viewport_zoom(fm_viewport *viewport, int steps, const fm_rect *bounds, uint32_t width_max,
                      uint32_t height_max);

/// Moves by so many eighths of what is shown; not beyond the map. Parameters as above.
void fm_viewport_pan(fm_viewport *viewport, int right, int down, const fm_rect *bounds,
                     uint32_t width_max, uint32_t height_max);

/// Puts a cell into the middle, as far as the map allows.
void fm_viewport_center(fm_viewport *viewport, fm_cell cell);

/// The pixel in the middle of a cell. @return false when the cell is not shown
bool fm_frame_find(const fm_frame *frame, fm_cell cell, uint32_t *px, uint32_t *py);

/// First cell of pixel number `pixel` of `pixels` that share `cells`.
static inline uint32_t fm_frame_first_cell(uint32_t pixel, uint32_t pixels, uint32_t cells)
{
    return (uint32_t)((uint64_t)pixel * cells / pixels);
}
