// tests/server/journal/written.c: see written.h.

#include "tests/server/journal/written.h"

#include "tests/support/failing_disk.h"
#include "tests/support/support.h"

#include <ftw.h>
#include <sys/stat.h>

static const fm_journal_pace pace = {.tick_hz = 10, .budget_ms = 50};
static const uint8_t first_world[1000] = "a world";

// ---- writing -----------------------------------------------------------------------------------

static void released(void *context, void *owner, fm_journal_batch *batch, bool was_written)
{
    (void)owner;
    struct fm_written *written = context;
    assert_ptr_equal(batch->held_first, (void *)(uintptr_t)(written->released + 1));
    written->released++;
    written->given_up += !was_written;
}

static void failed(void *context, void *owner, fm_journal_batch *batch)
{
    (void)owner;
    (void)batch;
    struct fm_written *written = context;
    written->failed++;
}

fm_journal_options fm_written_options(struct fm_written *written)
{
    return (fm_journal_options){
        .folder = written->folder,
        .durability = FM_DURABILITY_TICK,
        .size_max = UINT64_MAX,
        .retry_ms = 20,
        .driven = true,
        .released = released,
        .failed = failed,
        .context = written,
    };
}

static const fm_journal_head head = {
    .name = "test", .number = 7, .overload = 1, .bases = (uint32_t[]){5, 6}, .base_count = 2};

fm_status fm_written_make_journal(struct fm_written *written, char *error)
{
    const fm_journal_world world = {.pace = pace, .bytes = first_world, .size = sizeof first_world};
    return fm_journal_create(written->journals, &head, &world, written, &written->journal, error);
}

void fm_written_start(struct fm_written *written, const fm_journal_options *options)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    assert_int_equal(fm_journals_create(options, &written->journals), FM_OK);
    if (fm_written_make_journal(written, error) != FM_OK) {
        fail_msg("%s", error);
    }
    written->rows[written->row_count++] = (struct fm_written_row){.kind = FM_JOURNAL_KEYFRAME};
    assert_true(
        fm_journals_path(written->journals, 7, "test", written->path, sizeof written->path));
}

struct fm_written *fm_written_create(void)
{
    struct fm_written *written = calloc(1, sizeof *written);
    assert_non_null(written);
    snprintf(written->folder, sizeof written->folder, "/tmp/fogmarch-journal-XXXXXX");
    assert_non_null(mkdtemp(written->folder));
    written->random = fm_random_seed(fm_test_seed());
    return written;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void fm_written_destroy(struct fm_written *written)
{
    fm_failing_disk_set(UINT64_MAX);
    fm_failing_disk_set_syncs(UINT64_MAX);
    if (written->journals != NULL) {
        fm_journals_stop(written->journals);
        fm_journal_destroy(written->journal);
        fm_journals_destroy(written->journals);
    }
    nftw(written->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(written);
}

static void add_row(struct fm_written *written, fm_journal_batch *batch, fm_journal_kind kind,
                    uint64_t tick)
{
    struct fm_written_row *row = &written->rows[written->row_count++];
    assert_true(written->row_count < FM_WRITTEN_ROWS_MAX);
    *row = (struct fm_written_row){.kind = kind, .tick = tick};
    row->size = kind == FM_JOURNAL_KEYFRAME ? 0 : fm_random_below(&written->random, 65);
    for (size_t i = 0; i < row->size; i++) {
        row->bytes[i] = (uint8_t)fm_random_below(&written->random, 256);
    }
    size_t begin = fm_journal_batch_begin_row(batch, kind, tick);
    fm_writer_put_bytes(&batch->rows, row->bytes, row->size);
    fm_journal_batch_end_row(batch, begin);
}

static void add_keyframe(struct fm_written *written, fm_journal_batch *batch)
{
    batch->has_keyframe = true;
    batch->keyframe_tick = written->tick;
    batch->keyframe_pace = pace;
    for (uint32_t i = 0; i < 2000; i++) {
        fm_writer_put_u64(&batch->world, written->tick * 1000 + i / 8);
    }
    add_row(written, batch, FM_JOURNAL_KEYFRAME, written->tick);
}

void fm_written_tick(struct fm_written *written, bool with_keyframe)
{
    fm_journal_batch *batch = fm_journal_batch_create();
    assert_non_null(batch);
    written->tick++;
    for (uint32_t i = fm_random_below(&written->random, 3); i > 0; i--) {
        add_row(written, batch, FM_JOURNAL_COMMAND, written->tick);
    }
    add_row(written, batch, FM_JOURNAL_TICK, written->tick);
    batch->tick_count = 1;
    if (with_keyframe) {
        add_keyframe(written, batch);
    }
    batch->held_first = (void *)(uintptr_t)++written->submitted;
    fm_journal_submit(written->journal, batch);
}

// ---- reading -----------------------------------------------------------------------------------

fm_journal_reader *fm_written_open(const struct fm_written *written)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader = NULL;
    if (fm_journal_reader_open(written->path, &reader, error) != FM_OK) {
        fail_msg("%s", error);
    }
    return reader;
}

uint32_t fm_written_compare(const struct fm_written *written, fm_journal_reader *reader,
                            uint32_t first, fm_status *status, char *error)
{
    fm_journal_row row;
    bool more = true;
    uint32_t count = 0;
    *status = FM_OK;
    while ((*status = fm_journal_reader_next(reader, &row, &more, error)) == FM_OK && more) {
        const struct fm_written_row *expected = &written->rows[first + count++];
        assert_true(first + count <= written->row_count);
        assert_int_equal(row.position, first + count);
        assert_int_equal(row.kind, expected->kind);
        assert_int_equal(row.tick, expected->tick);
        assert_int_equal(row.size, expected->size);
        assert_memory_equal(row.size > 0 ? row.bytes : expected->bytes, expected->bytes, row.size);
    }
    return count;
}

void fm_written_check(const struct fm_written *written, uint32_t row_count)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status status;
    fm_journal_reader *reader = fm_written_open(written);
    assert_int_equal(fm_written_compare(written, reader, 0, &status, error), row_count);
    assert_int_equal(status, FM_OK);
    fm_journal_reader_close(reader);
}
