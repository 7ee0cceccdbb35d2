// server/journal/replay.h: goes through the journal of a world, with the world as it was then.
//
//   open ── begin (at a keyframe) ── step, step, ... ──> end
//              ^                       │
//              └──────── seek ─────────┘   any tick: forwards by replaying, backwards from a
//              keyframe
//
// What a replay shows after tick T does not depend on the path that led there: seek begins before T
// wherever the journal does, so that searches are as they were, too. Only at the first tick, and at
// the first after a gap, the world is that of a keyframe, with no search under way.
//
// Every tick's digest is compared with the recorded one. A difference is an answer, not a failure:
// it is counted, and the replay continues.
//
// Threads: one at a time for each replay; workers help with the ticks.

#pragma once

#include "core/saves/command_file.h"
#include "server/journal/journal_reader.h"

typedef struct fm_replay fm_replay;

// What one row of the journal did.
typedef struct fm_replay_step {
    fm_journal_row row;           // its bytes are good until the next step
    const fm_command *command;    // FM_JOURNAL_COMMAND; good until the next step
    fm_command_result result;     // the same: the world's result
    const fm_tick_report *report; // FM_JOURNAL_TICK; good until the next step
    uint64_t recorded_digest;     // the same; report->record.digest is that of the replay
    fm_tick_record
        bridged; // FM_JOURNAL_GAP: out of memory in this tick or after it, and a keyframe has
                 // replaced it. Without cuts; tick 0: ticks were not written
} fm_replay_step;

// Digests so far.
typedef struct fm_replay_verdict {
    uint64_t ticks;            // replayed
    uint64_t differences;      // ticks with a different digest
    uint64_t first_difference; // the first such tick; 0: none
    uint64_t refused;          // commands that the world refused, though it had accepted them
    uint64_t bridged;          // ticks that ran out of memory and were replaced by a keyframe
} fm_replay_verdict;

/// Called before each tick of a long seek. @return false to give up
typedef bool fm_replay_progress_fn(void *context, uint64_t tick);

/// Opens a journal; no world is made yet.
///
/// @param memory  for the worlds; outlives the replay; thread-safe
/// @param out     left alone on failure
/// @param error   receives on failure a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return as fm_journal_reader_open()
FM_CHECKED fm_status fm_replay_open(const char *path, const fm_memory *memory, fm_replay **out,
                                    char *error);

/// Closes the journal and ends the world. NULL is allowed.
void fm_replay_close(fm_replay *replay);

const fm_journal_info *fm_replay_info(const fm_replay *replay);

/// The journal's reader, to look at keyframes; not to be moved.
fm_journal_reader *fm_replay_reader(fm_replay *replay);

/// The present world: it may be watched and read, but nothing that ticks depend on may be changed.
/// NULL before the first begin or seek, and after one that failed. Good until the next.
fm_world *fm_replay_world(fm_replay *replay);

/// Takes the world out of the replay, to be changed and at last destroyed by the caller; the replay
/// is without one then, as before its first begin.
fm_world *fm_replay_take_world(fm_replay *replay);

/// The pace of the world here.
fm_journal_pace fm_replay_pace(const fm_replay *replay);

/// Since the replay was opened.
fm_replay_verdict fm_replay_verdict_get(const fm_replay *replay);

/// Replaces the present world by that of a keyframe. All of a journal have one size and one list of
/// movement classes.
///
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_replay_begin(fm_replay *replay, const fm_journal_keyframe *keyframe,
                                     char *error);

/// Applies the next row of the journal. A gap leads to the keyframe that follows it.
///
/// @param more  receives whether there was a row, and a keyframe behind a gap; a running server may
///              add some
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_replay_step_next(fm_replay *replay, fm_workers *workers,
                                         fm_replay_step *step, bool *more, char *error);

/// Applies rows up to the end of a tick, or to a keyframe that replaces it (step->bridged); does
/// nothing at the end of the journal.
///
/// @param more  receives whether there was a tick
/// @return as fm_replay_step_next()
FM_CHECKED fm_status fm_replay_tick(fm_replay *replay, fm_workers *workers, fm_replay_step *step,
                                    bool *more, char *error);

/// Goes to where `tick` ticks are completed.
///
/// @param progress  may be NULL
/// @return FM_OK; FM_ERR_BAD_VALUE (the journal does not hold that tick; `error` names the range or
///         the gap); FM_ERR_BUSY (given up, at some tick before it); else as fm_replay_step_next()
FM_CHECKED fm_status fm_replay_seek(fm_replay *replay, uint64_t tick, fm_workers *workers,
                                    fm_replay_progress_fn *progress, void *context, char *error);

/// The recorded digest of the last tick that was replayed to get here; 0 when there was none.
uint64_t fm_replay_digest(const fm_replay *replay);

/// Checks again how far the journal of a running server goes. The world stays.
///
/// @return as fm_journal_reader_open()
FM_CHECKED fm_status fm_replay_refresh(fm_replay *replay, char *error);

/// Ticks completed in the present world; 0 without one.
uint64_t fm_replay_position(const fm_replay *replay);

/// Counts replacements of the world: when it has grown, fm_replay_world() is another world, with no
/// watched views, even if the pointer is the same.
uint64_t fm_replay_worlds_begun(const fm_replay *replay);

/// Releases the file until the next call: see fm_journal_reader_rest().
void fm_replay_rest(fm_replay *replay);
