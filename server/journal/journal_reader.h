// server/journal/journal_reader.h: reads the journal of a world, without changing it: to restore
// the world, to replay it, to inspect it. Works on the file of a running server, of one that was
// killed, and on a copy.
//
//   open ── keyframes: which ticks a replay can begin at
//     ├──── load: the world's bytes at one of them (core/saves/world_file.h)
//     └──── seek ── next, next, ...: commands, records and the rest in the order in which they
//     happened
//
// A replay:  fm_world_load(), then for each row
//
//   FM_JOURNAL_COMMAND   fm_command_unpack(), fm_world_apply(), which must say FM_OK
//   FM_JOURNAL_TICK      fm_record_unpack(), fm_tick_replay(); the digests must be equal
//   FM_JOURNAL_KEYFRAME  fm_world_settle()
//   FM_JOURNAL_PACE      nothing: ticks are the same at any pace
//   FM_JOURNAL_GAP       ends; continues with the world of the keyframe that follows
//
// Every error names the file, the table, and the position and tick where there are some.
//
// A reader in the middle of a journal keeps the file as it was, so the writer cannot reuse its
// write-ahead file. A reader that pauses releases it: fm_journal_reader_rest().
//
// Threads: one at a time for each reader.

#pragma once

#include "server/journal/journal_error.h"
#include "server/journal/journal_keyframes.h"
#include "server/journal/journal_mark.h"

#define FM_JOURNAL_NAME_MAX  64u // bytes of a world's name
#define FM_JOURNAL_BASES_MAX 8u  // bases

// Whether a journal ends where it was written to (server/journal/journal_mark.h).
typedef enum fm_journal_end {
    FM_JOURNAL_END_KNOWN, // it does, or continues after that; or it is of format 1, without a mark
    FM_JOURNAL_END_UNKNOWN, // its mark is missing or damaged
    FM_JOURNAL_END_SHORTER, // rows that were written are not there: it is an older state
    FM_JOURNAL_END_OTHER,   // another row is in the place of the last one
} fm_journal_end;

// A journal's description of itself.
typedef struct fm_journal_info {
    char fogmarch[32]; // version of the program that made it
    char name[FM_JOURNAL_NAME_MAX + 1];
    uint64_t number;   // of the world
    uint32_t overload; // fm_overload
    bool was_synced;   // after every tick: nothing that clients have seen is missing
    uint64_t timeline; // grows whenever ticks that clients have seen were lost
    uint32_t bases[FM_JOURNAL_BASES_MAX]; // cells
    uint32_t base_count;
    fm_journal_pace pace; // at the end
    uint64_t first_tick;  // of the oldest keyframe: ticks completed
    uint64_t last_tick;   // ticks completed at the end
    uint64_t last_position;
    uint32_t format;      // FM_JOURNAL_FORMAT, or an older one
    fm_journal_end end;   // whether that is the end that was written
    fm_journal_mark mark; // its mark, but for FM_JOURNAL_END_UNKNOWN and format 1
} fm_journal_info;

typedef struct fm_journal_row {
    uint64_t position;
    uint64_t tick; // as fm_journal_kind says
    fm_journal_kind kind;
    const uint8_t *bytes; // good until the next call
    size_t size;
    fm_journal_pace pace; // FM_JOURNAL_PACE
} fm_journal_row;

/// Opens a journal.
///
/// @param out    left alone on failure
/// @param error  receives on failure a sentence with the file's name; it has room for
///               FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO (cannot be opened or read), FM_ERR_BAD_FORMAT (no journal, a newer
///         one, or a damaged one) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_reader_open(const char *path, fm_journal_reader **out, char *error);

/// NULL is allowed.
void fm_journal_reader_close(fm_journal_reader *reader);

// Where a writer continues.
typedef struct fm_journal_tail {
    uint64_t position, tick; // of the last row: ticks completed
    fm_journal_link link;
    uint32_t format;
    bool has_mark;   // else there is no chain to continue
    bool was_synced; // after every tick
} fm_journal_tail;

/// As of the row that was read last, which must be the end.
fm_journal_tail fm_journal_reader_tail(const fm_journal_reader *reader);

/// Describes an end that is not KNOWN, for a writer that continues there: a sentence that says what
/// is lost.
/// @param error  receives it; room for FM_JOURNAL_ERROR_SIZE
void fm_journal_reader_doubt(const fm_journal_reader *reader, char *error);

/// As of when it was opened.
const fm_journal_info *fm_journal_reader_info(const fm_journal_reader *reader);

/// Goes to a position: the next row is the first one behind it. A keyframe's own position leads to
/// the row after it.
FM_CHECKED fm_status fm_journal_reader_seek(fm_journal_reader *reader, uint64_t position,
                                            char *error);

/// Whether the row at a position is there and has this link.
FM_CHECKED fm_status fm_journal_reader_holds(fm_journal_reader *reader, uint64_t position,
                                             const fm_journal_link *link, bool *holds, char *error);

/// The link of the row that was read last, or gone to.
/// @return false: it has none, being of format 1, or is not there
bool fm_journal_reader_link_here(const fm_journal_reader *reader, fm_journal_link *link);

/// Goes to the first row of a tick: its commands, else its record. Ticks that are gone already lead
/// to the oldest row, ticks to come to the end.
FM_CHECKED fm_status fm_journal_reader_seek_tick(fm_journal_reader *reader, uint64_t tick,
                                                 char *error);

/// Reads the next row.
///
/// @param more  receives whether there was one; rows written since the reader was opened are
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_reader_next(fm_journal_reader *reader, fm_journal_row *row,
                                            bool *more, char *error);

/// Releases the file until the next call. The bytes of the last row are freed; the next call still
/// continues after it.
void fm_journal_reader_rest(fm_journal_reader *reader);

/// Name of a kind, for people. Static storage.
const char *fm_journal_kind_name(fm_journal_kind kind);
