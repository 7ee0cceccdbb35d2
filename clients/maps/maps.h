// clients/maps/maps.h: reads maps from files of all known formats, and draws maps.
//
// The format is detected by content where possible (PNG, PGM and PPM, JSON, XML, MovingAI's first
// line), else by the file's ending. README.md describes the formats.
//
// For programs that users run on their own files. The server does not use it, because its libraries
// would parse untrusted bytes.

#pragma once

#include "clients/maps/input.h"

#define FM_MAP_FORMATS                                                                             \
    "MovingAI (.map), ASCII (.txt), Tiled (.tmj, .tmx), PNG (.png), PGM and PPM (.pgm, "           \
    ".ppm)"

/// Reads a map.
///
/// @param path    "-" is standard input
/// @param memory  of the grid
/// @param out     receives the grid, to be released with fm_grid_destroy(); left alone on failure
/// @param fault   receives what is wrong and where, in one sentence; room for FM_MAP_FAULT_SIZE
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT, FM_ERR_BAD_VALUE, FM_ERR_BAD_SIZE, FM_ERR_LIMIT or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_map_load(const char *path, const fm_memory *memory, fm_grid **out,
                                 char *fault);

/// The same from bytes. `format` receives the format's name, static; it may be NULL.
FM_CHECKED fm_status fm_map_load_bytes(const fm_map_input *input, const char **format,
                                       fm_grid **out);

/// Reads the whole of a file, for fm_map_load_bytes(). Statuses as fm_map_files.read().
FM_CHECKED fm_status fm_map_read_whole(const char *path, char **bytes, size_t *size, char *why);

/// A map in another format.
///
/// @param path   its ending says which: .map, .txt, .png or .ppm. Pictures have the colours of
///               fm_legend_colour_of(), so that they can be read again
/// @param bytes  receives the file, to be released with free()
/// @return FM_OK; FM_ERR_BAD_VALUE when there is no such format, or it cannot hold the map's costs;
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_map_convert(const fm_grid *grid, const char *path, char **bytes,
                                    size_t *size, char *fault);

/// A picture of a map, as PNG. Cells are squares of `scale` pixels; costly ones are darker.
///
/// @param scale  1..16
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_map_draw_png(const fm_grid *grid, uint32_t scale, char **bytes,
                                     size_t *size);
