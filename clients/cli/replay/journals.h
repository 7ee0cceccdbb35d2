// clients/cli/replay/journals.h: journals as the actions of `replay` open them. What goes wrong
// ends the process with a sentence.

#pragma once

#include "clients/cli/base/cli.h"
#include "server/journal/replay.h"

/// The worker threads of --workers; as many as there are processors, where it was not given. Dies.
fm_workers *fm_replay_workers(const fm_cli *cli);

/// Opens a journal, or dies with a sentence that names the file. The end of the process closes it,
/// also when that dies: what SQLite has made beside the file goes then.
fm_replay *fm_replay_open_or_die(const fm_cli *cli, const char *path);

/// Closes one that was opened so.
void fm_replay_close_opened(fm_replay *replay);

/// Goes to a tick, with a progress bar, or dies.
void fm_replay_seek_or_die(const fm_cli *cli, fm_replay *replay, uint64_t tick,
                           fm_workers *workers);

/// A tick that was given as an argument. Ends in a usage error.
uint64_t fm_replay_tick_argument(const fm_cli *cli, int index);
