// loadtest/crash/crash.h: kills a server repeatedly while clients are attached, and checks whether
// anything is missing afterwards.
//
// A round: start a server on the folder of journals of the last round (sometimes kill it while it
// starts, and start again); check that its worlds show what the journals say; send commands,
// subscribe, ask for digests; at a random moment kill -9; read what the server had still sent;
// compare all that clients were sent with the journals (crash_book.h). At the end every journal is
// replayed from its beginning, with another number of workers.
//
// Everything but the machine's timing comes from a seed.

#pragma once

#include "loadtest/drive/run.h"

#define FM_CRASH_ROUNDS_MAX 100000u
#define FM_CRASH_WORLDS     2u

typedef struct fm_crash_options {
    uint32_t rounds;  // 1..FM_CRASH_ROUNDS_MAX
    uint32_t workers; // of the server
    uint64_t seed;
} fm_crash_options;

typedef struct fm_crash_result {
    uint32_t rounds;        // servers that were killed with clients attached
    uint32_t starts_killed; // besides these, servers that were killed while they started
    uint64_t commands_sent, commands_acknowledged;
    uint64_t lost_commands; // acknowledged, but not in the journal, or not in what the world shows
    uint64_t unknown_commands; // in the journal, but never sent, or refused
    uint64_t ticks;
    uint64_t lost_ticks; // that a client was sent, but which were gone
    uint64_t digests_compared;
    uint64_t digest_differences; // between what a client saw, the journals and their replay
    uint64_t sessions_resumed;   // clients that came back with their resume token ...
    uint64_t sessions_refused;   // ... and those whose token was no longer good
    uint64_t ticks_replayed;     // at the end
    uint32_t replay_workers;
    double start_ms_mean, start_ms_max; // from the start of a server to its first session
    double seconds;
} fm_crash_result;

/// Runs all rounds. The journals are removed afterwards, unless something was missing or different.
///
/// @param run    which server; `connect` is NULL
/// @param error  receives what failed; room for FM_RUN_ERROR_SIZE
/// @return FM_OK, also when something was missing; FM_ERR_IO (a server that does not come back, a
///         journal that cannot be read; also: interrupted), FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_crash_run(const fm_crash_options *options, const fm_run_options *run,
                                  fm_crash_result *result, char *error);

/// Whether nothing was missing or different.
bool fm_crash_is_good(const fm_crash_result *result);

/// Prints a result for people, or as one JSON object.
void fm_crash_print(const fm_crash_result *result, FILE *file);
void fm_crash_print_json(const fm_crash_result *result, FILE *file);
