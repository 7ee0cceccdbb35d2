// proto/scanner.c: the frame scanner, one byte or one run of small values at a time.
//
// What makes it resumable: between two bytes, the state of a message is how many values each open
// array still needs, how many bytes of a text are still to be skipped, and how far a length has
// been read. Nothing of the message itself is kept.
//
// What makes it fast: the bulk of an order is one long array of small numbers, and one table gives
// how long each such value is; texts are skipped without being read. Any thread.

#include "proto/scanner.h"

#define SMALL_SIZE_MAX                                                                             \
    32u // bytes: the longest value whose size its first byte gives (fixstr of 31)

const fm_scan_limits fm_scan_limits_default = {
    .size_max = 1u << 20,
    .depth_max = 16,
    .elements_max = 262144,
};

// Bytes of a value whose first byte says it all; 0 where it does not.
// clang-format off
static const uint8_t value_size[256] = {
    [0x00 ... 0x7f] = 1,                                    // positive fixint
    [0xa0] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    [0xb0] = 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, // fixstr 0..31
    [0xc0] = 1,                                             // nil
    [0xc2] = 1, 1,                                          // false, true
    [0xca] = 5, 9,                                          // float 32, 64
    [0xcc] = 2, 3, 5, 9,                                    // uint 8, 16, 32, 64
    [0xd0] = 2, 3, 5, 9,                                    // int 8, 16, 32, 64
    [0xd4] = 3, 4, 6, 10, 18,                               // fixext 1, 2, 4, 8, 16
    [0xe0 ... 0xff] = 1,                                    // negative fixint
};
// clang-format on

void fm_scanner_init(fm_scanner *scanner, const fm_scan_limits *limits)
{
    FM_ASSERT(limits->size_max >= 1);
    FM_ASSERT(limits->depth_max >= 1 && limits->depth_max <= FM_SCANNER_DEPTH_MAX);
    scanner->limits = *limits;
    fm_scanner_reset(scanner);
}

void fm_scanner_reset(fm_scanner *scanner)
{
    scanner->state = FM_SCAN_MORE;
    scanner->reason = NULL;
    scanner->size = 0;
    scanner->elements = 0;
    scanner->depth = 0;
    scanner->skip = 0;
    scanner->header_size = 0;
    scanner->header_value = 0;
}

static void refuse(fm_scanner *scanner, fm_scan_state state, const char *reason)
{
    scanner->state = state;
    scanner->reason = reason;
}

// A value is whole, and with it every array whose last value it was.
static void end_value(fm_scanner *scanner)
{
    while (scanner->depth > 0 && --scanner->left[scanner->depth - 1] == 0) {
        scanner->depth--;
    }
    if (scanner->depth == 0) {
        scanner->state = FM_SCAN_DONE;
    }
}

// The rest of the value is `size` bytes to skip.
static void begin_skip(fm_scanner *scanner, uint64_t size)
{
    if (scanner->size + size > scanner->limits.size_max) {
        refuse(scanner, FM_SCAN_LARGE, "message is too long");
        return;
    }
    scanner->skip = size;
    if (size == 0) {
        end_value(scanner);
    }
}

// An array or map begins; a map of n entries has 2n elements.
static void open_array(fm_scanner *scanner, uint64_t elements)
{
    if (scanner->depth == scanner->limits.depth_max) {
        refuse(scanner, FM_SCAN_LARGE, "message is nested too deeply");
        return;
    }
    scanner->elements += elements;
    if (scanner->elements > scanner->limits.elements_max) {
        refuse(scanner, FM_SCAN_LARGE, "message has too many elements");
        return;
    }
    if (elements == 0) {
        end_value(scanner);
        return;
    }
    scanner->left[scanner->depth++] = (uint32_t)elements; // no more than elements_max
}

static void begin_header(fm_scanner *scanner, uint8_t byte, uint32_t size)
{
    scanner->header_byte = byte;
    scanner->header_size = size;
    scanner->header_value = 0;
}

static void begin_value(fm_scanner *scanner, uint8_t byte)
{
    switch (byte) {
    case 0x80 ... 0x8f: // fixmap
        open_array(scanner, 2 * (uint64_t)(byte & 0x0f));
        break;
    case 0x90 ... 0x9f: // fixarray
        open_array(scanner, byte & 0x0f);
        break;
    case 0xc1:
        refuse(scanner, FM_SCAN_BAD, "byte 0xc1 is not msgpack");
        break;
    case 0xc4: // bin 8
    case 0xc7: // ext 8
    case 0xd9: // str 8
        begin_header(scanner, byte, 1);
        break;
    case 0xc5: // bin 16
    case 0xc8: // ext 16
    case 0xda: // str 16
    case 0xdc: // array 16
    case 0xde: // map 16
        begin_header(scanner, byte, 2);
        break;
    case 0xc6: // bin 32
    case 0xc9: // ext 32
    case 0xdb: // str 32
    case 0xdd: // array 32
    case 0xdf: // map 32
        begin_header(scanner, byte, 4);
        break;
    default:
        begin_skip(scanner, value_size[byte] - 1u);
        break;
    }
}

static void end_header(fm_scanner *scanner)
{
    switch (scanner->header_byte) {
    case 0xdc:
    case 0xdd:
        open_array(scanner, scanner->header_value);
        break;
    case 0xde:
    case 0xdf:
        open_array(scanner, 2 * scanner->header_value);
        break;
    case 0xc7 ... 0xc9:
        begin_skip(scanner, 1 + scanner->header_value); // the type byte of an ext comes first
        break;
    default:
        begin_skip(scanner, scanner->header_value);
        break;
    }
}

static void read_header(fm_scanner *scanner, uint8_t byte)
{
    scanner->header_value = scanner->header_value << 8 | byte;
    if (--scanner->header_size == 0) {
        end_header(scanner);
    }
}

static size_t skip_bytes(fm_scanner *scanner, size_t size)
{
    size_t taken = size < scanner->skip ? size : (size_t)scanner->skip;
    scanner->size += taken;
    scanner->skip -= taken;
    if (scanner->skip == 0) {
        end_value(scanner);
    }
    return taken;
}

// Takes the whole small values at the front. It stops before the last one of an array, which closes
// the array, and so near the end of the bytes that a value might be cut: those take the slow path.
static size_t skip_small_values(fm_scanner *scanner, const uint8_t *bytes, size_t size)
{
    if (scanner->depth == 0 || size < SMALL_SIZE_MAX) {
        return 0;
    }
    uint32_t *left = &scanner->left[scanner->depth - 1];
    uint32_t wanted = *left - 1;
    size_t last = size - SMALL_SIZE_MAX, at = 0;
    while (wanted > 0 && at <= last && value_size[bytes[at]] != 0) {
        at += value_size[bytes[at]];
        wanted--;
    }
    *left = wanted + 1;
    scanner->size += at;
    return at;
}

static size_t scan_values(fm_scanner *scanner, const uint8_t *bytes, size_t size)
{
    size_t at = skip_small_values(scanner, bytes, size);
    if (at < size) {
        scanner->size++;
        begin_value(scanner, bytes[at++]);
    }
    return at;
}

size_t fm_scanner_feed(fm_scanner *scanner, const uint8_t *bytes, size_t size)
{
    uint64_t room = scanner->limits.size_max - scanner->size;
    size_t end = size < room ? size : (size_t)room, at = 0;
    while (scanner->state == FM_SCAN_MORE && at < end) {
        if (scanner->skip > 0) {
            at += skip_bytes(scanner, end - at);
        } else if (scanner->header_size > 0) {
            scanner->size++;
            read_header(scanner, bytes[at++]);
        } else {
            at += scan_values(scanner, bytes + at, end - at);
        }
    }
    if (scanner->state == FM_SCAN_MORE && scanner->size == scanner->limits.size_max) {
        refuse(scanner, FM_SCAN_LARGE, "message is too long");
    }
    return at;
}
