// server/journal/journal_meta.h: a journal's description of itself: its format, its world's name
// and number, the chain's beginning.

#pragma once

#include "server/journal/journal_reader.h"

/// Whether the file is a journal, of a format that this program reads.
FM_CHECKED fm_status fm_journal_reader_check_format(fm_journal_reader *reader, char *error);

/// Reads the table meta.
FM_CHECKED fm_status fm_journal_reader_read_meta(fm_journal_reader *reader, char *error);
