// clients/cli/picture.h: a view as an SVG picture.

#pragma once

#include "clients/c/mirror.h"

#include <stdio.h>

/// Writes a picture: terrain, fog, agents.
///
/// @param agent  a result of debug.inspect, of the agent whose path and search are drawn; may be
///               NULL
void fm_picture_write(FILE *out, const fm_mirror *view, const msgpack_object *agent);
