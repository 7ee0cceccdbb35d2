// server/process/copies.h: a standby's disk: writes what the followed server sends
// (server/journal/shipment.h) into journals of its own, row by row.
//
//   WORLD, PART ... ──> a journal that begins with this keyframe ──> come: its world is made
//   ROWS ──> checked, written, synced ──> the world's conductor does them
//   KEYFRAME, PART ... ──> the same; then a copy that is started again begins there
//   END, or rows that do not fit ──> gone: its world ends ──> the file is removed, or set aside
//
// What was taken is on the disk when fm_copies_take() returns.
//
// Threads: one at a time, the standby's, or that of who starts it.

#pragma once

#include "server/journal/shipment.h"
#include "server/worlds/following.h"

// The copy of one world's journal.
typedef struct fm_copy {
    struct fm_copy *next;
    fm_followed followed;  // shared with its world, which reads nothing else here
    fm_journal_file *file; // owned; NULL: its first keyframe is under way
    bool has_world;        // `come` was called, and `gone` was not
    // ---- a keyframe on its way
    fm_shipment head; // WORLD or KEYFRAME; the size of the keyframe 0: none is
    uint8_t *bytes;   // owned
    size_t size;      // bytes of it that came so far
} fm_copy;

typedef struct fm_copies {
    fm_copy *first; // in no order
    const char *folder;
    fm_journals *journals; // in which the worlds continue, once they live
    /// There is a journal of this world now: makes its world.
    fm_status (*come)(void *context, fm_copy *copy, char *error);
    /// Ends its world; when this returns the journal is no longer read, or the server ends.
    void (*gone)(void *context, fm_copy *copy);
    /// Rows were written: `followed.position` has grown.
    void (*grown)(void *context);
    void *context;
} fm_copies;

/// Continues an existing journal.
///
/// @param tail  where it ends
/// @return NULL, with a sentence: it cannot be written
fm_copy *fm_copies_add(fm_copies *copies, fm_copy *copy, const fm_journal_tail *tail, char *error);

/// A copy that is not added yet. @return NULL when out of memory
fm_copy *fm_copy_create(const fm_copies *copies, uint64_t world, const char *path);

/// Releases one that was not added.
void fm_copy_destroy(fm_copy *copy);

/// Writes a shipment other than LEDGER and BEAT.
///
/// @param error  receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK; FM_ERR_BAD_FORMAT: it does not fit, and the copy is not kept; FM_ERR_IO or
///         FM_ERR_NO_MEMORY: it can be sent again
FM_CHECKED fm_status fm_copies_take(fm_copies *copies, const fm_shipment *shipment, char *error);

/// Ends copies whose worlds can no longer follow: these are sent again.
/// @return whether there was one
bool fm_copies_drop_stuck(fm_copies *copies);

/// The places to send with journal.follow. Drops keyframes that are under way.
void fm_copies_put_places(fm_copies *copies, fm_writer *writer);

/// Closes all files. The copies stay, because worlds read them.
void fm_copies_close(fm_copies *copies);

/// Releases all, once no world reads them.
void fm_copies_fini(fm_copies *copies);
