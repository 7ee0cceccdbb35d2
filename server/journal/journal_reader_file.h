// server/journal/journal_reader_file.h: queries of a journal's file, for its readers.
//
// For all of them: on failure `error` receives a sentence with the file's name and `where`, a
// table.

#pragma once

#include "server/journal/journal_reader_state.h"

/// Opens the file; the disk may be full or read-only, and the file malicious.
FM_CHECKED fm_status fm_journal_reader_open_file(fm_journal_reader *reader, char *error);

/// Closes it. Files that SQLite has made beside it to read it go, unless somebody else has it open.
void fm_journal_reader_close_file(fm_journal_reader *reader);

/// Bytes of the write-ahead file beside it; -1: there is none. SQLite makes an empty one when it
/// opens a file that has none.
int64_t fm_journal_wal_size(const char *path);

/// Formats SQLite's last error. @return the status of its last error
fm_status fm_journal_reader_complain(const fm_journal_reader *reader, char *error,
                                     const char *where);

/// Prepares a statement, which the caller finalizes.
FM_CHECKED fm_status fm_journal_reader_prepare(fm_journal_reader *reader, const char *sql,
                                               sqlite3_stmt **out, const char *where, char *error);

/// Reads the one number of a statement without parameters.
///
/// @param found  receives whether there is one; NULL: there must be
FM_CHECKED fm_status fm_journal_reader_number(fm_journal_reader *reader, const char *sql,
                                              uint64_t *number, bool *found, const char *where,
                                              char *error);

/// Takes a link from a column of a row. @return false when there is none
bool fm_journal_take_link(sqlite3_stmt *row, int column, fm_journal_link *link);

/// The link of the row at a position. Rows of format 1 have none: the chain begins behind them.
///
/// @param found  receives whether there is such a row
FM_CHECKED fm_status fm_journal_reader_link(fm_journal_reader *reader, uint64_t position,
                                            fm_journal_link *link, bool *found, char *error);

/// Whether a pace is valid for a world.
bool fm_journal_pace_is_sane(const fm_journal_pace *pace);
