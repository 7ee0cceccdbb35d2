// server/process/server.h: the whole server as one call.

#pragma once

#include "server/base/config.h"

/// Listens, serves clients and runs worlds until SIGTERM or SIGINT; then sends going_down, ends the
/// ticks, writes queued bytes to clients (grace_s at most) and returns. All errors are logged.
/// SIGHUP reads settings, tokens and certificate again (server/base/reload.h).
///
/// @param config     what fm_options_read() made of the two below
/// @param arguments, environment  outlive the call; read again on SIGHUP
/// @param commit     of what was built, for the metrics: letters and digits; outlives the call
/// @return exit code of the process: 0 after a clean end, 1 when it could not start or continue.
///         When the loop hangs it does not return: see watchdog.h
int fm_server_run(const fm_config *config, const char *const *arguments,
                  const char *const *environment, const char *commit);
