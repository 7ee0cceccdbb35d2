// server/sessions/ledger.h: what the server keeps across restarts, in the folder of the journals:
// the tokens that token.create has made, as hashes, and the key of resume tokens. One small SQLite
// file, server.db, which only the server's user may read. And the epoch: how often a standby has
// taken over, counted through all servers that were followed.
//
// Threads: opened, read and closed by the code that starts the server; writing is slow and belongs
// on the thread pool, one call at a time (under a lock).

#pragma once

#include "server/journal/journal_mark.h"
#include "server/sessions/resume.h"

#define FM_LEDGER_ERROR_SIZE 512u
#define FM_LEDGER_PATH_SIZE  4096u

typedef struct fm_ledger fm_ledger;

/// Opens the ledger of a folder, or makes one. A damaged one is renamed to server.db.damaged, with
/// a line in the log, and a new one is made.
///
/// @param key    in: bytes to keep if there are none yet; out: the bytes that are kept
/// @param out    left alone on failure
/// @param error  receives a sentence; room for FM_LEDGER_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO (also: made by a newer program) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_ledger_open(const char *folder, fm_resume_key *key, fm_ledger **out,
                                    char *error);

/// NULL is allowed.
void fm_ledger_close(fm_ledger *ledger);

/// Reads the tokens, in the order in which they were made. Rows that are damaged are left out, with
/// a line in the log.
///
/// @param tokens  receives them
/// @return FM_OK, FM_ERR_IO, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_ledger_read(fm_ledger *ledger, fm_tokens *tokens, char *error);

/// Stores a token and syncs it. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_add(fm_ledger *ledger, const fm_grant *grant, char *error);

/// Stores when each token was used last. Called when the server ends; a killed server loses this.
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_note_uses(fm_ledger *ledger, const fm_tokens *tokens, char *error);

/// Removes a token. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_remove(fm_ledger *ledger, uint64_t number, char *error);

/// Removes all tokens for seats of a world. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_remove_world(fm_ledger *ledger, uint64_t world, char *error);

/// Reads the epoch; 0 where no standby has taken over yet. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_read_epoch(fm_ledger *ledger, uint64_t *epoch, char *error);

/// Writes it and syncs it: from now on this is a server of its own. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_write_epoch(fm_ledger *ledger, uint64_t epoch, char *error);

/// Writes down that the standby has taken over, with this epoch: what was written here since has
/// nothing to do with what goes on there. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_write_replaced(fm_ledger *ledger, uint64_t epoch, char *error);

/// 0: nobody has. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_read_replaced(fm_ledger *ledger, uint64_t *epoch, char *error);

/// Whether this is a standby's copy (fm_ledger_copy()), and the standby has not taken over since.
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_read_copy(fm_ledger *ledger, bool *is_copy, char *error);

/// Goes on all the same, with an epoch of its own. @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_insist(fm_ledger *ledger, uint64_t epoch, char *error);

/// A name for a ledger and its copies, which says nothing of what is in them.
fm_journal_link fm_ledger_name(const fm_resume_key *key);

/// Replaces all contents by the ledger of the server that this one follows, atomically.
///
/// @param tokens  those that were created, and the last number
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_ledger_copy(fm_ledger *ledger, const fm_resume_key *key,
                                    const fm_tokens *tokens, uint64_t epoch, char *error);
