// core/search/line.h: the straight lines of steps that a path between two of its turns is made of.
//
// In coordinates along and across it, so that one drawing fits all eight directions.
//
// Threads: anybody.

#pragma once

#include "core/search/jump_search.h"

/// Steps in one straight or diagonal direction.
typedef struct fm_line {
    int32_t x, y;   // where it begins
    int32_t dx, dy; // of each step
    int32_t steps;
} fm_line;

/// Cells, all inside.
typedef struct fm_line_bounds {
    int32_t left, right, top, bottom;
} fm_line_bounds;

/// @param to  on a line with `from`, in one of the eight directions
FM_INLINE fm_line fm_line_of(fm_cell from, fm_cell to)
{
    uint32_t d = fm_turn_direction(from, to);
    return (fm_line){.x = (int32_t)fm_cell_x(from),
                     .y = (int32_t)fm_cell_y(from),
                     .dx = fm_direction_dx[d],
                     .dy = fm_direction_dy[d],
                     .steps = (int32_t)fm_turn_steps(from, to)};
}

/// Whether a cell is on it; its ends are.
FM_INLINE bool fm_line_contains(const fm_line *line, fm_cell cell)
{
    int32_t x = (int32_t)fm_cell_x(cell) - line->x, y = (int32_t)fm_cell_y(cell) - line->y;
    int32_t steps = line->dx != 0 ? x * line->dx : y * line->dy;
    return steps >= 0 && steps <= line->steps && x == steps * line->dx && y == steps * line->dy;
}

/// Whether a wall in the cell would stop someone on the line: on it, or beside one of its diagonal
/// steps.
FM_INLINE bool fm_line_needs(const fm_line *line, fm_cell cell)
{
    if (fm_line_contains(line, cell)) {
        return true;
    }
    if (line->dx == 0 || line->dy == 0) {
        return false;
    }
    int32_t along_x = ((int32_t)fm_cell_x(cell) - line->x) * line->dx;
    int32_t along_y = ((int32_t)fm_cell_y(cell) - line->y) * line->dy;
    int32_t low = along_x < along_y ? along_x : along_y;
    return (along_x == along_y + 1 || along_y == along_x + 1) && low >= 0 && low < line->steps;
}

/// Whether the smallest rectangle around the line and the bounds have a cell in common.
FM_INLINE bool fm_line_touches(const fm_line *line, const fm_line_bounds *bounds)
{
    int32_t end_x = line->x + line->dx * line->steps, end_y = line->y + line->dy * line->steps;
    return (line->x >= bounds->left || end_x >= bounds->left) &&
           (line->x <= bounds->right || end_x <= bounds->right) &&
           (line->y >= bounds->top || end_y >= bounds->top) &&
           (line->y <= bounds->bottom || end_y <= bounds->bottom);
}

/// Of the cells that have become walls; touched by no line if there are none.
FM_INLINE fm_line_bounds fm_line_bounds_of_blocked(const fm_change *changes, uint32_t count)
{
    fm_line_bounds bounds = {INT32_MAX, -1, INT32_MAX, -1};
    for (uint32_t i = 0; i < count; i++) {
        if (changes[i].blocked) {
            int32_t x = (int32_t)fm_cell_x(changes[i].cell);
            int32_t y = (int32_t)fm_cell_y(changes[i].cell);
            bounds.left = x < bounds.left ? x : bounds.left;
            bounds.right = x > bounds.right ? x : bounds.right;
            bounds.top = y < bounds.top ? y : bounds.top;
            bounds.bottom = y > bounds.bottom ? y : bounds.bottom;
        }
    }
    return bounds;
}
