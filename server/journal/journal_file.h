// server/journal/journal_file.h: one journal on the disk, and how it is written
// (server/journal/journal_schema.h).
//
//   create ──┐                    ┌── commit ──> durable
//   open ────┴──> begin ── add ───┴── failed: rolled back, closed; the next begin opens it again
//
// A failed commit may still be in the file after a crash. So rows that are written again replace
// those at their positions.
//
// Threads: one at a time.

#pragma once

#include "server/base/config.h"
#include "server/journal/journal_reader.h"

// Written once, at the beginning.
typedef struct fm_journal_head {
    const char *name;
    uint64_t number;
    uint32_t overload;
    uint64_t timeline;     // up to INT64_MAX
    const uint32_t *bases; // cells
    uint32_t base_count;   // up to FM_JOURNAL_BASES_MAX
} fm_journal_head;

// A whole world.
typedef struct fm_journal_world {
    uint64_t tick;   // ticks completed
    uint64_t digest; // of the last of them
    fm_journal_pace pace;
    const uint8_t *bytes; // of fm_world_save()
    size_t size;
} fm_journal_world;

typedef struct fm_journal_file fm_journal_file;

/// Makes a journal that begins with a keyframe, and syncs it and its folder. Slow.
///
/// @param path   no such file may exist
/// @param out    left alone on failure, and nothing is left on the disk
/// @param error  receives on failure a sentence with the file's name; room for
/// FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO, FM_ERR_EXISTS, FM_ERR_TOO_LARGE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_file_create(const char *path, const fm_journal_head *head,
                                            const fm_journal_world *world, fm_durability durability,
                                            fm_journal_file **out, char *error);

/// The same for the copy of another server's journal, which begins at a keyframe of that one.
///
/// @param start  position and link of the keyframe's row
FM_CHECKED fm_status fm_journal_file_copy(const char *path, const fm_journal_head *head,
                                          const fm_journal_world *world,
                                          const fm_journal_mark *start, fm_journal_file **out,
                                          char *error);

/// Opens a journal to continue it; a reader has checked it up to its end. Where the last durability
/// was not tick, ticks that clients have seen may be lost: then another timeline begins. A file of
/// an older format becomes one of the present format.
///
/// Where the disk is full or fails it is not open yet, and `error` says why; begin tries again.
///
/// @param tail  as of the reader
/// @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_file_open(const char *path, fm_durability durability,
                                          const fm_journal_tail *tail, fm_journal_file **out,
                                          char *error);

bool fm_journal_file_is_open(const fm_journal_file *file);

/// Closes it; what was committed stays. NULL is allowed.
void fm_journal_file_close(fm_journal_file *file);

/// Closes it and removes it from the disk, or with `keep` renames it to PATH.ended.
/// @return FM_OK, or FM_ERR_IO with a text in `error`; it is closed in any case
FM_CHECKED fm_status fm_journal_file_end(fm_journal_file *file, bool keep, char *error);

/// Begins a transaction. Rows follow the last one that was committed.
FM_CHECKED fm_status fm_journal_file_begin(fm_journal_file *file, char *error);

FM_CHECKED fm_status fm_journal_file_add(fm_journal_file *file, fm_journal_kind kind, uint64_t tick,
                                         const void *bytes, size_t size, char *error);

/// Adds a keyframe: packs the world, and logs that it was settled.
FM_CHECKED fm_status fm_journal_file_add_keyframe(fm_journal_file *file,
                                                  const fm_journal_world *world, char *error);

/// Logs that ticks that clients have seen were lost.
FM_CHECKED fm_status fm_journal_file_next_timeline(fm_journal_file *file, char *error);

/// Ends the transaction, and notes the end in the mark. With durabilities tick and interval it is
/// on the disk when this returns.
FM_CHECKED fm_status fm_journal_file_commit(fm_journal_file *file, char *error);

// Rows and bytes that a transaction has added.
typedef struct fm_journal_added {
    uint64_t rows;
    uint64_t bytes; // of rows and keyframes as they lie in the file
} fm_journal_added;

/// Of the transaction under way, or the last one.
fm_journal_added fm_journal_file_added(const fm_journal_file *file);

const char *fm_journal_file_path(const fm_journal_file *file);

/// The last row that was committed.
fm_journal_mark fm_journal_file_end_mark(const fm_journal_file *file);

/// The last row of the transaction under way.
fm_journal_mark fm_journal_file_next_mark(const fm_journal_file *file);

/// Rolls back the transaction and closes the database; the next begin opens it again.
void fm_journal_file_give_up(fm_journal_file *file);

/// Removes the oldest keyframes and the rows after them, one by one, until the file uses at most
/// `size_max` bytes or only two keyframes are left.
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_file_shorten(fm_journal_file *file, uint64_t size_max, char *error);

/// Renames a journal and the files beside it to PATH.ending, in place of all files of an earlier
/// one. It must not be open.
/// @return false: there is none, or it could not be renamed
bool fm_journal_file_set_aside(const char *path, const char *ending);

/// Ends that where it broke off: call it for each journal that is found. @return whether it was so,
/// and PATH is gone
bool fm_journal_file_finish_aside(const char *path);

/// Removes the files of a journal of which nothing was ever written: its mark says so, and the
/// database is empty. The process ended while it made the file, and had not answered that there is
/// a world. It must not be open.
/// @return whether it was such a one
bool fm_journal_file_remove_unbegun(const char *path);

/// Removes journals that were set aside as .ended or .former, and the files beside them, but for
/// the newest `count` by their last change. What cannot be removed stays.
/// @param before_s  seconds since 1970; what has changed since then stays, too
void fm_journal_file_trim_aside(const char *folder, uint32_t count, uint64_t before_s);
