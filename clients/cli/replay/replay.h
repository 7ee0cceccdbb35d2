// clients/cli/replay/replay.h: the subcommand `replay`, and the functions of its actions.
//
// `fogmarch replay` works on files alone and talks to no server.

#pragma once

#include "clients/cli/base/cli.h"

extern const fm_cli_command fm_cli_replay;

// The actions, each at the bottom of its file. They return the exit code.
int fm_replay_check(fm_cli *cli);  // check.c
int fm_replay_verify(fm_cli *cli); // verify.c
int fm_replay_diff(fm_cli *cli);   // diff.c
int fm_replay_show(fm_cli *cli);   // show.c: `seek`
int fm_replay_export(fm_cli *cli); // export.c
int fm_replay_fork(fm_cli *cli);   // fork.c
