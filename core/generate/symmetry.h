// core/generate/symmetry.h: how a map's players can be exchanged: turns and mirrors
// about the map's centre, as integer matrices.
//
// Image 0 is the identity; image k takes player 0's place to player k's. Points are counted from
// the map's centre in FM_POINT_UNIT parts of a cell, so that the centre of every cell and of every
// map is a whole number. Matrices hold FM_MATRIX_ONE for 1. Where all of them map cells onto cells
// their entries are 0 and +-1 and nothing is ever rounded.

#pragma once

#include "core/map/cell.h"

#define FM_SYMMETRY_IMAGES_MAX 8u
#define FM_POINT_UNIT          64
#define FM_MATRIX_ONE          ((int64_t)1 << 30)

typedef struct fm_point {
    int64_t x, y;
} fm_point;

typedef struct fm_matrix {
    int64_t xx, xy, yx, yy; // x' = xx * x + xy * y, y' = yx * x + yy * y
} fm_matrix;

typedef struct fm_symmetry {
    uint32_t count; // images, one for each player
    bool exact;     // every image maps cells onto cells
    fm_matrix image[FM_SYMMETRY_IMAGES_MAX];
    // product[a][b] is the image that first applies b and then a.
    uint8_t product[FM_SYMMETRY_IMAGES_MAX][FM_SYMMETRY_IMAGES_MAX];
} fm_symmetry;

/// The symmetry of a map (see the table at fm_generate()).
///
/// @param players  2..FM_SYMMETRY_IMAGES_MAX (asserted)
fm_symmetry fm_symmetry_for(uint32_t players, uint32_t width, uint32_t height);

// Halves go away from zero, so that rounding commutes with the half turn.
static inline int64_t fm_matrix_round(int64_t scaled)
{
    int64_t half = FM_MATRIX_ONE / 2;
    return (scaled >= 0 ? scaled + half : scaled - half) / FM_MATRIX_ONE;
}

static inline fm_point fm_matrix_apply(const fm_matrix *m, fm_point p)
{
    return (fm_point){.x = fm_matrix_round(m->xx * p.x + m->xy * p.y),
                      .y = fm_matrix_round(m->yx * p.x + m->yy * p.y)};
}

/// Undoes fm_matrix_apply(), up to rounding: the inverse of a turn or mirror is its transpose.
static inline fm_point fm_matrix_undo(const fm_matrix *m, fm_point p)
{
    return (fm_point){.x = fm_matrix_round(m->xx * p.x + m->yx * p.y),
                      .y = fm_matrix_round(m->xy * p.x + m->yy * p.y)};
}

/// The centre of a cell.
static inline fm_point fm_point_of_cell(uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    return (fm_point){.x = FM_POINT_UNIT / 2 * (2 * (int64_t)x + 1 - (int64_t)width),
                      .y = FM_POINT_UNIT / 2 * (2 * (int64_t)y + 1 - (int64_t)height)};
}

/// The column (or, with the height, the row) of a point; any number, also outside the map. A point
/// between two cells belongs to the one farther from the middle, so that mirror images of points
/// lie in mirror images of cells.
static inline int64_t fm_point_column(int64_t x, uint32_t width)
{
    int64_t from_middle = x < 0 ? -x : x;
    int64_t column = (from_middle + FM_POINT_UNIT / 2 * (int64_t)width) / FM_POINT_UNIT;
    return x < 0 ? (int64_t)width - 1 - column : column;
}
