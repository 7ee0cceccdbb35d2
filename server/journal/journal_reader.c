// server/journal/journal_reader.c: see journal_reader.h. A file may be anything: it may have been
// cut off, overwritten, or forged. SQLite checks its own pages as it goes; types, order and sums of
// the rows are checked here.

#include "server/journal/journal_reader.h"

#include "server/journal/journal_meta.h"
#include "server/journal/journal_reader_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fm_journal_kind_name(fm_journal_kind kind)
{
    switch (kind) {
#define X(enumerator, number, name)                                                                \
    case enumerator:                                                                               \
        return name;
        FM_JOURNAL_KIND_LIST(X)
#undef X
    }
    return "unknown";
}
// ---- the log -----------------------------------------------------------------------------------

static fm_status complain_row(const fm_journal_reader *reader, uint64_t position, uint64_t tick,
                              char *error, const char *what)
{
    return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                               "table log, position %llu (tick %llu): %s",
                               (unsigned long long)position, (unsigned long long)tick, what);
}

static fm_status take_pace(const fm_journal_reader *reader, fm_journal_row *row, char *error)
{
    fm_reader in = fm_reader_init(row->bytes, row->size, NULL);
    row->pace.paused = fm_reader_take_bool(&in, "paused");
    uint64_t tick_hz = fm_reader_take_u64(&in), budget_ms = fm_reader_take_u64(&in);
    memcpy(&row->pace.tick_hz, &tick_hz, sizeof tick_hz);
    memcpy(&row->pace.budget_ms, &budget_ms, sizeof budget_ms);
    bool good = fm_reader_finish(&in) == FM_OK && fm_journal_pace_is_sane(&row->pace);
    return good ? FM_OK
                : complain_row(reader, row->position, row->tick, error,
                               "the pace is outside its range");
}

static bool is_kind(sqlite3_int64 kind)
{
    return kind >= FM_JOURNAL_COMMAND && kind <= FM_JOURNAL_GAP;
}

// Whether a row follows the one before it. The first row of a shortened journal has nothing to be
// compared with.
static fm_status check_link(fm_journal_reader *reader, const fm_journal_row *row, char *error)
{
    fm_journal_link link;
    if (row->position <= reader->linked_from) {
        return FM_OK;
    }
    if (!fm_journal_take_link(reader->rows, 5, &link)) {
        return complain_row(reader, row->position, row->tick, error, "the row has no link");
    }
    if (reader->link_known && row->position == reader->position + 1) {
        fm_journal_link wanted = fm_journal_link_next(&reader->link, row->position, row->tick,
                                                      row->kind, row->bytes, row->size);
        if (!fm_journal_link_equal(&wanted, &link)) {
            return complain_row(reader, row->position, row->tick, error,
                                "the row does not follow the one before it: its link is another");
        }
    }
    reader->link = link;
    reader->link_known = true;
    return FM_OK;
}

static fm_status take_row(fm_journal_reader *reader, fm_journal_row *row, char *error)
{
    sqlite3_stmt *rows = reader->rows;
    sqlite3_int64 kind = sqlite3_column_int64(rows, 2);
    *row = (fm_journal_row){
        .position = (uint64_t)sqlite3_column_int64(rows, 0),
        .tick = (uint64_t)sqlite3_column_int64(rows, 1),
        .bytes = sqlite3_column_blob(rows, 3),
        .size = (size_t)sqlite3_column_bytes(rows, 3),
    };
    uint64_t checksum = (uint64_t)sqlite3_column_int64(rows, 4);
    if (!is_kind(kind) || row->tick > INT64_MAX) {
        return complain_row(reader, row->position, row->tick, error, "there is no such kind");
    }
    row->kind = (fm_journal_kind)kind;
    if (checksum !=
        fm_journal_checksum(row->position, row->tick, row->kind, row->bytes, row->size)) {
        return complain_row(reader, row->position, row->tick, error,
                            "the row is damaged: its checksum is another");
    }
    if (!reader->at_start && row->position != reader->position + 1) {
        return complain_row(reader, row->position, row->tick, error, "rows before it are missing");
    }
    if (!reader->at_start && row->tick < reader->tick && row->kind == FM_JOURNAL_TICK) {
        return complain_row(reader, row->position, row->tick, error, "ticks are out of order");
    }
    fm_status status = row->kind == FM_JOURNAL_PACE ? take_pace(reader, row, error) : FM_OK;
    return status == FM_OK ? check_link(reader, row, error) : status;
}

fm_status fm_journal_reader_seek(fm_journal_reader *reader, uint64_t position, char *error)
{
    if (reader->rows == NULL) {
        fm_status status = fm_journal_reader_prepare(
            reader,
            reader->info.format == 1 ? "SELECT position, tick, kind, bytes, checksum FROM log"
                                       " WHERE position > ? ORDER BY position"
                                     : "SELECT position, tick, kind, bytes, checksum, link"
                                       " FROM log WHERE position > ? ORDER BY position",
            &reader->rows, "table log", error);
        if (status != FM_OK) {
            return status;
        }
    }
    sqlite3_reset(reader->rows);
    sqlite3_bind_int64(reader->rows, 1, (sqlite3_int64)position);
    // After an existing position, the next one must follow at once.
    reader->at_start = position < reader->oldest_position;
    reader->position = position;
    reader->tick = 0;
    return fm_journal_reader_link(reader, position, &reader->link, &reader->link_known, error);
}

fm_status fm_journal_reader_holds(fm_journal_reader *reader, uint64_t position,
                                  const fm_journal_link *link, bool *holds, char *error)
{
    fm_journal_link found_link;
    bool found = false;
    *holds = false;
    fm_status status = fm_journal_reader_link(reader, position, &found_link, &found, error);
    *holds = status == FM_OK && found && position > reader->linked_from &&
             fm_journal_link_equal(&found_link, link);
    return status;
}

bool fm_journal_reader_link_here(const fm_journal_reader *reader, fm_journal_link *link)
{
    *link = reader->link;
    return reader->link_known && reader->position > reader->linked_from;
}

void fm_journal_reader_rest(fm_journal_reader *reader)
{
    sqlite3_reset(reader->rows);
    sqlite3_bind_int64(reader->rows, 1, (sqlite3_int64)reader->position);
}

fm_status fm_journal_reader_next(fm_journal_reader *reader, fm_journal_row *row, bool *more,
                                 char *error)
{
    int code = sqlite3_step(reader->rows);
    *more = false;
    if (code == SQLITE_DONE) {
        fm_journal_reader_rest(reader); // begins after the last row, in case the writer adds some
        return reader->position >= reader->info.last_position
                   ? FM_OK
                   : complain_row(reader, reader->position, reader->tick, error,
                                  "rows behind it are missing");
    }
    if (code != SQLITE_ROW) {
        return fm_journal_reader_complain(reader, error, "table log");
    }
    fm_status status = take_row(reader, row, error);
    if (status == FM_OK) {
        *more = true;
        reader->at_start = false;
        reader->position = row->position;
        reader->tick = row->kind == FM_JOURNAL_TICK ? row->tick : reader->tick;
        reader->ticks_completed = fm_journal_ticks_at(row->kind, row->tick);
    }
    return status;
}

// The tick that a row belongs to: rows between two ticks belong to the later one.
static fm_status tick_at(fm_journal_reader *reader, uint64_t position, uint64_t *tick, bool *found,
                         char *error)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT tick + (kind > %d) FROM log WHERE position = %lld",
             FM_JOURNAL_TICK, (long long)position);
    return fm_journal_reader_number(reader, sql, tick, found, "table log", error);
}

fm_status fm_journal_reader_seek_tick(fm_journal_reader *reader, uint64_t tick, char *error)
{
    uint64_t low = reader->oldest_position, high = reader->info.last_position + 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, found_tick = 0;
        bool found;
        fm_status status = tick_at(reader, middle, &found_tick, &found, error);
        if (status == FM_OK && !found) {
            status = complain_row(reader, middle, 0, error, "the row is missing");
        }
        if (status != FM_OK) {
            return status;
        }
        if (found_tick < tick) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return fm_journal_reader_seek(reader, low == 0 ? 0 : low - 1, error);
}

// ---- beginning and end -------------------------------------------------------------------------

// Where it ends, and the world's pace there.
static fm_status read_end(fm_journal_reader *reader, char *error)
{
    fm_journal_info *info = &reader->info;
    const fm_journal_keyframe *newest = &reader->keyframes[reader->keyframe_count - 1];
    info->first_tick = reader->keyframes[0].tick;
    info->pace = newest->pace;
    info->last_tick = newest->tick;
    bool found;
    uint64_t tick = 0;
    fm_status status = fm_journal_reader_number(reader, "SELECT max(position) FROM log",
                                                &info->last_position, &found, "table log", error);
    if (status == FM_OK && !found) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "table log: there are no rows");
    }
    if (status == FM_OK) {
        status = fm_journal_reader_number(reader, "SELECT min(position) FROM log",
                                          &reader->oldest_position, &found, "table log", error);
    }
    if (status == FM_OK) {
        status = fm_journal_reader_number(
            reader, "SELECT tick - (kind = 1) FROM log ORDER BY position DESC LIMIT 1", &tick,
            &found, "table log", error);
    }
    info->last_tick = tick > info->last_tick ? tick : info->last_tick;
    return status;
}

static fm_status read_pace(fm_journal_reader *reader, char *error)
{
    uint64_t position = 0;
    bool found;
    fm_status status =
        fm_journal_reader_number(reader,
                                 "SELECT max(position) FROM log WHERE kind = 3 AND position >"
                                 " (SELECT max(position) FROM keyframes)",
                                 &position, &found, "table log", error);
    if (status != FM_OK || !found) {
        return status;
    }
    fm_journal_row row;
    bool more = false;
    status = fm_journal_reader_seek(reader, position - 1, error);
    if (status == FM_OK) {
        status = fm_journal_reader_next(reader, &row, &more, error);
    }
    if (status == FM_OK && more) {
        reader->info.pace = row.pace;
    }
    return status;
}

// Compares the end with the mark, which was read before the database: while a journal is written
// the database may be further, never less far.
static fm_status compare_end(fm_journal_reader *reader, char *error)
{
    fm_journal_info *info = &reader->info;
    bool went_down = reader->has_mark && info->mark.boot != fm_journal_boot();
    if (info->format == 1 || (reader->may_lag && (went_down || !reader->has_mark))) {
        return FM_OK;
    }
    if (!reader->has_mark) {
        info->end = FM_JOURNAL_END_UNKNOWN;
        return FM_OK;
    }
    if (info->last_position < info->mark.position) {
        info->end = FM_JOURNAL_END_SHORTER;
        return FM_OK;
    }
    fm_journal_link link;
    bool found;
    fm_status status = fm_journal_reader_link(reader, info->mark.position, &link, &found, error);
    if (status == FM_OK && !(found && fm_journal_link_equal(&link, &info->mark.link))) {
        info->end = FM_JOURNAL_END_OTHER;
    }
    return status;
}

void fm_journal_reader_doubt(const fm_journal_reader *reader, char *error)
{
    const fm_journal_info *info = &reader->info;
    unsigned long long last = info->last_tick, marked = info->mark.tick;
    switch (info->end) {
    case FM_JOURNAL_END_KNOWN:
        fm_journal_complain(reader->path, error, FM_OK, "ends where it was written to");
        return;
    case FM_JOURNAL_END_UNKNOWN:
        fm_journal_complain(reader->path, error, FM_OK,
                            "ends at tick %llu; whether it was written further is not known: its"
                            " second file, " FM_JOURNAL_MARK_SUFFIX ", is missing or damaged",
                            last);
        return;
    case FM_JOURNAL_END_SHORTER:
        if (marked <= last) { // a keyframe of that tick is left, or its last rows were commands
            fm_journal_complain(reader->path, error, FM_OK,
                                "was written up to tick %llu, but its last %llu rows are lost; it"
                                " is an older state of itself, or damaged",
                                marked,
                                (unsigned long long)(info->mark.position - info->last_position));
            return;
        }
        fm_journal_complain(
            reader->path, error, FM_OK,
            "ends at tick %llu, but was written up to tick %llu: %llu ticks and %llu"
            " rows are lost; it is an older state of itself, or damaged",
            last, marked, marked - last,
            (unsigned long long)(info->mark.position - info->last_position));
        return;
    case FM_JOURNAL_END_OTHER:
        fm_journal_complain(reader->path, error, FM_OK,
                            "at tick %llu, position %llu, is not what was written: it is of another"
                            " time, or damaged",
                            marked, (unsigned long long)info->mark.position);
        return;
    }
}

fm_journal_tail fm_journal_reader_tail(const fm_journal_reader *reader)
{
    return (fm_journal_tail){
        .position = reader->position,
        .tick = reader->ticks_completed,
        .link = reader->link,
        .format = reader->info.format,
        .has_mark = reader->info.format > 1 && reader->has_mark,
        .was_synced = reader->info.was_synced,
    };
}

static fm_status read_head(fm_journal_reader *reader, char *error)
{
    reader->has_mark = fm_journal_mark_read(reader->path, &reader->info.mark);
    fm_status status = fm_journal_reader_open_file(reader, error);
    if (status == FM_OK) {
        status = fm_journal_reader_check_format(reader, error);
    }
    if (status == FM_OK) {
        status = fm_journal_reader_read_meta(reader, error);
    }
    if (status == FM_OK) {
        status = fm_journal_reader_read_keyframes(reader, error);
    }
    if (status == FM_OK) {
        status = read_end(reader, error);
    }
    if (status == FM_OK && reader->info.format == 1) {
        reader->linked_from = UINT64_MAX;
    }
    if (status == FM_OK) {
        status = compare_end(reader, error);
    }
    if (status == FM_OK) {
        status = read_pace(reader, error);
    }
    return status == FM_OK ? fm_journal_reader_seek(reader, 0, error) : status;
}

fm_status fm_journal_reader_open(const char *path, fm_journal_reader **out, char *error)
{
    fm_journal_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: out of memory", path);
        return FM_ERR_NO_MEMORY;
    }
    if (strlen(path) >= sizeof reader->path) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s...: the name is too long", path);
        free(reader);
        return FM_ERR_IO;
    }
    memcpy(reader->path, path, strlen(path) + 1);
    fm_status status = read_head(reader, error);
    if (status != FM_OK) {
        fm_journal_reader_close(reader);
        return status;
    }
    *out = reader;
    return FM_OK;
}

void fm_journal_reader_close(fm_journal_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    sqlite3_finalize(reader->rows);
    fm_journal_reader_close_file(reader);
    free(reader->keyframes);
    free(reader);
}

const fm_journal_info *fm_journal_reader_info(const fm_journal_reader *reader)
{
    return &reader->info;
}
