// core/map/change_log.h: what has changed for the searches on one view, in order, as cells.
//
// Whoever changes a view appends to its log; each planner on the view reads on from a cursor of its
// own, which is a version: the number of changes ever made. Once all have read it, the log is
// trimmed. It keeps FM_CHANGE_LOG_MAX changes at most; a reader that fell behind is told to start
// over, and so is everybody when the log cannot grow for want of memory.
//
// Threads: one writer, while nobody reads.

#pragma once

#include "core/base/memory.h"
#include "core/map/cell.h"

#define FM_CHANGE_LOG_MAX (1u << 20) // changes kept for planners that are behind

// One cell whose status or weight, as the team knows it, is not what it was.
typedef struct fm_change {
    fm_cell cell;
    bool blocked; // known blocked now
    bool cheaper; // some step through it may cost less than before (also: freed)
    bool dearer;  // some step through it may cost more than before (also: blocked)
} fm_change;

typedef struct fm_change_log {
    uint64_t version;   // changes ever made
    uint64_t begin;     // version of the oldest change still kept
    uint64_t edited;    // version after the last change that came of an edit of the map; 0: none
    fm_change *changes; // change v at v - begin; owned
    uint32_t capacity;
} fm_change_log;

/// Releases the list. A zeroed log is an empty one.
void fm_change_log_fini(fm_change_log *log, const fm_memory *memory);

/// Appends a change. When the list cannot grow it is dropped, and all who have not read it start
/// over.
void fm_change_log_add(fm_change_log *log, fm_change change, const fm_memory *memory);

/// Drops the list, once every planner has read it to the end.
void fm_change_log_trim(fm_change_log *log);

/// The changes since version `since`, oldest first.
///
/// @param count     receives how many there are
/// @param complete  receives false when the log no longer reaches back that far: start over
/// @return them, good until the next change
const fm_change *fm_change_log_since(const fm_change_log *log, uint64_t since, uint32_t *count,
                                     bool *complete);

/// Bytes held, the fm_change_log itself left out.
size_t fm_change_log_bytes(const fm_change_log *log);
