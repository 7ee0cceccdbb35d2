// loadtest/drive/server_process.h: a fogmarchd as a child process: started on a free port of
// loopback, watched from outside, and always ended.
//
// The server gets a signal to end when the load generator dies, however it dies.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <sys/types.h>

#define FM_SERVER_PROCESS_ERROR_SIZE 512u // bytes of an error text, NUL included

typedef struct fm_server_process {
    pid_t pid;         // 0: not running
    char address[32];  // "127.0.0.1:PORT"; known once it listens
    char folder[32];   // where it writes its port; empty: it has
    uint64_t rss_peak; // bytes; known after the stop
} fm_server_process;

typedef struct fm_server_options {
    const char *path;         // of fogmarchd; NULL: the one beside this program
    uint32_t workers;         // as its --workers
    uint32_t sessions_max;    // clients that will connect
    const char *const *flags; // further ones, up to a NULL; may be NULL itself
} fm_server_options;

/// Starts a server and waits until clients can connect.
///
/// @param process  left alone on failure
/// @param error    receives what failed; room for FM_SERVER_PROCESS_ERROR_SIZE
/// @return FM_OK or FM_ERR_IO
FM_CHECKED fm_status fm_server_process_start(const fm_server_options *options,
                                             fm_server_process *process, char *error);

/// The same in two steps: starts one; fm_server_process_await() or fm_server_process_kill()
/// follows.
FM_CHECKED fm_status fm_server_process_launch(const fm_server_options *options,
                                              fm_server_process *process, char *error);

/// Waits until clients can connect; on failure the process has ended.
FM_CHECKED fm_status fm_server_process_await(fm_server_process *process, char *error);

/// Kills the server at once, as a crash would, and waits until it is gone. It need not be running.
void fm_server_process_kill(fm_server_process *process);

/// Asks the server to end, waits, and kills it when it does not. It need not be running.
///
/// @param error  receives what was wrong with its end; room for FM_SERVER_PROCESS_ERROR_SIZE
/// @return FM_OK, or FM_ERR_IO when it ended otherwise than with exit code 0
FM_CHECKED fm_status fm_server_process_stop(fm_server_process *process, char *error);

/// Seconds of processor time that the process has used so far; 0 when not known.
double fm_server_process_cpu_s(const fm_server_process *process);
