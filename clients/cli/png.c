// clients/cli/png.c: see png.h. Formats: RFC 2083 (PNG), RFC 1950 (zlib), RFC 1951 (deflate).
//
// Maps are areas of few colours, scaled up. So each row is written as its difference to the one
// above (filter 2), which leaves zeros, and deflate is used in its plainest form: fixed Huffman
// codes, and copies from three bytes before, the pixel to the left. A map takes about a hundredth
// of its pixels.

#include "clients/cli/png.h"

#include <stdlib.h>
#include <string.h>

#define FILTER_UP     2
#define PIXEL_SIZE    3u
#define COPY_MAX      258u // bytes of one copy in deflate
#define CODE_END      256u
#define CODE_COPY_3   257u // the shortest copy; up to 10 bytes one code each, without extra bits
#define COPY_3_MAX    10u
#define CODE_COPY_MAX 285u
#define DISTANCE_3    2u // code of the distance of three bytes

// ---- checks -------------------------------------------------------------------------------------

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return crc;
}

static uint32_t adler_of(const uint8_t *bytes, size_t size)
{
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

static void put_number(uint8_t bytes[4], uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

// ---- deflate ------------------------------------------------------------------------------------

struct bits {
    FILE *out;
    uint32_t waiting; // lowest bit first
    uint32_t count;
};

static void put_bits(struct bits *bits, uint32_t value, uint32_t count)
{
    bits->waiting |= value << bits->count;
    bits->count += count;
    while (bits->count >= 8) {
        fputc((int)(bits->waiting & 255), bits->out);
        bits->waiting >>= 8;
        bits->count -= 8;
    }
}

// Huffman codes are written from their highest bit on.
static void put_code(struct bits *bits, uint32_t code, uint32_t count)
{
    for (uint32_t i = count; i > 0; i--) {
        put_bits(bits, code >> (i - 1) & 1, 1);
    }
}

// A literal byte, the end, or a copy, by the fixed codes.
static void put_symbol(struct bits *bits, uint32_t symbol)
{
    if (symbol < 144) {
        put_code(bits, 0x30 + symbol, 8);
    } else if (symbol < 256) {
        put_code(bits, 0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
        put_code(bits, symbol - 256, 7);
    } else {
        put_code(bits, 0xc0 + symbol - 280, 8);
    }
}

// How many bytes from here on are as three bytes before.
static uint32_t copy_length(const uint8_t *bytes, size_t at, size_t size)
{
    uint32_t length = 0;
    while (at >= PIXEL_SIZE && length < COPY_MAX && at + length < size &&
           bytes[at + length] == bytes[at + length - PIXEL_SIZE]) {
        length++;
    }
    return length;
}

static void deflate(FILE *out, const uint8_t *bytes, size_t size)
{
    struct bits bits = {.out = out};
    put_bits(&bits, 1, 1); // the last block
    put_bits(&bits, 1, 2); // with fixed codes
    for (size_t at = 0; at < size;) {
        uint32_t length = copy_length(bytes, at, size);
        if (length < 3) {
            put_symbol(&bits, bytes[at]);
            at += 1;
            continue;
        }
        bool longest = length == COPY_MAX;
        length = longest || length < COPY_3_MAX ? length : COPY_3_MAX;
        put_symbol(&bits, longest ? CODE_COPY_MAX : CODE_COPY_3 + length - 3);
        put_code(&bits, DISTANCE_3, 5);
        at += length;
    }
    put_symbol(&bits, CODE_END);
    put_bits(&bits, 0, (8 - bits.count) % 8);
}

// ---- the file -----------------------------------------------------------------------------------

static void write_chunk(FILE *out, const char *type, const uint8_t *bytes, size_t size)
{
    uint8_t number[4];
    put_number(number, (uint32_t)size);
    fwrite(number, 1, 4, out);
    fwrite(type, 1, 4, out);
    fwrite(bytes, 1, size, out);
    uint32_t crc = crc_of(crc_of(UINT32_MAX, (const uint8_t *)type, 4), bytes, size);
    put_number(number, ~crc);
    fwrite(number, 1, 4, out);
}

// Rows with their filter in front. @return NULL without memory; to be freed
static uint8_t *filter_rows(const uint8_t *rgb, size_t row_size, uint32_t height)
{
    uint8_t *rows = malloc((row_size + 1) * height);
    for (uint32_t y = 0; rows != NULL && y < height; y++) {
        const uint8_t *row = rgb + y * row_size;
        uint8_t *to = rows + y * (row_size + 1);
        to[0] = FILTER_UP;
        for (size_t i = 0; i < row_size; i++) {
            to[1 + i] = (uint8_t)(row[i] - (y > 0 ? row[i - row_size] : 0));
        }
    }
    return rows;
}

bool fm_png_write(FILE *out, const uint8_t *rgb, uint32_t width, uint32_t height)
{
    size_t row_size = (size_t)width * PIXEL_SIZE, packed_size = 0;
    char *packed = NULL;
    uint8_t *rows = filter_rows(rgb, row_size, height);
    FILE *zlib = rows == NULL ? NULL : open_memstream(&packed, &packed_size);
    if (zlib == NULL) {
        free(rows);
        return false;
    }
    uint8_t number[4], head[13] = {[8] = 8, [9] = 2}; // 8 bits a channel; red, green, blue
    fwrite("\x78\x01", 1, 2, zlib);
    deflate(zlib, rows, (row_size + 1) * height);
    put_number(number, adler_of(rows, (row_size + 1) * height));
    fwrite(number, 1, 4, zlib);
    free(rows);
    bool failed = ferror(zlib) != 0;
    failed = fclose(zlib) != 0 || failed;
    if (!failed) {
        put_number(head, width);
        put_number(head + 4, height);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, out);
        write_chunk(out, "IHDR", head, sizeof head);
        write_chunk(out, "IDAT", (const uint8_t *)packed, packed_size);
        write_chunk(out, "IEND", head, 0);
    }
    free(packed);
    return !failed;
}
