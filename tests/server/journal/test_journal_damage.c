// Damaged journals: a file that is damaged, or partly an older state of itself, gives an error that
// names it, and never rows that were not written. Older formats are read and migrated.
//
// Method: files cut off and overwritten at random places, pages of older states, full disks
// (tests/support/failing_disk.h).

#include "tests/support/support.h"

#include "tests/server/journal/written.h"
#include "tests/support/failing_disk.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- damage ------------------------------------------------------------------------------------

static void copy_damaged(struct fm_written *written, const char *bytes, size_t size)
{
    FILE *file = fopen(written->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Opens the file and reads all that can be read. Each row must be one that was written, and each
// error must name the file.
static bool read_damaged(struct fm_written *written)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_reader *reader = NULL;
    fm_status status = fm_journal_reader_open(written->path, &reader, error);
    if (status == FM_OK) {
        uint32_t count;
        const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
        for (uint32_t i = 0; i < count && status == FM_OK; i++) {
            uint8_t *world;
            size_t size;
            status = fm_journal_reader_load(reader, &keyframes[i], &world, &size, error);
            if (status == FM_OK) {
                free(world);
            }
        }
        if (status == FM_OK) {
            fm_written_compare(written, reader, 0, &status, error);
        }
    }
    if (status != FM_OK) {
        assert_non_null(strstr(error, written->path));
    }
    fm_journal_reader_close(reader);
    return status == FM_OK;
}

static struct fm_written *make_file(char **bytes, size_t *size)
{
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    for (uint32_t i = 1; i <= 120; i++) {
        fm_written_tick(written, i % 40 == 0);
    }
    fm_journals_stop(written->journals);
    fm_journal_destroy(written->journal);
    written->journal = NULL;
    *bytes = fm_test_read_file(written->path, size);
    return written;
}

static void test_files_cut_off(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    struct fm_written *written = make_file(&bytes, &size);
    assert_true(read_damaged(written));
    for (uint32_t i = 0; i < 200; i++) {
        size_t cut = fm_random_below(&written->random, (uint32_t)size);
        copy_damaged(written, bytes, i == 0 ? 0 : cut);
        assert_false(read_damaged(written));
    }
    free(bytes);
    fm_written_destroy(written);
}

static void test_files_overwritten(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    struct fm_written *written = make_file(&bytes, &size);
    char *damaged = malloc(size);
    assert_non_null(damaged);
    uint32_t noticed = 0;
    for (uint32_t i = 0; i < 400; i++) {
        memcpy(damaged, bytes, size);
        size_t at = fm_random_below(&written->random, (uint32_t)size);
        size_t count = 1 + fm_random_below(&written->random, i % 2 == 0 ? 1 : 4096);
        for (size_t k = at; k < at + count && k < size; k++) {
            damaged[k] = (char)(damaged[k] + 1 + (int)fm_random_below(&written->random, 255));
        }
        copy_damaged(written, damaged, size);
        noticed += !read_damaged(written);
    }
    assert_true(noticed > 200); // the rest was in unused bytes
    free(damaged);
    free(bytes);
    fm_written_destroy(written);
}

// ---- journals that went back to an older state -------------------------------------------------

// Reads as recovery does: from the newest good keyframe to the end. Returns whether all written
// rows came; false: there was an error.
static bool is_whole(struct fm_written *written)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_reader *reader = NULL;
    uint32_t i = 0, count = 0;
    fm_status status = fm_journal_reader_open(written->path, &reader, error);
    bool good = status == FM_OK && fm_journal_reader_info(reader)->end == FM_JOURNAL_END_KNOWN;
    if (good) {
        const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &i);
        for (status = FM_ERR_BAD_FORMAT; status != FM_OK && i > 0;) {
            uint8_t *world;
            size_t size;
            status = fm_journal_reader_load(reader, &keyframes[--i], &world, &size, error);
            if (status == FM_OK) {
                free(world);
            }
        }
        uint32_t first = (uint32_t)keyframes[i].position;
        if (status == FM_OK) {
            status = fm_journal_reader_seek(reader, first, error);
        }
        if (status == FM_OK) {
            count = first + fm_written_compare(written, reader, first, &status, error);
        }
        good = status == FM_OK;
    }
    if (good) {
        assert_int_equal(count, written->row_count); // else rows are missing without an error
    } else if (status != FM_OK) {
        assert_non_null(strstr(error, written->path));
    }
    fm_journal_reader_close(reader);
    return good;
}

static void stop_writing(struct fm_written *written)
{
    fm_journals_stop(written->journals);
    fm_journal_destroy(written->journal);
    fm_journals_destroy(written->journals);
    written->journal = NULL;
    written->journals = NULL;
}

// Reads to the end and continues writing, as a server does when it starts.
static void start_again(struct fm_written *written, const fm_journal_options *options)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_KNOWN);
    assert_int_equal(fm_written_compare(written, reader, 0, &status, error), written->row_count);
    fm_journal_tail tail = fm_journal_reader_tail(reader);
    assert_int_equal(tail.position, written->row_count);
    assert_int_equal(tail.tick, written->tick);
    fm_journal_reader_close(reader);
    assert_int_equal(fm_journals_create(options, &written->journals), FM_OK);
    status =
        fm_journal_open(written->journals, written->path, &tail, written, &written->journal, error);
    if (status != FM_OK) {
        fail_msg("%s", error);
    }
}

static void write_ticks(struct fm_written *written, uint32_t count, uint32_t keyframe_every)
{
    for (uint32_t i = 1; i <= count; i++) {
        fm_written_tick(written, i % keyframe_every == 0);
        fm_journals_turn(written->journals);
    }
}

enum {
    PAGE = 4096,
    AGES = 6
};

struct aged {
    char *bytes;
    size_t size;
};

// States of a journal at several times.
static struct fm_written *make_aged(struct aged ages[AGES])
{
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    for (uint32_t age = 0; age < AGES; age++) {
        write_ticks(written, 1 + fm_random_below(&written->random, age == AGES - 1 ? 3 : 50), 40);
        stop_writing(written);
        ages[age].bytes = fm_test_read_file(written->path, &ages[age].size);
        start_again(written, &options);
    }
    stop_writing(written);
    return written;
}

static void damage_pages(struct fm_written *written, const struct aged ages[AGES], char *bytes,
                         size_t size)
{
    uint32_t pages = (uint32_t)(size / PAGE), what = fm_random_below(&written->random, 3);
    for (uint32_t i = 1 + fm_random_below(&written->random, 3); i > 0; i--) {
        char *page = bytes + (size_t)PAGE * fm_random_below(&written->random, pages);
        const struct aged *old = &ages[fm_random_below(&written->random, AGES - 1)];
        size_t other = (size_t)PAGE * fm_random_below(&written->random, pages);
        if (what == 0) { // a page of an older state
            size_t at = (size_t)(page - bytes);
            if (at + PAGE <= old->size) {
                memcpy(page, old->bytes + at, PAGE);
            }
        } else if (what == 1) { // a page in the place of another
            memmove(page, bytes + other, PAGE);
        } else {
            memset(page, 0, PAGE);
        }
    }
}

// Pages of an older state, swapped and zeroed pages, truncated files, old copies: the reader gets
// all written rows, or an error.
static void test_no_journal_goes_back_silently(void **state)
{
    (void)state;
    uint32_t noticed = 0, tried = 0;
    for (uint32_t round = 0; round < 4; round++) {
        struct aged ages[AGES];
        struct fm_written *written = make_aged(ages);
        const struct aged *now = &ages[AGES - 1];
        char *damaged = malloc(now->size);
        assert_non_null(damaged);
        assert_true(is_whole(written));
        for (uint32_t age = 0; age + 1 < AGES; age++) {
            copy_damaged(written, ages[age].bytes, ages[age].size);
            assert_false(is_whole(written));
        }
        for (uint32_t i = 0; i < 120; i++, tried++) {
            size_t size =
                i % 10 == 0 ? PAGE * fm_random_below(&written->random, (uint32_t)(now->size / PAGE))
                            : now->size;
            memcpy(damaged, now->bytes, now->size);
            if (i % 10 != 0) {
                damage_pages(written, ages, damaged, size);
            }
            copy_damaged(written, damaged, size);
            noticed += !is_whole(written);
        }
        free(damaged);
        for (uint32_t age = 0; age < AGES; age++) {
            free(ages[age].bytes);
        }
        fm_written_destroy(written);
    }
    assert_true(tried >= 300 && noticed > tried / 3); // the rest was before the newest keyframe
}

static void test_a_missing_mark_is_told(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    char mark[300], error[FM_JOURNAL_ERROR_SIZE];
    struct fm_written *written = make_file(&bytes, &size);
    snprintf(mark, sizeof mark, "%s" FM_JOURNAL_MARK_SUFFIX, written->path);
    assert_true(is_whole(written));
    assert_int_equal(unlink(mark), 0);
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_UNKNOWN);
    fm_journal_reader_doubt(reader, error);
    assert_non_null(strstr(error, "is not known"));
    fm_journal_reader_close(reader);
    free(bytes);
    fm_written_destroy(written);
}

// The message names the lost ticks.
static void test_what_is_lost_is_told(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    char error[FM_JOURNAL_ERROR_SIZE];
    size_t size;
    fm_written_start(written, &options);
    write_ticks(written, 100, 40);
    stop_writing(written);
    char *old = fm_test_read_file(written->path, &size);
    start_again(written, &options);
    write_ticks(written, 23, 40);
    stop_writing(written);
    copy_damaged(written, old, size);
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_SHORTER);
    fm_journal_reader_doubt(reader, error);
    assert_non_null(strstr(error, "ends at tick 100, but was written up to tick 123: 23 ticks"));
    fm_journal_reader_close(reader);
    free(old);
    fm_written_destroy(written);
}

// ---- older formats, permissions, full disks ----------------------------------------------------

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
        fail_msg("%s", error);
    }
    sqlite3_close(db);
}

// A keyframe of the last tick may be left where the rows behind it are not.
static void test_rows_that_are_lost_behind_a_keyframe(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_written_start(written, &options);
    write_ticks(written, 100, 40);
    stop_writing(written);
    change(written->path,
           "UPDATE keyframes SET tick = 100 WHERE tick = (SELECT max(tick) FROM keyframes);"
           "DELETE FROM log WHERE position > (SELECT max(position) - 4 FROM log)");
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_SHORTER);
    fm_journal_reader_doubt(reader, error);
    assert_non_null(strstr(error, "was written up to tick 100, but its last 4 rows are lost"));
    fm_journal_reader_close(reader);
    fm_written_destroy(written);
}

// Turns a journal into one of format 1.
static void make_format_1(struct fm_written *written)
{
    char mark[300];
    snprintf(mark, sizeof mark, "%s" FM_JOURNAL_MARK_SUFFIX, written->path);
    change(written->path,
           "ALTER TABLE log DROP COLUMN link; ALTER TABLE keyframes DROP COLUMN seal;"
           "PRAGMA user_version=1");
    assert_int_equal(unlink(mark), 0);
    assert_int_equal(chmod(written->path, 0644), 0);
}

static uint32_t mode_of(const struct fm_written *written, const char *suffix)
{
    char path[300];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", written->path, suffix);
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

static void test_format_1_is_read_and_migrated(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    write_ticks(written, 90, 40);
    stop_writing(written);
    make_format_1(written);
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->format, 1);
    fm_journal_reader_close(reader);
    fm_written_check(written, written->row_count);

    start_again(written, &options);
    assert_int_equal(mode_of(written, ""), 0600);
    write_ticks(written, 50, 40);
    stop_writing(written);
    fm_written_check(written, written->row_count);
    assert_true(is_whole(written));
    reader = fm_written_open(written);
    assert_int_equal(fm_journal_reader_info(reader)->format, FM_JOURNAL_FORMAT);
    fm_journal_reader_close(reader);

    size_t size;
    char *old = fm_test_read_file(written->path, &size);
    start_again(written, &options);
    write_ticks(written, 1, 40);
    stop_writing(written);
    assert_true(is_whole(written));
    copy_damaged(written, old, size);
    assert_false(is_whole(written));
    free(old);
    fm_written_destroy(written);
}

static void test_only_their_owner_may_read_them(void **state)
{
    (void)state;
    mode_t before = umask(0);
    struct fm_written *written = fm_written_create();
    const fm_journal_options options = fm_written_options(written);
    fm_written_start(written, &options);
    write_ticks(written, 3, 2);
    assert_int_equal(mode_of(written, ""), 0600);
    assert_int_equal(mode_of(written, "-wal"), 0600);
    assert_int_equal(mode_of(written, "-shm"), 0600);
    assert_int_equal(mode_of(written, FM_JOURNAL_MARK_SUFFIX), 0600);
    umask(before);
    fm_written_destroy(written);
}

// A server that starts on a full disk has its worlds, and continues writing once there is room, in
// both formats and for every durability.
static void test_it_goes_on_from_a_full_disk(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct fm_written *written = fm_written_create();
        fm_journal_options options = fm_written_options(written);
        options.durability = i % 2 == 0 ? FM_DURABILITY_TICK : FM_DURABILITY_INTERVAL;
        fm_written_start(written, &options);
        write_ticks(written, 30, 20);
        fm_journals_flush(written->journals);
        stop_writing(written);
        if (i >= 2) {
            make_format_1(written);
        }
        fm_failing_disk_set(0);
        start_again(written, &options);
        uint32_t released = written->released;
        fm_written_tick(written, false);
        fm_journals_flush(written->journals);
        assert_true(fm_journal_has_failed(written->journal));
        assert_int_equal(written->released, released);
        fm_failing_disk_set(UINT64_MAX);
        usleep(21000);
        fm_journals_flush(written->journals);
        assert_false(fm_journal_has_failed(written->journal));
        assert_int_equal(written->released, released + 1);
        stop_writing(written);
        fm_written_check(written, written->row_count);
        assert_true(is_whole(written));
        fm_written_destroy(written);
    }
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    struct fm_written *written = fm_written_create();
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader;
    snprintf(written->path, sizeof written->path, "%s/none", written->folder);
    assert_int_equal(fm_journal_reader_open(written->path, &reader, error), FM_ERR_IO);
    assert_non_null(strstr(error, "No such file"));
    copy_damaged(written, "type octile\nheight 2\nwidth 2\nmap\n..\n..\n", 40);
    assert_int_equal(fm_journal_reader_open(written->path, &reader, error), FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(error, written->path));
    fm_written_destroy(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_cut_off),
        cmocka_unit_test(test_files_overwritten),
        cmocka_unit_test(test_no_journal_goes_back_silently),
        cmocka_unit_test(test_a_missing_mark_is_told),
        cmocka_unit_test(test_what_is_lost_is_told),
        cmocka_unit_test(test_rows_that_are_lost_behind_a_keyframe),
        cmocka_unit_test(test_format_1_is_read_and_migrated),
        cmocka_unit_test(test_only_their_owner_may_read_them),
        cmocka_unit_test(test_it_goes_on_from_a_full_disk),
        cmocka_unit_test(test_other_files_are_refused),
    };
    fm_failing_disk_install();
    return cmocka_run_group_tests_name("journal_damage", tests, NULL, NULL);
}
