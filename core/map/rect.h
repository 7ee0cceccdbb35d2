// core/map/rect.h: rectangles of cells.

#pragma once

#include "core/map/cell.h"

static inline bool fm_rect_contains(const fm_rect *rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect->x < rect->width && fm_cell_y(cell) - rect->y < rect->height;
}
