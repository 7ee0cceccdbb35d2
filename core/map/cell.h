// core/map/cell.h: how cells are numbered, the eight directions, and what a step costs.
//
// A cell is x and y packed into 24 bits, the same on every map: cell = y << 12 | x. Taking a
// neighbour is one addition, reading a coordinate one mask, and nothing divides by the width.
// x grows eastward, y grows southward, (0, 0) is the north-west corner.
//
// Directions run clockwise from north: even ones are straight, odd ones diagonal; the opposite
// of d is d ^ 4. Four-neighbour worlds use 0, 2, 4, 6 only.

#pragma once

#include "core/base/base.h"

#define FM_SIDE_MAX  4096u
#define FM_CELL_NONE UINT32_MAX

typedef uint32_t fm_cell;

typedef enum fm_direction {
    FM_NORTH,
    FM_NORTH_EAST,
    FM_EAST,
    FM_SOUTH_EAST,
    FM_SOUTH,
    FM_SOUTH_WEST,
    FM_WEST,
    FM_NORTH_WEST,
    FM_DIRECTION_COUNT,
} fm_direction;

static const int8_t fm_direction_dx[FM_DIRECTION_COUNT] = {0, 1, 1, 1, 0, -1, -1, -1};
static const int8_t fm_direction_dy[FM_DIRECTION_COUNT] = {-1, -1, 0, 1, 1, 1, 0, -1};

/// Positive: two directions lead alike; negative: against each other; 0: across.
static inline int32_t fm_direction_product(uint32_t a, uint32_t b)
{
    return fm_direction_dx[a] * fm_direction_dx[b] + fm_direction_dy[a] * fm_direction_dy[b];
}

static inline fm_cell fm_cell_at(uint32_t x, uint32_t y)
{
    return y << 12 | x;
}

static inline uint32_t fm_cell_x(fm_cell cell)
{
    return cell & 0xfffu;
}

static inline uint32_t fm_cell_y(fm_cell cell)
{
    return cell >> 12;
}

// What a step in each direction adds to a cell: dy * 4096 + dx.
static const int32_t fm_direction_step[FM_DIRECTION_COUNT] = {-4096, -4095, 1,  4097,
                                                              4096,  4095,  -1, -4097};

/// The neighbour in direction d. Only for directions that a move table allows: it does not check
/// for the map's edge.
static inline fm_cell fm_cell_step(fm_cell cell, uint32_t d)
{
    return cell + (uint32_t)fm_direction_step[d];
}

/// The direction from a cell to one of its eight neighbours; FM_DIRECTION_COUNT for any other.
static inline uint32_t fm_cell_direction(fm_cell from, fm_cell to)
{
    static const uint8_t directions[3][3] = {
        {FM_NORTH_WEST, FM_NORTH, FM_NORTH_EAST},
        {FM_WEST, FM_DIRECTION_COUNT, FM_EAST},
        {FM_SOUTH_WEST, FM_SOUTH, FM_SOUTH_EAST},
    };
    uint32_t offset = to - from + fm_cell_at(1, 1);
    uint32_t row = fm_cell_y(offset), column = fm_cell_x(offset);
    return row < 3 && column < 3 ? directions[row][column] : (uint32_t)FM_DIRECTION_COUNT;
}

// A rectangle of cells.
typedef struct fm_rect {
    uint32_t x, y;          // north-west corner
    uint32_t width, height; // cells, at least 1
} fm_rect;

static inline uint32_t fm_cell_dx(fm_cell a, fm_cell b)
{
    uint32_t ax = fm_cell_x(a), bx = fm_cell_x(b);
    return ax > bx ? ax - bx : bx - ax;
}

static inline uint32_t fm_cell_dy(fm_cell a, fm_cell b)
{
    uint32_t ay = fm_cell_y(a), by = fm_cell_y(b);
    return ay > by ? ay - by : by - ay;
}
