// tests/server/journal/written.h: a journal in its own folder, and a list of all rows that were
// written to it.

#pragma once

#include "core/base/random.h"
#include "server/journal/journal.h"

#define FM_WRITTEN_ROWS_MAX 4096u

struct fm_written_row {
    fm_journal_kind kind;
    uint64_t tick;
    size_t size;
    uint8_t bytes[64];
};

struct fm_written {
    char folder[64], path[256];
    fm_journals *journals;
    fm_journal *journal;
    fm_random random;
    uint64_t tick;
    struct fm_written_row rows[FM_WRITTEN_ROWS_MAX]; // submitted rows
    uint32_t row_count;
    uint32_t submitted, released, given_up, failed; // batches
};

/// Makes the folder. fm_written_start() begins the journal.
struct fm_written *fm_written_create(void);

/// Ends the writer, and removes the folder.
void fm_written_destroy(struct fm_written *written);

/// Durability `tick`, no size limit; the test itself runs the writer: fm_journals_turn().
fm_journal_options fm_written_options(struct fm_written *written);

void fm_written_start(struct fm_written *written, const fm_journal_options *options);

/// Begins the journal of the world "test", number 7; as fm_journal_create().
fm_status fm_written_make_journal(struct fm_written *written, char *error);

/// Submits some commands, a tick, and a keyframe if wanted.
void fm_written_tick(struct fm_written *written, bool with_keyframe);

/// Opens a reader; the test fails unless that works.
fm_journal_reader *fm_written_open(const struct fm_written *written);

/// Reads rows and compares them with those written, from index `first` on.
///
/// @return how many came before the end or an error
uint32_t fm_written_compare(const struct fm_written *written, fm_journal_reader *reader,
                            uint32_t first, fm_status *status, char *error);

/// Reads the whole file, which must have so many rows.
void fm_written_check(const struct fm_written *written, uint32_t row_count);
