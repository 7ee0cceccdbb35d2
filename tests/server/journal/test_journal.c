// Journals: what was written is read back, in order and to the byte; what was released is in the
// file whatever the disk did in between; a file that is damaged in any way gives an error that
// names it, and never rows that were not written.
//
// Method: random batches against a list of what they held; a disk that fails at every write in turn
// (tests/support/failing_disk.h); files cut off and overwritten at random places.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "server/journal/journal.h"
#include "tests/support/failing_disk.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_MAX 4096u

struct written_row {
    fm_journal_kind kind;
    uint64_t tick;
    size_t size;
    uint8_t bytes[64];
};

struct fixture {
    char folder[64], path[256];
    fm_journals *journals;
    fm_journal *journal;
    fm_random random;
    uint64_t tick;
    struct written_row rows[ROWS_MAX]; // that were submitted
    uint32_t row_count;
    uint32_t submitted, released, given_up, failed; // batches
};

static const fm_journal_pace pace = {.tick_hz = 10, .budget_ms = 50};
static const uint8_t first_world[1000] = "a world";

// ---- writing -----------------------------------------------------------------------------------

static void released(void *context, void *owner, fm_journal_batch *batch, bool written)
{
    (void)owner;
    struct fixture *fixture = context;
    assert_ptr_equal(batch->held_first, (void *)(uintptr_t)(fixture->released + 1));
    fixture->released++;
    fixture->given_up += !written;
}

static void failed(void *context, void *owner, fm_journal_batch *batch)
{
    (void)owner;
    (void)batch;
    struct fixture *fixture = context;
    fixture->failed++;
}

static fm_journal_options options_of(struct fixture *fixture)
{
    return (fm_journal_options){
        .folder = fixture->folder,
        .durability = FM_DURABILITY_TICK,
        .size_max = UINT64_MAX,
        .retry_ms = 20,
        .driven = true,
        .released = released,
        .failed = failed,
        .context = fixture,
    };
}

static const fm_journal_head head = {
    .name = "test", .number = 7, .overload = 1, .bases = (uint32_t[]){5, 6}, .base_count = 2};

static void start(struct fixture *fixture, const fm_journal_options *options)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_journal_world world = {.pace = pace, .bytes = first_world, .size = sizeof first_world};
    assert_int_equal(fm_journals_create(options, &fixture->journals), FM_OK);
    fm_status status =
        fm_journal_create(fixture->journals, &head, &world, fixture, &fixture->journal, error);
    if (status != FM_OK) {
        fail_msg("%s", error);
    }
    fixture->rows[fixture->row_count++] = (struct written_row){.kind = FM_JOURNAL_KEYFRAME};
    assert_true(
        fm_journals_path(fixture->journals, 7, "test", fixture->path, sizeof fixture->path));
}

static struct fixture *fixture_create(void)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/fogmarch-journal-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    fixture->random = fm_random_seed(fm_test_seed());
    return fixture;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void fixture_destroy(struct fixture *fixture)
{
    fm_failing_disk_set(UINT64_MAX);
    fm_failing_disk_set_syncs(UINT64_MAX);
    if (fixture->journals != NULL) {
        fm_journals_stop(fixture->journals);
        fm_journal_destroy(fixture->journal);
        fm_journals_destroy(fixture->journals);
    }
    nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(fixture);
}

static void add_row(struct fixture *fixture, fm_journal_batch *batch, fm_journal_kind kind,
                    uint64_t tick)
{
    struct written_row *row = &fixture->rows[fixture->row_count++];
    assert_true(fixture->row_count < ROWS_MAX);
    *row = (struct written_row){.kind = kind, .tick = tick};
    row->size = kind == FM_JOURNAL_KEYFRAME ? 0 : fm_random_below(&fixture->random, 65);
    for (size_t i = 0; i < row->size; i++) {
        row->bytes[i] = (uint8_t)fm_random_below(&fixture->random, 256);
    }
    size_t begin = fm_journal_batch_begin_row(batch, kind, tick);
    fm_writer_put_bytes(&batch->rows, row->bytes, row->size);
    fm_journal_batch_end_row(batch, begin);
}

static void add_keyframe(struct fixture *fixture, fm_journal_batch *batch)
{
    batch->has_keyframe = true;
    batch->keyframe_tick = fixture->tick;
    batch->keyframe_pace = pace;
    for (uint32_t i = 0; i < 2000; i++) {
        fm_writer_put_u64(&batch->world, fixture->tick * 1000 + i / 8);
    }
    add_row(fixture, batch, FM_JOURNAL_KEYFRAME, fixture->tick);
}

// Some commands, a tick, now and then a keyframe.
static void submit_tick(struct fixture *fixture, bool with_keyframe)
{
    fm_journal_batch *batch = fm_journal_batch_create();
    assert_non_null(batch);
    fixture->tick++;
    for (uint32_t i = fm_random_below(&fixture->random, 3); i > 0; i--) {
        add_row(fixture, batch, FM_JOURNAL_COMMAND, fixture->tick);
    }
    add_row(fixture, batch, FM_JOURNAL_TICK, fixture->tick);
    batch->tick_count = 1;
    if (with_keyframe) {
        add_keyframe(fixture, batch);
    }
    batch->held_first = (void *)(uintptr_t)++fixture->submitted;
    fm_journal_submit(fixture->journal, batch);
}

// ---- reading -----------------------------------------------------------------------------------

static fm_journal_reader *open_reader(const struct fixture *fixture)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader = NULL;
    if (fm_journal_reader_open(fixture->path, &reader, error) != FM_OK) {
        fail_msg("%s", error);
    }
    return reader;
}

// Reads rows and compares them with those written, from index `first` on. Returns how many came
// before the end or an error.
static uint32_t compare_rows(const struct fixture *fixture, fm_journal_reader *reader,
                             uint32_t first, fm_status *status, char *error)
{
    fm_journal_row row;
    bool more = true;
    uint32_t count = 0;
    *status = FM_OK;
    while ((*status = fm_journal_reader_next(reader, &row, &more, error)) == FM_OK && more) {
        const struct written_row *expected = &fixture->rows[first + count++];
        assert_true(first + count <= fixture->row_count);
        assert_int_equal(row.position, first + count);
        assert_int_equal(row.kind, expected->kind);
        assert_int_equal(row.tick, expected->tick);
        assert_int_equal(row.size, expected->size);
        assert_memory_equal(row.size > 0 ? row.bytes : expected->bytes, expected->bytes, row.size);
    }
    return count;
}

static void check_rows(const struct fixture *fixture, uint32_t row_count)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    fm_journal_reader *reader = open_reader(fixture);
    assert_int_equal(compare_rows(fixture, reader, 0, &status, error), row_count);
    assert_int_equal(status, FM_OK);
    fm_journal_reader_close(reader);
}

// ---- tests -------------------------------------------------------------------------------------

static void test_what_was_written_is_read_back(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    for (uint32_t i = 1; i <= 200; i++) {
        submit_tick(fixture, i % 50 == 0);
        if (fm_random_below(&fixture->random, 4) == 0) {
            fm_journals_turn(fixture->journals);
        }
    }
    fm_journals_turn(fixture->journals);
    assert_int_equal(fixture->released, 200);
    assert_false(fm_journal_is_waiting(fixture->journal));

    fm_journal_reader *reader = open_reader(fixture);
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

    // From a tick's first row on, and from a keyframe on.
    fm_status status;
    uint32_t first = 0;
    while (fixture->rows[first].tick < 77) {
        first++;
    }
    assert_int_equal(fm_journal_reader_seek_tick(reader, 77, error), FM_OK);
    assert_int_equal(compare_rows(fixture, reader, first, &status, error),
                     fixture->row_count - first);
    uint32_t behind = (uint32_t)keyframes[4].position;
    assert_int_equal(fm_journal_reader_seek(reader, behind, error), FM_OK);
    assert_int_equal(compare_rows(fixture, reader, behind, &status, error),
                     fixture->row_count - behind);
    fm_journal_reader_close(reader);
    check_rows(fixture, fixture->row_count);
    fixture_destroy(fixture);
}

// Every write in turn is the first that fails; later the disk has room again.
static void test_a_full_disk_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t writes = 0; writes < 60; writes++) {
        struct fixture *fixture = fixture_create();
        fm_journal_options options = options_of(fixture);
        options.durability = writes % 2 == 0 ? FM_DURABILITY_TICK : FM_DURABILITY_NONE;
        start(fixture, &options);
        uint32_t safe_rows = fixture->row_count;
        fm_failing_disk_set(writes);
        for (uint32_t i = 1; i <= 12; i++) {
            uint32_t row_count = fixture->row_count;
            submit_tick(fixture, i % 6 == 0);
            fm_journals_flush(fixture->journals);
            safe_rows = fixture->released == fixture->submitted ? fixture->row_count : safe_rows;
            if (fixture->released < fixture->submitted) {
                assert_true(fm_journal_has_failed(fixture->journal));
                assert_true(fixture->row_count > row_count);
            }
        }
        // What was released is there, even if the process dies now.
        char error[FM_JOURNAL_ERROR_SIZE] = "";
        fm_status status;
        bool was_full = fixture->released < fixture->submitted;
        fm_failing_disk_set(UINT64_MAX);
        fm_journal_reader *reader = open_reader(fixture);
        assert_true(compare_rows(fixture, reader, 0, &status, error) >= safe_rows);
        assert_int_equal(status, FM_OK);
        fm_journal_reader_close(reader);
        if (was_full) {
            fm_journal_error(fixture->journal, error);
            assert_non_null(strstr(error, fixture->path));
            assert_int_equal(fixture->failed, fixture->submitted - fixture->released);
            usleep(21000);
            fm_journals_turn(fixture->journals);
        }
        assert_int_equal(fixture->released, fixture->submitted);
        assert_false(fm_journal_has_failed(fixture->journal));
        check_rows(fixture, fixture->row_count);
        fixture_destroy(fixture);
        if (!was_full) {
            break;
        }
    }
}

static void test_a_sync_that_fails_is_no_commit(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    submit_tick(fixture, false);
    fm_journals_turn(fixture->journals);
    fm_failing_disk_set_syncs(0);
    submit_tick(fixture, false);
    fm_journals_turn(fixture->journals);
    assert_int_equal(fixture->released, 1);
    assert_int_equal(fixture->failed, 1);
    fm_failing_disk_set_syncs(UINT64_MAX);
    submit_tick(fixture, false);
    fm_journals_turn(fixture->journals);
    assert_int_equal(fixture->released, 1); // not before it is due again
    usleep(21000);
    fm_journals_turn(fixture->journals);
    assert_int_equal(fixture->released, 3);
    check_rows(fixture, fixture->row_count);
    fixture_destroy(fixture);
}

static void test_a_file_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    for (uint64_t writes = 0;; writes++) {
        struct fixture *fixture = fixture_create();
        const fm_journal_options options = options_of(fixture);
        const fm_journal_world world = {
            .pace = pace, .bytes = first_world, .size = sizeof first_world};
        char error[FM_JOURNAL_ERROR_SIZE];
        assert_int_equal(fm_journals_create(&options, &fixture->journals), FM_OK);
        fm_failing_disk_set(writes);
        fm_status status =
            fm_journal_create(fixture->journals, &head, &world, fixture, &fixture->journal, error);
        fm_failing_disk_set(UINT64_MAX);
        if (status != FM_OK) {
            assert_non_null(strstr(error, "/7-test.journal"));
            assert_int_equal(rmdir(fixture->folder), 0); // empty
        }
        fixture_destroy(fixture);
        if (status == FM_OK) {
            assert_true(writes > 3);
            break;
        }
    }
}

// What size_max leaves: at least two keyframes and all behind the older one.
static void test_the_file_is_bounded(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    fm_journal_options options = options_of(fixture);
    options.size_max = 50000;
    start(fixture, &options);
    for (uint32_t i = 1; i <= 600; i++) {
        submit_tick(fixture, i % 20 == 0);
        fm_journals_turn(fixture->journals);
    }
    struct stat file;
    fm_journal_reader *reader = open_reader(fixture);
    uint32_t count;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
    assert_true(count >= 2 && count < 25);
    assert_int_equal(keyframes[count - 1].tick, 600);
    assert_true(fm_journal_reader_info(reader)->first_tick > 0);
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    uint32_t first = (uint32_t)keyframes[0].position - 1; // its own row is the oldest
    assert_int_equal(compare_rows(fixture, reader, first, &status, error),
                     fixture->row_count - first);
    assert_int_equal(status, FM_OK);
    fm_journal_reader_close(reader);
    assert_int_equal(stat(fixture->path, &file), 0);
    assert_true(file.st_size < 200000);
    fixture_destroy(fixture);
}

// ---- damage ------------------------------------------------------------------------------------

static void copy_damaged(struct fixture *fixture, const char *bytes, size_t size)
{
    FILE *file = fopen(fixture->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Opens and reads all that can be read. What comes is what was written, and whatever is wrong has
// the file's name.
static bool read_damaged(struct fixture *fixture)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_reader *reader = NULL;
    fm_status status = fm_journal_reader_open(fixture->path, &reader, error);
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
            compare_rows(fixture, reader, 0, &status, error);
        }
    }
    if (status != FM_OK) {
        assert_non_null(strstr(error, fixture->path));
    }
    fm_journal_reader_close(reader);
    return status == FM_OK;
}

static struct fixture *make_file(char **bytes, size_t *size)
{
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    for (uint32_t i = 1; i <= 120; i++) {
        submit_tick(fixture, i % 40 == 0);
    }
    fm_journals_stop(fixture->journals);
    fm_journal_destroy(fixture->journal);
    fixture->journal = NULL;
    *bytes = fm_test_read_file(fixture->path, size);
    return fixture;
}

static void test_files_cut_off(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    struct fixture *fixture = make_file(&bytes, &size);
    assert_true(read_damaged(fixture));
    for (uint32_t i = 0; i < 200; i++) {
        size_t cut = fm_random_below(&fixture->random, (uint32_t)size);
        copy_damaged(fixture, bytes, i == 0 ? 0 : cut);
        assert_false(read_damaged(fixture));
    }
    free(bytes);
    fixture_destroy(fixture);
}

static void test_files_overwritten(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    struct fixture *fixture = make_file(&bytes, &size);
    char *damaged = malloc(size);
    assert_non_null(damaged);
    uint32_t noticed = 0;
    for (uint32_t i = 0; i < 400; i++) {
        memcpy(damaged, bytes, size);
        size_t at = fm_random_below(&fixture->random, (uint32_t)size);
        size_t count = 1 + fm_random_below(&fixture->random, i % 2 == 0 ? 1 : 4096);
        for (size_t k = at; k < at + count && k < size; k++) {
            damaged[k] = (char)(damaged[k] + 1 + (int)fm_random_below(&fixture->random, 255));
        }
        copy_damaged(fixture, damaged, size);
        noticed += !read_damaged(fixture);
    }
    assert_true(noticed > 200); // the rest lay where nothing is
    free(damaged);
    free(bytes);
    fixture_destroy(fixture);
}

// ---- journals that go back ---------------------------------------------------------------------

// Reads as whoever brings a world back does: from the newest good keyframe to the end. Returns
// whether that was all that was written; false: something was said.
static bool is_whole(struct fixture *fixture)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journal_reader *reader = NULL;
    uint32_t i = 0, count = 0;
    fm_status status = fm_journal_reader_open(fixture->path, &reader, error);
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
            count = first + compare_rows(fixture, reader, first, &status, error);
        }
        good = status == FM_OK;
    }
    if (good) {
        assert_int_equal(count, fixture->row_count); // went back, and nobody said so
    } else if (status != FM_OK) {
        assert_non_null(strstr(error, fixture->path));
    }
    fm_journal_reader_close(reader);
    return good;
}

static void stop_writing(struct fixture *fixture)
{
    fm_journals_stop(fixture->journals);
    fm_journal_destroy(fixture->journal);
    fm_journals_destroy(fixture->journals);
    fixture->journal = NULL;
    fixture->journals = NULL;
}

// Reads to the end and continues with it, as a server that starts does.
static void start_again(struct fixture *fixture, const fm_journal_options *options)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    fm_journal_reader *reader = open_reader(fixture);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_KNOWN);
    assert_int_equal(compare_rows(fixture, reader, 0, &status, error), fixture->row_count);
    fm_journal_tail tail = fm_journal_reader_tail(reader);
    assert_int_equal(tail.position, fixture->row_count);
    assert_int_equal(tail.tick, fixture->tick);
    fm_journal_reader_close(reader);
    assert_int_equal(fm_journals_create(options, &fixture->journals), FM_OK);
    status =
        fm_journal_open(fixture->journals, fixture->path, &tail, fixture, &fixture->journal, error);
    if (status != FM_OK) {
        fail_msg("%s", error);
    }
}

static void write_ticks(struct fixture *fixture, uint32_t count, uint32_t keyframe_every)
{
    for (uint32_t i = 1; i <= count; i++) {
        submit_tick(fixture, i % keyframe_every == 0);
        fm_journals_turn(fixture->journals);
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

// A journal as it was at several times.
static struct fixture *make_aged(struct aged ages[AGES])
{
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    for (uint32_t age = 0; age < AGES; age++) {
        write_ticks(fixture, 1 + fm_random_below(&fixture->random, age == AGES - 1 ? 3 : 50), 40);
        stop_writing(fixture);
        ages[age].bytes = fm_test_read_file(fixture->path, &ages[age].size);
        start_again(fixture, &options);
    }
    stop_writing(fixture);
    return fixture;
}

static void damage_pages(struct fixture *fixture, const struct aged ages[AGES], char *bytes,
                         size_t size)
{
    uint32_t pages = (uint32_t)(size / PAGE), what = fm_random_below(&fixture->random, 3);
    for (uint32_t i = 1 + fm_random_below(&fixture->random, 3); i > 0; i--) {
        char *page = bytes + (size_t)PAGE * fm_random_below(&fixture->random, pages);
        const struct aged *old = &ages[fm_random_below(&fixture->random, AGES - 1)];
        size_t other = (size_t)PAGE * fm_random_below(&fixture->random, pages);
        if (what == 0) { // of an older state
            size_t at = (size_t)(page - bytes);
            if (at + PAGE <= old->size) {
                memcpy(page, old->bytes + at, PAGE);
            }
        } else if (what == 1) { // in the place of another
            memmove(page, bytes + other, PAGE);
        } else {
            memset(page, 0, PAGE);
        }
    }
}

// Pages of an older state, swapped and zeroed ones, files that were cut off, old copies: whoever
// reads on has all that was written, or is told.
static void test_no_journal_goes_back_silently(void **state)
{
    (void)state;
    uint32_t noticed = 0, tried = 0;
    for (uint32_t round = 0; round < 4; round++) {
        struct aged ages[AGES];
        struct fixture *fixture = make_aged(ages);
        const struct aged *now = &ages[AGES - 1];
        char *damaged = malloc(now->size);
        assert_non_null(damaged);
        assert_true(is_whole(fixture));
        for (uint32_t age = 0; age + 1 < AGES; age++) {
            copy_damaged(fixture, ages[age].bytes, ages[age].size);
            assert_false(is_whole(fixture));
        }
        for (uint32_t i = 0; i < 120; i++, tried++) {
            size_t size =
                i % 10 == 0 ? PAGE * fm_random_below(&fixture->random, (uint32_t)(now->size / PAGE))
                            : now->size;
            memcpy(damaged, now->bytes, now->size);
            if (i % 10 != 0) {
                damage_pages(fixture, ages, damaged, size);
            }
            copy_damaged(fixture, damaged, size);
            noticed += !is_whole(fixture);
        }
        free(damaged);
        for (uint32_t age = 0; age < AGES; age++) {
            free(ages[age].bytes);
        }
        fixture_destroy(fixture);
    }
    assert_true(tried >= 300 && noticed > tried / 3); // the rest lay before the newest keyframe
}

static void test_a_missing_mark_is_told(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    char mark[300], error[FM_JOURNAL_ERROR_SIZE];
    struct fixture *fixture = make_file(&bytes, &size);
    snprintf(mark, sizeof mark, "%s" FM_JOURNAL_MARK_SUFFIX, fixture->path);
    assert_true(is_whole(fixture));
    assert_int_equal(unlink(mark), 0);
    fm_journal_reader *reader = open_reader(fixture);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_UNKNOWN);
    fm_journal_reader_doubt(reader, error);
    assert_non_null(strstr(error, "is not known"));
    fm_journal_reader_close(reader);
    free(bytes);
    fixture_destroy(fixture);
}

// What is said names the ticks that are lost.
static void test_what_is_lost_is_told(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    char error[FM_JOURNAL_ERROR_SIZE];
    size_t size;
    start(fixture, &options);
    write_ticks(fixture, 100, 40);
    stop_writing(fixture);
    char *old = fm_test_read_file(fixture->path, &size);
    start_again(fixture, &options);
    write_ticks(fixture, 23, 40);
    stop_writing(fixture);
    copy_damaged(fixture, old, size);
    fm_journal_reader *reader = open_reader(fixture);
    assert_int_equal(fm_journal_reader_info(reader)->end, FM_JOURNAL_END_SHORTER);
    fm_journal_reader_doubt(reader, error);
    assert_non_null(strstr(error, "ends at tick 100, but was written up to tick 123: 23 ticks"));
    fm_journal_reader_close(reader);
    free(old);
    fixture_destroy(fixture);
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

// Makes of a journal what programs before format 2 wrote.
static void make_format_1(struct fixture *fixture)
{
    char mark[300];
    snprintf(mark, sizeof mark, "%s" FM_JOURNAL_MARK_SUFFIX, fixture->path);
    change(fixture->path,
           "ALTER TABLE log DROP COLUMN link; ALTER TABLE keyframes DROP COLUMN seal;"
           "PRAGMA user_version=1");
    assert_int_equal(unlink(mark), 0);
    assert_int_equal(chmod(fixture->path, 0644), 0);
}

static uint32_t mode_of(const struct fixture *fixture, const char *suffix)
{
    char path[300];
    struct stat about;
    snprintf(path, sizeof path, "%s%s", fixture->path, suffix);
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 0777;
}

static void test_format_1_is_read_and_migrated(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    write_ticks(fixture, 90, 40);
    stop_writing(fixture);
    make_format_1(fixture);
    fm_journal_reader *reader = open_reader(fixture);
    assert_int_equal(fm_journal_reader_info(reader)->format, 1);
    fm_journal_reader_close(reader);
    check_rows(fixture, fixture->row_count);

    start_again(fixture, &options);
    assert_int_equal(mode_of(fixture, ""), 0600);
    write_ticks(fixture, 50, 40);
    stop_writing(fixture);
    check_rows(fixture, fixture->row_count);
    assert_true(is_whole(fixture));
    reader = open_reader(fixture);
    assert_int_equal(fm_journal_reader_info(reader)->format, FM_JOURNAL_FORMAT);
    fm_journal_reader_close(reader);

    size_t size;
    char *old = fm_test_read_file(fixture->path, &size);
    start_again(fixture, &options);
    write_ticks(fixture, 1, 40);
    stop_writing(fixture);
    assert_true(is_whole(fixture));
    copy_damaged(fixture, old, size);
    assert_false(is_whole(fixture));
    free(old);
    fixture_destroy(fixture);
}

static void test_only_their_owner_may_read_them(void **state)
{
    (void)state;
    mode_t before = umask(0);
    struct fixture *fixture = fixture_create();
    const fm_journal_options options = options_of(fixture);
    start(fixture, &options);
    write_ticks(fixture, 3, 2);
    assert_int_equal(mode_of(fixture, ""), 0600);
    assert_int_equal(mode_of(fixture, "-wal"), 0600);
    assert_int_equal(mode_of(fixture, "-shm"), 0600);
    assert_int_equal(mode_of(fixture, FM_JOURNAL_MARK_SUFFIX), 0600);
    umask(before);
    fixture_destroy(fixture);
}

// A server that starts on a full disk has its worlds, and continues writing once there is room, of
// either format and whatever the durability was.
static void test_it_goes_on_from_a_full_disk(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct fixture *fixture = fixture_create();
        fm_journal_options options = options_of(fixture);
        options.durability = i % 2 == 0 ? FM_DURABILITY_TICK : FM_DURABILITY_INTERVAL;
        start(fixture, &options);
        write_ticks(fixture, 30, 20);
        fm_journals_flush(fixture->journals);
        stop_writing(fixture);
        if (i >= 2) {
            make_format_1(fixture);
        }
        fm_failing_disk_set(0);
        start_again(fixture, &options);
        uint32_t released = fixture->released;
        submit_tick(fixture, false);
        fm_journals_flush(fixture->journals);
        assert_true(fm_journal_has_failed(fixture->journal));
        assert_int_equal(fixture->released, released);
        fm_failing_disk_set(UINT64_MAX);
        usleep(21000);
        fm_journals_flush(fixture->journals);
        assert_false(fm_journal_has_failed(fixture->journal));
        assert_int_equal(fixture->released, released + 1);
        stop_writing(fixture);
        check_rows(fixture, fixture->row_count);
        assert_true(is_whole(fixture));
        fixture_destroy(fixture);
    }
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader;
    snprintf(fixture->path, sizeof fixture->path, "%s/none", fixture->folder);
    assert_int_equal(fm_journal_reader_open(fixture->path, &reader, error), FM_ERR_IO);
    assert_non_null(strstr(error, "No such file"));
    copy_damaged(fixture, "type octile\nheight 2\nwidth 2\nmap\n..\n..\n", 40);
    assert_int_equal(fm_journal_reader_open(fixture->path, &reader, error), FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(error, fixture->path));
    fixture_destroy(fixture);
}

// The thread: what is submitted is released without anybody asking, and the end waits for the rest.
static void test_the_thread_writes(void **state)
{
    (void)state;
    struct fixture *fixture = fixture_create();
    fm_journal_options options = options_of(fixture);
    options.driven = false;
    start(fixture, &options);
    for (uint32_t i = 1; i <= 300; i++) {
        submit_tick(fixture, i % 100 == 0);
        if (i % 50 == 0) {
            fm_journals_flush(fixture->journals);
            assert_int_equal(fixture->released, i);
        }
    }
    submit_tick(fixture, false);
    fm_journals_stop(fixture->journals);
    assert_int_equal(fixture->released, 301);
    assert_int_equal(fixture->given_up, 0);
    check_rows(fixture, fixture->row_count);
    fixture_destroy(fixture);
}

static void test_a_world_that_ends(void **state)
{
    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct fixture *fixture = fixture_create();
        fm_journal_options options = options_of(fixture);
        options.keep = keep != 0;
        start(fixture, &options);
        submit_tick(fixture, false);
        fm_journal_batch *batch = fm_journal_batch_create();
        batch->is_last = true;
        batch->held_first = (void *)(uintptr_t)++fixture->submitted;
        fm_journal_submit(fixture->journal, batch);
        fixture->journal = NULL; // the writer's now
        fm_journals_turn(fixture->journals);
        assert_int_equal(fixture->released, 2);
        assert_int_equal(access(fixture->path, F_OK), -1);
        strcat(fixture->path, ".ended");
        if (keep) {
            check_rows(fixture, fixture->row_count);
        } else {
            assert_int_equal(rmdir(fixture->folder), 0); // empty
        }
        fixture_destroy(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_read_back),
        cmocka_unit_test(test_a_full_disk_loses_nothing),
        cmocka_unit_test(test_a_sync_that_fails_is_no_commit),
        cmocka_unit_test(test_a_file_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(test_the_file_is_bounded),
        cmocka_unit_test(test_files_cut_off),
        cmocka_unit_test(test_files_overwritten),
        cmocka_unit_test(test_no_journal_goes_back_silently),
        cmocka_unit_test(test_a_missing_mark_is_told),
        cmocka_unit_test(test_what_is_lost_is_told),
        cmocka_unit_test(test_format_1_is_read_and_migrated),
        cmocka_unit_test(test_only_their_owner_may_read_them),
        cmocka_unit_test(test_it_goes_on_from_a_full_disk),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_the_thread_writes),
        cmocka_unit_test(test_a_world_that_ends),
    };
    fm_failing_disk_install();
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
