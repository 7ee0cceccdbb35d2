// server/journal/journal_batch.h: the rows of one round of a world, as bytes, on their way to a
// journal. The same bytes go to the cluster's log (server/cluster/world_log.h) and to a standby
// (shipment.h).
//
//   row:  kind u8, tick u64, size u32, bytes
//
// Threads: one at a time for each batch.

#pragma once

#include "server/journal/journal_reader.h"

// The rows of one round. Begins zeroed but for its writers.
typedef struct fm_journal_batch {
    struct fm_journal_batch *next;
    fm_writer rows; // kind u8, tick u64, size u32, bytes; one after the other
    uint32_t tick_count;
    uint64_t tick, digest; // when it was handed over: for the caller
    bool has_keyframe;     // of `world`, at its place among the rows
    uint64_t keyframe_tick, keyframe_digest;
    fm_journal_pace keyframe_pace;
    fm_writer world;
    bool is_last;                 // the world ends: the file goes, and the shared log before it
    bool is_left;                 // the same, but the world continues elsewhere: the file stays
    bool is_committed;            // it is in the shared log
    bool failed;                  // `failed` was called for it
    bool is_lost;                 // never written: the world belongs to another node
    uint64_t position;            // of the journal's last row once it was committed
    void *held_first, *held_last; // events that wait for it: for the caller
    size_t held_size;             // bytes of them, when it was handed over
} fm_journal_batch;

/// @return NULL when out of memory
fm_journal_batch *fm_journal_batch_create(void);
void fm_journal_batch_destroy(fm_journal_batch *batch);

/// Begins a row; its bytes follow in batch->rows, and fm_journal_batch_end_row() ends it.
/// @return where the row begins: batch->rows.size set back to it takes the row away again
size_t fm_journal_batch_begin_row(fm_journal_batch *batch, fm_journal_kind kind, uint64_t tick);
void fm_journal_batch_end_row(fm_journal_batch *batch, size_t begin);

/// Puts a row behind others.
void fm_journal_rows_put(fm_writer *rows, fm_journal_kind kind, uint64_t tick, const void *bytes,
                         size_t size);

/// Takes the next row of such bytes; its position and pace are left zero.
///
/// @param row  receives it; its bytes lie in the reader's
/// @return false: no row is left, or it is invalid and the reader has failed
bool fm_journal_rows_take(fm_reader *rows, fm_journal_row *row);
