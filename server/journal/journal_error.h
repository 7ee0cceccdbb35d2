// server/journal/journal_error.h: sentences about journals that cannot be read or written.
//
// Threads: any.

#pragma once

#include "core/base/status.h"

#define FM_JOURNAL_ERROR_SIZE 512u // bytes of an error text, NUL included

/// Makes "FILE: ..." of a sentence.
///
/// @param error  receives it; room for FM_JOURNAL_ERROR_SIZE
/// @return the status
fm_status fm_journal_complain(const char *path, char *error, fm_status status, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));
