// core/map/change_log.h: what has changed for the searches on one view, in order, as cells.
//
// What changes a view appends to its log; each planner on the view reads on from a cursor of its
// own, which is a version: the number of changes ever made. A reader that is more than FM_LOG_TICKS
// ticks or FM_CHANGES_READ_MAX changes behind starts over; when the log cannot grow, every reader
// does. How long a log has been there, and what it holds beyond that, shows nowhere: a query may
// have made it, and a loaded world has a new one.
//
// Those who only want to know whether anything has changed near a cell ask which tiles changed in
// this tick.
//
// Threads: one writer, while nobody reads.

#pragma once

#include "core/base/memory.h"
#include "core/map/cell.h"

#define FM_CHANGES_READ_MAX (1u << 19)                // changes that a reader may be behind
#define FM_CHANGE_LOG_MAX   (2 * FM_CHANGES_READ_MAX) // changes held
#define FM_LOG_TICKS        8u                        // that a reader may be behind
#define FM_FRESH_SIDE       32u // cells of a tile, and tiles of a square that repeats itself

// One cell whose status or weight, as the team knows it, is not what it was.
typedef struct fm_change {
    fm_cell cell;
    bool blocked;  // known blocked now
    bool cheaper;  // some step through it may cost less than before (also: freed)
    bool costlier; // some step through it may cost more than before (also: blocked)
} fm_change;

typedef struct fm_change_log {
    uint64_t version;   // changes ever made
    uint64_t begin;     // version of the oldest change still held
    uint64_t edited;    // version after the last change that came of an edit of the map; 0: none
    fm_change *changes; // change v at v - begin; owned
    uint32_t capacity;
    uint64_t trimmed; // version as of the last fm_change_log_trim()
    uint64_t cheaper; // version after the last change that made something cheaper; 0: none
    uint64_t marks[FM_LOG_TICKS]; // versions as of the last trims, a ring
    uint32_t next_mark;
    bool is_fresh;                 // some tile is
    uint32_t fresh[FM_FRESH_SIDE]; // bit per tile that changed since the last trim
} fm_change_log;

/// Releases the list. A zeroed log is an empty one.
void fm_change_log_fini(fm_change_log *log, const fm_memory *memory);

/// Appends a change. When the list cannot grow it is dropped, and all who have not read it start
/// over.
void fm_change_log_add(fm_change_log *log, fm_change change, const fm_memory *memory);

/// A tick is over: drops what is older than FM_LOG_TICKS ticks; no tile is fresh then.
void fm_change_log_trim(fm_change_log *log);

/// For saved worlds: forgets all changes, which all readers have read, and when they were made.
void fm_change_log_settle(fm_change_log *log);

/// Notes the tiles that have changed since the last trim.
void fm_change_log_stamp(fm_change_log *log);

/// Whether one who has read up to version `since` can read on.
static inline bool fm_change_log_reaches(const fm_change_log *log, uint64_t since)
{
    return since >= log->begin && since >= log->marks[log->next_mark] &&
           log->version - since <= FM_CHANGES_READ_MAX;
}

/// Whether some step has become cheaper since the last trim, or the log no longer says.
static inline bool fm_change_log_has_cheaper(const fm_change_log *log)
{
    return log->cheaper > log->trimmed || !fm_change_log_reaches(log, log->trimmed);
}

/// Whether anything may have changed since the last trim within FM_FRESH_SIDE / 2 cells of a cell.
/// Never false when something has, as of the last fm_change_log_stamp().
static inline bool fm_change_log_is_fresh(const fm_change_log *log, fm_cell cell)
{
    if (!log->is_fresh) {
        return false;
    }
    const uint32_t reach = FM_FRESH_SIDE / 2, mask = FM_FRESH_SIDE - 1;
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    uint32_t left = (x < reach ? 0 : x - reach) / FM_FRESH_SIDE & mask;
    uint32_t top = (y < reach ? 0 : y - reach) / FM_FRESH_SIDE & mask;
    uint32_t right = (x + reach) / FM_FRESH_SIDE & mask;
    uint32_t bottom = (y + reach) / FM_FRESH_SIDE & mask;
    return (log->fresh[top] | log->fresh[bottom]) & ((uint32_t)1 << left | (uint32_t)1 << right);
}

/// The changes since version `since`, oldest first:
///
/// @param count     receives how many there are
/// @param complete  receives false when the log no longer reaches back that far: start over
/// @return them, good until the next change
const fm_change *fm_change_log_since(const fm_change_log *log, uint64_t since, uint32_t *count,
                                     bool *complete);

/// Bytes held, the fm_change_log itself left out.
size_t fm_change_log_bytes(const fm_change_log *log);
