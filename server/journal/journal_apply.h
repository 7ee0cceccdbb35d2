// server/journal/journal_apply.h: applies a row of a journal to its world. For worlds that are
// restored, and for those that follow another server's.
//
// A difference from the recorded digest is an error: the world must continue from what clients have
// seen. (Replays continue and count differences, see replay.h.)
//
// Threads: the world's; workers help with the ticks.

#pragma once

#include "core/tick/tick.h"
#include "server/journal/journal_reader.h"

// The effect of a row.
typedef struct fm_journal_applied {
    fm_tick_report report;   // FM_JOURNAL_TICK; as fm_tick_run() has it
    uint64_t digest;         // the same: the recorded one
    bool differs;            // the same: the digests differ; the row was refused
    fm_command_kind command; // FM_JOURNAL_COMMAND; so is the next
    fm_command_result result;
} fm_journal_applied;

/// @param tick     ticks completed in the world
/// @param workers  NULL: this thread alone
/// @param applied  receives its effect
/// @param error    receives a sentence without file and tick; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, also where the world ran out of memory (fm_world_is_starved());
///         FM_ERR_BAD_FORMAT: the row is damaged, or a gap; or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_journal_apply(fm_world *world, uint64_t tick, fm_workers *workers,
                                      const fm_journal_row *row, fm_journal_applied *applied,
                                      char *error);
