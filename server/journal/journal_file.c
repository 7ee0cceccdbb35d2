// server/journal/journal_file.c: see journal_file.h.

#include "server/journal/journal_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define PATH_SIZE         4096u
#define BUSY_MS           50         // wait for another process that uses the file
#define WAL_KEPT_SIZE     "16777216" // bytes to which the WAL file is truncated
#define COMPRESSION_LEVEL 1 // 400 MB a second and a third of the size; 3 gains 4 % and halves that
#define KEYFRAMES_KEPT    2u

static const char schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE log (position INTEGER PRIMARY KEY, tick INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, checksum INTEGER NOT NULL, link BLOB);"
    "CREATE TABLE keyframes (position INTEGER PRIMARY KEY, tick INTEGER NOT NULL,"
    " digest INTEGER NOT NULL, paused INTEGER NOT NULL, tick_hz REAL NOT NULL, budget_ms REAL NOT "
    "NULL,"
    " size INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL, seal BLOB);";

// Rows up to position linked_from have no link.
static const char from_format_1[] =
    "ALTER TABLE log ADD COLUMN link BLOB; ALTER TABLE keyframes ADD COLUMN seal BLOB;"
    "INSERT OR REPLACE INTO meta SELECT 'linked_from', max(position) FROM log;";

struct fm_journal_file {
    char path[PATH_SIZE];
    fm_durability durability;
    sqlite3 *db; // NULL: given up, to be opened again
    sqlite3_stmt *insert_row, *insert_keyframe;
    fm_journal_mark end;               // the last row that was committed
    fm_journal_mark next;              // the last row of the transaction under way
    const fm_journal_link *first_link; // of a copy's first row, which follows none here; NULL
    fm_journal_tail tail;              // where it continues, before it does
    bool goes_on;                      // the file is as this program writes it
    fm_journal_added added;            // since; after a commit, by it
    fm_journal_marker *marker;         // owned; NULL: not open yet
    ZSTD_CCtx *compressor;             // owned
    uint8_t *packed;                   // owned; room for a keyframe
    size_t packed_capacity;
};

// ---- errors ------------------------------------------------------------------------------------

static fm_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return FM_ERR_NO_MEMORY;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
        return FM_ERR_BAD_FORMAT;
    case SQLITE_TOOBIG:
        return FM_ERR_TOO_LARGE;
    default:
        return FM_ERR_IO;
    }
}

// SQLite says what failed, the system why.
static fm_status complain_sqlite(const fm_journal_file *file, char *error, const char *doing)
{
    if (file->db == NULL) {
        return fm_journal_complain(file->path, error, FM_ERR_NO_MEMORY, "%s: out of memory", doing);
    }
    int reason = sqlite3_system_errno(file->db);
    fm_status status = status_of(sqlite3_errcode(file->db));
    return fm_journal_complain(file->path, error, status, "%s: %s%s%s", doing,
                               sqlite3_errmsg(file->db), reason == 0 ? "" : ": ",
                               reason == 0 ? "" : strerror(reason));
}

// ---- the database ------------------------------------------------------------------------------

static fm_status run(fm_journal_file *file, const char *sql, const char *doing, char *error)
{
    int code = sqlite3_exec(file->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? FM_OK : complain_sqlite(file, error, doing);
}

static fm_status prepare(fm_journal_file *file, const char *sql, sqlite3_stmt **out, char *error)
{
    int code = sqlite3_prepare_v2(file->db, sql, -1, out, NULL);
    return code == SQLITE_OK ? FM_OK : complain_sqlite(file, error, "preparing");
}

static uint64_t number_of(fm_journal_file *file, const char *sql)
{
    sqlite3_stmt *statement;
    uint64_t number = 0;
    if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW) {
            number = (uint64_t)sqlite3_column_int64(statement, 0);
        }
        sqlite3_finalize(statement);
    }
    return number;
}

static void close_database(fm_journal_file *file)
{
    sqlite3_finalize(file->insert_row);
    sqlite3_finalize(file->insert_keyframe);
    sqlite3_close(file->db);
    file->insert_row = file->insert_keyframe = NULL;
    file->db = NULL;
}

static fm_status open_database(fm_journal_file *file, int flags, char *error)
{
    int code = sqlite3_open_v2(file->path, &file->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | flags, NULL);
    if (code != SQLITE_OK) {
        return complain_sqlite(file, error, "opening");
    }
    sqlite3_busy_timeout(file->db, BUSY_MS); // the other worlds wait as well
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return FM_OK;
}

static fm_status set_up(fm_journal_file *file, char *error)
{
    bool synced = file->durability != FM_DURABILITY_NONE;
    fm_status status = run(file, "PRAGMA journal_mode=WAL", "opening", error);
    if (status == FM_OK) {
        status = run(file, synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF", "opening",
                     error);
    }
    if (status == FM_OK) {
        status = run(file, "PRAGMA journal_size_limit=" WAL_KEPT_SIZE, "opening", error);
    }
    return status;
}

static fm_status prepare_inserts(fm_journal_file *file, char *error)
{
    fm_status status = prepare(file,
                               "INSERT OR REPLACE INTO log"
                               " (position, tick, kind, bytes, checksum, link)"
                               " VALUES (?, ?, ?, ?, ?, ?)",
                               &file->insert_row, error);
    if (status == FM_OK) {
        status = prepare(file,
                         "INSERT OR REPLACE INTO keyframes (position, tick, paused, tick_hz,"
                         " budget_ms, size, checksum, bytes, digest, seal)"
                         " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                         &file->insert_keyframe, error);
    }
    return status;
}

// A file is durable only when its folder is synced. File systems that cannot do that do not need
// it.
static void sync_folder(const char *path)
{
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, sizeof folder, ".");
    } else {
        slash[slash == folder] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

// Where the last durability was not tick, ticks that clients have seen may be lost.
static fm_status adopt(fm_journal_file *file, char *error)
{
    bool may_lack = !file->tail.was_synced, is_old = file->tail.format < FM_JOURNAL_FORMAT;
    bool synced = file->durability == FM_DURABILITY_TICK;
    char sql[768];
    if (!may_lack && !is_old && synced) {
        return FM_OK; // avoids writing, which a full disk would refuse
    }
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE; %s UPDATE meta SET value = value + %d WHERE key = 'timeline';"
             " UPDATE meta SET value = %d WHERE key = 'durability'; PRAGMA user_version=%d; COMMIT",
             is_old ? from_format_1 : "", may_lack, file->durability, FM_JOURNAL_FORMAT);
    fm_status status = run(file, sql, "writing", error);
    if (status != FM_OK) {
        sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

// Done once before the file is written again. The mark comes first: a journal of this format
// without one counts as damaged.
static fm_status go_on(fm_journal_file *file, char *error)
{
    fm_status status = FM_OK;
    bool synced = file->durability != FM_DURABILITY_NONE;
    if (file->marker == NULL) {
        status =
            file->tail.has_mark
                ? fm_journal_marker_open(file->path, synced, &file->marker, error)
                : fm_journal_marker_create(file->path, synced, &file->end, &file->marker, error);
        sync_folder(file->path);
    }
    if (status == FM_OK) {
        status = adopt(file, error);
    }
    file->goes_on = status == FM_OK;
    return status;
}

static fm_status open_again(fm_journal_file *file, char *error)
{
    fm_status status = open_database(file, 0, error);
    if (status == FM_OK) {
        status = set_up(file, error);
    }
    if (status == FM_OK && !file->goes_on) {
        status = go_on(file, error);
    }
    if (status == FM_OK) {
        status = prepare_inserts(file, error);
    }
    if (status != FM_OK) {
        close_database(file);
    }
    return status;
}

// ---- rows --------------------------------------------------------------------------------------

static fm_status insert(fm_journal_file *file, sqlite3_stmt *statement, char *error)
{
    int code = sqlite3_step(statement);
    fm_status status = code == SQLITE_DONE ? FM_OK : complain_sqlite(file, error, "writing");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

fm_status fm_journal_file_begin(fm_journal_file *file, char *error)
{
    if (file->db == NULL) {
        fm_status status = open_again(file, error);
        if (status != FM_OK) {
            return status;
        }
    }
    file->added = (fm_journal_added){0};
    file->next = file->end;
    return run(file, "BEGIN IMMEDIATE", "writing", error);
}

fm_status fm_journal_file_add(fm_journal_file *file, fm_journal_kind kind, uint64_t tick,
                              const void *bytes, size_t size, char *error)
{
    if (size > FM_JOURNAL_BLOB_MAX) {
        return fm_journal_complain(file->path, error, FM_ERR_TOO_LARGE,
                                   "a %s of tick %llu has %zu bytes", fm_journal_kind_name(kind),
                                   (unsigned long long)tick, size);
    }
    uint64_t position = file->end.position + ++file->added.rows;
    file->added.bytes += size;
    uint64_t checksum = fm_journal_checksum(position, tick, kind, bytes, size);
    file->next.position = position;
    file->next.tick = fm_journal_ticks_at(kind, tick);
    file->next.link = file->first_link != NULL ? *file->first_link
                                               : fm_journal_link_next(&file->next.link, position,
                                                                      tick, kind, bytes, size);
    sqlite3_stmt *row = file->insert_row;
    sqlite3_bind_int64(row, 1, (sqlite3_int64)position);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)tick);
    sqlite3_bind_int64(row, 3, kind);
    sqlite3_bind_blob64(row, 4, size == 0 ? "" : bytes, size, SQLITE_STATIC);
    sqlite3_bind_int64(row, 5, (sqlite3_int64)checksum);
    sqlite3_bind_blob(row, 6, file->next.link.bytes, sizeof file->next.link.bytes, SQLITE_STATIC);
    return insert(file, row, error);
}

static fm_status reserve_packed(fm_journal_file *file, size_t size)
{
    if (file->compressor == NULL) {
        file->compressor = ZSTD_createCCtx();
    }
    if (file->packed_capacity < size) {
        free(file->packed);
        file->packed = malloc(size);
        file->packed_capacity = file->packed == NULL ? 0 : size;
    }
    return file->compressor == NULL || file->packed == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

static fm_status pack_world(fm_journal_file *file, const fm_journal_world *world, size_t *size,
                            char *error)
{
    fm_status status = reserve_packed(file, ZSTD_compressBound(world->size));
    if (status != FM_OK) {
        return fm_journal_complain(file->path, error, status, "packing a keyframe: out of memory");
    }
    *size = ZSTD_compressCCtx(file->compressor, file->packed, file->packed_capacity, world->bytes,
                              world->size, COMPRESSION_LEVEL);
    if (ZSTD_isError(*size)) {
        return fm_journal_complain(file->path, error, FM_ERR_NO_MEMORY, "packing a keyframe: %s",
                                   ZSTD_getErrorName(*size));
    }
    if (*size > FM_JOURNAL_BLOB_MAX || world->size > FM_JOURNAL_WORLD_MAX) {
        return fm_journal_complain(file->path, error, FM_ERR_TOO_LARGE,
                                   "a keyframe of %zu bytes is too large", world->size);
    }
    return FM_OK;
}

fm_status fm_journal_file_add_keyframe(fm_journal_file *file, const fm_journal_world *world,
                                       char *error)
{
    size_t size = 0;
    fm_status status = pack_world(file, world, &size, error);
    if (status == FM_OK) {
        status = fm_journal_file_add(file, FM_JOURNAL_KEYFRAME, world->tick, NULL, 0, error);
    }
    if (status != FM_OK) {
        return status;
    }
    uint64_t position = file->next.position;
    file->added.bytes += size;
    uint64_t checksum =
        fm_journal_checksum(position, world->tick, FM_JOURNAL_KEYFRAME, file->packed, size);
    fm_journal_link seal =
        fm_journal_seal(&file->next.link, world->digest, &world->pace, world->size, checksum);
    sqlite3_stmt *row = file->insert_keyframe;
    sqlite3_bind_int64(row, 1, (sqlite3_int64)position);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)world->tick);
    sqlite3_bind_int64(row, 3, world->pace.paused);
    sqlite3_bind_double(row, 4, world->pace.tick_hz);
    sqlite3_bind_double(row, 5, world->pace.budget_ms);
    sqlite3_bind_int64(row, 6, (sqlite3_int64)world->size);
    sqlite3_bind_int64(row, 7, (sqlite3_int64)checksum);
    sqlite3_bind_blob64(row, 8, file->packed, size, SQLITE_STATIC);
    sqlite3_bind_int64(row, 9, (sqlite3_int64)world->digest);
    sqlite3_bind_blob(row, 10, seal.bytes, sizeof seal.bytes, SQLITE_STATIC);
    return insert(file, row, error);
}

fm_status fm_journal_file_next_timeline(fm_journal_file *file, char *error)
{
    return run(file, "UPDATE meta SET value = value + 1 WHERE key = 'timeline'", "writing", error);
}

fm_status fm_journal_file_commit(fm_journal_file *file, char *error)
{
    fm_status status = run(file, "COMMIT", "committing", error);
    if (status == FM_OK) {
        status = fm_journal_marker_write(file->marker, &file->next, error);
    }
    if (status == FM_OK) {
        file->end = file->next;
    }
    return status;
}

fm_journal_added fm_journal_file_added(const fm_journal_file *file)
{
    return file->added;
}

const char *fm_journal_file_path(const fm_journal_file *file)
{
    return file->path;
}

fm_journal_mark fm_journal_file_end_mark(const fm_journal_file *file)
{
    return file->end;
}

fm_journal_mark fm_journal_file_next_mark(const fm_journal_file *file)
{
    return file->next;
}

void fm_journal_file_give_up(fm_journal_file *file)
{
    if (file->db != NULL) {
        sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
        close_database(file);
    }
}

// ---- size --------------------------------------------------------------------------------------

// Bytes in use in the file, free pages not counted.
static uint64_t used_size(fm_journal_file *file)
{
    if (file->db == NULL) {
        return 0;
    }
    uint64_t pages = number_of(file, "PRAGMA page_count");
    uint64_t free_pages = number_of(file, "PRAGMA freelist_count");
    return (pages - free_pages) * number_of(file, "PRAGMA page_size");
}

// Pages that become free are used again, so the file stops growing.
static fm_status drop_oldest(fm_journal_file *file, char *error)
{
    uint64_t second = number_of(file, "SELECT position FROM keyframes ORDER BY position"
                                      " LIMIT 1 OFFSET 1");
    char sql[192];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE; DELETE FROM log WHERE position < %llu;"
             " DELETE FROM keyframes WHERE position < %llu; COMMIT",
             (unsigned long long)second, (unsigned long long)second);
    return run(file, sql, "shortening", error);
}

fm_status fm_journal_file_shorten(fm_journal_file *file, uint64_t size_max, char *error)
{
    fm_status status = FM_OK;
    while (status == FM_OK && used_size(file) > size_max &&
           number_of(file, "SELECT count(*) FROM keyframes") > KEYFRAMES_KEPT) {
        status = drop_oldest(file, error);
    }
    return status;
}

// ---- beginning ---------------------------------------------------------------------------------

static fm_status file_init(const char *path, fm_durability durability, fm_journal_file **out,
                           char *error)
{
    fm_journal_file *file = calloc(1, sizeof *file);
    if (file == NULL || strlen(path) >= sizeof file->path) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: %s", path,
                 file == NULL ? "out of memory" : "the name is too long");
        free(file);
        return file == NULL ? FM_ERR_NO_MEMORY : FM_ERR_IO;
    }
    memcpy(file->path, path, strlen(path) + 1);
    file->durability = durability;
    file->end.boot = fm_journal_boot();
    *out = file;
    return FM_OK;
}

static void file_destroy(fm_journal_file *file)
{
    close_database(file);
    fm_journal_marker_close(file->marker);
    ZSTD_freeCCtx(file->compressor);
    free(file->packed);
    free(file);
}

static fm_status put_text(fm_journal_file *file, const char *key, const char *text, char *error)
{
    sqlite3_stmt *row;
    fm_status status = prepare(file, "INSERT INTO meta (key, value) VALUES (?, ?)", &row, error);
    if (status != FM_OK) {
        return status;
    }
    sqlite3_bind_text(row, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, text, -1, SQLITE_STATIC);
    status = insert(file, row, error);
    sqlite3_finalize(row);
    return status;
}

static fm_status put_number(fm_journal_file *file, const char *key, uint64_t number, char *error)
{
    char sql[128];
    snprintf(sql, sizeof sql, "INSERT INTO meta (key, value) VALUES ('%s', %llu)", key,
             (unsigned long long)number);
    return run(file, sql, "writing", error);
}

static fm_status put_bases(fm_journal_file *file, const fm_journal_head *head, char *error)
{
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_writer_put_varint(&bytes, head->base_count);
    for (uint32_t i = 0; i < head->base_count; i++) {
        fm_writer_put_varint(&bytes, head->bases[i]);
    }
    sqlite3_stmt *row = NULL;
    fm_status status =
        bytes.failed
            ? fm_journal_complain(file->path, error, FM_ERR_NO_MEMORY, "out of memory")
            : prepare(file, "INSERT INTO meta (key, value) VALUES ('bases', ?)", &row, error);
    if (status == FM_OK) {
        sqlite3_bind_blob64(row, 1, bytes.data, bytes.size, SQLITE_STATIC);
        status = insert(file, row, error);
    }
    sqlite3_finalize(row);
    fm_writer_fini(&bytes);
    return status;
}

static fm_status put_head(fm_journal_file *file, const fm_journal_head *head, char *error)
{
    char mark[128];
    snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             FM_JOURNAL_APPLICATION, FM_JOURNAL_FORMAT);
    fm_status status = run(file, mark, "writing", error);
    if (status == FM_OK) {
        status = run(file, schema, "writing", error);
    }
    if (status == FM_OK) {
        status = put_text(file, "fogmarch", FOGMARCH_VERSION, error);
    }
    if (status == FM_OK) {
        status = put_text(file, "name", head->name, error);
    }
    if (status == FM_OK) {
        status = put_number(file, "number", head->number, error);
    }
    if (status == FM_OK) {
        status = put_number(file, "overload", head->overload, error);
    }
    if (status == FM_OK) {
        status = put_number(file, "timeline", head->timeline, error);
    }
    if (status == FM_OK) {
        status = put_number(file, "durability", file->durability, error);
    }
    return status == FM_OK ? put_bases(file, head, error) : status;
}

// All in one transaction: a file that a crash leaves behind has everything or nothing.
static fm_status write_beginning(fm_journal_file *file, const fm_journal_head *head,
                                 const fm_journal_world *world, char *error)
{
    fm_status status = run(file, "BEGIN IMMEDIATE", "writing", error);
    if (status == FM_OK) {
        status = put_head(file, head, error);
    }
    if (status == FM_OK) {
        status = prepare_inserts(file, error);
    }
    if (status == FM_OK) {
        status = fm_journal_file_add_keyframe(file, world, error);
    }
    return status == FM_OK ? fm_journal_file_commit(file, error) : status;
}

// The database, and what SQLite keeps beside it.
static const char *const suffixes[] = {"-wal", "-shm", "-journal", FM_JOURNAL_MARK_SUFFIX, ""};

static void remove_files(const char *path)
{
    for (size_t i = 0; i < FM_COUNT_OF(suffixes); i++) {
        char name[PATH_SIZE + 40];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

// They are made here and not by SQLite, so that no other user can ever read them, and the mark is
// durable before the journal is.
static fm_status make_files(fm_journal_file *file, const fm_journal_head *head, char *error)
{
    file->goes_on = true;
    if (file->first_link == NULL) {
        file->end.link = fm_journal_link_first(head->name, head->number);
    }
    file->next.link = file->end.link;
    fm_status status = fm_journal_marker_create(file->path, file->durability != FM_DURABILITY_NONE,
                                                &file->end, &file->marker, error);
    if (status != FM_OK) {
        return status;
    }
    sync_folder(file->path);
    int fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fm_journal_complain(file->path, error, FM_ERR_IO, "opening: %m");
    }
    close(fd);
    return FM_OK;
}

// @param start  as in fm_journal_file_copy(); NULL: it follows nothing
static fm_status create(const char *path, const fm_journal_head *head,
                        const fm_journal_world *world, const fm_journal_mark *start,
                        fm_durability durability, fm_journal_file **out, char *error)
{
    fm_journal_file *file;
    fm_status status = file_init(path, durability, &file, error);
    if (status != FM_OK) {
        return status;
    }
    if (start != NULL) {
        file->end.position = start->position - 1;
        file->end.tick = world->tick;
        file->end.link = start->link;
        file->first_link = &start->link;
    }
    if (access(path, F_OK) == 0) {
        status = fm_journal_complain(file->path, error, FM_ERR_EXISTS, "is there already");
        file_destroy(file);
        return status;
    }
    status = make_files(file, head, error);
    if (status == FM_OK) {
        status = open_database(file, 0, error);
    }
    if (status == FM_OK) {
        status = set_up(file, error);
    }
    if (status == FM_OK) {
        status = write_beginning(file, head, world, error);
    }
    if (status != FM_OK) {
        file_destroy(file);
        remove_files(path);
        return status;
    }
    file->first_link = NULL;
    sync_folder(path);
    *out = file;
    return FM_OK;
}

fm_status fm_journal_file_create(const char *path, const fm_journal_head *head,
                                 const fm_journal_world *world, fm_durability durability,
                                 fm_journal_file **out, char *error)
{
    return create(path, head, world, NULL, durability, out, error);
}

fm_status fm_journal_file_copy(const char *path, const fm_journal_head *head,
                               const fm_journal_world *world, const fm_journal_mark *start,
                               fm_journal_file **out, char *error)
{
    return create(path, head, world, start, FM_DURABILITY_TICK, out, error);
}

fm_status fm_journal_file_open(const char *path, fm_durability durability,
                               const fm_journal_tail *tail, fm_journal_file **out, char *error)
{
    fm_journal_file *file;
    fm_status status = file_init(path, durability, &file, error);
    if (status != FM_OK) {
        return status;
    }
    file->tail = *tail;
    file->end.position = tail->position;
    file->end.tick = tail->tick;
    file->end.link = tail->link;
    (void)chmod(path, 0600); // older programs made files that all users could read
    status = open_again(file, error);
    if (status != FM_OK && status != FM_ERR_IO) {
        file_destroy(file);
        return status;
    }
    *out = file;
    return FM_OK;
}

bool fm_journal_file_is_open(const fm_journal_file *file)
{
    return file->db != NULL;
}

// ---- the end -----------------------------------------------------------------------------------

void fm_journal_file_close(fm_journal_file *file)
{
    if (file != NULL) {
        file_destroy(file);
    }
}

static void name_aside(char target[PATH_SIZE + 24], const char *path, const char *ending)
{
    snprintf(target, PATH_SIZE + 24, "%.*s.%.16s", (int)PATH_SIZE, path, ending);
}

static bool rename_files(const char *path, const char *target)
{
    bool renamed = true;
    for (size_t i = 0; renamed && i < FM_COUNT_OF(suffixes); i++) {
        char from[PATH_SIZE + 8], to[PATH_SIZE + 40];
        snprintf(from, sizeof from, "%s%s", path, suffixes[i]);
        snprintf(to, sizeof to, "%s%s", target, suffixes[i]);
        bool is_database = suffixes[i][0] == '\0';
        renamed = rename(from, to) == 0 || (!is_database && errno == ENOENT);
    }
    return renamed;
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

// rename() does nothing where both names are one file's.
static bool leave_old_name(const char *path, const char *target)
{
    return rename_files(path, target) && unlink(path) == 0; // never without its WAL
}

bool fm_journal_file_finish_aside(const char *path)
{
    static const char *const endings[] = {"ended", "former", "damaged"};
    char target[PATH_SIZE + 24];
    for (size_t i = 0; i < FM_COUNT_OF(endings); i++) {
        name_aside(target, path, endings[i]);
        if (is_same_file(path, target)) {
            return leave_old_name(path, target);
        }
    }
    return false;
}

// Also where the process died after the commit, before the mark was written: then there are tables.
static bool has_no_table(const char *path)
{
    fm_journal_file file = {0};
    char error[FM_JOURNAL_ERROR_SIZE];
    sqlite3_stmt *tables = NULL;
    memcpy(file.path, path, strlen(path) + 1);
    bool is_empty = open_database(&file, 0, error) == FM_OK &&
                    prepare(&file, "SELECT 1 FROM sqlite_schema", &tables, error) == FM_OK &&
                    sqlite3_step(tables) == SQLITE_DONE;
    sqlite3_finalize(tables);
    close_database(&file);
    return is_empty;
}

bool fm_journal_file_remove_unbegun(const char *path)
{
    fm_journal_mark mark;
    bool is_unbegun = strlen(path) < PATH_SIZE && access(path, F_OK) == 0 &&
                      fm_journal_mark_read(path, &mark) && mark.position == 0 && has_no_table(path);
    if (is_unbegun) {
        remove_files(path);
    }
    return is_unbegun;
}

// Where the disk was full, or the process was killed, rows may still be only in the WAL file: it is
// renamed as well, and first. What lies there of an earlier file goes, all of it: SQLite would take
// another file's WAL for this one's.
//
// A file without its WAL is a journal that ends earlier than clients have seen. So that it cannot
// be taken for one when this breaks off between two renames, the file has both names meanwhile,
// which the next start finds; on file systems without links it has to be done without.
bool fm_journal_file_set_aside(const char *path, const char *ending)
{
    char target[PATH_SIZE + 24];
    if (fm_journal_file_finish_aside(path)) {
        return true;
    }
    name_aside(target, path, ending);
    if (access(path, F_OK) != 0) {
        return false;
    }
    (void)unlink(target);
    remove_files(target);
    return link(path, target) == 0 ? leave_old_name(path, target) : rename_files(path, target);
}

// One that was set aside.
struct aside {
    char name[256];
    struct timespec changed;
};

static int compare_newest_first(const void *a, const void *b)
{
    const struct aside *one = a, *other = b;
    bool is_same_second = one->changed.tv_sec == other->changed.tv_sec;
    int64_t more = is_same_second ? other->changed.tv_nsec - one->changed.tv_nsec
                                  : other->changed.tv_sec - one->changed.tv_sec;
    return more == 0 ? strcmp(one->name, other->name) : more < 0 ? -1 : 1;
}

static int is_aside(const struct dirent *entry)
{
    const char *suffix = strstr(entry->d_name, FM_JOURNAL_SUFFIX ".");
    const char *ending = suffix == NULL ? "" : suffix + strlen(FM_JOURNAL_SUFFIX ".");
    return strcmp(ending, "ended") == 0 || strcmp(ending, "former") == 0;
}

void fm_journal_file_trim_aside(const char *folder, uint32_t count, uint64_t before_s)
{
    struct dirent **entries;
    char path[PATH_SIZE];
    int found = scandir(folder, &entries, is_aside, alphasort);
    struct aside *files = found > 0 ? calloc((size_t)found, sizeof *files) : NULL;
    for (int i = 0; i < found; i++) {
        struct stat status = {0};
        if (files != NULL) {
            snprintf(files[i].name, sizeof files[i].name, "%s", entries[i]->d_name);
            snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
            (void)stat(path, &status);
            files[i].changed = status.st_mtim;
        }
        free(entries[i]);
    }
    if (files != NULL) {
        qsort(files, (size_t)found, sizeof *files, compare_newest_first);
    }
    for (int i = (int)count; files != NULL && i < found; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if ((uint64_t)files[i].changed.tv_sec < before_s) {
            remove_files(path);
        }
    }
    free(files);
    if (found >= 0) {
        free(entries);
    }
}

fm_status fm_journal_file_end(fm_journal_file *file, bool keep, char *error)
{
    char path[PATH_SIZE];
    memcpy(path, file->path, sizeof path);
    // Closing moves what the WAL file holds to the database and waits for the disk: in vain if both
    // are removed.
    if (file->db != NULL) {
        sqlite3_db_config(file->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !keep, NULL);
    }
    file_destroy(file);
    if (keep && !fm_journal_file_set_aside(path, "ended")) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: renaming it to .ended: %m", path);
        return FM_ERR_IO;
    }
    if (!keep && unlink(path) != 0) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: removing it: %m", path);
        return FM_ERR_IO;
    }
    remove_files(path); // the files beside it
    sync_folder(path);
    return FM_OK;
}
