// core/saves/world_rows.c: rows of cells as runs, see world_file_state.h. Maps and what teams know
// of them are mostly long runs, and rows that are like the one above.

#include "core/saves/world_rows.h"

// ---- bytes --------------------------------------------------------------------------------------

static uint32_t run_end(const uint8_t *row, uint32_t x, uint32_t width)
{
    uint8_t value = row[x];
    while (x < width && row[x] == value) {
        x += 1;
    }
    return x;
}

static void put_byte_row(fm_writer *writer, const uint8_t *row, uint32_t width)
{
    uint32_t count = 0;
    for (uint32_t x = 0; x < width; x = run_end(row, x, width)) {
        count += 1;
    }
    fm_writer_put_varint(writer, count);
    for (uint32_t x = 0; x < width;) {
        uint32_t end = run_end(row, x, width);
        fm_writer_put_varint(writer, end - x);
        fm_writer_put_u8(writer, row[x]);
        x = end;
    }
}

void fm_rows_put_bytes(fm_writer *writer, const uint8_t *rows, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = rows + (size_t)y * width;
        if (y > 0 && memcmp(row, row - width, width) == 0) {
            fm_writer_put_varint(writer, 0);
        } else {
            put_byte_row(writer, row, width);
        }
    }
}

static void take_byte_runs(fm_reader *reader, uint8_t *row, uint32_t width, uint64_t count,
                           const char *what)
{
    uint32_t x = 0;
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        uint64_t length = fm_reader_take_bounded(reader, width - x, what);
        uint8_t value = fm_reader_take_u8(reader);
        if (length == 0) {
            fm_reader_fail(reader, "%s: an empty run.", what);
        }
        memset(row + x, value, (size_t)length);
        x += (uint32_t)length;
    }
    if (x < width) {
        fm_reader_fail(reader, "%s: a row has %u cells, not %u.", what, x, width);
    }
}

void fm_rows_take_bytes(fm_reader *reader, uint8_t *rows, uint32_t width, uint32_t height,
                        uint8_t first, uint8_t last, const char *what)
{
    for (uint32_t y = 0; y < height && !reader->failed; y++) {
        uint8_t *row = rows + (size_t)y * width;
        uint64_t count = fm_reader_take_bounded(reader, width, what);
        if (count == 0 && y > 0) {
            memcpy(row, row - width, width);
            continue;
        }
        take_byte_runs(reader, row, width, count, what);
        for (uint32_t x = 0; x < width && !reader->failed; x++) {
            if (row[x] < first || row[x] > last) {
                fm_reader_fail(reader, "%s: %u in (%u, %u) is not in %u..%u.", what, row[x], x, y,
                               first, last);
            }
        }
    }
}

// ---- bits ---------------------------------------------------------------------------------------

// The first cell from x on whose bit is not `value`; width when there is none. Words hold 64 cells.
static uint32_t bit_run_end(const uint64_t *row, uint32_t x, uint32_t width, bool value)
{
    while (x < width) {
        uint64_t others = (value ? ~row[x >> 6] : row[x >> 6]) >> (x & 63);
        if (others != 0) {
            uint32_t end = x + (uint32_t)__builtin_ctzll(others);
            return end < width ? end : width;
        }
        x = (x | 63) + 1;
    }
    return width;
}

static void put_bit_row(fm_writer *writer, const uint64_t *row, uint32_t width)
{
    uint32_t count = 0;
    for (uint32_t x = 0; x < width; count++) {
        x = bit_run_end(row, x, width, count & 1);
    }
    fm_writer_put_varint(writer, count);
    bool value = false;
    for (uint32_t x = 0; x < width; value = !value) {
        uint32_t end = bit_run_end(row, x, width, value);
        fm_writer_put_varint(writer, end - x);
        x = end;
    }
}

void fm_rows_put_bit_row(fm_writer *writer, const uint64_t *row, const uint64_t *above,
                         uint32_t width)
{
    if (above != NULL && memcmp(row, above, (width + 63) / 64 * sizeof *row) == 0) {
        fm_writer_put_varint(writer, 0);
    } else {
        put_bit_row(writer, row, width);
    }
}

void fm_rows_put_bits(fm_writer *writer, const fm_bitmap *bits)
{
    const uint64_t *above = NULL;
    for (uint32_t y = 0; y < bits->height; y++) {
        const uint64_t *row = fm_bitmap_row(bits, (int32_t)y);
        fm_rows_put_bit_row(writer, row, above, bits->width);
        above = row;
    }
}

static void take_bit_runs(fm_reader *reader, fm_bitmap *bits, uint32_t y, uint64_t count,
                          const char *what)
{
    uint32_t x = 0;
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        uint32_t length = (uint32_t)fm_reader_take_bounded(reader, bits->width - x, what);
        if (length == 0 && i > 0) {
            fm_reader_fail(reader, "%s: an empty run.", what);
        }
        if ((i & 1) && length > 0) {
            fm_bitmap_fill(bits, (fm_rect){.x = x, .y = y, .width = length, .height = 1}, true);
        }
        x += length;
    }
    if (x < bits->width) {
        fm_reader_fail(reader, "%s: a row has %u cells, not %u.", what, x, bits->width);
    }
}

void fm_rows_take_bits(fm_reader *reader, fm_bitmap *bits, const char *what)
{
    size_t row_size = (bits->width + 63) / 64 * sizeof(uint64_t);
    for (uint32_t y = 0; y < bits->height && !reader->failed; y++) {
        uint64_t count = fm_reader_take_bounded(reader, bits->width + 1, what);
        if (count == 0 && y > 0) {
            memcpy(fm_bitmap_row(bits, (int32_t)y), fm_bitmap_row(bits, (int32_t)y - 1), row_size);
        } else {
            take_bit_runs(reader, bits, y, count, what);
        }
    }
}
