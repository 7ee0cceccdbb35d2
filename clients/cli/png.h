// clients/cli/png.h: pixels as a PNG file.

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// Writes a picture of 8 bits a channel.
///
/// @param rgb  width * height * 3 bytes, row by row from the top
/// @return false when there is not enough memory; errors of writing are for ferror() to tell
bool fm_png_write(FILE *out, const uint8_t *rgb, uint32_t width, uint32_t height);
