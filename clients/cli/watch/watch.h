// clients/cli/watch/watch.h: the subcommand `watch`.

#pragma once

#include "clients/cli/base/cli.h"

extern const fm_cli_command fm_cli_watch;
