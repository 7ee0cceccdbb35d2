// server/journal/replay.h: goes through the journal of a world, with the world as it was then.
//
//   open ── begin (at a keyframe) ── step, step, ... ──> end
//              ^                       │
//              └──────── seek ─────────┘   any tick: forwards by replaying, backwards from a
//              keyframe
//
// What a replay shows after tick T does not depend on the path that led there: seek begins before T
// wherever the journal does, so that searches are as they were, too. Only at the first tick, and at
// those behind a gap, is the world as a keyframe has it, with no search under way.
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
    fm_command_result result;     // the same: what the world said to it
    const fm_tick_report *report; // FM_JOURNAL_TICK; good until the next step
    uint64_t recorded_digest;     // the same; report->record.digest is that of the replay
    fm_tick_record
        bridged; // FM_JOURNAL_GAP: memory ran out in this tick or behind it, and a keyframe
                 // has taken its place. Without cuts; tick 0: ticks were not written
} fm_replay_step;

// Digests so far.
typedef struct fm_replay_verdict {
    uint64_t ticks;            // replayed
    uint64_t differences;      // ticks whose digest was another
    uint64_t first_difference; // the first such tick; 0: none
    uint64_t refused;          // commands that the world refused, though it had accepted them
    uint64_t bridged;          // ticks in which memory ran out, that a keyframe took the place of
} fm_replay_verdict;

/// Called before each tick of a long path. @return false to give up
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

/// The world as it is now: watch it, look at it, but change nothing in it that ticks depend on.
/// NULL before the first begin or seek, and after one that failed. Good until the next.
fm_world *fm_replay_world(fm_replay *replay);

/// Takes the world out of the replay, to be changed and at last destroyed by the caller; the replay
/// is without one then, as before its first begin.
fm_world *fm_replay_take_world(fm_replay *replay);

/// The pace of the world here.
fm_journal_pace fm_replay_pace(const fm_replay *replay);

/// Since the replay was opened.
fm_replay_verdict fm_replay_verdict_get(const fm_replay *replay);

/// Puts the world of a keyframe in the place of the present one. All of a journal have one size and
/// one list of movement classes.
///
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_replay_begin(fm_replay *replay, const fm_journal_keyframe *keyframe,
                                     char *error);

/// Does what the next row of the journal says. A gap leads to the keyframe that follows it.
///
/// @param more  receives whether there was a row, and a keyframe behind a gap; a running server may
///              add some
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_replay_step_next(fm_replay *replay, fm_workers *workers,
                                         fm_replay_step *step, bool *more, char *error);

/// Does rows up to the end of a tick, or to a keyframe that takes its place (step->bridged); at the
/// end of the journal does nothing.
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

/// Looks again how far the journal of a running server goes. The world stays.
///
/// @return as fm_journal_reader_open()
FM_CHECKED fm_status fm_replay_refresh(fm_replay *replay, char *error);

/// Ticks completed in the present world; 0 without one.
uint64_t fm_replay_position(const fm_replay *replay);

/// Worlds that have taken each other's place so far: when it has grown, fm_replay_world() is
/// another one, with nobody watching, whether or not the pointer is the same.
uint64_t fm_replay_worlds_begun(const fm_replay *replay);

/// Lets go of the file until the next call: see fm_journal_reader_rest().
void fm_replay_rest(fm_replay *replay);
