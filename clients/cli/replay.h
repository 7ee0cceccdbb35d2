// clients/cli/replay.h: what the actions of `replay` share.
//
// `fogmarch replay` works on files alone and talks to no server.

#pragma once

#include "clients/cli/cli.h"
#include "server/journal/replay.h"

#include <stdio.h>

// How far a long work is, on a terminal only: one line of standard error that is drawn again.
typedef struct fm_cli_progress {
    bool shown;
    uint64_t first, last; // ticks
    uint64_t begin_ms, next_ms;
} fm_cli_progress;

/// Begins to show progress from tick `first` to `last`.
fm_cli_progress fm_cli_progress_begin(const fm_cli *cli, uint64_t first, uint64_t last);

/// Shows where it is, at most ten times a second. Has the form of fm_replay_progress_fn.
bool fm_cli_progress_at(void *progress, uint64_t tick);

/// Removes the line.
void fm_cli_progress_end(fm_cli_progress *progress);

/// The worker threads of --workers; as many as there are processors, where it was not given. Dies.
fm_workers *fm_replay_workers(const fm_cli *cli);

/// Opens a journal, or dies with a sentence that names the file.
fm_replay *fm_replay_open_or_die(const fm_cli *cli, const char *path);

/// Goes to a tick, with a progress bar, or dies.
void fm_replay_seek_or_die(const fm_cli *cli, fm_replay *replay, uint64_t tick,
                           fm_workers *workers);

/// A tick that was given as an argument. Ends in a usage error.
uint64_t fm_replay_tick_argument(const fm_cli *cli, int index);

/// Dies when a file could not be written as a whole, else closes it. `-` is standard output.
FILE *fm_cli_create_file(const fm_cli *cli, const char *path);
void fm_cli_close_file(const fm_cli *cli, FILE *file, const char *path);

// The actions, each at the bottom of its file. They return the exit code.
int fm_replay_verify(fm_cli *cli); // replay_verify.c
int fm_replay_show(fm_cli *cli);   // replay_show.c: `seek`
int fm_replay_diff(fm_cli *cli);   // replay_verify.c
int fm_replay_export(fm_cli *cli); // replay_export.c
int fm_replay_fork(fm_cli *cli);   // replay_fork.c
