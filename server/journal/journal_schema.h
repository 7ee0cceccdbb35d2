// server/journal/journal_schema.h: the format of a world's journal.
//
// One SQLite database in WAL mode for each world. A world is a deterministic function of a keyframe
// and the rows after it, so three tables are enough:
//
//   meta       key, value                                   name, number, pace at the beginning
//   log        position, tick, kind, bytes, checksum, link  all that happened, in order
//   keyframes  position, tick, digest, pace, bytes ...      the whole world, now and then
//
//   log:   TICK 7   COMMAND 8   COMMAND 8   TICK 8   KEYFRAME 8   COMMAND 9   TICK 9 ...
//                                                       │
//   keyframes:                                    same position: the world as it was there
//
// Positions grow by one and ticks never fall, so a tick is found by binary search. Making a
// keyframe settles the world (core/saves/world_file.h): a replay from an older keyframe settles
// where the log says KEYFRAME.
//
// After a GAP the world is not the result of the rows before: a replay continues from the keyframe
// that follows.
//
//   ... TICK 7   GAP 19   KEYFRAME 19 ...                 no bytes: the ticks were not written
//   ... TICK 7   COMMAND 8   GAP 8   KEYFRAME 8 ...       memory ran out in tick 8, the bytes are
//                                                         its record: it is bridged, none is
//                                                         missing
//   ... TICK 8   GAP 8   KEYFRAME 8 ...                   also between two ticks: a record
//                                                         without grants
//
// Rows carry a checksum of their own, because SQLite keeps none: a flipped bit is found where it is
// read. And each carries a link, a hash of it and of the link before: rows of another time in their
// place are found as well, and a file beside the database says which is the last one
// (journal_mark.h). A keyframe has a seal, a hash of its row's link and of all that it says.
//
// Format 1 had neither. A server that continues writing one turns it into format 2: its old rows
// have no link, and `linked_from` in meta is the position of the last of them.
//
// Commands that were refused changed nothing and are not here. Secrets are not here either.

#pragma once

#include "core/base/bytes.h"

#define FM_JOURNAL_APPLICATION 0x464d4a4e // "FMJN": PRAGMA application_id
#define FM_JOURNAL_FORMAT      2 // PRAGMA user_version; an older program refuses a newer one
#define FM_JOURNAL_SUFFIX      ".journal"
#define FM_JOURNAL_PACE_SIZE   17u // bytes: paused, then the bits of tick_hz and of budget_ms

#define FM_JOURNAL_BLOB_MAX  ((size_t)1 << 29) // bytes of one row
#define FM_JOURNAL_WORLD_MAX ((size_t)1 << 32) // bytes of a world that was unpacked from a keyframe

// X(enumerator, number in the file, name)
#define FM_JOURNAL_KIND_LIST(X)                                                                    \
    X(FM_JOURNAL_COMMAND, 1, "command")   /* tick: in which it took effect; fm_command_pack() */   \
    X(FM_JOURNAL_TICK, 2, "tick")         /* fm_record_pack() */                                   \
    X(FM_JOURNAL_PACE, 3, "pace")         /* tick: the last completed; fm_journal_pace */          \
    X(FM_JOURNAL_KEYFRAME, 4, "keyframe") /* the same; the world was settled; no bytes */          \
    X(FM_JOURNAL_GAP, 5, "gap")           /* ticks up to this one cannot be replayed, see above */

typedef enum fm_journal_kind {
#define X(enumerator, number, name) enumerator = number,
    FM_JOURNAL_KIND_LIST(X)
#undef X
} fm_journal_kind;

// Chains a row to all before it.
typedef struct fm_journal_link {
    uint8_t bytes[16];
} fm_journal_link;

// How fast a world goes.
typedef struct fm_journal_pace {
    bool paused;
    double tick_hz, budget_ms;
} fm_journal_pace;

/// Ticks that were completed when a row was written.
static inline uint64_t fm_journal_ticks_at(fm_journal_kind kind, uint64_t tick)
{
    return kind == FM_JOURNAL_COMMAND && tick > 0 ? tick - 1 : tick;
}

/// Checksum of a row, its position included, so that a row in the wrong place is noticed as well.
static inline uint64_t fm_journal_checksum(uint64_t position, uint64_t tick, unsigned kind,
                                           const void *bytes, size_t size)
{
    uint64_t place = position * 0x9e3779b97f4a7c15u + tick * 0xc2b2ae3d27d4eb4fu + kind;
    return fm_bytes_checksum(bytes, size) ^ place;
}
