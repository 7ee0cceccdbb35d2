// core/base/bytes.c: see bytes.h.

#include "core/base/bytes.h"

#include "core/base/random.h"

#include <stdarg.h>
#include <stdio.h>

#define VARINT_SIZE_MAX 10u

// ---- writing ------------------------------------------------------------------------------------

void fm_writer_fini(fm_writer *writer)
{
    fm_memory_release(writer->memory, writer->data, writer->capacity);
    *writer = (fm_writer){.memory = writer->memory};
}

static bool grow(fm_writer *writer, size_t wanted)
{
    size_t capacity = writer->capacity < 256 ? 256 : writer->capacity;
    while (capacity < wanted) {
        capacity += capacity / 2;
    }
    uint8_t *grown = fm_memory_resize(writer->memory, writer->data, writer->capacity, capacity, 1);
    if (grown == NULL) {
        writer->failed = true;
        return false;
    }
    writer->data = grown;
    writer->capacity = capacity;
    return true;
}

uint8_t *fm_writer_extend(fm_writer *writer, size_t size)
{
    if (writer->failed || size > SIZE_MAX / 2 - writer->size) {
        writer->failed = true;
        return NULL;
    }
    if (writer->size + size > writer->capacity && !grow(writer, writer->size + size)) {
        return NULL;
    }
    uint8_t *place = writer->data + writer->size;
    writer->size += size;
    return place;
}

static void put_little_endian(fm_writer *writer, uint64_t value, size_t size)
{
    uint8_t *place = fm_writer_extend(writer, size);
    for (size_t i = 0; place != NULL && i < size; i++) {
        place[i] = (uint8_t)(value >> (8 * i));
    }
}

void fm_writer_put_u8(fm_writer *writer, uint8_t value)
{
    put_little_endian(writer, value, 1);
}

void fm_writer_put_u32(fm_writer *writer, uint32_t value)
{
    put_little_endian(writer, value, 4);
}

void fm_writer_put_u64(fm_writer *writer, uint64_t value)
{
    put_little_endian(writer, value, 8);
}

void fm_writer_put_varint(fm_writer *writer, uint64_t value)
{
    if (writer->capacity - writer->size < VARINT_SIZE_MAX &&
        (writer->failed || !grow(writer, writer->size + VARINT_SIZE_MAX))) {
        return;
    }
    uint8_t *place = writer->data + writer->size;
    while (value >= 0x80) {
        *place++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *place++ = (uint8_t)value;
    writer->size = (size_t)(place - writer->data);
}

void fm_writer_put_signed(fm_writer *writer, int64_t value)
{
    fm_writer_put_varint(writer, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void fm_writer_put_bytes(fm_writer *writer, const void *bytes, size_t size)
{
    uint8_t *place = size == 0 ? NULL : fm_writer_extend(writer, size);
    if (place != NULL) {
        memcpy(place, bytes, size);
    }
}

void fm_writer_put_text(fm_writer *writer, const char *text)
{
    size_t size = strlen(text);
    fm_writer_put_varint(writer, size);
    fm_writer_put_bytes(writer, text, size);
}

// ---- reading ------------------------------------------------------------------------------------

void fm_reader_fail(fm_reader *reader, const char *format, ...)
{
    if (reader->failed) {
        return;
    }
    reader->failed = true;
    if (reader->error == NULL) {
        return;
    }
    reader->error->offset = reader->offset;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error->message, sizeof reader->error->message, format, arguments);
    va_end(arguments);
}

const uint8_t *fm_reader_take_bytes(fm_reader *reader, size_t size, const char *what)
{
    if (!reader->failed && size > reader->size - reader->offset) {
        fm_reader_fail(reader, "The bytes end in the middle of %s.", what);
    }
    if (reader->failed) {
        return NULL;
    }
    const uint8_t *place = reader->data + reader->offset;
    reader->offset += size;
    return place;
}

static uint64_t take_little_endian(fm_reader *reader, size_t size)
{
    const uint8_t *place = fm_reader_take_bytes(reader, size, "a number");
    uint64_t value = 0;
    for (size_t i = 0; place != NULL && i < size; i++) {
        value |= (uint64_t)place[i] << (8 * i);
    }
    return value;
}

uint8_t fm_reader_take_u8(fm_reader *reader)
{
    return (uint8_t)take_little_endian(reader, 1);
}

uint32_t fm_reader_take_u32(fm_reader *reader)
{
    return (uint32_t)take_little_endian(reader, 4);
}

uint64_t fm_reader_take_u64(fm_reader *reader)
{
    return take_little_endian(reader, 8);
}

uint64_t fm_reader_take_varint(fm_reader *reader)
{
    uint64_t value = 0;
    size_t left = fm_reader_left(reader);
    const uint8_t *bytes = reader->data + reader->offset;
    for (uint32_t i = 0; i < VARINT_SIZE_MAX && i < left; i++) {
        value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            // The last byte of a longer form is never 0, and the tenth holds the 64th bit alone.
            if ((i > 0 && bytes[i] == 0) || (i == VARINT_SIZE_MAX - 1 && bytes[i] > 1)) {
                break;
            }
            reader->offset += i + 1;
            return value;
        }
    }
    fm_reader_fail(reader, left < VARINT_SIZE_MAX
                               ? "The bytes end in the middle of a number."
                               : "A number is too long, or longer than need be.");
    return 0;
}

int64_t fm_reader_take_signed(fm_reader *reader)
{
    uint64_t folded = fm_reader_take_varint(reader);
    return (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

uint64_t fm_reader_take_bounded(fm_reader *reader, uint64_t limit, const char *what)
{
    uint64_t value = fm_reader_take_varint(reader);
    if (value > limit) {
        fm_reader_fail(reader, "%s: %llu is more than %llu.", what, (unsigned long long)value,
                       (unsigned long long)limit);
        return 0;
    }
    return value;
}

bool fm_reader_take_bool(fm_reader *reader, const char *what)
{
    return fm_reader_take_bounded(reader, 1, what) == 1;
}

uint32_t fm_reader_take_count(fm_reader *reader, uint32_t limit, size_t size_min, const char *what)
{
    uint64_t count = fm_reader_take_bounded(reader, limit, what);
    if (count > fm_reader_left(reader) / size_min) {
        fm_reader_fail(reader, "%s: %llu are announced, more than the bytes can hold.", what,
                       (unsigned long long)count);
        return 0;
    }
    return (uint32_t)count;
}

void fm_reader_take_text(fm_reader *reader, char *text, size_t size, const char *what)
{
    text[0] = '\0';
    size_t length = (size_t)fm_reader_take_bounded(reader, size - 1, what);
    const uint8_t *bytes = fm_reader_take_bytes(reader, length, what);
    if (bytes == NULL) {
        return;
    }
    if (memchr(bytes, '\0', length) != NULL) {
        fm_reader_fail(reader, "%s: there is a NUL in the text.", what);
        return;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
}

fm_status fm_reader_finish(fm_reader *reader)
{
    if (!reader->failed && reader->offset < reader->size) {
        fm_reader_fail(reader, "%zu bytes follow that belong to nothing.",
                       reader->size - reader->offset);
    }
    return reader->failed ? FM_ERR_BAD_FORMAT : FM_OK;
}

// ---- checksum -----------------------------------------------------------------------------------

// Four lanes, so that one multiplication need not wait for the other: 2 to 3 bytes a cycle.
uint64_t fm_bytes_checksum(const void *bytes, size_t size)
{
    const uint8_t *rest = bytes;
    uint64_t lanes[4] = {size, 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
    size_t left = size;
    for (; left >= sizeof lanes; left -= sizeof lanes, rest += sizeof lanes) {
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t word = 0;
            for (uint32_t j = 0; j < 8; j++) {
                word |= (uint64_t)rest[8 * i + j] << (8 * j);
            }
            lanes[i] = (lanes[i] ^ word) * 0xd6e8feb86659fd93u;
            lanes[i] ^= lanes[i] >> 32;
        }
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        sum = fm_mix64(sum ^ lanes[i]);
    }
    for (; left > 0; left--) {
        sum = fm_mix64(sum ^ *rest++ ^ left << 8);
    }
    return sum;
}
