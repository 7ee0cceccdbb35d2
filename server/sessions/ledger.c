// server/sessions/ledger.c: see ledger.h.

#include "server/sessions/ledger.h"

#include "core/base/bytes.h"
#include "server/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define FILE_NAME   "server.db"
#define APPLICATION 0x464d5356 // "FMSV"
#define FORMAT      2

// Times are seconds since 1970; expires 0: never.
static const char schema[] =
    "BEGIN IMMEDIATE;"
    "PRAGMA application_id=1179472726; PRAGMA user_version=2;"
    "CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS tokens (number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " hash BLOB NOT NULL, role TEXT NOT NULL, world INTEGER NOT NULL, team INTEGER NOT NULL,"
    " expires INTEGER NOT NULL DEFAULT 0, used INTEGER NOT NULL DEFAULT 0);"
    "COMMIT;";

static const char from_format_1[] =
    "BEGIN IMMEDIATE; PRAGMA user_version=2;"
    "ALTER TABLE tokens ADD COLUMN expires INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE tokens ADD COLUMN used INTEGER NOT NULL DEFAULT 0; COMMIT;";

struct fm_ledger {
    char path[FM_LEDGER_PATH_SIZE];
    sqlite3 *db;
    int format; // format of the file, until something is written
    uv_mutex_t lock;
};

// ---- statements --------------------------------------------------------------------------------

static fm_status complain(const fm_ledger *ledger, char *error)
{
    int code = ledger->db == NULL ? SQLITE_NOMEM : sqlite3_errcode(ledger->db) & 0xff;
    snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: %.160s", ledger->path,
             ledger->db == NULL ? "out of memory" : sqlite3_errmsg(ledger->db));
    bool damaged = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return damaged ? FM_ERR_BAD_FORMAT : code == SQLITE_NOMEM ? FM_ERR_NO_MEMORY : FM_ERR_IO;
}

static fm_status prepare(fm_ledger *ledger, const char *sql, sqlite3_stmt **statement, char *error)
{
    int code = sqlite3_prepare_v2(ledger->db, sql, -1, statement, NULL);
    return code == SQLITE_OK ? FM_OK : complain(ledger, error);
}

static fm_status finish(fm_ledger *ledger, sqlite3_stmt *statement, char *error)
{
    fm_status status = sqlite3_step(statement) == SQLITE_DONE ? FM_OK : complain(ledger, error);
    sqlite3_finalize(statement);
    return status;
}

static fm_status read_number(fm_ledger *ledger, const char *sql, int *number, char *error)
{
    sqlite3_stmt *statement;
    fm_status status = prepare(ledger, sql, &statement, error);
    if (status == FM_OK) {
        bool found = sqlite3_step(statement) == SQLITE_ROW;
        *number = found ? sqlite3_column_int(statement, 0) : 0;
        status = found ? FM_OK : complain(ledger, error);
        sqlite3_finalize(statement);
    }
    return status;
}

// ---- opening -----------------------------------------------------------------------------------

static fm_status check_file(fm_ledger *ledger, char *error)
{
    int application = 0, format = 0;
    ledger->format = 0;
    fm_status status = read_number(ledger, "PRAGMA application_id", &application, error);
    if (status == FM_OK) {
        status = read_number(ledger, "PRAGMA user_version", &format, error);
    }
    if (status == FM_OK && application != 0 && application != APPLICATION) {
        snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: is another program's", ledger->path);
        return FM_ERR_BAD_FORMAT;
    }
    if (status == FM_OK && format > FORMAT) {
        snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: was made by a newer fogmarchd",
                 ledger->path);
        return FM_ERR_IO;
    }
    ledger->format = application == 0 ? 0 : format;
    return status;
}

static fm_status run(fm_ledger *ledger, const char *sql, char *error)
{
    if (sqlite3_exec(ledger->db, sql, NULL, NULL, NULL) == SQLITE_OK) {
        return FM_OK;
    }
    fm_status status = complain(ledger, error);
    sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

// Updates the file's format. Only before the first write: a server that starts on a full disk can
// then still read.
static fm_status bring_up_to_date(fm_ledger *ledger, char *error)
{
    fm_status status = ledger->format == FORMAT ? FM_OK
                       : ledger->format == 0    ? run(ledger, schema, error)
                                                : run(ledger, from_format_1, error);
    if (status == FM_OK) {
        ledger->format = FORMAT;
    }
    return status;
}

// The file is made here and not by SQLite, so that no other user can ever read it.
static fm_status open_database(fm_ledger *ledger, char *error)
{
    int fd = open(ledger->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: %s", ledger->path, strerror(errno));
        return FM_ERR_IO;
    }
    close(fd);
    if (sqlite3_open_v2(ledger->path, &ledger->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        return complain(ledger, error);
    }
    fm_status status = check_file(ledger, error);
    if (status == FM_OK) {
        status = run(ledger, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA", error);
    }
    return status == FM_OK && ledger->format == 0 ? bring_up_to_date(ledger, error) : status;
}

static fm_status read_key(fm_ledger *ledger, fm_resume_key *key, bool *found, char *error)
{
    sqlite3_stmt *statement;
    fm_status status =
        prepare(ledger, "SELECT value FROM secrets WHERE name = 'resume'", &statement, error);
    if (status != FM_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    *found = code == SQLITE_ROW && sqlite3_column_bytes(statement, 0) == FM_RESUME_KEY_SIZE;
    if (*found) {
        memcpy(key->bytes, sqlite3_column_blob(statement, 0), FM_RESUME_KEY_SIZE);
    }
    status = code == SQLITE_ROW || code == SQLITE_DONE ? FM_OK : complain(ledger, error);
    sqlite3_finalize(statement);
    return status;
}

static fm_status write_key(fm_ledger *ledger, const fm_resume_key *key, char *error)
{
    sqlite3_stmt *statement;
    fm_status status =
        prepare(ledger, "INSERT OR REPLACE INTO secrets (name, value) VALUES ('resume', ?)",
                &statement, error);
    if (status != FM_OK) {
        return status;
    }
    sqlite3_bind_blob(statement, 1, key->bytes, FM_RESUME_KEY_SIZE, SQLITE_STATIC);
    return finish(ledger, statement, error);
}

static fm_status open_file(fm_ledger *ledger, fm_resume_key *key, char *error)
{
    bool found = false;
    fm_status status = open_database(ledger, error);
    if (status == FM_OK) {
        status = read_key(ledger, key, &found, error);
    }
    if (status == FM_OK && !found) {
        status = write_key(ledger, key, error);
    }
    if (status != FM_OK) {
        sqlite3_close(ledger->db);
        ledger->db = NULL;
    }
    return status;
}

static fm_status set_aside(fm_ledger *ledger, char *error)
{
    char to[FM_LEDGER_PATH_SIZE + 16];
    snprintf(to, sizeof to, "%s.damaged", ledger->path);
    fm_log(FM_LOG_ERROR, "ledger damaged, tokens that were created are gone",
           fm_log_text("reason", error), fm_log_text("file", to));
    if (rename(ledger->path, to) != 0) {
        snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: %s", to, strerror(errno));
        return FM_ERR_IO;
    }
    return FM_OK;
}

fm_status fm_ledger_open(const char *folder, fm_resume_key *key, fm_ledger **out, char *error)
{
    fm_ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL || uv_mutex_init(&ledger->lock) < 0) {
        snprintf(error, FM_LEDGER_ERROR_SIZE, "out of memory");
        free(ledger);
        return FM_ERR_NO_MEMORY;
    }
    snprintf(ledger->path, sizeof ledger->path, "%.*s/" FILE_NAME,
             (int)(sizeof ledger->path - sizeof FILE_NAME - 1), folder);
    fm_status status = open_file(ledger, key, error);
    if (status == FM_ERR_BAD_FORMAT) {
        status = set_aside(ledger, error);
        if (status == FM_OK) {
            status = open_file(ledger, key, error);
        }
    }
    if (status != FM_OK) {
        fm_ledger_close(ledger);
        return status == FM_ERR_NO_MEMORY ? status : FM_ERR_IO;
    }
    *out = ledger;
    return FM_OK;
}

void fm_ledger_close(fm_ledger *ledger)
{
    if (ledger != NULL) {
        sqlite3_close(ledger->db);
        uv_mutex_destroy(&ledger->lock);
        free(ledger);
    }
}

// ---- tokens ------------------------------------------------------------------------------------

static bool take_grant(sqlite3_stmt *row, fm_grant *grant)
{
    const char *role = (const char *)sqlite3_column_text(row, 2);
    *grant = (fm_grant){
        .number = (uint64_t)sqlite3_column_int64(row, 0),
        .seat = {.number = (uint64_t)sqlite3_column_int64(row, 3),
                 .team = (uint32_t)sqlite3_column_int64(row, 4)},
        .expires_s = (uint64_t)sqlite3_column_int64(row, 5),
        .used_s = (uint64_t)sqlite3_column_int64(row, 6),
    };
    if (role == NULL || sqlite3_column_bytes(row, 1) != FM_TOKEN_HASH_SIZE) {
        return false;
    }
    memcpy(grant->hash, sqlite3_column_blob(row, 1), FM_TOKEN_HASH_SIZE);
    for (fm_role r = FM_ROLE_PLAYER; r <= FM_ROLE_ADMIN; r++) {
        grant->role = strcmp(role, fm_role_name(r)) == 0 ? r : grant->role;
    }
    bool has_seat = grant->seat.number > 0 && grant->seat.team > 0;
    return grant->role != FM_ROLE_NONE && has_seat == (grant->role == FM_ROLE_PLAYER);
}

static fm_status take_rows(fm_ledger *ledger, sqlite3_stmt *rows, fm_tokens *tokens, char *error)
{
    int code;
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        fm_grant grant;
        if (!take_grant(rows, &grant)) {
            fm_log(FM_LOG_ERROR, "token damaged, left out", fm_log_text("file", ledger->path),
                   fm_log_uint("number", grant.number));
            continue;
        }
        fm_status status = fm_tokens_restore(tokens, &grant);
        if (status != FM_OK) {
            snprintf(error, FM_LEDGER_ERROR_SIZE, "%.300s: tokens: %s", ledger->path,
                     fm_status_text(status));
            return status;
        }
    }
    return code == SQLITE_DONE ? FM_OK : complain(ledger, error);
}

// Numbers are never reused: a client with a revoked token's number must not end another token.
static fm_status read_last(fm_ledger *ledger, fm_tokens *tokens, char *error)
{
    sqlite3_stmt *row;
    fm_status status =
        prepare(ledger, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'tokens'",
                &row, error);
    if (status == FM_OK) {
        bool found = sqlite3_step(row) == SQLITE_ROW;
        uint64_t last = found ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
        status = found ? FM_OK : complain(ledger, error);
        tokens->last = last > tokens->last ? last : tokens->last;
        sqlite3_finalize(row);
    }
    return status;
}

fm_status fm_ledger_read(fm_ledger *ledger, fm_tokens *tokens, char *error)
{
    sqlite3_stmt *rows;
    fm_status status = prepare(
        ledger,
        ledger->format == 1
            ? "SELECT number, hash, role, world, team, 0, 0 FROM tokens ORDER BY number"
            : "SELECT number, hash, role, world, team, expires, used FROM tokens ORDER BY number",
        &rows, error);
    if (status == FM_OK) {
        status = take_rows(ledger, rows, tokens, error);
        sqlite3_finalize(rows);
    }
    status = status == FM_OK ? read_last(ledger, tokens, error) : status;
    return status == FM_ERR_BAD_FORMAT ? FM_ERR_IO : status;
}

static void bind_grant(sqlite3_stmt *row, const fm_grant *grant)
{
    sqlite3_bind_int64(row, 1, (sqlite3_int64)grant->number);
    sqlite3_bind_blob(row, 2, grant->hash, FM_TOKEN_HASH_SIZE, SQLITE_STATIC);
    sqlite3_bind_text(row, 3, fm_role_name(grant->role), -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 4, (sqlite3_int64)grant->seat.number);
    sqlite3_bind_int64(row, 5, grant->seat.team);
    sqlite3_bind_int64(row, 6, (sqlite3_int64)grant->expires_s);
}

fm_status fm_ledger_add(fm_ledger *ledger, const fm_grant *grant, char *error)
{
    sqlite3_stmt *row;
    uv_mutex_lock(&ledger->lock);
    fm_status status = bring_up_to_date(ledger, error);
    if (status == FM_OK) {
        status = prepare(ledger,
                         "INSERT INTO tokens (number, hash, role, world, team, expires)"
                         " VALUES (?, ?, ?, ?, ?, ?)",
                         &row, error);
    }
    if (status == FM_OK) {
        bind_grant(row, grant);
        status = finish(ledger, row, error);
    }
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

static fm_status remove_by(fm_ledger *ledger, const char *sql, uint64_t number, char *error)
{
    sqlite3_stmt *row;
    uv_mutex_lock(&ledger->lock);
    fm_status status = prepare(ledger, sql, &row, error);
    if (status == FM_OK) {
        sqlite3_bind_int64(row, 1, (sqlite3_int64)number);
        status = finish(ledger, row, error);
    }
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

fm_status fm_ledger_note_uses(fm_ledger *ledger, const fm_tokens *tokens, char *error)
{
    sqlite3_stmt *row = NULL;
    uv_mutex_lock(&ledger->lock);
    fm_status status = bring_up_to_date(ledger, error);
    status = status == FM_OK ? run(ledger, "BEGIN IMMEDIATE", error) : status;
    if (status == FM_OK) {
        status = prepare(ledger, "UPDATE tokens SET used = ? WHERE number = ?", &row, error);
    }
    for (uint32_t i = 0; status == FM_OK && i < tokens->created_count; i++) {
        sqlite3_bind_int64(row, 1, (sqlite3_int64)tokens->created[i].used_s);
        sqlite3_bind_int64(row, 2, (sqlite3_int64)tokens->created[i].number);
        status = sqlite3_step(row) == SQLITE_DONE ? FM_OK : complain(ledger, error);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    status = status == FM_OK ? run(ledger, "COMMIT", error) : status;
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

fm_status fm_ledger_remove(fm_ledger *ledger, uint64_t number, char *error)
{
    return remove_by(ledger, "DELETE FROM tokens WHERE number = ?", number, error);
}

fm_status fm_ledger_remove_world(fm_ledger *ledger, uint64_t world, char *error)
{
    return remove_by(ledger, "DELETE FROM tokens WHERE world = ?", world, error);
}

// ---- the epoch, and another server's ledger ----------------------------------------------------

static fm_status read_secret(fm_ledger *ledger, const char *name, uint64_t *epoch, char *error)
{
    sqlite3_stmt *statement;
    *epoch = 0;
    fm_status status =
        prepare(ledger, "SELECT value FROM secrets WHERE name = ?", &statement, error);
    if (status != FM_OK) {
        return FM_ERR_IO;
    }
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_bytes(statement, 0) == sizeof *epoch) {
        *epoch = fm_bytes_get_u64(sqlite3_column_blob(statement, 0));
    }
    status = code == SQLITE_ROW || code == SQLITE_DONE ? FM_OK : complain(ledger, error);
    sqlite3_finalize(statement);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

fm_status fm_ledger_read_epoch(fm_ledger *ledger, uint64_t *epoch, char *error)
{
    return read_secret(ledger, "epoch", epoch, error);
}

fm_status fm_ledger_read_replaced(fm_ledger *ledger, uint64_t *epoch, char *error)
{
    return read_secret(ledger, "replaced", epoch, error);
}

fm_status fm_ledger_read_copy(fm_ledger *ledger, bool *is_copy, char *error)
{
    uint64_t number;
    fm_status status = read_secret(ledger, "copy", &number, error);
    *is_copy = number != 0;
    return status;
}

static fm_status put_number(fm_ledger *ledger, const char *name, uint64_t number, char *error)
{
    sqlite3_stmt *statement;
    uint8_t bytes[sizeof number];
    fm_status status = prepare(ledger, "INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)",
                               &statement, error);
    if (status == FM_OK) {
        fm_bytes_put_u64(bytes, number);
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_blob(statement, 2, bytes, sizeof bytes, SQLITE_STATIC);
        status = finish(ledger, statement, error);
    }
    return status;
}

// In a transaction, which is begun.
static fm_status take_over(fm_ledger *ledger, uint64_t epoch, char *error)
{
    fm_status status = put_number(ledger, "epoch", epoch, error);
    if (status == FM_OK) {
        status = run(ledger, "DELETE FROM secrets WHERE name = 'copy'", error);
    }
    return status == FM_OK ? run(ledger, "COMMIT", error) : status;
}

fm_status fm_ledger_write_epoch(fm_ledger *ledger, uint64_t epoch, char *error)
{
    uv_mutex_lock(&ledger->lock);
    fm_status status = run(ledger, "BEGIN IMMEDIATE", error);
    if (status == FM_OK) {
        status = take_over(ledger, epoch, error);
        if (status != FM_OK) {
            sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
        }
    }
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

fm_status fm_ledger_write_replaced(fm_ledger *ledger, uint64_t epoch, char *error)
{
    uv_mutex_lock(&ledger->lock);
    fm_status status = put_number(ledger, "replaced", epoch, error);
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

// The epoch first: without it, but without the other, this server would be taken for the old one.
fm_status fm_ledger_insist(fm_ledger *ledger, uint64_t epoch, char *error)
{
    uv_mutex_lock(&ledger->lock);
    fm_status status = put_number(ledger, "epoch", epoch, error);
    if (status == FM_OK) {
        status = run(ledger, "DELETE FROM secrets WHERE name IN ('replaced', 'copy')", error);
    }
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}

fm_journal_link fm_ledger_name(const fm_resume_key *key)
{
    static const uint8_t what[] = "the name of a ledger";
    fm_journal_link name;
    (void)crypto_generichash(name.bytes, sizeof name.bytes, what, sizeof what, key->bytes,
                             sizeof key->bytes);
    return name;
}

static fm_status put_tokens(fm_ledger *ledger, const fm_tokens *tokens, char *error)
{
    sqlite3_stmt *row;
    fm_status status = prepare(ledger,
                               "INSERT INTO tokens (number, hash, role, world, team, expires, used)"
                               " VALUES (?, ?, ?, ?, ?, ?, ?)",
                               &row, error);
    for (uint32_t i = 0; status == FM_OK && i < tokens->created_count; i++) {
        bind_grant(row, &tokens->created[i]);
        sqlite3_bind_int64(row, 7, (sqlite3_int64)tokens->created[i].used_s);
        status = sqlite3_step(row) == SQLITE_DONE ? FM_OK : complain(ledger, error);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    return status;
}

static fm_status put_last(fm_ledger *ledger, uint64_t last, char *error)
{
    sqlite3_stmt *row;
    fm_status status = prepare(
        ledger, "INSERT INTO sqlite_sequence (name, seq) VALUES ('tokens', ?)", &row, error);
    if (status == FM_OK) {
        sqlite3_bind_int64(row, 1, (sqlite3_int64)last);
        status = finish(ledger, row, error);
    }
    return status;
}

// All in one transaction, which is begun.
static fm_status copy(fm_ledger *ledger, const fm_resume_key *key, const fm_tokens *tokens,
                      uint64_t epoch, char *error)
{
    fm_status status = run(ledger, "DELETE FROM tokens", error);
    if (status == FM_OK) {
        status = put_tokens(ledger, tokens, error);
    }
    if (status == FM_OK) {
        status = run(ledger, "DELETE FROM sqlite_sequence WHERE name = 'tokens'", error);
    }
    if (status == FM_OK) {
        status = put_last(ledger, tokens->last, error);
    }
    if (status == FM_OK) {
        status = write_key(ledger, key, error);
    }
    if (status == FM_OK) {
        status = put_number(ledger, "epoch", epoch, error);
    }
    if (status == FM_OK) { // whatever it was before, now it follows
        status = run(ledger, "DELETE FROM secrets WHERE name = 'replaced'", error);
    }
    if (status == FM_OK) {
        status = put_number(ledger, "copy", 1, error);
    }
    return status == FM_OK ? run(ledger, "COMMIT", error) : status;
}

fm_status fm_ledger_copy(fm_ledger *ledger, const fm_resume_key *key, const fm_tokens *tokens,
                         uint64_t epoch, char *error)
{
    uv_mutex_lock(&ledger->lock);
    fm_status status = bring_up_to_date(ledger, error);
    if (status == FM_OK) {
        status = run(ledger, "BEGIN IMMEDIATE", error);
    }
    if (status == FM_OK) {
        status = copy(ledger, key, tokens, epoch, error);
        if (status != FM_OK) {
            sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
        }
    }
    uv_mutex_unlock(&ledger->lock);
    return status == FM_OK ? FM_OK : FM_ERR_IO;
}
