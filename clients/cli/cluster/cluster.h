// clients/cli/cluster/cluster.h: the subcommand `cluster`, and the function of its action that
// reads journals.

#pragma once

#include "clients/cli/base/cli.h"

extern const fm_cli_command fm_cli_cluster;

/// `restore FOLDER ...`. @return the exit code
int fm_cluster_restore(fm_cli *cli); // restore.c
