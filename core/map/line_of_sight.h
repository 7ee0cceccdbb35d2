// core/map/line_of_sight.h: which cells an agent sees; the inside of fm_line_of_sight, for
// knowledge.c and its tests.

#pragma once

#include "core/map/knowledge.h"

#define FM_SIGHT_SIDE_MAX (2 * FM_SENSE_RADIUS_MAX + 1)
#define FM_SIGHT_RAYS_MAX (FM_SIGHT_SIDE_MAX * FM_SIGHT_SIDE_MAX)

// A window of 64 x 64 cells has the agent's in this column and row.
#define FM_SIGHT_CENTRE            31u
#define FM_SIGHT_WINDOW_RADIUS_MAX 31u // cells; the largest that a window has room for

struct fm_ray {
    int8_t dx, dy;   // from the agent
    uint16_t parent; // ray of the cell before it on the line
};

struct fm_line_of_sight {
    fm_sense_rules rules;
    const fm_memory *memory;
    uint32_t half_width[FM_SENSE_RADIUS_MAX + 1]; // cells to either side, by |dy|
    uint64_t shape[FM_SENSE_RADIUS_MAX + 1];      // the same as bits around FM_SIGHT_CENTRE, by
                                                  // |dy|; 0 with a radius that no window has
    uint32_t ray_count;
    uint16_t *ray_of;     // ray by place in the square around the agent; behind the rays
    struct fm_ray rays[]; // ring by ring, from the agent outward
};

// A part of a row of the map.
struct fm_sight_span {
    uint32_t y, x_first, x_last;
};

/// The part of the shape's row dy, within the radius, that lies on the map. False when none does.
static inline bool fm_sight_span_of(const fm_line_of_sight *sight, const fm_grid *grid,
                                    fm_cell cell, int32_t dy, struct fm_sight_span *span)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell) + dy;
    if (y < 0 || y >= (int32_t)grid->height) {
        return false;
    }
    int32_t reach = (int32_t)sight->half_width[dy < 0 ? -dy : dy];
    int32_t last = (int32_t)grid->width - 1;
    span->y = (uint32_t)y;
    span->x_first = (uint32_t)(x - reach < 0 ? 0 : x - reach);
    span->x_last = (uint32_t)(x + reach > last ? last : x + reach);
    return true;
}

/// The cells seen from a cell by line of sight, that cell included.
///
/// @param cells  room for FM_SIGHT_RAYS_MAX
/// @return how many
uint32_t fm_line_of_sight_visible(const fm_line_of_sight *sight, const fm_bitmap *blocked,
                                  fm_cell from, fm_cell *cells);

// What is seen from a cell, as bits: bit i of rows[j] is the cell (left + i, top + j). Only those
// of cells on the map are 1.
typedef struct fm_sight_window {
    int32_t left, top;
    uint32_t side; // rows
    uint64_t rows[64];
} fm_sight_window;

/// The cells of fm_line_of_sight_visible(), with some operations a ring instead of a cell. A unit
/// that looks and sees nothing new takes 4,500 instructions with radius 8, 9,200 with 16 and 12,600
/// with 31, where going from cell to cell takes 12,400, 36,400 and 95,700.
///
/// @param sight  of a radius up to FM_SIGHT_WINDOW_RADIUS_MAX (asserted)
/// @param grid   the map; read are its blocked cells
void fm_line_of_sight_window(const fm_line_of_sight *sight, const fm_grid *grid, fm_cell from,
                             fm_sight_window *window);

/// Adds the cells of a window to `visible`, which has the shape of the map.
void fm_sight_window_mark(const fm_sight_window *window, fm_bitmap *visible);

/// Adds to `visible` what is seen from up to 64 cells of a row at once: bit x % 64 of `eyes` is the
/// cell (word * 64 + x % 64, y), and has to lie on the map.
void fm_line_of_sight_look_from_word(const fm_line_of_sight *sight, const fm_grid *grid,
                                     uint32_t word, uint32_t y, uint64_t eyes, fm_bitmap *visible);

/// Whether a unit on `from` sees `cell`: whether fm_knowledge_look() would mark it.
bool fm_line_of_sight_sees(const fm_line_of_sight *sight, const fm_bitmap *blocked, fm_cell from,
                           fm_cell cell);
