// server/worlds/following.h: a world that follows another server's: its journal is a copy of that
// one's (server/process/standby.h writes it), and each row is applied here as it was there.
//
//   FOLLOWING ── go_on, and all rows are done ──> a living world (live.h), in the same place
//       └── a row cannot be done ──> STUCK: started over from a keyframe; after a promotion it
//       stays
//                                    so until the world is destroyed
//
// It is shown, queried and inspected like any other. Requests that change worlds are refused before
// they get here.
//
// Threads: the conductor's; fm_followed says of each member whose it is.

#pragma once

#include "server/worlds/host_kind.h"

#include <stdatomic.h>

#define FM_FOLLOWED_PATH_SIZE 4096u

// Shared between the world and the writer of its journal. Outlives the world's following.
struct fm_followed {
    // ---- fixed
    uint64_t world;
    char path[FM_FOLLOWED_PATH_SIZE]; // of the journal
    fm_journals *journals;            // in which it continues
    // ---- the writer's, for the conductor to read
    _Atomic uint64_t position; // of the last row on the disk
    atomic_bool go_on;         // no more rows come: it continues as a living world
    atomic_bool may_lack;      // the same: ticks that clients have seen may be missing
    // ---- the conductor's, for all to read
    _Atomic uint64_t done; // position of the last row that was done
    atomic_bool is_stuck;
    atomic_bool is_late; // it has tried for long to continue as a living one, and still tries
    atomic_bool is_over; // the journal and this struct are no longer read
    atomic_bool lives;   // the world continues as a living one
};

extern const fm_host_kind fm_following_kind;

/// Whether a host follows.
static inline bool fm_following_does(const fm_host *host)
{
    return host->following.followed != NULL;
}

/// Makes a new host, before it is added, follow. Takes over the reader, which has come to the end.
void fm_following_begin(fm_host *host, fm_followed *followed, fm_journal_reader *reader);

/// Releases the journal: the world ends. Does nothing where there is none.
void fm_following_end(fm_host *host);

/// The same, for good: after a promotion nobody writes that journal, and it gets another name.
void fm_following_discard(fm_host *host);
