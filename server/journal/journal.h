// server/journal/journal.h: the writer of all worlds' journals: a thread of its own, so that no
// tick and no client's message ever waits for the disk.
//
//   conductor:  rows, events that must wait for them ──> batch ── submit ──┐
//                                                                          v
//   writer:     all batches that wait, a transaction for each world ── commit, sync
//                                                                          │
//   loop:       answers, deltas, events  <── the batch's events  <── released
//
// A batch is what a world has done in one round of the conductor: commands, a tick, perhaps a
// keyframe. While one commit is under way others pile up and go with the next: the slower the disk,
// the larger the commits. What piles up is bounded: fm_journal_is_behind() says that the world must
// wait.
//
//   GOOD ── a commit fails ──> FAILED ── written after all, tried again every second ──> GOOD
//
// A batch whose commit failed is kept, and written before all later ones. The other worlds do not
// notice.
//
// Threads: as each function says. A lock guards the queues; nobody works while holding it.

#pragma once

#include "server/base/histogram.h"
#include "server/journal/journal_file.h"

#include <stdatomic.h>

#define FM_JOURNAL_WAITING_MAX       ((size_t)64 << 20) // bytes of one world that are not written yet
#define FM_JOURNAL_TICKS_WAITING_MAX 64u                // the same, ticks
#define FM_JOURNAL_RETRY_MS          1000u
#define FM_FENCE_LANES               8u // appends that are on their way at once
#define FM_FENCE_RETRY_MS            50u

typedef struct fm_journals fm_journals;
typedef struct fm_journal fm_journal; // of one world

// What one round has brought. Begins zeroed but for its writers.
typedef struct fm_journal_batch {
    struct fm_journal_batch *next;
    fm_writer rows; // kind u8, tick u64, size u32, bytes; one after the other
    uint32_t tick_count;
    uint64_t tick, digest; // when it was handed over: the caller's own
    bool has_keyframe;     // of `world`, at its place among the rows
    uint64_t keyframe_tick, keyframe_digest;
    fm_journal_pace keyframe_pace;
    fm_writer world;
    bool is_last;                 // the world ends: the file goes
    bool is_left;                 // the same, but the world continues elsewhere: the file stays
    bool is_committed;            // it is in the shared log
    bool failed;                  // `failed` was called for it
    bool is_lost;                 // never written: the world belongs to somebody else
    void *held_first, *held_last; // whatever waits for it: the caller's own
} fm_journal_batch;

// What has come of an append, or whose a world is.
typedef enum fm_fence_verdict {
    FM_FENCE_COMMITTED,
    FM_FENCE_WAITING, // not known yet: the same is tried again
    FM_FENCE_LOST,    // the world belongs to somebody else
} fm_fence_verdict;

// A log that outlives this machine (server/cluster/world_log.h). Where there is one, a batch goes
// there first: what it holds back waits for both, and of a world that belongs to somebody else
// nothing more is written.
typedef struct fm_journal_fence {
    void *context;

    /// Begins the log of a new world. On a thread of the pool, and may take its time.
    /// @return FM_OK or FM_ERR_IO, with a sentence in `error`
    fm_status (*create)(void *context, const fm_journal_head *head, const fm_journal_world *world,
                        char *error);

    /// Begins to append batches of a world that are not committed, from `first` on as many as go
    /// into one record. They stay as they are until `finish`, and so do those that have to be tried
    /// again. The writer's thread.
    ///
    /// @param lane  below FM_FENCE_LANES; one append at a time on each
    void (*begin)(void *context, uint32_t lane, uint64_t world, fm_journal_batch *first);

    /// Ends it, and marks what is committed. @param error  receives what is wrong, if anything
    fm_fence_verdict (*finish)(void *context, uint32_t lane, char *error);

    /// Whose a world is now, as far as is known without asking: FM_FENCE_COMMITTED: nobody else can
    /// own it. Any thread.
    fm_fence_verdict (*check)(void *context, uint64_t world);

    /// Forgets a world that has ended here, and removes its log unless it continues elsewhere. The
    /// writer's thread, or one of the pool.
    void (*end)(void *context, uint64_t world, bool is_left);
} fm_journal_fence;

typedef struct fm_journal_options {
    const char *folder; // outlives the writer
    fm_durability durability;
    uint64_t interval_ms;          // between commits, unless durability is tick
    uint64_t retry_ms;             // after a commit that failed: FM_JOURNAL_RETRY_MS
    uint64_t size_max;             // bytes of a file, see fm_journal_file_shorten()
    bool keep;                     // files of worlds that ended
    bool driven;                   // without a thread: somebody calls fm_journals_turn()
    const fm_journal_fence *fence; // outlives the writer; NULL: none
    /// A batch was written, or never will be because the writer stops: takes what it holds. On the
    /// writer's thread, or the one that stops it.
    void (*released)(void *context, void *owner, fm_journal_batch *batch, bool written);
    /// It could not be written, for now. Once for each batch. On the writer's thread.
    void (*failed)(void *context, void *owner, fm_journal_batch *batch);
    void *context;
} fm_journal_options;

// For metrics. Since the journal was opened.
typedef struct fm_journal_numbers {
    uint64_t commits, rows, bytes; // bytes: of rows and keyframes as they lie in the file
    uint64_t keyframes, errors;
    uint64_t waiting_size, waiting_ticks;
    fm_distribution commit_times;
} fm_journal_numbers;

// ---- the writer --------------------------------------------------------------------------------

/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journals_create(const fm_journal_options *options, fm_journals **out);

/// Ends the thread. What was submitted is written before, where that works; the rest is given to
/// `released` as not written. Nothing may be submitted from here on.
void fm_journals_stop(fm_journals *journals);

/// Stops it, if nobody has, and releases it. The journals may go before or after. NULL is allowed.
void fm_journals_destroy(fm_journals *journals);

/// Waits until everything that was submitted so far was written or has failed. Any thread.
void fm_journals_flush(fm_journals *journals);

/// Writes what is due. Driven writers only. @return when there is more to do: 0 at once, UINT64_MAX
/// when something is submitted
uint64_t fm_journals_turn(fm_journals *journals);

/// Whether what clients are sent has to wait until it is written.
bool fm_journals_hold_back(const fm_journals *journals);

/// The file of a world: FOLDER/NUMBER-NAME.journal. @return false when `path` is too small
bool fm_journals_path(const fm_journals *journals, uint64_t number, const char *name, char *path,
                      size_t size);

// ---- the journal of one world ------------------------------------------------------------------

/// Makes the file of a new world. Takes its time: on a thread of the pool.
///
/// @param owner  given to `released` and `failed`
/// @return as fm_journal_file_create()
FM_CHECKED fm_status fm_journal_create(fm_journals *journals, const fm_journal_head *head,
                                       const fm_journal_world *world, void *owner, fm_journal **out,
                                       char *error);

/// Continues with the file of a world that was brought back. The same holds. Where the disk is full
/// it has failed already (fm_journal_has_failed()), and is tried again with what is submitted.
///
/// @param tail  as fm_journal_reader_tail()
/// @return as fm_journal_file_open()
FM_CHECKED fm_status fm_journal_open(fm_journals *journals, const char *path,
                                     const fm_journal_tail *tail, void *owner, fm_journal **out,
                                     char *error);

/// Closes a journal of which nothing is queued: one that was never used, or whose writer has
/// stopped. The file stays where it is. A journal whose world ends (`is_last`) is released by the
/// writer. NULL is allowed.
void fm_journal_destroy(fm_journal *journal);

/// The same, and removes the file: of a world that could not begin.
void fm_journal_discard(fm_journal *journal);

/// @return NULL when out of memory
fm_journal_batch *fm_journal_batch_create(void);
void fm_journal_batch_destroy(fm_journal_batch *batch);

/// Begins a row; its bytes follow in batch->rows, and fm_journal_batch_end_row() ends it.
/// @return where the row begins: batch->rows.size set back to it takes the row away again
size_t fm_journal_batch_begin_row(fm_journal_batch *batch, fm_journal_kind kind, uint64_t tick);
void fm_journal_batch_end_row(fm_journal_batch *batch, size_t begin);

/// Hands a batch over. The conductor's thread. Batches are written in the order of this.
void fm_journal_submit(fm_journal *journal, fm_journal_batch *batch);

/// Whether batches wait. Any thread.
bool fm_journal_is_waiting(const fm_journal *journal);

/// Whether so much waits that the world must not continue. Any thread.
bool fm_journal_is_behind(const fm_journal *journal);

/// Whether the world belongs to somebody else now: nothing more is written or sent. Any thread.
bool fm_journal_is_lost(const fm_journal *journal);

/// Whether nothing may be sent of the world although nothing new was written: it may belong to
/// somebody else. Any thread.
bool fm_journal_is_in_doubt(const fm_journal *journal);

/// Whether the last commit failed. Any thread.
bool fm_journal_has_failed(const fm_journal *journal);

/// Why it failed; an empty text when it has not. Any thread.
void fm_journal_error(const fm_journal *journal, char *error);

/// Any thread.
void fm_journal_numbers_get(const fm_journal *journal, fm_journal_numbers *numbers);
