// test_ledger.c: the tokens and numbers that outlive the server, on a disk that fails.
//
// Every write of the ledger is done with a disk that refuses after 0, 1, 2 ... writes, until it
// succeeds. Each time the file is opened again on a good disk: after a refusal it holds what it
// held before, and after a success what was to be written, whatever failed between. And files that
// are damaged, older, newer, or another program's.

#include "server/base/log.h"
#include "server/sessions/ledger.h"
#include "tests/support/failing_disk.h"
#include "tests/support/support.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/fogmarch-ledger-XXXXXX";
static char path[64], damaged[64];

// What a ledger holds.
struct contents {
    uint8_t key;
    uint64_t epoch, replaced, last;
    bool is_copy;
    uint32_t count;
    fm_grant grants[8];
};

static fm_resume_key key_of(uint8_t byte)
{
    fm_resume_key key;
    memset(key.bytes, byte, sizeof key.bytes);
    return key;
}

static fm_grant grant_of(uint64_t number, fm_role role)
{
    fm_grant grant = {.number = number, .role = role, .expires_s = 100 + number};
    memset(grant.hash, (int)number, sizeof grant.hash);
    if (role == FM_ROLE_PLAYER) {
        grant.seat.number = 7;
        grant.seat.team = 3;
    }
    return grant;
}

static fm_ledger *open_ledger(uint8_t key_byte)
{
    char error[FM_LEDGER_ERROR_SIZE] = "";
    fm_resume_key key = key_of(key_byte);
    fm_ledger *ledger;
    if (fm_ledger_open(folder, &key, &ledger, error) != FM_OK) {
        fail_msg("%s", error);
    }
    return ledger;
}

// Opens it as a server does that starts.
static struct contents look(void)
{
    char error[FM_LEDGER_ERROR_SIZE] = "";
    struct contents contents = {.key = 0};
    fm_resume_key key = key_of(99);
    fm_ledger *ledger;
    assert_int_equal(fm_ledger_open(folder, &key, &ledger, error), FM_OK);
    fm_tokens tokens = {.last = 0};
    assert_int_equal(fm_ledger_read(ledger, &tokens, error), FM_OK);
    assert_int_equal(fm_ledger_read_epoch(ledger, &contents.epoch, error), FM_OK);
    assert_int_equal(fm_ledger_read_replaced(ledger, &contents.replaced, error), FM_OK);
    assert_int_equal(fm_ledger_read_copy(ledger, &contents.is_copy, error), FM_OK);
    contents.key = key.bytes[0];
    contents.last = tokens.last;
    contents.count = tokens.created_count;
    assert_true(tokens.created_count <= FM_COUNT_OF(contents.grants));
    for (uint32_t i = 0; i < tokens.created_count; i++) {
        contents.grants[i] = tokens.created[i];
    }
    fm_tokens_fini(&tokens);
    fm_ledger_close(ledger);
    return contents;
}

static bool are_equal(const struct contents *a, const struct contents *b)
{
    bool equal = a->key == b->key && a->epoch == b->epoch && a->replaced == b->replaced &&
                 a->is_copy == b->is_copy && a->last == b->last && a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++) {
        const fm_grant *x = &a->grants[i], *y = &b->grants[i];
        equal = x->number == y->number && x->role == y->role && x->seat.number == y->seat.number &&
                x->seat.team == y->seat.team && x->expires_s == y->expires_s &&
                x->used_s == y->used_s && memcmp(x->hash, y->hash, sizeof x->hash) == 0;
    }
    return equal;
}

// ---- files -------------------------------------------------------------------------------------

static void remove_files(void)
{
    static const char *const endings[] = {"", "-journal", ".damaged"};
    for (uint32_t i = 0; i < FM_COUNT_OF(endings); i++) {
        char file[96];
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
}

static void write_file(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

// A ledger with two tokens, an epoch, and a standby that took over once.
static void make_ledger(void)
{
    char error[FM_LEDGER_ERROR_SIZE];
    remove_files();
    fm_ledger *ledger = open_ledger(1);
    fm_grant admin = grant_of(1, FM_ROLE_ADMIN), player = grant_of(2, FM_ROLE_PLAYER);
    assert_int_equal(fm_ledger_add(ledger, &admin, error), FM_OK);
    assert_int_equal(fm_ledger_add(ledger, &player, error), FM_OK);
    assert_int_equal(fm_ledger_write_epoch(ledger, 4, error), FM_OK);
    assert_int_equal(fm_ledger_write_replaced(ledger, 5, error), FM_OK);
    fm_ledger_close(ledger);
}

// ---- what is written ---------------------------------------------------------------------------

static fm_status add(fm_ledger *ledger, char *error)
{
    fm_grant grant = grant_of(3, FM_ROLE_OBSERVER);
    return fm_ledger_add(ledger, &grant, error);
}

static fm_status remove_one(fm_ledger *ledger, char *error)
{
    return fm_ledger_remove(ledger, 1, error);
}

static fm_status remove_world(fm_ledger *ledger, char *error)
{
    return fm_ledger_remove_world(ledger, 7, error);
}

static fm_status write_epoch(fm_ledger *ledger, char *error)
{
    return fm_ledger_write_epoch(ledger, 6, error);
}

static fm_status write_replaced(fm_ledger *ledger, char *error)
{
    return fm_ledger_write_replaced(ledger, 8, error);
}

static fm_status note_uses(fm_ledger *ledger, char *error)
{
    fm_grant grants[] = {grant_of(1, FM_ROLE_ADMIN), grant_of(2, FM_ROLE_PLAYER)};
    fm_tokens tokens = {.created = grants, .created_count = 2};
    grants[0].used_s = 11;
    grants[1].used_s = 12;
    return fm_ledger_note_uses(ledger, &tokens, error);
}

static fm_status copy(fm_ledger *ledger, char *error)
{
    fm_grant grants[] = {grant_of(5, FM_ROLE_DEBUG), grant_of(6, FM_ROLE_PLAYER),
                         grant_of(7, FM_ROLE_ADMIN)};
    fm_tokens tokens = {.created = grants, .created_count = 3, .last = 20};
    fm_resume_key key = key_of(2);
    return fm_ledger_copy(ledger, &key, &tokens, 30, error);
}

static const struct {
    const char *name;
    fm_status (*write)(fm_ledger *ledger, char *error);
} writes[] = {
    {"add", add},
    {"remove", remove_one},
    {"remove_world", remove_world},
    {"write_epoch", write_epoch},
    {"write_replaced", write_replaced},
    {"note_uses", note_uses},
    {"copy", copy},
};

static void a_refused_write_has_changed_nothing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_COUNT_OF(writes); i++) {
        make_ledger();
        struct contents before = look();
        fm_status status = FM_ERR_IO;
        uint32_t refused = 0;
        for (uint64_t left = 0; status != FM_OK; left++) {
            char error[FM_LEDGER_ERROR_SIZE] = "";
            fm_ledger *ledger = open_ledger(1);
            fm_failing_disk_set(left);
            status = writes[i].write(ledger, error);
            fm_ledger_close(ledger);
            fm_failing_disk_set(UINT64_MAX);
            if (status != FM_OK) {
                struct contents now = look();
                assert_int_equal(status, FM_ERR_IO);
                assert_non_null(strstr(error, path));
                assert_true(are_equal(&before, &now));
                refused += 1;
            }
        }
        struct contents after = look();
        print_message("%s: refused %u times\n", writes[i].name, refused);
        assert_true(refused > 0);
        assert_false(are_equal(&before, &after));
    }
}

// What all of them together leave.
static void what_was_written_is_read(void **state)
{
    (void)state;
    char error[FM_LEDGER_ERROR_SIZE];
    make_ledger();
    fm_ledger *ledger = open_ledger(1);
    for (uint32_t i = 0; i + 1 < FM_COUNT_OF(writes); i++) {
        assert_int_equal(writes[i].write(ledger, error), FM_OK);
    }
    fm_ledger_close(ledger);
    struct contents now = look();
    assert_int_equal(now.key, 1);
    assert_int_equal(now.epoch, 6);
    assert_int_equal(now.replaced, 8);
    assert_int_equal(now.last, 3); // of those that were ever made
    assert_int_equal(now.count, 1);
    assert_int_equal(now.grants[0].role, FM_ROLE_OBSERVER);

    ledger = open_ledger(1);
    assert_int_equal(copy(ledger, error), FM_OK);
    fm_ledger_close(ledger);
    now = look();
    assert_int_equal(now.key, 2);
    assert_int_equal(now.epoch, 30);
    assert_int_equal(now.replaced, 0);
    assert_int_equal(now.last, 20);
    assert_int_equal(now.count, 3);
    assert_true(now.is_copy);

    ledger = open_ledger(2);
    assert_int_equal(write_epoch(ledger, error), FM_OK); // it takes over
    fm_ledger_close(ledger);
    assert_false(look().is_copy);
}

// The epoch may be there without the rest, but not the other way round.
static void insisting_writes_the_epoch_first(void **state)
{
    (void)state;
    make_ledger();
    fm_status status = FM_ERR_IO;
    for (uint64_t left = 0; status != FM_OK; left++) {
        char error[FM_LEDGER_ERROR_SIZE] = "";
        fm_ledger *ledger = open_ledger(1);
        fm_failing_disk_set(left);
        status = fm_ledger_insist(ledger, 9, error);
        fm_ledger_close(ledger);
        fm_failing_disk_set(UINT64_MAX);
        struct contents now = look();
        assert_true(now.epoch == 4 || now.epoch == 9);
        assert_true(now.replaced == 5 || (now.replaced == 0 && now.epoch == 9));
    }
    struct contents now = look();
    assert_int_equal(now.epoch, 9);
    assert_int_equal(now.replaced, 0);
}

// ---- files of others ---------------------------------------------------------------------------

static void a_ledger_cannot_be_made_on_a_full_disk(void **state)
{
    (void)state;
    fm_status status = FM_ERR_IO;
    for (uint64_t left = 0; status != FM_OK; left++) {
        char error[FM_LEDGER_ERROR_SIZE] = "";
        fm_resume_key key = key_of(1);
        fm_ledger *ledger = NULL;
        remove_files();
        fm_failing_disk_set(left);
        status = fm_ledger_open(folder, &key, &ledger, error);
        fm_failing_disk_set(UINT64_MAX);
        assert_true(status == FM_OK || (status == FM_ERR_IO && ledger == NULL));
        assert_int_equal(status != FM_OK, error[0] != '\0');
        assert_int_equal(access(damaged, F_OK), -1); // it is not the file that is at fault
        fm_ledger_close(ledger);
        assert_int_equal(look().count, 0);
    }
}

static void damaged_files_are_set_aside(void **state)
{
    (void)state;
    static const char noise[4096] = "not a database";
    remove_files();
    write_file(noise, sizeof noise);
    assert_int_equal(look().key, 99);
    assert_int_equal(access(damaged, F_OK), 0);

    remove_files();
    run_sql("PRAGMA application_id=77; CREATE TABLE t (a)");
    assert_int_equal(look().key, 99);
    assert_int_equal(access(damaged, F_OK), 0);

    // It cannot be set aside: a folder has that name.
    char error[FM_LEDGER_ERROR_SIZE];
    fm_resume_key key = key_of(1);
    fm_ledger *ledger = NULL;
    remove_files();
    write_file(noise, sizeof noise);
    assert_int_equal(mkdir(damaged, 0700), 0);
    assert_int_equal(fm_ledger_open(folder, &key, &ledger, error), FM_ERR_IO);
    assert_null(ledger);
    assert_non_null(strstr(error, damaged));
    assert_int_equal(rmdir(damaged), 0);
}

static void newer_files_and_links_are_refused(void **state)
{
    (void)state;
    char error[FM_LEDGER_ERROR_SIZE];
    fm_resume_key key = key_of(1);
    fm_ledger *ledger = NULL;
    make_ledger();
    run_sql("PRAGMA user_version=3");
    assert_int_equal(fm_ledger_open(folder, &key, &ledger, error), FM_ERR_IO);
    assert_non_null(strstr(error, "newer"));
    assert_int_equal(access(damaged, F_OK), -1);

    remove_files();
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(fm_ledger_open(folder, &key, &ledger, error), FM_ERR_IO);
    assert_null(ledger);
}

static void damaged_rows_are_left_out(void **state)
{
    (void)state;
    make_ledger();
    run_sql("INSERT INTO tokens (number, hash, role, world, team) VALUES"
            " (3, x'00', 'admin', 0, 0), (4, zeroblob(32), 'king', 0, 0),"
            " (5, zeroblob(32), 'player', 0, 0), (6, zeroblob(32), 'admin', 7, 1),"
            " (8, zeroblob(32), 'debug', 0, 0)");
    struct contents now = look();
    assert_int_equal(now.count, 3);
    assert_int_equal(now.grants[2].number, 8);
    assert_int_equal(now.last, 8);
    run_sql("DELETE FROM secrets; INSERT INTO secrets VALUES ('epoch', x'01'), ('resume', x'02')");
    now = look();
    assert_int_equal(now.epoch, 0);
    assert_int_equal(now.key, 99);
}

// A file without one of its tables is read with an error, and not taken for an empty one.
static void files_without_tables_are_refused(void **state)
{
    (void)state;
    char error[FM_LEDGER_ERROR_SIZE];
    make_ledger();
    run_sql("DROP TABLE tokens");
    fm_ledger *ledger = open_ledger(1);
    fm_tokens tokens = {.last = 0};
    assert_int_equal(fm_ledger_read(ledger, &tokens, error), FM_ERR_IO);
    for (uint32_t i = 0; i < FM_COUNT_OF(writes); i++) {
        bool needs_tokens = writes[i].write != write_epoch && writes[i].write != write_replaced;
        assert_int_equal(writes[i].write(ledger, error), needs_tokens ? FM_ERR_IO : FM_OK);
    }
    fm_ledger_close(ledger);
}

int main(void)
{
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/server.db", folder);
    snprintf(damaged, sizeof damaged, "%s/server.db.damaged", folder);
    fm_failing_disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_write_has_changed_nothing),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(insisting_writes_the_epoch_first),
        cmocka_unit_test(a_ledger_cannot_be_made_on_a_full_disk),
        cmocka_unit_test(damaged_files_are_set_aside),
        cmocka_unit_test(newer_files_and_links_are_refused),
        cmocka_unit_test(damaged_rows_are_left_out),
        cmocka_unit_test(files_without_tables_are_refused),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    remove_files();
    rmdir(folder);
    return failures;
}
