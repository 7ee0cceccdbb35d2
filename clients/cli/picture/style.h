// clients/cli/picture/style.h: what the SVG and the PNG of a view have in common: scale and
// colours.

#pragma once

#include <fogmarch/mirror.h>

#define FM_PICTURE_BACKGROUND 0x14161au // what is unknown, 0xRRGGBB

/// Pixels per cell of a picture of a view.
uint32_t fm_picture_scale(const fm_mirror *view);

/// Radius in cells of what marks an agent and its goal: can be found in a picture of a large map,
/// too.
double fm_picture_mark_radius(const fm_mirror *view);

/// Colour of a cell by its look, 0xRRGGBB.
uint32_t fm_picture_colour(uint32_t look);

/// Colour of a cell of a search by its flags (see debug.inspect), 0xRRGGBB.
uint32_t fm_picture_search_colour(uint64_t flags);
