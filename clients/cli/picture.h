// clients/cli/picture.h: a view as a picture: SVG, or PNG.

#pragma once

#include "clients/c/mirror.h"

#include <stdio.h>

/// Writes a picture: terrain, fog, agents.
///
/// @param agent  a result of debug.inspect, of the agent whose path and search are drawn; may be
///               NULL
void fm_picture_write(FILE *out, const fm_mirror *view, const msgpack_object *agent);

/// The same as a PNG file. @return false when there is not enough memory; errors of writing are for
/// ferror() to tell
bool fm_picture_write_png(FILE *out, const fm_mirror *view, const msgpack_object *agent);

/// Pixels per cell of a picture of a view.
uint32_t fm_picture_scale(const fm_mirror *view);

/// Colour of a cell by its look, 0xRRGGBB.
uint32_t fm_picture_colour(uint32_t look);

/// Colour of a cell of a search by its flags (see debug.inspect), 0xRRGGBB.
uint32_t fm_picture_search_colour(uint64_t flags);
