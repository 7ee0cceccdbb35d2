// server/process/watchdog.h: a thread that watches the event loop, and ends the process when the
// loop hangs.
//
// The loop counts what it does: its checks every 100 ms, each piece of work for a client, and what
// comes back from the thread pool. The watcher checks four times a second, and adds up the time of
// the loop's thread since that count last moved: the time between two checks while the thread
// sleeps, and what it ran while it wants to. A thread that waits for a processor, or that a
// debugger has stopped, gets no time, so a busy machine does not end a server whose loop advances
// slowly. Checks are counted, not measured: after SIGSTOP or a suspend the watcher checks only
// once, and then the loop has had its turn as well. When the time amounts to `stall_s`, it logs
// that and ends the process with FM_WATCHDOG_EXIT. With journals nothing is lost, and a supervisor
// can restart the server.
//
// After SIGTERM or SIGINT a hung loop gets the time that the end may take, if that is shorter: so
// the process ends in any case. At last the loop only waits for the thread pool, such as for worlds
// that are being made, and gets `stall_s` for each.
//
// Threads: made by the event loop's, which it watches.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#define FM_WATCHDOG_EXIT 70                    // exit status: the event loop hung
#define FM_WATCH_LOOK_NS ((uint64_t)250000000) // between two checks

typedef struct fm_watchdog fm_watchdog;

// What the system says of the loop's thread.
typedef struct fm_watch_thread {
    bool is_asleep;  // it waits for something other than a processor
    uint64_t ran_ns; // ever
} fm_watch_thread;

// The watcher's state between checks. Zeroed: nothing seen.
typedef struct fm_watch {
    uint64_t beats, ran_ns; // of the loop, as of the last check
    uint64_t idle_ns;       // its own time since there were no more beats
} fm_watch;

/// One check. @return time of the thread in which the loop has not moved
uint64_t fm_watch_look(fm_watch *watch, uint64_t beats, const fm_watch_thread *thread);

/// Reads the text of /proc/PID/task/TID/stat. @return false, with a thread that is asleep, when it
/// is nothing of the kind
bool fm_watch_thread_read(const char *text, fm_watch_thread *thread);

/// Starts the watcher. Call it after libuv's signal handlers are set up.
///
/// @param beats    counts what the loop does; outlives the watcher
/// @param stall_s  how long the loop may hang; less than 1 counts as 1
/// @param stop_s   and how long after a signal to end
/// @param out      receives it; left alone on failure
/// @return FM_OK or FM_ERR_NO_MEMORY: no memory or no thread
FM_CHECKED fm_status fm_watchdog_create(const _Atomic uint64_t *beats, double stall_s,
                                        double stop_s, fm_watchdog **out);

/// From now on the loop only waits for what is under way, and does not count. NULL is allowed, also
/// below.
void fm_watchdog_let_wait(fm_watchdog *watchdog);

/// Stops the watcher.
void fm_watchdog_destroy(fm_watchdog *watchdog);
