// server/process/descriptors.h: enough file descriptors for what the settings allow.
//
// Threads: before there are others.

#pragma once

#include "server/base/config.h"

#define FM_DESCRIPTORS_SPARE     64u // the loop, the log, files being read, the ports
#define FM_DESCRIPTORS_PER_WORLD 4u  // files that belong to one

/// Raises the soft limit of the process (RLIMIT_NOFILE), as far as the hard one lets it, to what
/// sessions_max, http_connections_max and worlds_max may need together. Logs when that is too few:
/// the server works, but connections wait when there are more than descriptors.
void fm_descriptors_reserve(const fm_config *config);
