// server/journal/journal_meta.c: see journal_meta.h.

#include "server/journal/journal_meta.h"

#include "server/journal/journal_reader_file.h"

#include <string.h>

fm_status fm_journal_reader_check_format(fm_journal_reader *reader, char *error)
{
    uint64_t application = 0, format = 0;
    fm_status status = fm_journal_reader_number(reader, "PRAGMA application_id", &application, NULL,
                                                "header", error);
    if (status == FM_OK && application == 0 && reader->has_mark &&
        reader->info.mark.position == 0) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "holds nothing: its world was being created");
    }
    if (status == FM_OK && application == 0 && fm_journal_wal_size(reader->path) <= 0) {
        return fm_journal_complain(
            reader->path, error, FM_ERR_BAD_FORMAT,
            "is no journal of fogmarch, or the copy of one that is in use, which needs"
            " its second file, -wal, as well");
    }
    if (status == FM_OK && application != FM_JOURNAL_APPLICATION) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "is no journal of fogmarch");
    }
    if (status == FM_OK) {
        status =
            fm_journal_reader_number(reader, "PRAGMA user_version", &format, NULL, "header", error);
    }
    if (status == FM_OK && (format < 1 || format > FM_JOURNAL_FORMAT)) {
        return fm_journal_complain(
            reader->path, error, FM_ERR_BAD_FORMAT,
            "is a journal of format %llu; this program reads formats up to %d",
            (unsigned long long)format, FM_JOURNAL_FORMAT);
    }
    reader->info.format = (uint32_t)format;
    return status;
}

static fm_status take_bases(fm_journal_reader *reader, const void *bytes, size_t size, char *error)
{
    fm_bytes_error wrong;
    fm_reader in = fm_reader_init(bytes, size, &wrong);
    fm_journal_info *info = &reader->info;
    info->base_count = fm_reader_take_count(&in, FM_JOURNAL_BASES_MAX, 1, "starting places");
    for (uint32_t i = 0; i < info->base_count; i++) {
        info->bases[i] = (uint32_t)fm_reader_take_bounded(&in, UINT32_MAX, "cell");
    }
    if (fm_reader_finish(&in) != FM_OK) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "table meta, 'bases': %s", wrong.message);
    }
    return FM_OK;
}

static fm_status take_text(fm_journal_reader *reader, sqlite3_stmt *row, const char *key,
                           char *text, size_t text_size, char *error)
{
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    const void *bytes = sqlite3_column_blob(row, 1);
    if (sqlite3_column_type(row, 1) != SQLITE_TEXT || size >= text_size ||
        (size > 0 && (bytes == NULL || memchr(bytes, '\0', size) != NULL))) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "table meta, '%s': no text of %zu bytes", key, text_size - 1);
    }
    memcpy(text, size > 0 ? bytes : "", size);
    text[size] = '\0';
    return FM_OK;
}

static fm_status take_number(fm_journal_reader *reader, sqlite3_stmt *row, const char *key,
                             uint64_t limit, uint64_t *number, char *error)
{
    sqlite3_int64 value = sqlite3_column_int64(row, 1);
    if (sqlite3_column_type(row, 1) != SQLITE_INTEGER || value < 0 || (uint64_t)value > limit) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "table meta, '%s': no number up to %llu", key,
                                   (unsigned long long)limit);
    }
    *number = (uint64_t)value;
    return FM_OK;
}

// Keys that this program does not know belong to newer ones.
static fm_status take_meta(fm_journal_reader *reader, sqlite3_stmt *row, char *error)
{
    fm_journal_info *info = &reader->info;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    key = key == NULL ? "" : key;
    if (strcmp(key, "fogmarch") == 0) {
        return take_text(reader, row, key, info->fogmarch, sizeof info->fogmarch, error);
    }
    if (strcmp(key, "name") == 0) {
        return take_text(reader, row, key, info->name, sizeof info->name, error);
    }
    if (strcmp(key, "number") == 0) {
        return take_number(reader, row, key, INT64_MAX, &info->number, error);
    }
    if (strcmp(key, "timeline") == 0) {
        return take_number(reader, row, key, INT64_MAX, &info->timeline, error);
    }
    if (strcmp(key, "durability") == 0) {
        uint64_t durability = 0;
        fm_status status = take_number(reader, row, key, 2, &durability, error);
        info->was_synced = durability == 0;
        reader->may_lag = durability == 2;
        return status;
    }
    if (strcmp(key, "linked_from") == 0) {
        return take_number(reader, row, key, INT64_MAX, &reader->linked_from, error);
    }
    if (strcmp(key, "overload") == 0) {
        uint64_t overload = 0;
        fm_status status = take_number(reader, row, key, 2, &overload, error);
        info->overload = (uint32_t)overload;
        return status;
    }
    if (strcmp(key, "bases") == 0 && sqlite3_column_type(row, 1) == SQLITE_BLOB) {
        return take_bases(reader, sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1),
                          error);
    }
    return FM_OK;
}

fm_status fm_journal_reader_read_meta(fm_journal_reader *reader, char *error)
{
    sqlite3_stmt *rows;
    fm_status status = fm_journal_reader_prepare(reader, "SELECT key, value FROM meta", &rows,
                                                 "table meta", error);
    if (status != FM_OK) {
        return status;
    }
    int code = SQLITE_DONE;
    while (status == FM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        status = take_meta(reader, rows, error);
    }
    if (status == FM_OK && code != SQLITE_DONE) {
        status = fm_journal_reader_complain(reader, error, "table meta");
    }
    sqlite3_finalize(rows);
    if (status == FM_OK && (reader->info.name[0] == '\0' || reader->info.number == 0)) {
        status = fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                     "table meta: the world has no name or no number");
    }
    return status;
}
