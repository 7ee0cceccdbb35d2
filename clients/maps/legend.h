// clients/maps/legend.h: what the colours, heights and letters of a map mean.
//
// A map FILE may have a legend beside it, FILE.yaml:
//
//     colours:                                  pictures
//       "#ffffff": ground
//       "#c08040": {terrain: ground, cost: 3}
//       transparent: out_of_bounds
//     heights:                                  pictures, in place of colours
//       - {up_to: 60, terrain: water}
//       - {up_to: 200, terrain: ground, cost: [1, 12]}
//       - {up_to: 255, terrain: wall}
//     letters:                                  text maps
//       "f": {terrain: ground, cost: 4}
//     other: wall                               whatever is not listed; without it that is refused
//
// A terrain has the name that it has on the wire. A height is the brightness of a pixel, from 0 to
// the largest that the file knows (255 or 65535 in a PNG). Between two costs a band rises evenly.

#pragma once

#include "clients/maps/input.h"
#include "core/map/map_file.h"

#define FM_LEGEND_COLOURS_MAX 1024u
#define FM_LEGEND_BANDS_MAX   64u
#define FM_LEGEND_SIZE_MAX    ((size_t)256 << 10) // bytes of a legend

// Terrain and cost of cells. FM_TERRAIN_UNKNOWN, cost 0: not given.
typedef struct fm_map_look {
    uint8_t terrain;
    uint8_t cost;
} fm_map_look;

typedef struct fm_legend_colour {
    uint32_t rgb; // 0xRRGGBB
    fm_map_look look;
} fm_legend_colour;

typedef struct fm_legend_band {
    uint32_t up_to; // heights above the band before, up to this one
    uint8_t terrain;
    uint8_t cost_low, cost_high; // of the lowest and the highest height of the band
} fm_legend_band;

typedef struct fm_legend {
    uint32_t colour_count, band_count;
    fm_legend_colour colours[FM_LEGEND_COLOURS_MAX]; // sorted by rgb
    fm_legend_band bands[FM_LEGEND_BANDS_MAX];       // rising
    fm_map_letters letters;
    fm_map_look transparent; // pixels of less than half of opacity
    fm_map_look other;       // unknown: such pixels are refused
} fm_legend;

/// The legend of a map: the colours of fm_legend_colour_of() and `letters`, but for those of these
/// lists that FILE.yaml beside it has, where there is one.
///
/// @param letters  what letters mean without a legend
/// @return FM_OK, FM_ERR_BAD_FORMAT, FM_ERR_LIMIT, FM_ERR_NO_MEMORY, or why FILE.yaml cannot be
///         read
FM_CHECKED fm_status fm_legend_find(const fm_map_input *input, const fm_map_letters *letters,
                                    fm_legend *legend);

/// Looks up a colour. @return whether the legend has it
bool fm_legend_find_colour(const fm_legend *legend, uint32_t rgb, fm_map_look *look);

/// The same for a height.
bool fm_legend_find_height(const fm_legend *legend, uint32_t height, fm_map_look *look);

/// The colour of a terrain in pictures without a legend, 0xRRGGBB.
uint32_t fm_legend_colour_of(fm_terrain terrain);

/// The terrain of that name on the wire; FM_TERRAIN_UNKNOWN when no map may hold it.
fm_terrain fm_legend_terrain(const char *name);

#define FM_LEGEND_TERRAINS "ground, water, swamp, trees, wall or out_of_bounds"
