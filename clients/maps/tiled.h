// clients/maps/tiled.h: a map of Tiled as both of its formats describe it, and how it becomes
// cells.
//
// The readers of JSON and XML fill an fm_tiled, which checks and bounds everything: tilesets with
// what their tiles are, layers of tile numbers, in one piece or in chunks. Then fm_tiled_paint()
// lays the layers over each other, the lowest first. What a tile is, is said by, in this order:
//
//     its properties terrain, blocked, cost     in the tileset; or its class, when that is a
//     terrain those of the layer the layer's name                          when it is a terrain, or
//     Walls, Collision, ...
//
// A tile without any of these is decoration and leaves what lies below. Cells without any tile have
// the terrain of the map's own property terrain, else ground.
//
// Source: doc.mapeditor.org, "JSON Map Format", "TMX Map Format", "Global Tile IDs".

#pragma once

#include "clients/maps/legend.h"

#define FM_TILED_TILES_MAX    ((uint64_t)1 << 26) // in all layers together
#define FM_TILED_SPECIAL_MAX  (1u << 20)          // tiles with properties
#define FM_TILED_TILESETS_MAX 1024u
#define FM_TILED_LAYERS_MAX   1024u
#define FM_TILED_CHUNKS_MAX   (1u << 18)
#define FM_TILED_NAME_SIZE    64u

typedef struct fm_tiled fm_tiled;

// How a piece of a layer is written.
typedef struct fm_tiled_data {
    int64_t x, y; // of its first tile
    uint64_t width, height;
    const char *encoding;    // csv or base64
    const char *compression; // empty, zlib, gzip or zstd
    const char *text;
    size_t size;
} fm_tiled_data;

/// @return NULL when out of memory
fm_tiled *fm_tiled_create(const fm_map_input *input);

/// NULL is allowed.
void fm_tiled_destroy(fm_tiled *map);

// In all functions below `place` is the text that an error begins with, and the statuses are FM_OK,
// FM_ERR_BAD_FORMAT, FM_ERR_BAD_VALUE, FM_ERR_BAD_SIZE, FM_ERR_LIMIT, FM_ERR_IO or
// FM_ERR_NO_MEMORY.

/// The map's own attributes, before anything else.
FM_CHECKED fm_status fm_tiled_begin(fm_tiled *map, const char *place, const char *orientation,
                                    uint64_t width, uint64_t height, bool infinite);

/// Adds a property to a look: of a tile, a layer or the map. Other properties are ignored.
FM_CHECKED fm_status fm_tiled_property(const fm_tiled *map, const char *place, const char *name,
                                       const char *value, fm_map_look *look);

/// Whether tiles of this class, or layers of this name, are of a terrain: adds it.
void fm_tiled_name(const char *name, fm_map_look *look);

/// Sets what cells without any tile are.
void fm_tiled_set_floor(fm_tiled *map, fm_map_look look);

/// Begins a tileset.
///
/// @param tile_count  0 when it is not known yet
/// @param source      name of the file that it stands in; empty when it stands in the map
FM_CHECKED fm_status fm_tiled_add_tileset(fm_tiled *map, const char *place, uint64_t first,
                                          uint64_t tile_count, const char *source);

/// Begins the next tileset that stands in a file, after all of the map has been read.
///
/// @param source, place  receive the file's name, and where the map names it; the map keeps them
/// @return false when there is none
bool fm_tiled_next_source(fm_tiled *map, const char **source, const char **place);

/// Sets how many tiles the last begun tileset has.
void fm_tiled_set_tile_count(fm_tiled *map, uint64_t tile_count);

/// Sets what a tile of the last begun tileset is.
FM_CHECKED fm_status fm_tiled_add_tile(fm_tiled *map, const char *place, uint64_t id,
                                       fm_map_look look);

/// Begins a layer, above those before.
FM_CHECKED fm_status fm_tiled_add_layer(fm_tiled *map, const char *place, const char *name);

/// Sets what the last layer's tiles are by default.
void fm_tiled_set_layer(fm_tiled *map, fm_map_look look);

/// Adds a piece to the last layer.
FM_CHECKED fm_status fm_tiled_add_data(fm_tiled *map, const char *place, const fm_tiled_data *data);

/// The same where the tiles are numbers already. Takes `tiles`, from malloc(), also on failure.
FM_CHECKED fm_status fm_tiled_add_tiles(fm_tiled *map, const char *place, const fm_tiled_data *data,
                                        uint32_t *tiles);

/// Checks the sides of a piece and that it still fits, before anything is allocated for it.
FM_CHECKED fm_status fm_tiled_check_piece(fm_tiled *map, const char *place,
                                          const fm_tiled_data *data);

/// Makes the grid, when all has been read.
FM_CHECKED fm_status fm_tiled_paint(fm_tiled *map, fm_grid **out);

// ---- tiled_data.c -------------------------------------------------------------------------------

/// Decodes a piece's text into numbers.
///
/// @param tiles  receives width * height of them, to be released with free()
FM_CHECKED fm_status fm_tiled_decode(const fm_map_input *input, const char *place,
                                     const fm_tiled_data *data, uint32_t **tiles);

// ---- tiled_json.c, tiled_xml.c ------------------------------------------------------------------

/// Reads a map, except tilesets in other files.
FM_CHECKED fm_status fm_tiled_json_map(fm_tiled *map, const fm_map_input *input);
FM_CHECKED fm_status fm_tiled_xml_map(fm_tiled *map, const fm_map_input *input);

/// Reads a file as the tileset that was begun last.
FM_CHECKED fm_status fm_tiled_json_tileset(fm_tiled *map, const fm_map_input *input);
FM_CHECKED fm_status fm_tiled_xml_tileset(fm_tiled *map, const fm_map_input *input);
