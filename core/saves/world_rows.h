// core/saves/world_rows.h: rows of cells, run-length coded: per row the number of its runs, 0 for
// "as the row above", then the runs.

#pragma once

#include "core/base/bytes.h"
#include "core/map/bitmap.h"

/// A grid of bytes, row-major: runs are a length and a value.
void fm_rows_put_bytes(fm_writer *writer, const uint8_t *rows, uint32_t width, uint32_t height);

/// Reads one; `rows` has room for it. All values lie in first..last.
void fm_rows_take_bytes(fm_reader *reader, uint8_t *rows, uint32_t width, uint32_t height,
                        uint8_t first, uint8_t last, const char *what);

/// A row of bits: runs are lengths, of zeros and ones in turn. Words hold 64 cells; bits behind the
/// last cell are 0 in all rows.
///
/// @param above  the row before, NULL: there is none
void fm_rows_put_bit_row(fm_writer *writer, const uint64_t *row, const uint64_t *above,
                         uint32_t width);

/// A bitmap, row by row.
void fm_rows_put_bits(fm_writer *writer, const fm_bitmap *bits);

/// Reads one into a bitmap that is all zero.
void fm_rows_take_bits(fm_reader *reader, fm_bitmap *bits, const char *what);
