// server/process/warnings.h: what an operator is warned of in the log: settings that are allowed
// but hardly meant.
//
// Threads: the loop's, or before it runs.

#pragma once

#include "server/base/config.h"

/// Settings that do not go together, and a token file that others can read or that is not read. At
/// the start, and when files are read again.
void fm_warn_of_settings(const fm_config *config);

/// That the server runs as root, if it does.
void fm_warn_of_root(void);
