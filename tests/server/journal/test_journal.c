// Writing journals: rows are read back in order and byte by byte; batches that were released are in
// the file, whatever the disk did in between.
//
// Method: random batches against a list of their rows; a disk that fails at every write in turn
// (tests/support/failing_disk.h).

#include "tests/support/support.h"

#include "server/base/clock.h"
#include "server/journal/journal_file.h"
#include "tests/server/journal/written.h"
#include "tests/support/failing_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What the clock says while it is stopped; 0: it goes.
static uint64_t stopped_ns;

uint64_t __wrap_fm_clock_now_ns(void);
uint64_t __real_fm_clock_now_ns(void);

uint64_t __wrap_fm_clock_now_ns(void)
{
    return stopped_ns != 0 ? stopped_ns : __real_fm_clock_now_ns();
}

static void test_what_was_written_is_read_back(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    for (uint32_t i = 1; i <= 200; i++) {
        fm_written_tick(written, i % 50 == 0);
        if (fm_random_below(&written->random, 4) == 0) {
            fm_journals_turn(written->journals);
        }
    }
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 200);
    assert_false(fm_journal_is_waiting(written->journal));

    fm_journal_reader *reader = fm_written_open(written);
    const fm_journal_info *info = fm_journal_reader_info(reader);
    assert_string_equal(info->name, "test");
    assert_int_equal(info->number, 7);
    assert_int_equal(info->overload, 1);
    assert_int_equal(info->base_count, 2);
    assert_int_equal(info->bases[1], 6);
    assert_int_equal(info->last_tick, 200);
    assert_int_equal(info->first_tick, 0);
    uint32_t count;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
    assert_int_equal(count, 5);
    assert_int_equal(keyframes[2].tick, 100);
    assert_int_equal(fm_journal_reader_keyframe_before(reader, 149)->tick, 100);
    char error[FM_JOURNAL_ERROR_SIZE];
    uint8_t *world;
    size_t size;
    assert_int_equal(fm_journal_reader_load(reader, &keyframes[2], &world, &size, error), FM_OK);
    assert_int_equal(size, 16000);
    assert_int_equal(world[0] + 256 * world[1], 100000 % 65536);
    free(world);

    // Reads from a tick's first row on, and from a keyframe on.
    fm_status status;
    uint32_t first = 0;
    while (written->rows[first].tick < 77) {
        first++;
    }
    assert_int_equal(fm_journal_reader_seek_tick(reader, 77, error), FM_OK);
    assert_int_equal(fm_written_compare(written, reader, first, &status, error),
                     written->row_count - first);
    uint32_t behind = (uint32_t)keyframes[4].position;
    assert_int_equal(fm_journal_reader_seek(reader, behind, error), FM_OK);
    assert_int_equal(fm_written_compare(written, reader, behind, &status, error),
                     written->row_count - behind);
    fm_journal_reader_close(reader);
    fm_written_check(written, written->row_count);
    fm_written_destroy(written);
}

// Every write in turn is the first that fails; later the disk has room again.
static void test_a_full_disk_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t writes = 0; writes < 60; writes++) {
        struct fm_written *written = fm_written_create();
        fm_journal_options options = fm_written_options(written);
        options.durability = writes % 2 == 0 ? FM_DURABILITY_TICK : FM_DURABILITY_NONE;
        fm_written_start(written, &options);
        uint32_t safe_rows = written->row_count;
        fm_failing_disk_set(writes);
        for (uint32_t i = 1; i <= 12; i++) {
            uint32_t row_count = written->row_count;
            fm_written_tick(written, i % 6 == 0);
            fm_journals_flush(written->journals);
            safe_rows = written->released == written->submitted ? written->row_count : safe_rows;
            if (written->released < written->submitted) {
                assert_true(fm_journal_has_failed(written->journal));
                assert_true(written->row_count > row_count);
            }
        }
        // Released batches are in the file, even if the process dies now.
        char error[FM_JOURNAL_ERROR_SIZE] = "";
        fm_status status;
        bool was_full = written->released < written->submitted;
        fm_failing_disk_set(UINT64_MAX);
        fm_journal_reader *reader = fm_written_open(written);
        assert_true(fm_written_compare(written, reader, 0, &status, error) >= safe_rows);
        assert_int_equal(status, FM_OK);
        fm_journal_reader_close(reader);
        if (was_full) {
            fm_journal_error(written->journal, error);
            assert_non_null(strstr(error, written->path));
            assert_int_equal(written->failed, written->submitted - written->released);
            usleep(21000);
            fm_journals_turn(written->journals);
        }
        assert_int_equal(written->released, written->submitted);
        assert_false(fm_journal_has_failed(written->journal));
        fm_written_check(written, written->row_count);
        fm_written_destroy(written);
        if (!was_full) {
            break;
        }
    }
}

static void test_a_sync_that_fails_is_no_commit(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    fm_written_tick(written, false);
    fm_journals_turn(written->journals);
    stopped_ns = fm_clock_now_ns(); // or a busy machine may need longer than until it is due again
    fm_failing_disk_set_syncs(0);
    fm_written_tick(written, false);
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 1);
    assert_int_equal(written->failed, 1);
    fm_failing_disk_set_syncs(UINT64_MAX);
    fm_written_tick(written, false);
    stopped_ns += options.retry_ms * FM_NS_PER_MS - 1;
    fm_journals_turn(written->journals);
    assert_int_equal(written->released, 1); // not before it is due again
    stopped_ns += 1;
    fm_journals_turn(written->journals);
    stopped_ns = 0;
    assert_int_equal(written->released, 3);
    fm_written_check(written, written->row_count);
    fm_written_destroy(written);
}

static void test_a_file_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    for (uint64_t writes = 0;; writes++) {
        struct fm_written *written = fm_written_create();
        const fm_journal_options options = fm_written_options(written);
        char error[FM_JOURNAL_ERROR_SIZE];
        assert_int_equal(fm_journals_create(&options, &written->journals), FM_OK);
        fm_failing_disk_set(writes);
        fm_status status = fm_written_make_journal(written, error);
        fm_failing_disk_set(UINT64_MAX);
        if (status != FM_OK) {
            assert_non_null(strstr(error, "/7-test.journal"));
            assert_int_equal(rmdir(written->folder), 0); // empty
        }
        fm_written_destroy(written);
        if (status == FM_OK) {
            assert_true(writes > 3);
            break;
        }
    }
}

// size_max always leaves at least two keyframes and all rows behind the older one.
static void test_the_file_is_bounded(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    fm_journal_options options = fm_written_options(written);
    options.size_max = 50000;
    fm_written_start(written, &options);
    for (uint32_t i = 1; i <= 600; i++) {
        fm_written_tick(written, i % 20 == 0);
        fm_journals_turn(written->journals);
    }
    struct stat file;
    fm_journal_reader *reader = fm_written_open(written);
    uint32_t count;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
    assert_true(count >= 2 && count < 25);
    assert_int_equal(keyframes[count - 1].tick, 600);
    assert_true(fm_journal_reader_info(reader)->first_tick > 0);
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    uint32_t first = (uint32_t)keyframes[0].position - 1; // its own row is the oldest one
    assert_int_equal(fm_written_compare(written, reader, first, &status, error),
                     written->row_count - first);
    assert_int_equal(status, FM_OK);
    fm_journal_reader_close(reader);
    assert_int_equal(stat(written->path, &file), 0);
    assert_true(file.st_size < 200000);
    fm_written_destroy(written);
}

// The thread releases submitted batches by itself, and the end waits for the rest.
static void test_the_thread_writes(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    fm_journal_options options = fm_written_options(written);
    options.driven = false;
    fm_written_start(written, &options);
    for (uint32_t i = 1; i <= 300; i++) {
        fm_written_tick(written, i % 100 == 0);
        if (i % 50 == 0) {
            fm_journals_flush(written->journals);
            assert_int_equal(written->released, i);
        }
    }
    fm_written_tick(written, false);
    fm_journals_stop(written->journals);
    assert_int_equal(written->released, 301);
    assert_int_equal(written->given_up, 0);
    fm_written_check(written, written->row_count);
    fm_written_destroy(written);
}

static void expect_beside(const struct fm_written *written, bool there)
{
    char path[sizeof written->path + 8];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", written->path, i == 0 ? "-wal" : "-shm");
        assert_int_equal(access(path, F_OK) == 0, there);
    }
}

// Who reads a file that nobody has open leaves nothing beside it, and who reads one that a server
// writes takes nothing from it.
static void test_readers_leave_nothing_beside_it(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    for (uint32_t i = 0; i < 3; i++) {
        fm_written_tick(written, false);
        fm_journals_turn(written->journals);
        fm_written_check(written, written->row_count);
        expect_beside(written, true); // the writer's
    }
    fm_journals_stop(written->journals);
    fm_journal_destroy(written->journal);
    fm_journals_destroy(written->journals);
    written->journals = NULL;
    expect_beside(written, false);
    fm_written_check(written, written->row_count);
    expect_beside(written, false);
    fm_journal_reader *first = fm_written_open(written), *second = fm_written_open(written);
    expect_beside(written, true);
    fm_journal_reader_close(first);
    fm_status status;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    assert_int_equal(fm_written_compare(written, second, 0, &status, error), written->row_count);
    fm_journal_reader_close(second);
    expect_beside(written, false);
    fm_written_destroy(written);
}

static void test_a_world_that_ends(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct fm_written *written = fm_written_create();
        fm_journal_options options = fm_written_options(written);
        options.keep = keep != 0;
        fm_written_start(written, &options);
        fm_written_tick(written, false);
        fm_journal_batch *batch = fm_journal_batch_create();
        batch->is_last = true;
        batch->held_first = (void *)(uintptr_t)++written->submitted;
        fm_journal_submit(written->journal, batch);
        written->journal = NULL; // the writer owns it now
        fm_journals_turn(written->journals);
        assert_int_equal(written->released, 2);
        assert_int_equal(access(written->path, F_OK), -1);
        strcat(written->path, ".ended");
        if (keep) {
            fm_written_check(written, written->row_count);
        } else {
            assert_int_equal(rmdir(written->folder), 0); // empty
        }
        fm_written_destroy(written);
    }
}

static void make_file(const char *folder, const char *name, uint32_t number, time_t changed)
{
    char path[320];
    snprintf(path, sizeof path, "%s/%u-%s", folder, number, name);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    const struct timespec times[2] = {{.tv_sec = changed}, {.tv_sec = changed}};
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static bool has_file(const char *folder, const char *name, uint32_t number)
{
    char path[320];
    snprintf(path, sizeof path, "%s/%u-%s", folder, number, name);
    return access(path, F_OK) == 0;
}

// A node of a cluster, whose worlds go to other nodes.
static void test_files_of_worlds_that_left_are_bounded(void **state)
{
    (void)state;
    const uint32_t count = FM_JOURNAL_ASIDE_MAX + 10;
    for (int keep = 0; keep < 2; keep++) {
        struct fm_written *written = fm_written_create();
        fm_journal_options options = fm_written_options(written);
        options.keep = keep != 0;
        fm_written_start(written, &options);
        for (uint32_t i = 0; i < count; i++) {
            bool is_ended = i % 2 == 0;
            make_file(written->folder, is_ended ? "w.journal.ended" : "w.journal.former", 100 + i,
                      (time_t)(1000 + i));
            make_file(written->folder, is_ended ? "w.journal.ended-mark" : "w.journal.former-mark",
                      100 + i, (time_t)(1000 + i));
        }
        make_file(written->folder, "w.journal.damaged", 100, 1);
        make_file(written->folder, "w.journal", 99, 1);
        fm_written_tick(written, false);
        fm_journal_batch *batch = fm_journal_batch_create();
        batch->is_last = batch->is_left = true;
        batch->held_first = (void *)(uintptr_t)++written->submitted;
        fm_journal_submit(written->journal, batch);
        written->journal = NULL; // the writer owns it now
        fm_journals_turn(written->journals);
        for (uint32_t i = 0; i < count; i++) {
            bool is_ended = i % 2 == 0, stays = keep || i >= 11; // it is itself the newest
            assert_int_equal(has_file(written->folder,
                                      is_ended ? "w.journal.ended" : "w.journal.former", 100 + i),
                             stays);
            assert_int_equal(has_file(written->folder,
                                      is_ended ? "w.journal.ended-mark" : "w.journal.former-mark",
                                      100 + i),
                             stays);
        }
        fm_journal_file_trim_aside(written->folder, 0, 1000 + count - 1); // the newest is younger
        assert_false(has_file(written->folder, "w.journal.ended", 100 + count - 2));
        assert_true(has_file(written->folder, "w.journal.former", 100 + count - 1));
        assert_true(has_file(written->folder, "w.journal.damaged", 100));
        assert_true(has_file(written->folder, "w.journal", 99));
        strcat(written->path, ".ended");
        fm_written_check(written, written->row_count);
        fm_written_destroy(written);
    }
}

static void copy_file(const char *from, const char *to)
{
    FILE *source = fopen(from, "rb"), *copy = fopen(to, "wb");
    assert_true(source != NULL && copy != NULL);
    char bytes[4096];
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, source)) > 0;) {
        assert_int_equal(fwrite(bytes, 1, size, copy), size);
    }
    fclose(source);
    assert_int_equal(fclose(copy), 0);
}

// A journal that was closed is set aside where one lies that was not: what a killed process leaves,
// with rows in its WAL file.
static void test_a_file_that_is_set_aside_replaces_all_of_an_earlier_one(void **state)
{
    (void)state;
    struct fm_written *killed = fm_written_create(), *closed = fm_written_create();
    fm_journal_options options = fm_written_options(killed);
    char path[320], wal[2][330];
    fm_written_start(killed, &options);
    for (uint32_t i = 0; i < 20; i++) {
        fm_written_tick(killed, false);
        fm_journals_turn(killed->journals);
    }
    snprintf(path, sizeof path, "%s/kept", killed->folder);
    snprintf(wal[0], sizeof wal[0], "%s-wal", killed->path);
    snprintf(wal[1], sizeof wal[1], "%s-wal", path);
    copy_file(killed->path, path);
    copy_file(wal[0], wal[1]);
    assert_true(fm_journal_file_set_aside(path, "former"));

    options = fm_written_options(closed);
    options.keep = true;
    fm_written_start(closed, &options);
    fm_written_tick(closed, true);
    fm_journal_batch *batch = fm_journal_batch_create();
    batch->is_last = true;
    batch->held_first = (void *)(uintptr_t)++closed->submitted;
    fm_journal_submit(closed->journal, batch);
    closed->journal = NULL; // the writer owns it now
    fm_journals_turn(closed->journals);
    strcat(closed->path, ".ended");
    copy_file(closed->path, path);
    assert_true(fm_journal_file_set_aside(path, "former"));

    snprintf(closed->path, sizeof closed->path, "%s/kept.former", killed->folder);
    fm_written_check(closed, closed->row_count);
    fm_written_destroy(closed);
    fm_written_destroy(killed);
}

// ---- interrupted -------------------------------------------------------------------------------

static int calls_left = -1; // of these three, before the process dies; -1: it does not

int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_unlink(const char *path);

static void perhaps_die(void)
{
    if (calls_left == 0) {
        _exit(7);
    }
    calls_left -= calls_left > 0;
}

int __wrap_rename(const char *from, const char *to)
{
    perhaps_die();
    return __real_rename(from, to);
}

int __wrap_link(const char *from, const char *to)
{
    perhaps_die();
    return __real_link(from, to);
}

int __wrap_unlink(const char *path)
{
    perhaps_die();
    return __real_unlink(path);
}

// @return whether it was not interrupted
static bool set_aside_for_so_long(const char *path, int calls)
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        calls_left = calls;
        _exit(fm_journal_file_set_aside(path, "former") ? 0 : 1);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7));
    return WEXITSTATUS(status) == 0;
}

// Wherever it breaks off: what is found next under the old name is the whole journal, or nothing.
static void test_setting_aside_may_break_off(void **state)
{
    (void)state;
    struct fm_written *killed = fm_written_create();
    fm_journal_options options = fm_written_options(killed);
    char original[sizeof killed->path], path[320], wal[2][330];
    fm_written_start(killed, &options);
    for (uint32_t i = 0; i < 20; i++) {
        fm_written_tick(killed, false);
        fm_journals_turn(killed->journals);
    }
    memcpy(original, killed->path, sizeof original);
    snprintf(path, sizeof path, "%s/kept", killed->folder);
    snprintf(wal[0], sizeof wal[0], "%s-wal", killed->path);
    snprintf(wal[1], sizeof wal[1], "%s-wal", path);
    bool is_whole = false;
    for (int calls = 0; !is_whole; calls++) {
        copy_file(original, path);
        copy_file(wal[0], wal[1]);
        is_whole = set_aside_for_so_long(path, calls);
        bool was_ended = fm_journal_file_finish_aside(path);
        bool is_gone = access(path, F_OK) != 0;
        assert_true(is_gone == (was_ended || is_whole));
        snprintf(killed->path, sizeof killed->path, is_gone ? "%s/kept.former" : "%s/kept",
                 killed->folder);
        fm_written_check(killed, killed->row_count);
    }
    memcpy(killed->path, original, sizeof original);
    fm_written_destroy(killed);
}

// @return whether it was not interrupted
static bool make_for_so_long(struct fm_written *written, uint64_t writes)
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        char error[FM_JOURNAL_ERROR_SIZE];
        fm_failing_disk_die_after(writes);
        _exit(fm_written_make_journal(written, error) == FM_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7));
    return WEXITSTATUS(status) == 0;
}

// Wherever the process dies: the file holds its first keyframe, or it can be told that it never
// did, and goes.
static void test_making_a_file_may_break_off(void **state)
{
    (void)state;
    bool is_whole = false;
    uint32_t removed = 0, kept = 0;
    for (uint64_t writes = 0; !is_whole; writes++) {
        struct fm_written *written = fm_written_create();
        const fm_journal_options options = fm_written_options(written);
        char error[FM_JOURNAL_ERROR_SIZE], beside[330];
        assert_int_equal(fm_journals_create(&options, &written->journals), FM_OK);
        snprintf(written->path, sizeof written->path, "%s/7-test.journal", written->folder);
        is_whole = make_for_so_long(written, writes);
        bool was_there = access(written->path, F_OK) == 0;
        fm_journal_reader *reader = NULL;
        fm_status status = fm_journal_reader_open(written->path, &reader, error);
        fm_journal_reader_close(reader);
        bool was_removed = fm_journal_file_remove_unbegun(written->path);
        assert_true(was_removed == (was_there && status != FM_OK));
        assert_true(was_removed || !was_there || access(written->path, F_OK) == 0);
        removed += was_removed;
        kept += status == FM_OK;
        if (was_removed) {
            assert_non_null(strstr(error, "7-test.journal: holds nothing: its world was being"));
            assert_int_equal(rmdir(written->folder), 0); // empty
        } else if (!was_there) {
            snprintf(beside, sizeof beside, "%s-mark", written->path);
            (void)unlink(beside);
        }
        fm_written_destroy(written);
    }
    assert_true(removed >= 3 && kept >= 2); // the commit is done before the mark is written
}

// A journal whose rows are gone is damaged; nobody takes it for one that never had any.
static void test_an_emptied_file_is_not_removed(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    fm_journal_options options = fm_written_options(written);
    char original[sizeof written->path], path[320], mark[2][330];
    fm_written_start(written, &options);
    fm_written_tick(written, false);
    fm_journals_turn(written->journals);
    snprintf(path, sizeof path, "%s/emptied", written->folder);
    memcpy(original, written->path, sizeof original);
    snprintf(mark[0], sizeof mark[0], "%s-mark", original);
    snprintf(mark[1], sizeof mark[1], "%s-mark", path);
    copy_file(mark[0], mark[1]);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_false(fm_journal_file_remove_unbegun(path));
    assert_int_equal(access(path, F_OK), 0);
    assert_false(fm_journal_file_remove_unbegun(original));
    fm_written_check(written, written->row_count);
    fm_written_destroy(written);
}

// A file that has both names keeps the old one as long as its WAL cannot be renamed.
static void test_a_file_is_not_parted_from_its_wal(void **state)
{
    (void)state;
    struct fm_written *killed = fm_written_create();
    fm_journal_options options = fm_written_options(killed);
    char aside[320], in_the_way[330], inside[340];
    fm_written_start(killed, &options);
    for (uint32_t i = 0; i < 20; i++) {
        fm_written_tick(killed, false);
        fm_journals_turn(killed->journals);
    }
    char original[sizeof killed->path], wal[2][330];
    memcpy(original, killed->path, sizeof original);
    snprintf(killed->path, sizeof killed->path, "%s/kept", killed->folder);
    snprintf(wal[0], sizeof wal[0], "%s-wal", original);
    snprintf(wal[1], sizeof wal[1], "%s-wal", killed->path);
    copy_file(original, killed->path);
    copy_file(wal[0], wal[1]);
    snprintf(aside, sizeof aside, "%s.former", killed->path);
    snprintf(in_the_way, sizeof in_the_way, "%s-wal", aside);
    snprintf(inside, sizeof inside, "%s/file", in_the_way);
    assert_int_equal(link(killed->path, aside), 0);
    assert_int_equal(mkdir(in_the_way, 0700), 0);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_false(fm_journal_file_finish_aside(killed->path));
    fm_written_check(killed, killed->row_count);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(in_the_way), 0);
    assert_true(fm_journal_file_finish_aside(killed->path));
    memcpy(killed->path, aside, strlen(aside) + 1);
    fm_written_check(killed, killed->row_count);
    memcpy(killed->path, original, sizeof original);
    fm_written_destroy(killed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_read_back),
        cmocka_unit_test(test_a_full_disk_loses_nothing),
        cmocka_unit_test(test_a_sync_that_fails_is_no_commit),
        cmocka_unit_test(test_a_file_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(test_the_file_is_bounded),
        cmocka_unit_test(test_the_thread_writes),
        cmocka_unit_test(test_readers_leave_nothing_beside_it),
        cmocka_unit_test(test_a_world_that_ends),
        cmocka_unit_test(test_files_of_worlds_that_left_are_bounded),
        cmocka_unit_test(test_a_file_that_is_set_aside_replaces_all_of_an_earlier_one),
        cmocka_unit_test(test_setting_aside_may_break_off),
        cmocka_unit_test(test_making_a_file_may_break_off),
        cmocka_unit_test(test_an_emptied_file_is_not_removed),
        cmocka_unit_test(test_a_file_is_not_parted_from_its_wal),
    };
    fm_failing_disk_install();
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
