// core/map/line_of_sight.h: which cells an agent sees; the inside of fm_line_of_sight, for
// knowledge.c and its tests.

#pragma once

#include "core/map/knowledge.h"

#define FM_SIGHT_SIDE_MAX (2 * FM_SENSE_RADIUS_MAX + 1)
#define FM_SIGHT_RAYS_MAX (FM_SIGHT_SIDE_MAX * FM_SIGHT_SIDE_MAX)

struct fm_ray {
    int8_t dx, dy;   // from the agent
    uint16_t parent; // ray of the cell before it on the line
};

struct fm_line_of_sight {
    fm_sense_rules rules;
    const fm_memory *memory;
    uint32_t half_width[FM_SENSE_RADIUS_MAX + 1]; // cells to either side, by |dy|
    uint32_t ray_count;
    uint16_t *ray_of;     // ray by place in the square around the agent; behind the rays
    struct fm_ray rays[]; // ring by ring, from the agent outward
};

/// The cells seen from a cell by line of sight, that cell included.
///
/// @param cells  room for FM_SIGHT_RAYS_MAX
/// @return how many
uint32_t fm_line_of_sight_visible(const fm_line_of_sight *sight, const fm_bitmap *blocked,
                                  fm_cell from, fm_cell *cells);

#define FM_SIGHT_WINDOW_RADIUS_MAX 31u // cells; the largest that a window has room for

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

/// Adds to `visible` what is seen from up to 64 cells of a row at once: bit x % 64 of `eyes` is the
/// cell (word * 64 + x % 64, y), and has to lie on the map.
void fm_line_of_sight_look_from_word(const fm_line_of_sight *sight, const fm_bitmap *blocked,
                                     uint32_t word, uint32_t y, uint64_t eyes, fm_bitmap *visible);

/// Whether a unit on `from` sees `cell`: whether fm_knowledge_look() would mark it.
bool fm_line_of_sight_sees(const fm_line_of_sight *sight, const fm_bitmap *blocked, fm_cell from,
                           fm_cell cell);
