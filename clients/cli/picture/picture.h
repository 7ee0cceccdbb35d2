// clients/cli/picture/picture.h: the subcommand `snapshot`.

#pragma once

#include "clients/cli/base/cli.h"

extern const fm_cli_command fm_cli_snapshot;
