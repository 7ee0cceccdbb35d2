// server/journal/journal_reader_file.c: see journal_reader_file.h.

#include "server/journal/journal_reader_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS       5000
#define TICK_HZ_MAX   1000.0
#define BUDGET_MS_MAX 10000.0

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

// SQLite's own messages about its format mean little to users.
fm_status fm_journal_reader_complain(const fm_journal_reader *reader, char *error,
                                     const char *where)
{
    int code = sqlite3_errcode(reader->db) & 0xff;
    const char *what = code == SQLITE_CORRUPT  ? "the file is damaged or was cut off"
                       : code == SQLITE_NOTADB ? "is no journal of fogmarch"
                                               : sqlite3_errmsg(reader->db);
    return fm_journal_complain(reader->path, error, status_of(code), "%s: %s", where, what);
}

// ---- statements --------------------------------------------------------------------------------

fm_status fm_journal_reader_prepare(fm_journal_reader *reader, const char *sql, sqlite3_stmt **out,
                                    const char *where, char *error)
{
    if (sqlite3_prepare_v2(reader->db, sql, -1, out, NULL) != SQLITE_OK) {
        return fm_journal_reader_complain(reader, error, where);
    }
    return FM_OK;
}

fm_status fm_journal_reader_number(fm_journal_reader *reader, const char *sql, uint64_t *number,
                                   bool *found, const char *where, char *error)
{
    sqlite3_stmt *statement;
    fm_status status = fm_journal_reader_prepare(reader, sql, &statement, where, error);
    if (status != FM_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    bool is_number = code == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = fm_journal_reader_complain(reader, error, where);
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

bool fm_journal_take_link(sqlite3_stmt *row, int column, fm_journal_link *link)
{
    const void *bytes = sqlite3_column_blob(row, column);
    if (bytes == NULL || sqlite3_column_bytes(row, column) != (int)sizeof link->bytes) {
        return false;
    }
    memcpy(link->bytes, bytes, sizeof link->bytes);
    return true;
}

fm_status fm_journal_reader_link(fm_journal_reader *reader, uint64_t position,
                                 fm_journal_link *link, bool *found, char *error)
{
    *found = position <= reader->linked_from;
    if (*found) {
        *link = fm_journal_link_first(reader->info.name, reader->info.number);
        return FM_OK;
    }
    sqlite3_stmt *row;
    fm_status status = fm_journal_reader_prepare(reader, "SELECT link FROM log WHERE position = ?",
                                                 &row, "table log", error);
    if (status != FM_OK) {
        return status;
    }
    sqlite3_bind_int64(row, 1, (sqlite3_int64)position);
    int code = sqlite3_step(row);
    *found = code == SQLITE_ROW && fm_journal_take_link(row, 0, link);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = fm_journal_reader_complain(reader, error, "table log");
    }
    sqlite3_finalize(row);
    return status;
}

bool fm_journal_pace_is_sane(const fm_journal_pace *pace)
{
    return pace->tick_hz > 0 && pace->tick_hz <= TICK_HZ_MAX && pace->budget_ms > 0 &&
           pace->budget_ms <= BUDGET_MS_MAX;
}

// ---- opening -----------------------------------------------------------------------------------

// A malicious file may have views and triggers in place of tables.
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

int64_t fm_journal_wal_size(const char *path)
{
    char wal[FM_JOURNAL_PATH_SIZE + 8];
    struct stat about;
    snprintf(wal, sizeof wal, "%s-wal", path);
    return stat(wal, &about) == 0 ? (int64_t)about.st_size : -1;
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
    char uri[3 * FM_JOURNAL_PATH_SIZE + 64];
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
        if (how == ACCESS_ALONE) { // SQLite then keeps shared data in memory
            sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
            sqlite3_exec(reader->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
        }
        code = sqlite3_exec(reader->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    return code;
}

// SQLite writes files beside a database in WAL mode. Where it may not, and no rows are left in such
// a file, it can read without them.
fm_status fm_journal_reader_open_file(fm_journal_reader *reader, char *error)
{
    struct stat about;
    if (access(reader->path, R_OK) != 0 || stat(reader->path, &about) != 0) {
        return fm_journal_complain(reader->path, error, FM_ERR_IO, "%m");
    }
    if (!S_ISREG(about.st_mode)) {
        return fm_journal_complain(reader->path, error, FM_ERR_IO,
                                   "is no file, but a folder or something else");
    }
    reader->makes_wal = fm_journal_wal_size(reader->path) <= 0;
    int code = open_database(reader, ACCESS_SHARED) & 0xff;
    bool may_not_write = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (may_not_write && fm_journal_wal_size(reader->path) < 0) {
        code = open_database(reader, ACCESS_IMMUTABLE);
    } else if (code == SQLITE_IOERR || code == SQLITE_FULL) {
        code = open_database(reader, ACCESS_ALONE);
    }
    if (reader->db == NULL) {
        return fm_journal_complain(reader->path, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    return code == SQLITE_OK ? FM_OK : fm_journal_reader_complain(reader, error, "opening");
}

// The last connection that may write removes what lies beside a database in WAL mode; one that only
// reads leaves it there. SQLite does that under a lock which it does not get while a server has the
// file open. There is nothing to write into the file, since the write-ahead file is empty.
void fm_journal_reader_close_file(fm_journal_reader *reader)
{
    sqlite3_close(reader->db);
    reader->db = NULL;
    if (!reader->makes_wal || fm_journal_wal_size(reader->path) != 0) {
        return;
    }
    sqlite3 *db = NULL;
    int code =
        sqlite3_open_v2(reader->path, &db, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        distrust(db);
        sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    sqlite3_close(db);
}
