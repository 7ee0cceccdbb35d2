// tests/fuzz/make_journal_seeds.c: writes the seeds of fuzz_journal.c: journals as the server
// leaves them, in the smallest pages that SQLite allows, and programs that make journals.
//
//   make_journal_seeds FOLDER

#include "core/saves/command_file.h"
#include "server/journal/journal_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096u
#define TICKS     6u

static const fm_journal_pace pace = {.tick_hz = 10, .budget_ms = 50};
static const uint8_t world[32] = "FMWORLD\n";

static void check(fm_status status, const char *what, const char *error)
{
    if (status != FM_OK) {
        fprintf(stderr, "make_journal_seeds: %s: %s: %s\n", what, fm_status_text(status), error);
        exit(1);
    }
}

static void add(fm_journal_file *file, fm_journal_kind kind, uint64_t tick, fm_writer *writer)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    check(fm_journal_file_add(file, kind, tick, writer->data, writer->size, error), "add", error);
    fm_writer_clear(writer);
}

static void add_tick(fm_journal_file *file, uint64_t tick)
{
    const fm_tick_record record = {
        .tick = tick, .expansions_budget = 100, .rounds = 1, .digest = tick * 77};
    const fm_cell cell = fm_cell_at(3, 4);
    const fm_command command = {
        .kind = FM_COMMAND_SPAWN, .team = 1, .cells = &cell, .cell_count = 1};
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    check(fm_command_pack(&command, &writer), "command", "");
    add(file, FM_JOURNAL_COMMAND, tick, &writer);
    check(fm_record_pack(&record, &writer), "record", "");
    add(file, FM_JOURNAL_TICK, tick, &writer);
    fm_writer_fini(&writer);
}

static void make_journal(const char *path)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    const uint32_t bases[] = {5, 9};
    const fm_journal_head head = {
        .name = "arena", .number = 1, .overload = 1, .bases = bases, .base_count = 2};
    fm_journal_world first = {.pace = pace, .bytes = world, .size = sizeof world};
    fm_journal_file *file;
    check(fm_journal_file_create(path, &head, &first, FM_DURABILITY_NONE, &file, error), "create",
          error);
    check(fm_journal_file_begin(file, error), "begin", error);
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        add_tick(file, tick);
        if (tick == TICKS / 2) {
            first.tick = tick;
            check(fm_journal_file_add_keyframe(file, &first, error), "keyframe", error);
        }
    }
    check(fm_journal_file_commit(file, error), "commit", error);
    fm_journal_file_close(file);
}

// Copies a journal into one file that is as small as possible: mutations should hit what matters.
static void shrink(const char *path, const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM", NULL, NULL,
                     &error) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
        check(FM_ERR_IO, "shrink", error);
    }
    sqlite3_close(db);
}

static void copy(const char *from, const char *folder, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(from, "rb"), *out = fopen(path, "wb");
    if (in == NULL || out == NULL) {
        check(FM_ERR_IO, path, strerror(errno));
    }
    fputc(0, out); // a file, not a program
    for (int byte = fgetc(in); byte != EOF; byte = fgetc(in)) {
        fputc(byte, out);
    }
    fclose(in);
    fclose(out);
}

static void write_file(const char *folder, const char *name, const char *sql)
{
    char path[] = "/tmp/fogmarch-seed-XXXXXX.journal";
    int file = mkstemps(path, 8);
    if (file < 0) {
        check(FM_ERR_IO, path, strerror(errno));
    }
    close(file);
    unlink(path);
    make_journal(path);
    shrink(path, sql);
    copy(path, folder, name);
    unlink(path);
}

static void write_program(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (out == NULL || fputc(1, out) == EOF || fputc(0, out) == EOF ||
        fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
        check(FM_ERR_IO, path, strerror(errno));
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_journal_seeds FOLDER\n");
        return 2;
    }
    write_file(argv[1], "file", "");
    write_file(argv[1], "file-newer", "PRAGMA user_version=2");
    write_file(argv[1], "file-other", "PRAGMA application_id=7");
    write_file(argv[1], "file-no-keyframes", "DELETE FROM keyframes");
    write_file(argv[1], "file-no-log", "DROP TABLE log");
    write_file(argv[1], "file-gap", "DELETE FROM log WHERE position = 5");
    write_file(argv[1], "file-view",
               "ALTER TABLE log RENAME TO logs; CREATE VIEW log AS SELECT * FROM logs");
    // rows: 0 how kind size bytes; keyframes: 1 how size bytes; meta: 2 key type value
    write_program(argv[1], "rows", "\1\0\2ab\0\0\3\0\0\0\0\2xy\0\0\1\0\1\0\2cd\0\0\0\0", 23);
    write_program(argv[1], "jumps", "\1\0\1a\0\1\3\5\0\0\2\1\0\0\0\0\0\0\0\7\0\0\0\1\0", 24);
    write_program(argv[1], "types", "\1\20\1a\0\4x\0\20\2\0\3\4\2zz\2\5\5\3\1\4\5", 22);
    write_program(argv[1], "meta", "\1\0\1a\2\1\4\4maze\2\2\1\7\2\4\1\2\2\3\2\0\0\0\0\0\0\0\1", 27);
    write_program(argv[1], "wrong-sums", "\1\0\1a\0\0\0\1b\0\10\1\1c\1\10\1d", 18);
    write_program(argv[1], "sizes", "\1\0\1a\1\1\1a\0\0\0\1\0\0\0\0\1\2\3abc\0\0\1\1z", 26);
    return 0;
}
