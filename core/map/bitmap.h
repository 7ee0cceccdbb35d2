// core/map/bitmap.h: one bit per cell, in padded rows, so that the 3 x 3 cells around any cell are
// three short loads without a bounds test.
//
// Layout   row y is pitch words (64 bits each); bit x of the row is bit x % 64 of word x / 64.
//          One word of padding lies before every row and serves as the right margin of the row
//          above; one row of padding lies above row 0 and one below the last.
// Margin   bits outside the map all hold the value that fm_bitmap_init() was given. A bitmap of
//          blocked cells gives them 1: then the map needs no other border.
// Threads  readers may share; only serial stages, or the one owner in a parallel one, write.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/map/cell.h"

#include <string.h>

typedef struct fm_bitmap {
    uint32_t width;  // cells
    uint32_t height; // cells
    uint32_t pitch;  // words from a row to the next
    size_t size;     // bytes of `words`
    uint64_t *words; // owned; row 0 starts at words[pitch + 1]
} fm_bitmap;

/// Makes a bitmap of zeros.
///
/// @param width, height  cells, each in 1..FM_SIDE_MAX (asserted)
/// @param margin         value of every bit outside the map
/// @return FM_OK or FM_ERR_NO_MEMORY; on failure nothing needs undoing
FM_CHECKED fm_status fm_bitmap_init(fm_bitmap *bitmap, uint32_t width, uint32_t height, bool margin,
                                    const fm_memory *memory);

/// Releases the bits. A zeroed fm_bitmap is allowed.
void fm_bitmap_fini(fm_bitmap *bitmap, const fm_memory *memory);

/// Copies all bits of a bitmap of the same shape (asserted).
void fm_bitmap_copy(fm_bitmap *to, const fm_bitmap *from);

/// Sets every bit inside the map to zero; the margin stays.
void fm_bitmap_clear(fm_bitmap *bitmap);

/// Gives all bits of a rectangle, which lies inside the map (asserted), the same value.
void fm_bitmap_fill(fm_bitmap *bitmap, fm_rect rect, bool value);

/// Whether any bit of such a rectangle is 1.
bool fm_bitmap_any(const fm_bitmap *bitmap, fm_rect rect);

/// Number of bits that are 1 inside the map.
uint64_t fm_bitmap_count(const fm_bitmap *bitmap);

/// First word of a row. y may be -1 or height.
static inline uint64_t *fm_bitmap_row(const fm_bitmap *bitmap, int32_t y)
{
    return bitmap->words + ((size_t)(y + 1) * bitmap->pitch + 1);
}

static inline bool fm_bitmap_get(const fm_bitmap *bitmap, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell);
    return fm_bitmap_row(bitmap, (int32_t)fm_cell_y(cell))[x >> 6] >> (x & 63) & 1;
}

static inline void fm_bitmap_set(fm_bitmap *bitmap, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell);
    fm_bitmap_row(bitmap, (int32_t)fm_cell_y(cell))[x >> 6] |= (uint64_t)1 << (x & 63);
}

static inline void fm_bitmap_reset(fm_bitmap *bitmap, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell);
    fm_bitmap_row(bitmap, (int32_t)fm_cell_y(cell))[x >> 6] &= ~((uint64_t)1 << (x & 63));
}

/// 64 bits of a row that begin with column x, -63..width - 1. Those outside the map mean nothing.
static inline uint64_t fm_bitmap_bits(const uint64_t *row, int32_t x)
{
    int32_t word = x >> 6, shift = x & 63;
    return row[word] >> shift | row[word + 1] << 1 << (63 - shift);
}

/// Which of 64 cells of a row that begin with column x, whatever that is, lie on the map.
static inline uint64_t fm_bitmap_inside(const fm_bitmap *bitmap, int32_t x)
{
    int32_t width = (int32_t)bitmap->width;
    if (x <= -64 || x >= width) {
        return 0;
    }
    uint64_t inside = x < 0 ? UINT64_MAX << -x : UINT64_MAX;
    return x + 64 > width ? inside & UINT64_MAX >> (x + 64 - width) : inside;
}

/// The bits of a row's word that belong to the columns x_first..x_last, some of which it has.
static inline uint64_t fm_bitmap_span(uint32_t word, uint32_t x_first, uint32_t x_last)
{
    uint64_t mask = UINT64_MAX;
    if (word == x_first >> 6) {
        mask &= UINT64_MAX << (x_first & 63);
    }
    if (word == x_last >> 6) {
        mask &= UINT64_MAX >> (63 - (x_last & 63));
    }
    return mask;
}

/// The 3 x 3 bits around a cell inside the map: bit (dy + 1) * 3 + (dx + 1).
static inline uint32_t fm_bitmap_window(const fm_bitmap *bitmap, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) + 63; // bit of x - 1, counted from the padding word
    const uint8_t *row = (const uint8_t *)(bitmap->words + (size_t)fm_cell_y(cell) * bitmap->pitch);
    size_t pitch_size = (size_t)bitmap->pitch * sizeof(uint64_t);
    uint16_t north, middle, south;
    memcpy(&north, row + (x >> 3), sizeof north);
    memcpy(&middle, row + pitch_size + (x >> 3), sizeof middle);
    memcpy(&south, row + 2 * pitch_size + (x >> 3), sizeof south);
    uint32_t shift = x & 7;
    return ((uint32_t)north >> shift & 7) | ((uint32_t)middle >> shift & 7) << 3 |
           ((uint32_t)south >> shift & 7) << 6;
}
