// clients/cli/replay/progress.h: progress of a long command: one line of standard error that is
// redrawn, on a terminal only.

#pragma once

#include "clients/cli/base/cli.h"

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
