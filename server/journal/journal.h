// server/journal/journal.h: the writer of all worlds' journals: a thread of its own, so that the
// disk never blocks a tick or a client's message.
//
//   conductor:  rows, events that must wait for them ──> batch ── submit ──┐
//                                                                          v
//   writer:     all batches that wait, a transaction for each world ── commit, sync
//                                                                          │
//   loop:       answers, deltas, events  <── the batch's events  <── released
//
// A batch holds what a world has done in one round of the conductor: commands, a tick, perhaps a
// keyframe. While one commit is under way others pile up and go with the next: the slower the disk,
// the larger the commits. The backlog is bounded: fm_journal_is_behind() says that the world must
// wait.
//
//   GOOD ── a commit fails ──> FAILED ── written after all, tried again every second ──> GOOD
//
// A batch whose commit failed is kept, and written before all later ones. Other worlds are not
// affected.
//
// Where another server keeps a copy (durability replica), what was committed waits for that in the
// same order: committed ── copied ──> released.
//
// Threads: as each function says. A lock guards the queues; it is never held during work.

#pragma once

#include "server/base/histogram.h"
#include "server/journal/journal_batch.h"
#include "server/journal/journal_file.h"

#include <stdatomic.h>

#define FM_JOURNAL_WAITING_MAX                                                                     \
    ((size_t)64 << 20) // bytes of one world that are not written yet, and of what waits for that
#define FM_JOURNAL_TICKS_WAITING_MAX 64u   // the same, ticks
#define FM_JOURNAL_ASIDE_MAX         64u   // files of worlds that left, unless all are kept
#define FM_JOURNAL_ASIDE_S           3600u // for which more are kept
#define FM_JOURNAL_TICKS_SLOW        4u    // with more, fm_journal_is_slow()
#define FM_JOURNAL_RETRY_MS          1000u
#define FM_FENCE_LANES               16u // appends under way at once
#define FM_FENCE_RETRY_MS            50u
#define FM_FENCE_LOOK_MS             3u // that the writer waits for answers before it looks for more to append

typedef struct fm_journals fm_journals;
typedef struct fm_journal fm_journal; // of one world

// The result of an append, or the owner of a world.
typedef enum fm_fence_verdict {
    FM_FENCE_COMMITTED,
    FM_FENCE_WAITING,  // not known yet: the same append is tried again
    FM_FENCE_LOST,     // the world belongs to somebody else
    FM_FENCE_GOING_ON, // of an append: its next request is under way
} fm_fence_verdict;

// A log that outlives this machine (server/cluster/world_log.h). Where there is one, a batch goes
// there first: its events wait for both, and nothing more is written of a world that belongs to
// another node.
typedef struct fm_journal_fence {
    void *context;

    /// Begins the log of a new world. On a thread of the pool; may be slow. `end` follows in any
    /// case, also when it fails.
    /// @return FM_OK or FM_ERR_IO, with a sentence in `error`
    fm_status (*create)(void *context, const fm_journal_head *head, const fm_journal_world *world,
                        char *error);

    /// Begins to append batches of a world that are not committed, from `first` on, as many as fit
    /// into one record. They must not change until `finish`, and neither must those that are tried
    /// again. The writer's thread.
    ///
    /// @param lane  below FM_FENCE_LANES; one append at a time on each
    void (*begin)(void *context, uint32_t lane, uint64_t world, fm_journal_batch *first);

    /// Waits for the answer, and marks what is committed. FM_FENCE_GOING_ON: call it again;
    /// anything else ends the append. @param error  receives what is wrong, if anything
    fm_fence_verdict (*finish)(void *context, uint32_t lane, char *error);

    /// Waits until an append can be finished without waiting, or until `until_ns`.
    ///
    /// @param under_way  which lanes to wait for; receives which of these can be. NULL: all always
    /// can
    void (*wait)(void *context, bool under_way[FM_FENCE_LANES], uint64_t until_ns);

    /// The owner of a world, as far as known without asking etcd. FM_FENCE_COMMITTED: no other node
    /// can own it. Any thread.
    fm_fence_verdict (*check)(void *context, uint64_t world);

    /// Ends a world here: gives it to its next owner (`is_left`), or removes its log. The writer's
    /// thread, or one of the pool.
    ///
    /// @param error  receives what is wrong, if anything
    /// @return FM_FENCE_COMMITTED: it is forgotten; otherwise, unless `is_left`: FM_FENCE_WAITING,
    /// it is not known yet whether its log is gone; FM_FENCE_LOST, it belongs to another node. Then
    /// call it again: the same, or with `is_left`
    fm_fence_verdict (*end)(void *context, uint64_t world, bool is_left, char *error);

    /// A world that is left continues on this node, and goes to no other. Any thread.
    void (*keep)(void *context, uint64_t world);
} fm_journal_fence;

typedef struct fm_journal_options {
    const char *folder; // outlives the writer
    fm_durability durability;
    uint64_t interval_ms;          // between commits, unless durability is tick
    uint64_t retry_ms;             // after a commit that failed: FM_JOURNAL_RETRY_MS
    uint64_t size_max;             // bytes of a file, see fm_journal_file_shorten()
    bool keep;                     // all files of worlds that ended or left
    bool driven;                   // without a thread: somebody calls fm_journals_turn()
    const fm_journal_fence *fence; // outlives the writer; NULL: none
    /// A batch was written, or never will be because the writer stops: takes its events. On the
    /// writer's thread, or the one that stops it.
    void (*released)(void *context, void *owner, fm_journal_batch *batch, bool written);
    /// It could not be written, for now. Once for each batch. On the writer's thread.
    void (*failed)(void *context, void *owner, fm_journal_batch *batch);
    /// Rows up to this position are on the disk. Called when a journal begins and after each
    /// commit, on the thread that did it. May be NULL.
    void (*committed)(void *context, void *owner, uint64_t position, uint64_t tick, uint64_t size);
    /// Up to which position another server has a copy; UINT64_MAX: nothing waits for that. Any
    /// thread. Call fm_journals_look_again() when it has grown. NULL: nothing ever waits
    uint64_t (*copied)(void *context, void *owner);
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

/// Ends the thread. Submitted batches are written first, if possible; the rest go to `released` as
/// not written. Nothing may be submitted after this.
void fm_journals_stop(fm_journals *journals);

/// Stops it, if it runs, and releases it. Journals may be closed before or after. NULL is allowed.
void fm_journals_destroy(fm_journals *journals);

/// Waits until everything that was submitted so far was written or has failed. Any thread.
void fm_journals_flush(fm_journals *journals);

/// Writes what is due. Driven writers only. @return when there is more to do: 0 at once, UINT64_MAX
/// when something is submitted
uint64_t fm_journals_turn(fm_journals *journals);

/// The value of `copied` has changed. Any thread.
void fm_journals_look_again(fm_journals *journals);

/// Whether what clients are sent has to wait until it is written.
bool fm_journals_hold_back(const fm_journals *journals);

/// The file of a world: FOLDER/NUMBER-NAME.journal. @return false when `path` is too small
bool fm_journals_path(const fm_journals *journals, uint64_t number, const char *name, char *path,
                      size_t size);

// ---- the journal of one world ------------------------------------------------------------------

/// Makes the file of a new world. Slow: on a thread of the pool.
///
/// @param owner  given to `released` and `failed`
/// @return as fm_journal_file_create()
FM_CHECKED fm_status fm_journal_create(fm_journals *journals, const fm_journal_head *head,
                                       const fm_journal_world *world, void *owner, fm_journal **out,
                                       char *error);

/// Continues the file of a restored world. The same holds. Where the disk is full it starts as
/// failed (fm_journal_has_failed()), and is tried again with the next batch.
///
/// @param tail  as fm_journal_reader_tail()
/// @return as fm_journal_file_open()
FM_CHECKED fm_status fm_journal_open(fm_journals *journals, const char *path,
                                     const fm_journal_tail *tail, void *owner, fm_journal **out,
                                     char *error);

/// Closes a journal without queued batches: one that was never used, or whose writer has stopped.
/// The file stays where it is. A journal whose world ends (`is_last`) is released by the writer.
/// NULL is allowed.
void fm_journal_destroy(fm_journal *journal);

/// The same, and removes the file: of a world that could not begin.
void fm_journal_discard(fm_journal *journal);

/// Hands a batch over. The conductor's thread. Batches are written in this order.
void fm_journal_submit(fm_journal *journal, fm_journal_batch *batch);

/// Whether batches wait. Any thread.
bool fm_journal_is_waiting(const fm_journal *journal);

/// Whether so many batches wait that the world must not continue. Any thread.
bool fm_journal_is_behind(const fm_journal *journal);

/// Whether ticks wait longer than usual: what need not be written now had better wait. Any thread.
bool fm_journal_is_slow(const fm_journal *journal);

/// Whether the world belongs to another node now: nothing more is written or sent. Any thread.
bool fm_journal_is_lost(const fm_journal *journal);

/// The world that is about to be left stays this node's: its last batch is not what the next owner
/// needs.
void fm_journal_keep_owner(const fm_journal *journal);

/// Whether nothing may be sent of the world, even without new rows: it may belong to another node.
/// Any thread.
bool fm_journal_is_in_doubt(const fm_journal *journal);

/// Whether the last commit failed. Any thread.
bool fm_journal_has_failed(const fm_journal *journal);

/// Why it failed; an empty text when it has not. Any thread.
void fm_journal_error(const fm_journal *journal, char *error);

/// Any thread.
void fm_journal_numbers_get(const fm_journal *journal, fm_journal_numbers *numbers);
