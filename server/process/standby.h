// server/process/standby.h: a server that follows another one and may take over from it.
//
//   CONNECTING ── hello, journal.follow ──> FOLLOWING ── disconnected ──> CONNECTING
//        ^  └── not with this one ──> REFUSED ──┘ (tried again)
//        └── standby.promote, in any state ──> PROMOTING ── all worlds live ──> a server of its own
//
// A thread of its own is the client: it reads from the other server, writes journals
// (server/process/copies.h), acknowledges them, and makes the worlds, to which the conductor then
// applies row by row (server/worlds/following.h). The loop enters them, so that they are shown like
// any other; changes are refused (server/methods/methods.c).
//
// The epoch counts how often a standby has taken over. It is kept in the ledger, and passed from
// server to server with it. A standby does not follow a server of a lower epoch, and such a server
// refuses to be followed: it was replaced while it was away. If both have the same ledger it notes
// that and ends (server/methods/standby_methods.c); who has taken over connects to the server that
// it followed once a second, to say so.
//
// Threads: the event loop; what is said of the thread.

#pragma once

#include "server/sessions/hub.h"

/// Whether the settings are consistent; also for --check-config.
///
/// @param error  receives a sentence; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, also where no server is to be followed; else FM_ERR_BAD_VALUE, FM_ERR_IO or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_standby_check(const fm_config *config, char *error);

/// Restores the worlds of the folder as far as they were copied. In place of fm_recovery_run(),
/// before clients can connect. Does nothing where no server is to be followed.
///
/// @param wake  called from other threads when there is something for fm_standby_take()
/// @return FM_OK, FM_ERR_BAD_VALUE, FM_ERR_IO or FM_ERR_NO_MEMORY, with a line in the log
FM_CHECKED fm_status fm_standby_prepare(fm_hub *hub, void (*wake)(void *context), void *context);

/// Starts following, once there is a ledger. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_standby_begin(fm_hub *hub);

/// Reads the token file again: the next connection shows what is in it. On an error, which the log
/// names, the token stays. Does nothing where no server is or was followed.
void fm_standby_reload(fm_hub *hub);

/// Takes messages of the thread, and checks whether a promotion is done.
void fm_standby_take(fm_hub *hub);

/// Stops following. The worlds stay as they are. Called when the server ends.
void fm_standby_stop(fm_hub *hub);

/// Releases it, after the conductor has stopped and before it is destroyed.
void fm_standby_end(fm_hub *hub);
