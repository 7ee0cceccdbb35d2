// server/process/watchdog.h: a thread that watches the event loop, and ends the process when it
// stands.
//
// The loop says every 100 ms that it turns. The watcher sleeps and looks, and counts its looks
// since it was last notified, not the time: a process that was stopped, or a machine that was
// suspended, looks once when it continues, and then the loop has had its turn as well. When the
// looks are worth `stall_s` it says so in the log and ends the process with FM_WATCHDOG_EXIT. With
// journals nothing is lost, and its supervisor can start another.
//
// After SIGTERM or SIGINT a loop that stands is given the time that the end may take, if that is
// shorter: the process ends, whatever a connection has done to it.
//
// Threads: made and notified from the event loop's.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#define FM_WATCHDOG_EXIT 70 // exit status: the event loop stood still

typedef struct fm_watchdog fm_watchdog;

// What the watcher remembers from one look to the next. Zeroed: nothing seen.
typedef struct fm_watch {
    uint64_t beats;      // of the loop, as of the last look
    uint32_t idle_looks; // in a row, since when there were no more
} fm_watch;

/// One look. @return in how many looks in a row the loop has not moved
uint32_t fm_watch_look(fm_watch *watch, uint64_t beats);

/// Starts to watch. Where signals are waited for with libuv, call it after that.
///
/// @param stall_s  how long the loop may stand; less than 1 counts as 1
/// @param stop_s   and how long after a signal to end
/// @param out      receives it; left alone on failure
/// @return FM_OK or FM_ERR_NO_MEMORY: no memory or no thread
FM_CHECKED fm_status fm_watchdog_create(double stall_s, double stop_s, fm_watchdog **out);

/// The loop turns. NULL is allowed; so below.
void fm_watchdog_beat(fm_watchdog *watchdog);

/// Stops to watch.
void fm_watchdog_destroy(fm_watchdog *watchdog);
