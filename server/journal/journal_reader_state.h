// server/journal/journal_reader_state.h: what the files of a reader share. No other file includes
// it; journal_reader.h is the interface.
//
//   journal_reader.c       going through the log, and where it ends
//   journal_keyframes.c    the keyframes, and the worlds in them
//   journal_meta.c         a journal's description of itself: format, name, number
//   journal_reader_file.c  the file, statements and links: all calls that the others share

#pragma once

#include "server/journal/journal_reader.h"

#include <sqlite3.h>

#define FM_JOURNAL_PATH_SIZE 4096u

struct fm_journal_reader {
    char path[FM_JOURNAL_PATH_SIZE];
    sqlite3 *db;
    bool makes_wal;           // SQLite makes an empty write-ahead file beside it
    sqlite3_stmt *rows;       // of log, from a position on
    uint64_t position;        // of the row that `next` gave last
    uint64_t tick;            // the same; ticks never fall
    uint64_t ticks_completed; // as of that row
    uint64_t oldest_position;
    bool at_start;        // nothing was given since the last seek
    fm_journal_link link; // of that row, unless its link is not known yet
    bool link_known;
    uint64_t linked_from; // rows up to this position have no link: they are of format 1
    bool has_mark;
    bool may_lag; // the file was never synced: a mark of another start of the system may be ahead
    fm_journal_info info;
    fm_journal_keyframe *keyframes; // owned
    uint32_t keyframe_count, keyframe_capacity;
};
