// core/map/box.h: the box around agents that share one search, and the heuristic that fits all of
// them.
//
// A search from the goal that serves many agents estimates the distance to the nearest of them by
// the distance to the box around them. With one agent the box is its cell, and this is the plain
// heuristic. It is consistent like fm_view_distance(), to which it is equal for a box of one cell.

#pragma once

#include "core/map/view.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef struct fm_box {
    int32_t left, top, right, bottom; // cells, all inside
} fm_box;

FM_INLINE int32_t fm_box_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/// The smallest box that holds all cells. count >= 1
static inline fm_box fm_box_around(const fm_cell *cells, uint32_t count)
{
    fm_box box = {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN};
    for (uint32_t i = 0; i < count; i++) {
        int32_t x = (int32_t)fm_cell_x(cells[i]), y = (int32_t)fm_cell_y(cells[i]);
        box.left = x < box.left ? x : box.left;
        box.right = fm_box_larger(box.right, x);
        box.top = y < box.top ? y : box.top;
        box.bottom = fm_box_larger(box.bottom, y);
    }
    return box;
}

static inline bool fm_box_equals(const fm_box *a, const fm_box *b)
{
    return a->left == b->left && a->right == b->right && a->top == b->top && a->bottom == b->bottom;
}

// How many columns and rows a cell lies outside the box: columns | rows << 16.
FM_INLINE uint32_t fm_box_outside(const fm_box *box, fm_cell cell)
{
#if defined(__SSE2__)
    // Subtractions that stop at 0, of x and y at once: half the instructions of the other way, and
    // no comparison. Of left and right, or top and bottom, one at most leaves something.
    uint32_t upper = cell & ~(uint32_t)0xfff;
    __m128i at = _mm_cvtsi32_si128((int32_t)(cell + upper * 15)); // x | y << 16
    __m128i low = _mm_cvtsi32_si128(box->left | (int32_t)((uint32_t)box->top << 16));
    __m128i high = _mm_cvtsi32_si128(box->right | (int32_t)((uint32_t)box->bottom << 16));
    __m128i outside = _mm_or_si128(_mm_subs_epu16(low, at), _mm_subs_epu16(at, high));
    return (uint32_t)_mm_cvtsi128_si32(outside);
#else
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    int32_t columns = fm_box_larger(0, fm_box_larger(box->left - x, x - box->right));
    int32_t rows = fm_box_larger(0, fm_box_larger(box->top - y, y - box->bottom));
    return (uint32_t)columns | (uint32_t)rows << 16;
#endif
}

/// Lower bound of the cost from a cell to any cell of the box.
///
/// @param four  whether the view is FM_CONNECT_4, a constant in innermost loops
FM_INLINE uint32_t fm_box_distance(const fm_view *view, bool four, const fm_box *box, fm_cell cell)
{
    uint32_t outside = fm_box_outside(box, cell);
    uint32_t dx = outside & 0xffff, dy = outside >> 16;
    if (four) {
        return view->step[0] * (dx + dy);
    }
    uint32_t low = dx < dy ? dx : dy, high = dx < dy ? dy : dx;
    return view->step[0] * (high - low) + view->step[1] * low;
}

/// The largest amount by which any cell is nearer to the new box than to the old one.
static inline uint32_t fm_box_shift(const fm_view *view, const fm_box *from, const fm_box *to)
{
    const int32_t xs[2] = {to->left, to->right}, ys[2] = {to->top, to->bottom};
    uint32_t farthest = 0;
    for (uint32_t i = 0; i < 4; i++) {
        fm_cell corner = fm_cell_at((uint32_t)xs[i & 1], (uint32_t)ys[i >> 1]);
        uint32_t distance = fm_box_distance(view, view->connectivity == FM_CONNECT_4, from, corner);
        farthest = distance > farthest ? distance : farthest;
    }
    return farthest;
}
