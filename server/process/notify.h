// server/process/notify.h: notifies systemd of the service's state, by the protocol of
// sd_notify(3): datagrams of lines to the socket that NOTIFY_SOCKET names. Does nothing without
// that variable.
//
//   starting ── READY=1 ──> ready ── RELOADING=1 ──> reading files again ── READY=1 ──> ready
//   ready    ── STOPPING=1 ──> the end;    WATCHDOG=1 again and again, while all threads get on
//
// Threads: the event loop.

#pragma once

#include "server/process/trouble.h"

typedef struct fm_notify {
    int socket;           // -1: no socket
    uint64_t watchdog_ns; // systemd's watchdog time-out; 0: none
} fm_notify;

/// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment.
void fm_notify_init(fm_notify *notify);
void fm_notify_fini(fm_notify *notify);

/// @param clients  shown by `systemctl status`, as the number of worlds is
/// @param trouble  what is wrong, shown as well
void fm_notify_ready(const fm_notify *notify, uint32_t worlds, uint32_t clients,
                     const fm_trouble *trouble);
void fm_notify_reloading(const fm_notify *notify);
void fm_notify_stopping(const fm_notify *notify);

/// A sign of life, and what `systemctl status` shows, as above.
void fm_notify_alive(const fm_notify *notify, uint32_t worlds, uint32_t clients,
                     const fm_trouble *trouble);
