// server/process/watchdog.h: a thread that watches the event loop, and ends the process when the
// loop hangs.
//
// The loop reports every 100 ms. The watcher sleeps, checks, and counts its checks since the last
// report instead of measuring time: after SIGSTOP or a suspend it checks only once, and then the
// loop has had its turn as well. When the checks amount to `stall_s` it logs that and ends the
// process with FM_WATCHDOG_EXIT. With journals nothing is lost, and a supervisor can restart the
// server.
//
// After SIGTERM or SIGINT a hung loop gets the time that the end may take, if that is shorter: so
// the process ends in any case.
//
// Threads: made and notified from the event loop's.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#define FM_WATCHDOG_EXIT 70 // exit status: the event loop hung

typedef struct fm_watchdog fm_watchdog;

// The watcher's state between checks. Zeroed: nothing seen.
typedef struct fm_watch {
    uint64_t beats;      // of the loop, as of the last check
    uint32_t idle_looks; // in a row, since when there were no more
} fm_watch;

/// One check. @return checks in a row in which the loop has not moved
uint32_t fm_watch_look(fm_watch *watch, uint64_t beats);

/// Starts the watcher. Call it after libuv's signal handlers are set up.
///
/// @param stall_s  how long the loop may hang; less than 1 counts as 1
/// @param stop_s   and how long after a signal to end
/// @param out      receives it; left alone on failure
/// @return FM_OK or FM_ERR_NO_MEMORY: no memory or no thread
FM_CHECKED fm_status fm_watchdog_create(double stall_s, double stop_s, fm_watchdog **out);

/// Reports that the loop runs. NULL is allowed, also below.
void fm_watchdog_beat(fm_watchdog *watchdog);

/// Stops the watcher.
void fm_watchdog_destroy(fm_watchdog *watchdog);
