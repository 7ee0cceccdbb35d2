// tests/fuzz/fuzz_journal.c: any file as a journal: refused with its name and a sentence, or read
// to its end in the order of its positions.
//
// Byte 0 chooses: even, the rest is the file itself; odd, the rest is a program that fills the
// tables of a valid database with rows of any types and values (rows, below), mostly with right
// checksums. The former finds what SQLite lets through, the latter tests the code behind it.

#include "tests/fuzz/fuzz.h"

#include "core/saves/command_file.h"
#include "server/journal/journal_reader.h"

#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define ROWS_MAX  512u // read of one journal
#define BLOB_MAX  255u
#define WORLD_MAX ((size_t)1 << 20) // bytes read of a keyframe's world, at most

// ---- the file ----------------------------------------------------------------------------------

static char path[96];

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < FM_COUNT_OF(ends); i++) {
        char name[sizeof path + 16];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void write_file(const uint8_t *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FM_ASSERT(file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0);
}

// ---- the program -------------------------------------------------------------------------------

// A database in memory with empty tables. Each input fills it within a transaction, which is rolled
// back after its file was copied: making it again would take as long as reading it.
struct database {
    sqlite3 *db;
    sqlite3_stmt *meta, *row, *keyframe;
};

struct maker {
    const uint8_t *bytes;
    size_t size, at;
    const struct database *database;
    uint64_t position, tick;
    fm_journal_link link; // of the last row
};

static uint8_t next(struct maker *maker)
{
    return maker->at < maker->size ? maker->bytes[maker->at++] : 0;
}

static size_t next_blob(struct maker *maker, const uint8_t **bytes)
{
    size_t size = next(maker), left = maker->size - maker->at;
    size = size < left ? size : left;
    *bytes = maker->bytes + maker->at;
    maker->at += size;
    return size;
}

static sqlite3_int64 next_number(struct maker *maker)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < 8; i++) {
        number = number << 8 | next(maker);
    }
    return (sqlite3_int64)number;
}

// A value of any type.
static void bind_any(struct maker *maker, sqlite3_stmt *row, int column)
{
    const uint8_t *bytes;
    switch (next(maker) % 6) {
    case 0:
        sqlite3_bind_null(row, column);
        break;
    case 1:
        sqlite3_bind_int64(row, column, next(maker));
        break;
    case 2:
        sqlite3_bind_int64(row, column, next_number(maker));
        break;
    case 3:
        sqlite3_bind_double(row, column, (double)next_number(maker) / 3);
        break;
    case 4: {
        size_t size = next_blob(maker, &bytes);
        sqlite3_bind_text(row, column, (const char *)bytes, (int)size, SQLITE_TRANSIENT);
        break;
    }
    case 5: {
        size_t size = next_blob(maker, &bytes);
        sqlite3_bind_blob(row, column, bytes, (int)size, SQLITE_TRANSIENT);
        break;
    }
    }
}

// An existing row stays.
static void insert(sqlite3_stmt *row)
{
    sqlite3_step(row);
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
}

static void add_meta(struct maker *maker)
{
    static const char *const keys[] = {"fogmarch", "name",  "number",  "timeline",
                                       "overload", "bases", "unknown", ""};
    sqlite3_stmt *row = maker->database->meta;
    sqlite3_bind_text(row, 1, keys[next(maker) % FM_COUNT_OF(keys)], -1, SQLITE_STATIC);
    bind_any(maker, row, 2);
    insert(row);
}

// Bits of the first byte: 0 position jumps, 1 tick jumps, 2 kind is anything, 3 checksum is wrong,
// 4 some column is anything, 5 link is wrong; else the tick grows with a row of kind 2.
static void add_row(struct maker *maker)
{
    uint8_t how = next(maker), kind = (uint8_t)(next(maker) % 5 + 1);
    maker->position += (how & 1) != 0 ? next(maker) : 1;
    maker->tick += (how & 2) != 0 ? (uint64_t)next_number(maker) : kind == FM_JOURNAL_TICK;
    kind = (how & 4) != 0 ? next(maker) : kind;
    const uint8_t *bytes;
    size_t size = next_blob(maker, &bytes);
    uint64_t sum = fm_journal_checksum(maker->position, maker->tick, kind, bytes, size);
    sqlite3_stmt *row = maker->database->row;
    sqlite3_bind_int64(row, 1, (sqlite3_int64)maker->position);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)maker->tick);
    sqlite3_bind_int64(row, 3, kind);
    sqlite3_bind_blob(row, 4, bytes, (int)size, SQLITE_TRANSIENT);
    sqlite3_bind_int64(row, 5, (sqlite3_int64)((how & 8) != 0 ? sum + 1 : sum));
    maker->link =
        fm_journal_link_next(&maker->link, maker->position, maker->tick, kind, bytes, size);
    maker->link.bytes[0] ^= (how & 32) != 0;
    sqlite3_bind_blob(row, 6, maker->link.bytes, sizeof maker->link.bytes, SQLITE_TRANSIENT);
    if ((how & 16) != 0) {
        bind_any(maker, row, 2 + next(maker) % 4);
    }
    insert(row);
}

// Bits: 0 the size is anything, 1 the bytes are not packed, 3 and 4 as above, 5 the seal is wrong.
static void add_keyframe(struct maker *maker)
{
    uint8_t how = next(maker);
    const uint8_t *bytes;
    size_t size = next_blob(maker, &bytes);
    uint8_t packed[2 * BLOB_MAX + 64];
    size_t packed_size = ZSTD_compress(packed, sizeof packed, bytes, size, 1);
    FM_ASSERT(!ZSTD_isError(packed_size));
    const uint8_t *stored = (how & 2) != 0 ? bytes : packed;
    size_t stored_size = (how & 2) != 0 ? size : packed_size;
    uint64_t sum =
        fm_journal_checksum(maker->position, maker->tick, FM_JOURNAL_KEYFRAME, stored, stored_size);
    sqlite3_stmt *row = maker->database->keyframe;
    sqlite3_bind_int64(row, 1, (sqlite3_int64)maker->position);
    sqlite3_bind_int64(row, 2, (sqlite3_int64)maker->tick);
    sqlite3_bind_int64(row, 3, (how & 1) != 0 ? next_number(maker) : (sqlite3_int64)size);
    sqlite3_bind_int64(row, 4, (sqlite3_int64)((how & 8) != 0 ? sum + 1 : sum));
    const fm_journal_pace pace = {.tick_hz = 10, .budget_ms = 50};
    fm_journal_link seal = fm_journal_seal(&maker->link, 0, &pace, size, sum);
    seal.bytes[0] ^= (how & 32) != 0;
    sqlite3_bind_blob(row, 6, seal.bytes, sizeof seal.bytes, SQLITE_TRANSIENT);
    sqlite3_bind_blob(row, 5, stored, (int)stored_size, SQLITE_TRANSIENT);
    if ((how & 16) != 0) {
        bind_any(maker, row, 2 + next(maker) % 4);
    }
    insert(row);
}

static void run(sqlite3 *db, const char *sql)
{
    FM_ASSERT(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row;
    FM_ASSERT(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK);
    return row;
}

// As in server/journal/journal_file.c, but every column takes any type.
static const struct database *the_database(void)
{
    static struct database made;
    if (made.db != NULL) {
        return &made;
    }
    char application[64];
    snprintf(application, sizeof application, "PRAGMA application_id=%d", FM_JOURNAL_APPLICATION);
    FM_ASSERT(sqlite3_open(":memory:", &made.db) == SQLITE_OK);
    run(made.db, "PRAGMA page_size=512");
    run(made.db, application);
    run(made.db, "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;"
                 "CREATE TABLE log (position INTEGER PRIMARY KEY, tick, kind, bytes, checksum,"
                 " link);"
                 "CREATE TABLE keyframes (position INTEGER PRIMARY KEY, tick, paused, tick_hz,"
                 " budget_ms, size, checksum, bytes, digest, seal);"
                 "INSERT INTO meta VALUES ('name', 'arena'), ('number', 1)");
    made.meta = prepare(made.db, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
    made.row = prepare(made.db, "INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?)");
    made.keyframe = prepare(
        made.db, "INSERT OR REPLACE INTO keyframes VALUES (?, ?, 0, 10.0, 50.0, ?, ?, ?, 0, ?)");
    return &made;
}

static void set_format(struct maker *maker)
{
    char format[64];
    uint8_t drawn = next(maker);
    snprintf(format, sizeof format, "PRAGMA user_version=%u",
             drawn < 96    ? FM_JOURNAL_FORMAT
             : drawn < 192 ? FM_JOURNAL_FORMAT - 1
                           : FM_JOURNAL_FORMAT + 1);
    run(maker->database->db, format);
}

static void add_rows(struct maker *maker)
{
    while (maker->at < maker->size) {
        switch (next(maker) % 3) {
        case 0:
            add_row(maker);
            break;
        case 1:
            add_keyframe(maker);
            break;
        case 2:
            add_meta(maker);
            break;
        }
    }
}

static void make_journal(const uint8_t *bytes, size_t size)
{
    struct maker maker = {.bytes = bytes,
                          .size = size,
                          .database = the_database(),
                          .link = fm_journal_link_first("arena", 1)};
    sqlite3_int64 file_size;
    run(maker.database->db, "BEGIN");
    set_format(&maker);
    add_rows(&maker);
    uint8_t *file = sqlite3_serialize(maker.database->db, "main", &file_size, 0);
    FM_ASSERT(file != NULL);
    write_file(file, (size_t)file_size);
    sqlite3_free(file);
    run(maker.database->db, "ROLLBACK");
}

// ---- reading -----------------------------------------------------------------------------------

static void check_error(const char *error)
{
    FM_ASSERT(strncmp(error, path, strlen(path)) == 0 && strlen(error) > strlen(path) + 2);
}

static void read_blob(const fm_journal_row *row)
{
    fm_command_copy *command = NULL;
    fm_record_copy *record = NULL;
    if (row->kind == FM_JOURNAL_COMMAND &&
        fm_command_unpack(row->bytes, row->size, &fm_memory_libc, &command, NULL) == FM_OK) {
        fm_command_copy_destroy(command, &fm_memory_libc);
    }
    if (row->kind == FM_JOURNAL_TICK &&
        fm_record_unpack(row->bytes, row->size, &fm_memory_libc, &record, NULL) == FM_OK) {
        fm_record_copy_destroy(record, &fm_memory_libc);
    }
}

static void read_rows(fm_journal_reader *reader)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_row row;
    uint64_t position = 0;
    bool more = true;
    for (uint32_t i = 0; i < ROWS_MAX && more; i++) {
        if (fm_journal_reader_next(reader, &row, &more, error) != FM_OK) {
            check_error(error);
            return;
        }
        if (more) {
            FM_ASSERT(i == 0 || row.position == position + 1);
            FM_ASSERT(row.size == 0 || row.bytes != NULL);
            position = row.position;
            read_blob(&row);
        }
    }
}

static void read_worlds(fm_journal_reader *reader)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    uint32_t count;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
    FM_ASSERT(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        FM_ASSERT(i == 0 || keyframes[i].position > keyframes[i - 1].position);
        if (keyframes[i].size > WORLD_MAX) {
            continue;
        }
        if (fm_journal_reader_load(reader, &keyframes[i], &bytes, &size, error) == FM_OK) {
            FM_ASSERT(size == keyframes[i].size);
            free(bytes);
        } else {
            FM_ASSERT(bytes == NULL);
            check_error(error);
        }
    }
}

static void seek_ticks(fm_journal_reader *reader)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    const fm_journal_info *info = fm_journal_reader_info(reader);
    const uint64_t ticks[] = {0, info->first_tick, info->last_tick, UINT64_MAX};
    for (size_t i = 0; i < FM_COUNT_OF(ticks); i++) {
        const fm_journal_keyframe *keyframe = fm_journal_reader_keyframe_before(reader, ticks[i]);
        FM_ASSERT(keyframe == NULL || keyframe->tick <= ticks[i]);
        if (fm_journal_reader_seek_tick(reader, ticks[i], error) == FM_OK) {
            read_rows(reader);
        } else {
            check_error(error);
        }
    }
}

// ---- SQLite's memory ----------------------------------------------------------------------------

// SQLite asks for some hundred blocks in an input; from AddressSanitizer's allocator they took a
// third of the time. Ours keeps free blocks by size. Bytes behind the end of a block, and free
// blocks, are poisoned, so that reading a column beyond its end is noticed as before, and what is
// in use is counted.
#define BLOCK_BITS_MIN 5u // of the smallest blocks, with their head
#define BLOCK_CLASSES  20u
#define CHUNK_SIZE     ((size_t)1 << 24)

struct block {
    size_t size;        // asked for
    uint32_t class;     // 1 << (BLOCK_BITS_MIN + class) bytes
    struct block *next; // while it is free; else the first of its bytes
};

#define HEAD_SIZE offsetof(struct block, next)

static struct {
    struct block *free[BLOCK_CLASSES];
    uint8_t *chunk; // never released
    size_t chunk_left;
    uint64_t in_use;
} blocks;

static struct block *block_of(void *bytes)
{
    return (struct block *)((uint8_t *)bytes - HEAD_SIZE);
}

static size_t size_of_class(uint32_t class)
{
    return (size_t)1 << (BLOCK_BITS_MIN + class);
}

static struct block *cut_block(uint32_t class)
{
    size_t size = size_of_class(class);
    if (blocks.chunk_left < size) {
        blocks.chunk = malloc(CHUNK_SIZE);
        FM_ASSERT(blocks.chunk != NULL);
        blocks.chunk_left = CHUNK_SIZE;
        ASAN_POISON_MEMORY_REGION(blocks.chunk, CHUNK_SIZE);
    }
    struct block *block = (struct block *)blocks.chunk;
    blocks.chunk += size;
    blocks.chunk_left -= size;
    ASAN_UNPOISON_MEMORY_REGION(block, HEAD_SIZE);
    block->class = class;
    return block;
}

static void *block_take(int wanted)
{
    size_t size = (size_t)wanted;
    uint32_t class = 0;
    while (class < BLOCK_CLASSES && size_of_class(class) < size + HEAD_SIZE) {
        class += 1;
    }
    if (class == BLOCK_CLASSES) {
        return NULL; // a damaged file may ask for anything
    }
    struct block *block = blocks.free[class];
    if (block == NULL) {
        block = cut_block(class);
    } else {
        ASAN_UNPOISON_MEMORY_REGION(&block->next, sizeof block->next);
        blocks.free[class] = block->next;
        ASAN_POISON_MEMORY_REGION(&block->next, sizeof block->next);
    }
    block->size = size;
    ASAN_UNPOISON_MEMORY_REGION(&block->next, size);
    blocks.in_use += 1;
    return &block->next;
}

static void block_give(void *bytes)
{
    struct block *block = block_of(bytes);
    ASAN_UNPOISON_MEMORY_REGION(&block->next, sizeof block->next);
    block->next = blocks.free[block->class];
    ASAN_POISON_MEMORY_REGION(&block->next, size_of_class(block->class) - HEAD_SIZE);
    blocks.free[block->class] = block;
    blocks.in_use -= 1;
}

static int block_size(void *bytes)
{
    return (int)block_of(bytes)->size;
}

static void *block_resize(void *bytes, int size)
{
    void *moved = block_take(size);
    if (moved == NULL) {
        return NULL;
    }
    int kept = block_size(bytes) < size ? block_size(bytes) : size;
    memcpy(moved, bytes, (size_t)kept);
    block_give(bytes);
    return moved;
}

static int round_up(int size)
{
    return (size + 7) & ~7;
}

static int start_blocks(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void stop_blocks(void *context)
{
    (void)context;
}

// One thread: SQLite needs no locks.
static void set_up(void)
{
    static const sqlite3_mem_methods memory = {
        .xMalloc = block_take,
        .xFree = block_give,
        .xRealloc = block_resize,
        .xSize = block_size,
        .xRoundup = round_up,
        .xInit = start_blocks,
        .xShutdown = stop_blocks,
    };
    static bool done;
    if (!done) {
        done = sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK &&
               sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK &&
               sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) == SQLITE_OK;
        FM_ASSERT(done);
        FM_ASSERT(sqlite3_initialize() == SQLITE_OK);
    }
}

static void read_journal(void)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_reader *reader = NULL;
    uint64_t in_use = blocks.in_use;
    if (fm_journal_reader_open(path, &reader, error) != FM_OK) {
        FM_ASSERT(reader == NULL);
        check_error(error);
    } else {
        FM_ASSERT(strlen(fm_journal_reader_info(reader)->name) > 0);
        read_rows(reader);
        read_worlds(reader);
        seek_ticks(reader);
        fm_journal_reader_close(reader);
    }
    FM_ASSERT(blocks.in_use == in_use);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    set_up();
    if (size < 1) {
        return 0;
    }
    snprintf(path, sizeof path, "%s/a.journal", fm_fuzz_folder());
    remove_files();
    if (bytes[0] % 2 == 0) {
        write_file(bytes + 1, size - 1);
    } else {
        make_journal(bytes + 1, size - 1);
    }
    read_journal();
    return 0;
}
