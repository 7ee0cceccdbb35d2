// loadtest/drive/run.h: one load test from beginning to end: server, world, teams, agents, warm-up,
// measurement, and the end of it all.

#pragma once

#include "loadtest/report/result.h"
#include "loadtest/drive/scenario.h"

#define FM_RUN_ERROR_SIZE 1600u // bytes of an error text, NUL included

typedef enum fm_run_progress {
    FM_RUN_PROGRESS_NONE,
    FM_RUN_PROGRESS_LINE,  // one line that is written over, for a terminal
    FM_RUN_PROGRESS_LINES, // a line every ten seconds
} fm_run_progress;

typedef struct fm_run_options {
    const char *connect;      // "ADDRESS:PORT" of a running server; NULL: start one
    const char *token;        // for `connect`; may be NULL
    const char *server;       // path of the fogmarchd to start; NULL: the one beside this program
    fm_run_progress progress; // on standard error
    bool measures_detours;    // fills result.detour and result.detour_trips, for more of its time
    FILE *tick_times; // receives a line for each measured tick: microseconds of it and of its
    // search; may be NULL
} fm_run_options;

/// Runs a scenario. Afterwards what it made in a server that it connected to is removed, and a
/// server that it started has ended, also on failure.
///
/// @param scenario  passed fm_scenario_check()
/// @param result    filled on success
/// @param error     receives what failed; room for FM_RUN_ERROR_SIZE
/// @return FM_OK; FM_ERR_BAD_VALUE, FM_ERR_BAD_FORMAT or FM_ERR_BAD_SIZE (the scenario cannot be
///         run); FM_ERR_IO (server or connection; also: interrupted) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_run(const fm_scenario *scenario, const fm_run_options *options,
                            fm_result *result, char *error);

/// Makes a run end soon. For signal handlers.
void fm_run_interrupt(void);

/// Whether it is to end.
bool fm_run_is_interrupted(void);
