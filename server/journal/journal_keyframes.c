// server/journal/journal_keyframes.c: see journal_keyframes.h.

#include "server/journal/journal_keyframes.h"

#include "server/journal/journal_reader_file.h"

#include <stdlib.h>
#include <zstd.h>

#define KEYFRAMES_MAX (1u << 20)

static fm_status complain_keyframe(const fm_journal_reader *reader,
                                   const fm_journal_keyframe *keyframe, char *error,
                                   fm_status status, const char *what)
{
    return fm_journal_complain(
        reader->path, error, status, "table keyframes, position %llu (tick %llu): %s",
        (unsigned long long)keyframe->position, (unsigned long long)keyframe->tick, what);
}

static bool keyframe_has_types(sqlite3_stmt *row)
{
    static const int types[] = {SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_FLOAT,
                                SQLITE_FLOAT,   SQLITE_INTEGER, SQLITE_INTEGER, SQLITE_INTEGER};
    for (size_t i = 0; i < FM_COUNT_OF(types); i++) {
        if (sqlite3_column_type(row, (int)i) != types[i]) {
            return false;
        }
    }
    return true;
}

static bool keyframe_is_after(const fm_journal_reader *reader, const fm_journal_keyframe *keyframe)
{
    if (reader->keyframe_count == 0) {
        return true;
    }
    const fm_journal_keyframe *last = &reader->keyframes[reader->keyframe_count - 1];
    return keyframe->position > last->position && keyframe->tick >= last->tick;
}

static bool reserve_keyframe(fm_journal_reader *reader)
{
    return fm_reserve(&fm_memory_libc, (void **)&reader->keyframes, &reader->keyframe_capacity,
                      reader->keyframe_count + 1, sizeof *reader->keyframes);
}

static fm_status take_keyframe(fm_journal_reader *reader, sqlite3_stmt *row, char *error)
{
    fm_journal_keyframe keyframe = {
        .position = (uint64_t)sqlite3_column_int64(row, 0),
        .tick = (uint64_t)sqlite3_column_int64(row, 1),
        .pace = {.paused = sqlite3_column_int64(row, 2) != 0,
                 .tick_hz = sqlite3_column_double(row, 3),
                 .budget_ms = sqlite3_column_double(row, 4)},
        .size = (uint64_t)sqlite3_column_int64(row, 5),
        .stored_size = (uint64_t)sqlite3_column_int64(row, 6),
        .digest = (uint64_t)sqlite3_column_int64(row, 7),
    };
    if (!keyframe_has_types(row) || !fm_journal_pace_is_sane(&keyframe.pace) ||
        keyframe.tick > INT64_MAX || keyframe.size > FM_JOURNAL_WORLD_MAX) {
        return complain_keyframe(reader, &keyframe, error, FM_ERR_BAD_FORMAT,
                                 "a value is outside its range");
    }
    if (!keyframe_is_after(reader, &keyframe)) {
        return complain_keyframe(reader, &keyframe, error, FM_ERR_BAD_FORMAT,
                                 "is earlier than the one before it");
    }
    if (reader->keyframe_count == KEYFRAMES_MAX || !reserve_keyframe(reader)) {
        return complain_keyframe(reader, &keyframe, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    reader->keyframes[reader->keyframe_count++] = keyframe;
    return FM_OK;
}

fm_status fm_journal_reader_read_keyframes(fm_journal_reader *reader, char *error)
{
    sqlite3_stmt *rows;
    fm_status status =
        fm_journal_reader_prepare(reader,
                                  "SELECT position, tick, paused, tick_hz, budget_ms, size,"
                                  " length(bytes), digest FROM keyframes ORDER BY position",
                                  &rows, "table keyframes", error);
    if (status != FM_OK) {
        return status;
    }
    int code = SQLITE_DONE;
    while (status == FM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        status = take_keyframe(reader, rows, error);
    }
    if (status == FM_OK && code != SQLITE_DONE) {
        status = fm_journal_reader_complain(reader, error, "table keyframes");
    }
    sqlite3_finalize(rows);
    if (status == FM_OK && reader->keyframe_count == 0) {
        status = fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                     "table keyframes: there is none");
    }
    return status;
}

const fm_journal_keyframe *fm_journal_reader_keyframes(const fm_journal_reader *reader,
                                                       uint32_t *count)
{
    *count = reader->keyframe_count;
    return reader->keyframes;
}

const fm_journal_keyframe *fm_journal_reader_keyframe_before(const fm_journal_reader *reader,
                                                             uint64_t tick)
{
    for (uint32_t i = reader->keyframe_count; i-- > 0;) {
        if (reader->keyframes[i].tick <= tick) {
            return &reader->keyframes[i];
        }
    }
    return NULL;
}

static fm_status unpack_world(const fm_journal_reader *reader, const fm_journal_keyframe *keyframe,
                              const void *stored, size_t stored_size, uint8_t **bytes, char *error)
{
    uint8_t *world = malloc(keyframe->size == 0 ? 1 : keyframe->size);
    if (world == NULL) {
        return complain_keyframe(reader, keyframe, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    size_t size = ZSTD_decompress(world, keyframe->size, stored, stored_size);
    if (ZSTD_isError(size) || size != keyframe->size) {
        free(world);
        return complain_keyframe(reader, keyframe, error, FM_ERR_BAD_FORMAT,
                                 ZSTD_isError(size) ? ZSTD_getErrorName(size)
                                                    : "is shorter than it says");
    }
    *bytes = world;
    return FM_OK;
}

// Format 1 has no seals.
static fm_status check_seal(fm_journal_reader *reader, const fm_journal_keyframe *keyframe,
                            sqlite3_stmt *row, uint64_t checksum, char *error)
{
    fm_journal_link link, seal, found_seal;
    bool found;
    if (keyframe->position <= reader->linked_from) {
        return FM_OK;
    }
    fm_status status = fm_journal_reader_link(reader, keyframe->position, &link, &found, error);
    if (status != FM_OK) {
        return status;
    }
    seal = fm_journal_seal(&link, keyframe->digest, &keyframe->pace, keyframe->size, checksum);
    bool good = found && fm_journal_take_link(row, 2, &found_seal) &&
                fm_journal_link_equal(&seal, &found_seal);
    return good ? FM_OK
                : complain_keyframe(reader, keyframe, error, FM_ERR_BAD_FORMAT,
                                    "does not belong to the log: its seal is another");
}

static fm_status load_row(fm_journal_reader *reader, const fm_journal_keyframe *keyframe,
                          sqlite3_stmt *row, uint8_t **bytes, char *error)
{
    int code = sqlite3_step(row);
    if (code != SQLITE_ROW) {
        return code == SQLITE_DONE ? complain_keyframe(reader, keyframe, error, FM_ERR_IO,
                                                       "was removed in the meantime")
                                   : fm_journal_reader_complain(reader, error, "table keyframes");
    }
    const void *stored = sqlite3_column_blob(row, 0);
    size_t stored_size = (size_t)sqlite3_column_bytes(row, 0);
    uint64_t checksum = (uint64_t)sqlite3_column_int64(row, 1);
    if (stored == NULL || sqlite3_column_type(row, 0) != SQLITE_BLOB) {
        return complain_keyframe(reader, keyframe, error, FM_ERR_BAD_FORMAT, "there are no bytes");
    }
    if (checksum != fm_journal_checksum(keyframe->position, keyframe->tick, FM_JOURNAL_KEYFRAME,
                                        stored, stored_size)) {
        return complain_keyframe(reader, keyframe, error, FM_ERR_BAD_FORMAT,
                                 "the bytes are damaged: their checksum is another");
    }
    fm_status status = check_seal(reader, keyframe, row, checksum, error);
    return status == FM_OK ? unpack_world(reader, keyframe, stored, stored_size, bytes, error)
                           : status;
}

fm_status fm_journal_reader_load(fm_journal_reader *reader, const fm_journal_keyframe *keyframe,
                                 uint8_t **bytes, size_t *size, char *error)
{
    sqlite3_stmt *row;
    fm_status status = fm_journal_reader_prepare(
        reader,
        reader->info.format == 1 ? "SELECT bytes, checksum FROM keyframes WHERE position = ?"
                                 : "SELECT bytes, checksum, seal FROM keyframes WHERE position = ?",
        &row, "table keyframes", error);
    if (status != FM_OK) {
        return status;
    }
    sqlite3_bind_int64(row, 1, (sqlite3_int64)keyframe->position);
    status = load_row(reader, keyframe, row, bytes, error);
    if (status == FM_OK) {
        *size = (size_t)keyframe->size;
    }
    sqlite3_finalize(row);
    return status;
}
