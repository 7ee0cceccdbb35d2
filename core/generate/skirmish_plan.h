// core/generate/skirmish_plan.h: what a skirmish map will be made of, before a single cell is
// painted. For generate_skirmish.c only.
//
// Sites    Points at about equal distances: the map's centre, the bases, and the middles of the
//          other regions. Every cell belongs to the site that is nearest, up to noise.
// Borders  What stands between two regions: a ridge, a river, a belt of trees, or nothing.
// Roads    Curves from site to site that are cleared of everything: a pass where they cross a
//          border. They join all sites, which is why every base reaches every other.
// Blobs    Lakes, forests and rocks in the open.
//
// Everything but the centre comes as one original and its images under the map's symmetry.
// Lengths are in FM_POINT_UNIT parts of a cell unless they say otherwise.

#pragma once

#include "core/generate/generate.h"
#include "core/generate/symmetry.h"

#define FM_SITES_MAX 1024u
#define FM_ROADS_MAX 4096u
#define FM_BLOBS_MAX 2048u

#define FM_ROAD_SAMPLES 7u

typedef struct fm_site {
    fm_point at;
    uint32_t orbit;      // 0 is the centre, 1 the bases
    uint32_t image;      // 0 for the original
    uint32_t noise_seed; // the same for all images
} fm_site;

typedef struct fm_border {
    uint8_t terrain;
    uint8_t half_width; // cells; 0 for an open border
} fm_border;

// The original. Image g of it runs through the images of the three points.
typedef struct fm_road {
    uint32_t from, to;                 // sites
    fm_point bend;                     // the middle control point of the curve
    fm_point samples[FM_ROAD_SAMPLES]; // some points of the curve, ends included
    int64_t radius;
    bool closed; // there is no road after all
} fm_road;

// The original.
typedef struct fm_blob {
    fm_point at;
    int64_t radius;
    fm_terrain terrain;
    uint32_t noise_seed;
} fm_blob;

typedef struct fm_skirmish_plan {
    fm_symmetry symmetry;
    uint32_t width, height;  // cells
    uint32_t region_cells;   // distance of neighbouring sites, in cells
    int64_t half_x, half_y;  // of the map
    int64_t land_radius;     // where the land is a disc
    int64_t base_radius;     // cleared around a base
    int64_t noise_amplitude; // by which a site may seem nearer or farther
    uint32_t noise_shift;    // the longest wavelength is 2^noise_shift
    uint32_t site_count, road_count, blob_count;
    fm_site sites[FM_SITES_MAX];
    fm_road roads[FM_ROADS_MAX];
    fm_blob blobs[FM_BLOBS_MAX];
    fm_border *borders; // site_count * site_count, symmetric; owned
    const fm_memory *memory;
} fm_skirmish_plan;

/// Makes a plan. Arguments as for fm_generate_skirmish().
///
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_skirmish_plan_create(uint32_t players, uint32_t width, uint32_t height,
                                             fm_random *random, const fm_memory *memory,
                                             fm_skirmish_plan **out);

/// NULL is allowed.
void fm_skirmish_plan_destroy(fm_skirmish_plan *plan);

/// How far inside the land a point lies; negative outside.
int64_t fm_skirmish_plan_depth(const fm_skirmish_plan *plan, fm_point point);

/// Image g of a site.
static inline uint32_t fm_skirmish_plan_image(const fm_skirmish_plan *plan, uint32_t g,
                                              uint32_t site)
{
    const fm_site *s = &plan->sites[site];
    return site == 0
               ? 0
               : 1 + (s->orbit - 1) * plan->symmetry.count + plan->symmetry.product[g][s->image];
}

/// A point of a road's curve, a quadratic Bezier: at `from` for step 0, at `to` for step_count.
fm_point fm_skirmish_plan_curve(const fm_skirmish_plan *plan, const fm_road *road, int64_t step,
                                int64_t step_count);

/// Distance of two points, rounded down. sqrt() is the one function of libm that IEEE 754 defines
/// to the last bit.
int64_t fm_point_distance(fm_point a, fm_point b);
