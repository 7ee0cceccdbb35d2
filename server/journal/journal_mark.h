// server/journal/journal_mark.h: how far a journal was written, in a small file beside it
// (FILE-mark), and the chain that binds its rows.
//
// The chain: each row's link is a hash of the link before, and of the row. So the link of the last
// row depends on all rows before it, and a row that was swapped, changed or left out does not fit.
//
//   link 0 = hash(name, number)      link n = hash(link n-1, position, tick, kind, bytes)
//
// The mark: a database that was restored to an older state is consistent in itself. So position,
// tick and link of the last row are noted in a file of their own, after each commit:
//
//   commit: rows ──> SQLite, synced ──> a slot of the mark ──> those who wait are notified
//
// The mark is never ahead of what is durable, and what a client was sent is in the mark. It has
// FM_JOURNAL_MARK_SLOTS slots that are written in turn, each with a number and a checksum, and is
// synced every half round of them: a sync for each commit would double what commits cost. So when
// the power fails, a mark may be up to 32 commits old, and is never torn as a whole. When only the
// process ends, in any manner, it is exact.
//
// Files of durability `none` are not synced at all. Such a mark may be ahead after the machine went
// down, so it holds a number of the system's start.
//
// All is written through SQLite's VFS, so that a test's VFS sees it.
//
// Threads: one at a time.

#pragma once

#include "server/journal/journal_error.h"
#include "server/journal/journal_schema.h"

#define FM_JOURNAL_MARK_SUFFIX "-mark"
#define FM_JOURNAL_MARK_SLOTS  64u

typedef struct fm_journal_mark {
    uint64_t position, tick; // of the last row: ticks completed
    fm_journal_link link;
    uint64_t boot; // number of the system's start, see fm_journal_boot()
} fm_journal_mark;

typedef struct fm_journal_marker fm_journal_marker;

/// Link 0 of a world's journal.
fm_journal_link fm_journal_link_first(const char *name, uint64_t number);

/// The link of a row that follows another.
fm_journal_link fm_journal_link_next(const fm_journal_link *before, uint64_t position,
                                     uint64_t tick, unsigned kind, const void *bytes, size_t size);

/// The seal of a keyframe: a hash of its row's link and of all its members.
/// @param checksum  of its bytes as they lie in the file
fm_journal_link fm_journal_seal(const fm_journal_link *link, uint64_t digest,
                                const fm_journal_pace *pace, uint64_t size, uint64_t checksum);

bool fm_journal_link_equal(const fm_journal_link *a, const fm_journal_link *b);

/// A number that differs with each start of the system; 0: unknown.
uint64_t fm_journal_boot(void);

/// Makes the mark of a journal, or replaces it, with `mark` as its only entry.
///
/// @param journal  path of the journal
/// @param synced   whether it is ever synced
/// @param out      left alone on failure; then the caller removes what is on the disk
/// @param error    receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_marker_create(const char *journal, bool synced,
                                              const fm_journal_mark *mark, fm_journal_marker **out,
                                              char *error);

/// Continues an existing mark.
FM_CHECKED fm_status fm_journal_marker_open(const char *journal, bool synced,
                                            fm_journal_marker **out, char *error);

/// Notes how far the journal goes now. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_journal_marker_write(fm_journal_marker *marker, const fm_journal_mark *mark,
                                             char *error);

/// Syncs the rest and closes it. NULL is allowed.
void fm_journal_marker_close(fm_journal_marker *marker);

/// Reads the mark of a journal. @return false when there is none, or none that can be read
bool fm_journal_mark_read(const char *journal, fm_journal_mark *mark);
