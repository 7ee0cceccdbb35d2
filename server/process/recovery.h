// server/process/recovery.h: restores the worlds of a folder of journals, before clients can
// connect.
//
//   FOLDER/*.journal ──> newest good keyframe ──> commands and ticks behind it, again
//                            │                          └ every digest must be the recorded one
//                            └ damaged: the one before
//
// A world that cannot be replayed to the end of its journal is not restored at all: its file is
// renamed to FILE.damaged, with a line in the log, and the others continue.
//
// A world that was being created when the server ended, and was answered to nobody, leaves a file
// without a row: it is removed.
//
// A journal may also be valid but older than what was written (server/journal/journal_mark.h), or
// valid up to some row. Then ticks that clients have seen are lost. Its file stays where it is
// until the server is started with accept_rollback: then it is renamed, and the world continues in
// a new file from what could be read.
//
// Threads: the event loop's, before the loop runs; the replay uses workers of its own.

#pragma once

#include "server/sessions/hub.h"
#include "server/worlds/following.h"

/// Checks that the folder exists, that files may be made in it, and that no other server uses it.
/// The lock is held on the folder itself, where no one can remove it.
///
/// @param lock   receives a descriptor; closing it releases the folder
/// @param error  receives on failure a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_recovery_lock(const char *folder, int *lock, char *error);

/// Whether the folder holds the journal of a world of that number, also one that could not be
/// restored.
bool fm_recovery_has_file(const char *folder, uint64_t world);

/// Restores all worlds, puts them into the hub and hands them over to the conductor. Slow.
///
/// @return FM_OK, or FM_ERR_NO_MEMORY: some are missing
FM_CHECKED fm_status fm_recovery_run(fm_hub *hub);

/// Restores the world of one journal, for a cluster's node that takes it over. Slow: on a thread of
/// the pool.
///
/// @param error  receives on failure a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT (its digests differ) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_recovery_bring_back(fm_hub *hub, const char *path, fm_host **out,
                                            char *error);

/// A world whose journal still grows, for a node that gets it from another one.
typedef struct fm_recovery fm_recovery;

/// Replays it to where its journal ends now. Slow: on a thread of the pool. @return as
/// fm_recovery_bring_back()
FM_CHECKED fm_status fm_recovery_begin(fm_hub *hub, const char *path, fm_recovery **out,
                                       char *error);

/// Replays what was added since. @return the same
FM_CHECKED fm_status fm_recovery_go_on(fm_recovery *recovery, char *error);

/// Ends it with the world, whose journal this server writes from here on and no other has open.
/// @return the same
FM_CHECKED fm_status fm_recovery_finish(fm_recovery *recovery, fm_host **out, char *error);

/// Ends it with a world that follows another server's: its journal keeps growing, and the world
/// follows it (server/worlds/following.h).
///
/// @param followed  of that world; its position is set
/// @param tail      receives where the writer of the journal continues
void fm_recovery_follow(fm_recovery *recovery, fm_followed *followed, fm_journal_tail *tail,
                        fm_host **out);

/// Ends it without a world. NULL is allowed.
void fm_recovery_drop(fm_recovery *recovery);

/// Gives such a world to the conductor and the hub. The event loop. On failure it stays the
/// caller's.
///
/// @param jobs  to be done before its first tick, one behind the other (event.next); the same
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_recovery_hand_over(fm_hub *hub, fm_host *host, fm_job *jobs, char *error);
