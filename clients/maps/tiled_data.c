// clients/maps/tiled_data.c: the tiles of a layer as text: CSV, or base64 of little-endian numbers,
// packed or not. The number of tiles is known before unpacking, so data that unpacks to more is
// refused at the first extra byte.

#include "clients/maps/tiled.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct decoding {
    const fm_map_input *input;
    const char *place;
    const fm_tiled_data *data;
    size_t count; // tiles
};

static bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static fm_status refuse_count(const struct decoding *decoding, const char *has)
{
    return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                         "the layer has %s than the %zu tiles of its %llu x %llu cells", has,
                         decoding->count, (unsigned long long)decoding->data->width,
                         (unsigned long long)decoding->data->height);
}

// ---- CSV ----------------------------------------------------------------------------------------

static fm_status decode_csv(const struct decoding *decoding, uint32_t *tiles)
{
    const char *text = decoding->data->text, *end = text + decoding->data->size;
    size_t count = 0;
    for (;;) {
        uint64_t number = 0;
        while (text < end && is_blank(*text)) {
            text++;
        }
        if (text == end) {
            break; // also after a comma
        }
        const char *begin = text;
        for (; text < end && *text >= '0' && *text <= '9' && number <= UINT32_MAX; text++) {
            number = number * 10 + (uint64_t)(*text - '0');
        }
        while (text < end && text > begin && is_blank(*text)) {
            text++;
        }
        if (text == begin || number > UINT32_MAX || (text < end && *text != ',')) {
            return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                                 "tile number %zu of the layer, at %llu,%llu: wanted: numbers "
                                 "between commas",
                                 count + 1, (unsigned long long)(count % decoding->data->width),
                                 (unsigned long long)(count / decoding->data->width));
        }
        if (count == decoding->count) {
            return refuse_count(decoding, "more");
        }
        tiles[count++] = (uint32_t)number;
        text += text < end;
    }
    return count == decoding->count ? FM_OK : refuse_count(decoding, "fewer");
}

// ---- base64 -------------------------------------------------------------------------------------

// Value of a letter, or -1.
static int base64_value(char letter)
{
    if (letter >= 'A' && letter <= 'Z') {
        return letter - 'A';
    }
    if (letter >= 'a' && letter <= 'z') {
        return letter - 'a' + 26;
    }
    if (letter >= '0' && letter <= '9') {
        return letter - '0' + 52;
    }
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

// `bytes` has room for three quarters of the text.
static fm_status decode_base64(const struct decoding *decoding, uint8_t *bytes, size_t *size)
{
    uint32_t bits = 0, bit_count = 0;
    bool ended = false;
    *size = 0;
    for (size_t i = 0; i < decoding->data->size; i++) {
        char letter = decoding->data->text[i];
        int value = base64_value(letter);
        if (letter == '=') {
            ended = true;
        } else if (is_blank(letter)) {
            continue;
        } else if (value < 0 || ended) {
            return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                                 "character %zu of the layer's data is no base64", i + 1);
        } else {
            bits = bits << 6 | (uint32_t)value;
            bit_count += 6;
            if (bit_count >= 8) {
                bit_count -= 8;
                bytes[(*size)++] = (uint8_t)(bits >> bit_count);
            }
        }
    }
    return FM_OK;
}

// ---- unpacking ----------------------------------------------------------------------------------

// zlib and gzip; the library detects which.
static fm_status inflate_all(const struct decoding *decoding, uint8_t *packed, size_t packed_size,
                             uint8_t *out, size_t out_size)
{
    z_stream stream = {.next_in = packed,
                       .avail_in = (uInt)packed_size,
                       .next_out = out,
                       .avail_out = (uInt)out_size};
    if (inflateInit2(&stream, 15 + 32) != Z_OK) {
        return fm_map_refuse_memory(decoding->input);
    }
    int result = inflate(&stream, Z_FINISH);
    size_t left = stream.avail_out;
    inflateEnd(&stream);
    if (result == Z_STREAM_END) {
        return left == 0 ? FM_OK : refuse_count(decoding, "fewer");
    }
    if (result == Z_BUF_ERROR && left == 0) {
        return refuse_count(decoding, "more");
    }
    return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                         "the layer's data cannot be unpacked as %.20s: %s",
                         decoding->data->compression,
                         result == Z_BUF_ERROR ? "it ends too early" : "it is damaged");
}

static fm_status unpack_zstd(const struct decoding *decoding, const uint8_t *packed,
                             size_t packed_size, uint8_t *out, size_t out_size)
{
    size_t size = ZSTD_decompress(out, out_size, packed, packed_size);
    if (!ZSTD_isError(size)) {
        return size == out_size ? FM_OK : refuse_count(decoding, "fewer");
    }
    if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) {
        return refuse_count(decoding, "more");
    }
    return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                         "the layer's data cannot be unpacked as zstd: %s",
                         ZSTD_getErrorName(size));
}

static fm_status unpack(const struct decoding *decoding, uint8_t *packed, size_t packed_size,
                        uint8_t *out)
{
    const char *compression = decoding->data->compression;
    size_t out_size = decoding->count * sizeof(uint32_t);
    if (compression[0] == '\0') {
        if (packed_size != out_size) {
            return refuse_count(decoding, packed_size < out_size ? "fewer" : "more");
        }
        memcpy(out, packed, out_size);
        return FM_OK;
    }
    if (strcmp(compression, "zlib") == 0 || strcmp(compression, "gzip") == 0) {
        return inflate_all(decoding, packed, packed_size, out, out_size);
    }
    if (strcmp(compression, "zstd") == 0) {
        return unpack_zstd(decoding, packed, packed_size, out, out_size);
    }
    return fm_map_refuse(decoding->input, FM_ERR_BAD_FORMAT, decoding->place,
                         "the compression '%.40s' is not known; wanted: zlib, gzip, zstd or none",
                         compression);
}

static fm_status decode_packed(const struct decoding *decoding, uint32_t *tiles)
{
    size_t packed_size;
    uint8_t *packed = malloc(decoding->data->size / 4 * 3 + 3);
    if (packed == NULL) {
        return fm_map_refuse_memory(decoding->input);
    }
    fm_status status = decode_base64(decoding, packed, &packed_size);
    if (status == FM_OK) {
        status = unpack(decoding, packed, packed_size, (uint8_t *)tiles);
    }
    free(packed);
    for (size_t i = 0; status == FM_OK && i < decoding->count; i++) {
        const uint8_t *bytes = (const uint8_t *)&tiles[i];
        tiles[i] = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                   (uint32_t)bytes[3] << 24;
    }
    return status;
}

// ---- both ---------------------------------------------------------------------------------------

// Bounds the tiles that a text can hold, so that a short one never makes us allocate much.
static bool can_hold(const struct decoding *decoding)
{
    const fm_tiled_data *data = decoding->data;
    bool is_packed = data->compression[0] != '\0';
    // zlib packs to a thousandth at best; zstd further, so that its bound is the number of tiles.
    size_t least = strcmp(data->encoding, "csv") == 0       ? 2 * decoding->count - 1
                   : !is_packed                             ? decoding->count * 5
                   : strcmp(data->compression, "zstd") != 0 ? decoding->count * 4 / 1100
                                                            : 0;
    return data->size >= least;
}

fm_status fm_tiled_decode(const fm_map_input *input, const char *place, const fm_tiled_data *data,
                          uint32_t **tiles)
{
    struct decoding decoding = {input, place, data, (size_t)(data->width * data->height)};
    bool is_csv = strcmp(data->encoding, "csv") == 0;
    if (!is_csv && strcmp(data->encoding, "base64") != 0) {
        return fm_map_refuse(input, FM_ERR_BAD_FORMAT, place,
                             "the encoding '%.40s' is not known; wanted: csv or base64",
                             data->encoding);
    }
    if (!can_hold(&decoding)) {
        return refuse_count(&decoding, "fewer");
    }
    uint32_t *decoded = malloc(decoding.count * sizeof *decoded);
    if (decoded == NULL) {
        return fm_map_refuse_memory(input);
    }
    fm_status status = is_csv ? decode_csv(&decoding, decoded) : decode_packed(&decoding, decoded);
    if (status != FM_OK) {
        free(decoded);
        return status;
    }
    *tiles = decoded;
    return FM_OK;
}
