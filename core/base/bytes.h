// core/base/bytes.h: numbers written into bytes and read back, for what outlives the process: saved
// worlds, commands, tick records.
//
// Little-endian. Most numbers are varints: 7 bits a byte, lowest first, the top bit says that more
// follow; never longer than need be, so one value has one form. Signed ones are folded first (0,
// -1, 1, -2 become 0, 1, 2, 3).
//
// Neither side has to look after every call. A writer that runs out of memory does nothing from
// then on and sets `failed`. A reader notes the first error and its place, and returns zeros from
// then on; a caller that allocates or loops by what was read checks first.
//
// Threads: none of its own; one owner at a time.

#pragma once

#include "core/base/memory.h"
#include "core/base/status.h"

#include <string.h>

// Where bytes stopped following their format.
typedef struct fm_bytes_error {
    size_t offset;     // from 0
    char message[160]; // a sentence that names what was wrong, NUL-terminated
} fm_bytes_error;

// ---- writing ----

typedef struct fm_writer {
    uint8_t *data; // owned; NULL as long as nothing was written
    size_t size, capacity;
    const fm_memory *memory; // outlives the writer
    bool failed;             // out of memory: what was written is incomplete
} fm_writer;

static inline fm_writer fm_writer_init(const fm_memory *memory)
{
    return (fm_writer){.memory = memory};
}

/// Releases the bytes.
void fm_writer_fini(fm_writer *writer);

/// Empties the writer but keeps its memory.
static inline void fm_writer_clear(fm_writer *writer)
{
    writer->size = 0;
    writer->failed = false;
}

/// Room for `size` more bytes, which count as written; the caller fills them in at once.
///
/// @return NULL when out of memory
uint8_t *fm_writer_extend(fm_writer *writer, size_t size);

void fm_writer_put_u8(fm_writer *writer, uint8_t value);
void fm_writer_put_u32(fm_writer *writer, uint32_t value); // 4 bytes
void fm_writer_put_u64(fm_writer *writer, uint64_t value); // 8 bytes
void fm_writer_put_varint(fm_writer *writer, uint64_t value);
void fm_writer_put_signed(fm_writer *writer, int64_t value);
void fm_writer_put_bytes(fm_writer *writer, const void *bytes, size_t size);

/// A text: its length as a varint, then its bytes without NUL.
void fm_writer_put_text(fm_writer *writer, const char *text);

// ---- reading ----

typedef struct fm_reader {
    const uint8_t *data;
    size_t size, offset;
    bool failed;           // something was wrong
    fm_bytes_error *error; // receives the error; may be NULL
} fm_reader;

/// @param bytes  outlive the reader; may be NULL when size is 0
static inline fm_reader fm_reader_init(const void *bytes, size_t size, fm_bytes_error *error)
{
    return (fm_reader){
        .data = bytes != NULL ? bytes : (const void *)"", .size = size, .error = error};
}

/// Notes an error at the current position, unless there was one before.
__attribute__((format(printf, 2, 3))) void fm_reader_fail(fm_reader *reader, const char *format,
                                                          ...);

static inline size_t fm_reader_left(const fm_reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->offset;
}

uint8_t fm_reader_take_u8(fm_reader *reader);
uint32_t fm_reader_take_u32(fm_reader *reader);
uint64_t fm_reader_take_u64(fm_reader *reader);
uint64_t fm_reader_take_varint(fm_reader *reader);
int64_t fm_reader_take_signed(fm_reader *reader);

/// A varint that is at most `limit`; `what` names it where it is not ("cells of a command").
uint64_t fm_reader_take_bounded(fm_reader *reader, uint64_t limit, const char *what);

/// A varint that is 0 or 1.
bool fm_reader_take_bool(fm_reader *reader, const char *what);

/// How many items follow: a varint, at most `limit`, and no more than the bytes that are left can
/// hold when each takes at least `size_min` of them. So the caller may allocate for the items.
uint32_t fm_reader_take_count(fm_reader *reader, uint32_t limit, size_t size_min, const char *what);

/// The next bytes, as they lie in the reader's own. NULL when there are fewer.
const uint8_t *fm_reader_take_bytes(fm_reader *reader, size_t size, const char *what);

/// A text shorter than `size`, which becomes NUL-terminated; it holds no NUL itself.
void fm_reader_take_text(fm_reader *reader, char *text, size_t size, const char *what);

/// Everything must have been read.
///
/// @return FM_OK or FM_ERR_BAD_FORMAT, if nothing was wrong so far
FM_CHECKED fm_status fm_reader_finish(fm_reader *reader);

// ---- without a writer or reader ----

static inline void fm_bytes_put_u64(uint8_t *bytes, uint64_t number)
{
    for (uint32_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
}

static inline uint64_t fm_bytes_get_u64(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < 8; i++) {
        number |= (uint64_t)bytes[i] << (8 * i);
    }
    return number;
}

// A checksum: any change of a few bytes changes it. Against accidents, not against attacks.
uint64_t fm_bytes_checksum(const void *bytes, size_t size);
