// clients/cli/picture/png.h: a view as a PNG file.

#pragma once

#include <fogmarch/mirror.h>

#include <stdio.h>

/// Draws what fm_picture_write_svg() draws, in pixels. Parameters as there.
///
/// @return false when out of memory; errors of writing are for ferror() to find
bool fm_picture_write_png(FILE *out, const fm_mirror *view, const msgpack_object *agent);
