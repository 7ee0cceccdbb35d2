// server/journal/journal_batch.c: see journal_batch.h.

#include "server/journal/journal_batch.h"

#include <stdlib.h>

#define ROW_HEAD_SIZE 13u // kind, tick, size

fm_journal_batch *fm_journal_batch_create(void)
{
    fm_journal_batch *batch = calloc(1, sizeof *batch);
    if (batch != NULL) {
        batch->rows = fm_writer_init(&fm_memory_libc);
        batch->world = fm_writer_init(&fm_memory_libc);
    }
    return batch;
}

void fm_journal_batch_destroy(fm_journal_batch *batch)
{
    if (batch != NULL) {
        fm_writer_fini(&batch->rows);
        fm_writer_fini(&batch->world);
        free(batch);
    }
}

size_t fm_journal_batch_begin_row(fm_journal_batch *batch, fm_journal_kind kind, uint64_t tick)
{
    size_t begin = batch->rows.size;
    fm_writer_put_u8(&batch->rows, (uint8_t)kind);
    fm_writer_put_u64(&batch->rows, tick);
    fm_writer_put_u32(&batch->rows, 0); // its size, known at the end
    return begin;
}

void fm_journal_batch_end_row(fm_journal_batch *batch, size_t begin)
{
    if (!batch->rows.failed) {
        uint32_t size = (uint32_t)(batch->rows.size - begin - ROW_HEAD_SIZE);
        for (uint32_t i = 0; i < 4; i++) {
            batch->rows.data[begin + 9 + i] = (uint8_t)(size >> (8 * i));
        }
    }
}

void fm_journal_rows_put(fm_writer *rows, fm_journal_kind kind, uint64_t tick, const void *bytes,
                         size_t size)
{
    fm_writer_put_u8(rows, (uint8_t)kind);
    fm_writer_put_u64(rows, tick);
    fm_writer_put_u32(rows, (uint32_t)size);
    fm_writer_put_bytes(rows, bytes, size);
}

bool fm_journal_rows_take(fm_reader *rows, fm_journal_row *row)
{
    if (fm_reader_left(rows) == 0) {
        return false;
    }
    uint8_t kind = fm_reader_take_u8(rows);
    uint64_t tick = fm_reader_take_u64(rows);
    size_t size = fm_reader_take_u32(rows);
    const uint8_t *bytes = fm_reader_take_bytes(rows, size, "row");
    if (kind < FM_JOURNAL_COMMAND || kind > FM_JOURNAL_GAP) {
        fm_reader_fail(rows, "a row is of no kind that there is");
    }
    *row =
        (fm_journal_row){.tick = tick, .kind = (fm_journal_kind)kind, .bytes = bytes, .size = size};
    return !rows->failed;
}
