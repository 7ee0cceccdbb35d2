// server/journal/journal_keyframes.h: the keyframes of a journal: where a replay can begin, and the
// world at each of them.
//
// Threads: one at a time for each reader.

#pragma once

#include "server/journal/journal_schema.h"

typedef struct fm_journal_reader fm_journal_reader;

typedef struct fm_journal_keyframe {
    uint64_t position;
    uint64_t tick;   // ticks completed
    uint64_t digest; // of the last of them; 0 before the first
    fm_journal_pace pace;
    uint64_t size, stored_size; // bytes of the world, and of what lies in the file
} fm_journal_keyframe;

/// Reads the table keyframes, without the worlds. Part of opening a reader.
FM_CHECKED fm_status fm_journal_reader_read_keyframes(fm_journal_reader *reader, char *error);

/// The keyframes, by position; at least one. They belong to the reader.
const fm_journal_keyframe *fm_journal_reader_keyframes(const fm_journal_reader *reader,
                                                       uint32_t *count);

/// The newest keyframe at which no more than `tick` ticks were completed; NULL when all are later.
const fm_journal_keyframe *fm_journal_reader_keyframe_before(const fm_journal_reader *reader,
                                                             uint64_t tick);

/// Reads and unpacks the world of a keyframe.
///
/// @param bytes  receives a block for the caller to free(); left alone on failure
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_reader_load(fm_journal_reader *reader,
                                            const fm_journal_keyframe *keyframe, uint8_t **bytes,
                                            size_t *size, char *error);
