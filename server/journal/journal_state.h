// server/journal/journal_state.h: the inside of server/journal/journal.h, for journal.c, which
// commits to the disk, and journal_fence.c, which appends to the shared log before. No other file
// includes it.

#pragma once

#include "server/journal/journal.h"

#include <uv.h>

struct fm_journal {
    fm_journals *journals;
    void *owner;
    uint64_t number;         // of the world
    fm_journal *next_queued; // guarded by the lock, like the next three
    bool is_queued;
    fm_journal_batch *first, *last; // submitted, not taken by the writer
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_numbers numbers;

    // Counted by both.
    atomic_size_t waiting_size;
    atomic_uint waiting_batches, waiting_ticks;
    atomic_bool has_failed, is_lost;
    _Atomic uint64_t position; // of the last row that was committed

    // The writer's.
    fm_journal_file *file;
    fm_journal_batch *taken_first, *taken_last;   // oldest first
    fm_journal_batch *copied_first, *copied_last; // committed, and wait to be copied; before those
    fm_journal *next_active;
    bool is_active;
    uint64_t due_ns;       // when to commit
    bool is_appending;     // to the shared log; its batches must stay
    uint64_t append_ns;    // after an append that failed: when it is tried again
    uint64_t append_count; // of all journals, when the last one of this began
};

struct fm_journals {
    fm_journal_options options;
    uv_mutex_t lock;
    uv_cond_t submitted, flushed;
    uv_thread_t thread;
    bool stopped; // fm_journals_stop() was called

    // Guarded by the lock.
    fm_journal *queued; // journals that something was submitted for
    bool stop;
    bool look_again;                   // `copied` may say another position
    uint64_t flush_wanted, flush_done; // numbers of calls of fm_journals_flush()

    // The writer's.
    fm_journal *active;                // journals with batches taken
    fm_journal *lanes[FM_FENCE_LANES]; // whose append is under way; NULL: none
    uint64_t append_count;
};

static inline bool fm_journal_batch_has_rows(const fm_journal_batch *batch)
{
    return batch->rows.size > 0;
}

// ---- journal_fence.c ---------------------------------------------------------------------------

/// Appends to the shared log what is not there yet, as many worlds side by side as there are lanes.
/// What takes longer than FM_FENCE_LOOK_MS goes on in the next turn.
///
/// @param hurry  waits until all that was taken is appended, or has failed
void fm_journal_fence_append(fm_journals *journals, bool hurry);

/// When the next turn has to go on with that. UINT64_MAX: nothing is under way
uint64_t fm_journal_fence_due(const fm_journals *journals);

/// The first batch that the shared log does not have. NULL: none
fm_journal_batch *fm_journal_fence_first(const fm_journal *journal);

/// Notes that a world has another owner, if that is known: only so one without anything to append
/// learns it.
void fm_journal_fence_look(fm_journal *journal);

/// Removes the log of a world that was destroyed. Nobody is told before it is gone: until then
/// another node may take the world over.
///
/// @param is_silent  the shared log did not answer for another world: it is not asked for each
/// @return false: it is not known yet whether it is gone
bool fm_journal_fence_end(fm_journal *journal, bool *is_silent);
