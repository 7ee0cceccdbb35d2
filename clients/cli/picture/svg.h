// clients/cli/picture/svg.h: a view as an SVG file.

#pragma once

#include <fogmarch/mirror.h>

#include <stdio.h>

/// Writes a picture: terrain, fog, agents. ferror() says whether that went wrong.
///
/// @param agent  a result of debug.inspect, of the agent whose path and search are drawn; may be
///               NULL
void fm_picture_write_svg(FILE *out, const fm_mirror *view, const msgpack_object *agent);
