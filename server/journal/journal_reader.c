// server/journal/journal_reader.c: see journal_reader.h. A file may be anything: it may have been
// cut off, overwritten, or made by somebody who means no good. SQLite checks its own pages as it
// goes; types, order and sums of the rows are checked here.

#include "server/journal/journal_reader.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define PATH_SIZE     4096u
#define BUSY_MS       5000
#define KEYFRAMES_MAX (1u << 20)
#define TICK_HZ_MAX   1000.0
#define BUDGET_MS_MAX 10000.0

struct fm_journal_reader {
    char path[PATH_SIZE];
    sqlite3 *db;
    sqlite3_stmt *rows;       // of log, from a position on
    uint64_t position;        // of the row that `next` gave last
    uint64_t tick;            // the same; ticks never fall
    uint64_t ticks_completed; // as of that row
    uint64_t oldest_position;
    bool at_start;        // nothing was given since the last seek
    fm_journal_link link; // of that row, unless its link is not known yet
    bool link_known;
    uint64_t linked_from; // rows up to this position have no link: they are of format 1
    bool has_mark;
    bool may_lag; // the file was never synced: a mark of another start of the system may be ahead
    fm_journal_info info;
    fm_journal_keyframe *keyframes; // owned
    uint32_t keyframe_count, keyframe_capacity;
};

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

// ---- errors ------------------------------------------------------------------------------------

static fm_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return FM_ERR_NO_MEMORY;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: // a table or column that is not there
    case SQLITE_TOOBIG:
        return FM_ERR_BAD_FORMAT;
    default:
        return FM_ERR_IO;
    }
}

// What SQLite says of its own format means little to people who have a journal.
static fm_status complain_sqlite(const fm_journal_reader *reader, char *error, const char *where)
{
    int code = sqlite3_errcode(reader->db) & 0xff;
    const char *what = code == SQLITE_CORRUPT  ? "the file is damaged or was cut off"
                       : code == SQLITE_NOTADB ? "is no journal of fogmarch"
                                               : sqlite3_errmsg(reader->db);
    return fm_journal_complain(reader->path, error, status_of(code), "%s: %s", where, what);
}

static fm_status complain_keyframe(const fm_journal_reader *reader,
                                   const fm_journal_keyframe *keyframe, char *error,
                                   fm_status status, const char *what)
{
    return fm_journal_complain(
        reader->path, error, status, "table keyframes, position %llu (tick %llu): %s",
        (unsigned long long)keyframe->position, (unsigned long long)keyframe->tick, what);
}

static fm_status complain_row(const fm_journal_reader *reader, uint64_t position, uint64_t tick,
                              char *error, const char *what)
{
    return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                               "table log, position %llu (tick %llu): %s",
                               (unsigned long long)position, (unsigned long long)tick, what);
}

// ---- statements --------------------------------------------------------------------------------

static fm_status prepare(fm_journal_reader *reader, const char *sql, sqlite3_stmt **out,
                         const char *where, char *error)
{
    if (sqlite3_prepare_v2(reader->db, sql, -1, out, NULL) != SQLITE_OK) {
        return complain_sqlite(reader, error, where);
    }
    return FM_OK;
}

// Reads the one number of a statement without parameters. `found` may be NULL: then there must be
// one.
static fm_status read_number(fm_journal_reader *reader, const char *sql, uint64_t *number,
                             bool *found, const char *where, char *error)
{
    sqlite3_stmt *statement;
    fm_status status = prepare(reader, sql, &statement, where, error);
    if (status != FM_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    bool is_number = code == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = complain_sqlite(reader, error, where);
    } else if (!is_number && found == NULL) {
        status = fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                     "%s: there is no number", where);
    } else if (is_number) {
        *number = (uint64_t)sqlite3_column_int64(statement, 0);
    }
    if (found != NULL) {
        *found = is_number;
    }
    sqlite3_finalize(statement);
    return status;
}

// ---- opening -----------------------------------------------------------------------------------

// A file that somebody made to do harm may have views and triggers in the place of tables.
static void distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)FM_JOURNAL_BLOB_MAX);
    sqlite3_exec(db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    sqlite3_busy_timeout(db, BUSY_MS);
}

static bool has_wal(const char *path)
{
    char wal[PATH_SIZE + 8];
    snprintf(wal, sizeof wal, "%s-wal", path);
    return access(wal, F_OK) == 0;
}

// The URI of a file that nobody changes: '?', '#' and '%' of the path are written as %xx.
static void immutable_uri(const char *path, char *uri, size_t size)
{
    size_t used = (size_t)snprintf(uri, size, "file:");
    for (const char *letter = path; *letter != '\0' && used + 32 < size; letter++) {
        bool plain = strchr("?#%", *letter) == NULL;
        used += (size_t)snprintf(uri + used, size - used, plain ? "%c" : "%%%02x",
                                 (unsigned char)*letter);
    }
    snprintf(uri + used, size - used, "?immutable=1");
}

enum access {
    ACCESS_SHARED,
    ACCESS_IMMUTABLE, // nothing may be written beside it, and nobody changes it
    ACCESS_ALONE,     // nothing can be written beside it: the disk is full
};

static int open_database(fm_journal_reader *reader, enum access how)
{
    char uri[3 * PATH_SIZE + 64];
    const char *name = reader->path;
    int flags =
        SQLITE_OPEN_NOMUTEX | (how == ACCESS_ALONE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    if (how == ACCESS_IMMUTABLE) {
        immutable_uri(reader->path, uri, sizeof uri);
        name = uri;
        flags |= SQLITE_OPEN_URI;
    }
    sqlite3_close(reader->db);
    int code = sqlite3_open_v2(name, &reader->db, flags, NULL);
    if (code == SQLITE_OK) {
        distrust(reader->db);
        if (how == ACCESS_ALONE) { // what SQLite shares with others it keeps in memory then
            sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
            sqlite3_exec(reader->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
        }
        code = sqlite3_exec(reader->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    return code;
}

// SQLite wants to write files beside one in WAL mode. Where it may not, and nothing is left in such
// a file, it can be read without.
static fm_status open_file(fm_journal_reader *reader, char *error)
{
    struct stat about;
    if (access(reader->path, R_OK) != 0 || stat(reader->path, &about) != 0) {
        return fm_journal_complain(reader->path, error, FM_ERR_IO, "%m");
    }
    if (!S_ISREG(about.st_mode)) {
        return fm_journal_complain(reader->path, error, FM_ERR_IO,
                                   "is no file, but a folder or something else");
    }
    int code = open_database(reader, ACCESS_SHARED) & 0xff;
    bool may_not_write = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (may_not_write && !has_wal(reader->path)) {
        code = open_database(reader, ACCESS_IMMUTABLE);
    } else if (code == SQLITE_IOERR || code == SQLITE_FULL) {
        code = open_database(reader, ACCESS_ALONE);
    }
    if (reader->db == NULL) {
        return fm_journal_complain(reader->path, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    return code == SQLITE_OK ? FM_OK : complain_sqlite(reader, error, "opening");
}

static fm_status check_format(fm_journal_reader *reader, char *error)
{
    uint64_t application = 0, format = 0;
    fm_status status =
        read_number(reader, "PRAGMA application_id", &application, NULL, "header", error);
    if (status == FM_OK && application == 0 && !has_wal(reader->path)) {
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
        status = read_number(reader, "PRAGMA user_version", &format, NULL, "header", error);
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

// ---- what it says of itself --------------------------------------------------------------------

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

// Keys that this program does not know are left to newer ones.
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

static fm_status read_meta(fm_journal_reader *reader, char *error)
{
    sqlite3_stmt *rows;
    fm_status status = prepare(reader, "SELECT key, value FROM meta", &rows, "table meta", error);
    if (status != FM_OK) {
        return status;
    }
    int code = SQLITE_DONE;
    while (status == FM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        status = take_meta(reader, rows, error);
    }
    if (status == FM_OK && code != SQLITE_DONE) {
        status = complain_sqlite(reader, error, "table meta");
    }
    sqlite3_finalize(rows);
    if (status == FM_OK && (reader->info.name[0] == '\0' || reader->info.number == 0)) {
        status = fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                     "table meta: the world has no name or no number");
    }
    return status;
}

// ---- keyframes ---------------------------------------------------------------------------------

static bool is_pace(const fm_journal_pace *pace)
{
    return pace->tick_hz > 0 && pace->tick_hz <= TICK_HZ_MAX && pace->budget_ms > 0 &&
           pace->budget_ms <= BUDGET_MS_MAX;
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

static bool take_link(sqlite3_stmt *row, int column, fm_journal_link *link)
{
    const void *bytes = sqlite3_column_blob(row, column);
    if (bytes == NULL || sqlite3_column_bytes(row, column) != (int)sizeof link->bytes) {
        return false;
    }
    memcpy(link->bytes, bytes, sizeof link->bytes);
    return true;
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
    if (!keyframe_has_types(row) || !is_pace(&keyframe.pace) || keyframe.tick > INT64_MAX ||
        keyframe.size > FM_JOURNAL_WORLD_MAX) {
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

static fm_status read_keyframes(fm_journal_reader *reader, char *error)
{
    sqlite3_stmt *rows;
    fm_status status = prepare(reader,
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
        status = complain_sqlite(reader, error, "table keyframes");
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

// The link of the row at a position. Rows of format 1 have none: the chain begins behind them.
static fm_status read_link(fm_journal_reader *reader, uint64_t position, fm_journal_link *link,
                           bool *found, char *error)
{
    *found = position <= reader->linked_from;
    if (*found) {
        *link = fm_journal_link_first(reader->info.name, reader->info.number);
        return FM_OK;
    }
    sqlite3_stmt *row;
    fm_status status =
        prepare(reader, "SELECT link FROM log WHERE position = ?", &row, "table log", error);
    if (status != FM_OK) {
        return status;
    }
    sqlite3_bind_int64(row, 1, (sqlite3_int64)position);
    int code = sqlite3_step(row);
    *found = code == SQLITE_ROW && take_link(row, 0, link);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = complain_sqlite(reader, error, "table log");
    }
    sqlite3_finalize(row);
    return status;
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
    fm_status status = read_link(reader, keyframe->position, &link, &found, error);
    if (status != FM_OK) {
        return status;
    }
    seal = fm_journal_seal(&link, keyframe->digest, &keyframe->pace, keyframe->size, checksum);
    bool good =
        found && take_link(row, 2, &found_seal) && fm_journal_link_equal(&seal, &found_seal);
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
                                   : complain_sqlite(reader, error, "table keyframes");
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
    fm_status status = prepare(
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

// ---- the log -----------------------------------------------------------------------------------

static fm_status take_pace(const fm_journal_reader *reader, fm_journal_row *row, char *error)
{
    fm_reader in = fm_reader_init(row->bytes, row->size, NULL);
    row->pace.paused = fm_reader_take_bool(&in, "paused");
    uint64_t tick_hz = fm_reader_take_u64(&in), budget_ms = fm_reader_take_u64(&in);
    memcpy(&row->pace.tick_hz, &tick_hz, sizeof tick_hz);
    memcpy(&row->pace.budget_ms, &budget_ms, sizeof budget_ms);
    bool good = fm_reader_finish(&in) == FM_OK && is_pace(&row->pace);
    return good ? FM_OK
                : complain_row(reader, row->position, row->tick, error,
                               "the pace is outside its range");
}

static bool is_kind(sqlite3_int64 kind)
{
    return kind >= FM_JOURNAL_COMMAND && kind <= FM_JOURNAL_GAP;
}

// Whether a row follows the one before it. The first one that is left of a journal that was
// shortened has nothing to be compared with.
static fm_status check_link(fm_journal_reader *reader, const fm_journal_row *row, char *error)
{
    fm_journal_link link;
    if (row->position <= reader->linked_from) {
        return FM_OK;
    }
    if (!take_link(reader->rows, 5, &link)) {
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
        fm_status status = prepare(reader,
                                   reader->info.format == 1
                                       ? "SELECT position, tick, kind, bytes, checksum FROM log"
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
    // After the position of a row that is there, the next must follow at once.
    reader->at_start = position < reader->oldest_position;
    reader->position = position;
    reader->tick = 0;
    return read_link(reader, position, &reader->link, &reader->link_known, error);
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
        fm_journal_reader_rest(reader); // begins behind the last row, should the writer add some
        return reader->position >= reader->info.last_position
                   ? FM_OK
                   : complain_row(reader, reader->position, reader->tick, error,
                                  "rows behind it are missing");
    }
    if (code != SQLITE_ROW) {
        return complain_sqlite(reader, error, "table log");
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

// The tick that a row belongs to: what comes between two ticks belongs to the later one.
static fm_status tick_at(fm_journal_reader *reader, uint64_t position, uint64_t *tick, bool *found,
                         char *error)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT tick + (kind > %d) FROM log WHERE position = %lld",
             FM_JOURNAL_TICK, (long long)position);
    return read_number(reader, sql, tick, found, "table log", error);
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

// How far it goes, and at which pace the world went last.
static fm_status read_end(fm_journal_reader *reader, char *error)
{
    fm_journal_info *info = &reader->info;
    const fm_journal_keyframe *newest = &reader->keyframes[reader->keyframe_count - 1];
    info->first_tick = reader->keyframes[0].tick;
    info->pace = newest->pace;
    info->last_tick = newest->tick;
    bool found;
    uint64_t tick = 0;
    fm_status status = read_number(reader, "SELECT max(position) FROM log", &info->last_position,
                                   &found, "table log", error);
    if (status == FM_OK && !found) {
        return fm_journal_complain(reader->path, error, FM_ERR_BAD_FORMAT,
                                   "table log: there are no rows");
    }
    if (status == FM_OK) {
        status = read_number(reader, "SELECT min(position) FROM log", &reader->oldest_position,
                             &found, "table log", error);
    }
    if (status == FM_OK) {
        status =
            read_number(reader, "SELECT tick - (kind = 1) FROM log ORDER BY position DESC LIMIT 1",
                        &tick, &found, "table log", error);
    }
    info->last_tick = tick > info->last_tick ? tick : info->last_tick;
    return status;
}

static fm_status read_pace(fm_journal_reader *reader, char *error)
{
    uint64_t position = 0;
    bool found;
    fm_status status = read_number(reader,
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

// Compares the end with the mark, which was read before the database: of a journal that is being
// written the database may be further, but not less far.
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
    fm_status status = read_link(reader, info->mark.position, &link, &found, error);
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
        fm_journal_complain(
            reader->path, error, FM_OK,
            "ends at tick %llu, but was written up to tick %llu: %llu ticks and %llu"
            " rows are lost; it is an older state of itself, or damaged",
            last, marked, marked > last ? marked - last : 0,
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
    fm_status status = open_file(reader, error);
    if (status == FM_OK) {
        status = check_format(reader, error);
    }
    if (status == FM_OK) {
        status = read_meta(reader, error);
    }
    if (status == FM_OK) {
        status = read_keyframes(reader, error);
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
    sqlite3_close(reader->db);
    free(reader->keyframes);
    free(reader);
}

const fm_journal_info *fm_journal_reader_info(const fm_journal_reader *reader)
{
    return &reader->info;
}
