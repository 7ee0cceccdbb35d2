// server/streams/shipping.h: a server's side of a standby: sends what is in the journals to the
// session that asked for it (journal.follow), and notes what the standby has.
//
//   commit ──> loop: which worlds have news ──> thread pool: reads their journals' files ──> loop:
//   shipments ──> the standby's disk ──> journal.have ──> what waited for that is sent
//
// New and old rows are read the same way, from the file, so a standby that comes back after a day
// is no special case: it says where it is and gets what follows, or a keyframe where its rows are
// gone or are not this server's.
//
//   NONE ── journal.follow ──> CATCHING_UP ── has all but a little ──> IN_STEP
//     ^                              ^                                   │ nothing from it for
//     └── disconnected ──┴───────────┴────────────── LATE <──────────────┘ replica_timeout_ms
//
// With durability replica what clients are sent waits for the standby: with replica_missing block
// always, with degrade while it is IN_STEP. Never more than FM_SHIPPING_WINDOW bytes, and what one
// read of the files brings, are under way to the standby.
//
// Threads: the event loop; the files are read on the thread pool.

#pragma once

#include "server/sessions/session.h"

#define FM_SHIPPING_WINDOW ((size_t)4 << 20) // bytes under way, beyond which no more are read

// X(enumerator, name)
#define FM_SHIPPING_STATE_LIST(X)                                                                  \
    X(FM_SHIPPING_NONE, "none")                                                                    \
    X(FM_SHIPPING_CATCHING_UP, "catching_up")                                                      \
    X(FM_SHIPPING_IN_STEP, "in_step")                                                              \
    X(FM_SHIPPING_LATE, "late")

typedef enum fm_shipping_state {
#define X(enumerator, name) enumerator,
    FM_SHIPPING_STATE_LIST(X)
#undef X
} fm_shipping_state;

/// Static storage.
const char *fm_shipping_state_name(fm_shipping_state state);

/// Makes a session follow.
///
/// @param places  what it has; as fm_shipment_take_place() reads them
/// @param error   receives a sentence; room for FM_ERROR_TEXT_SIZE
/// @return FM_OK, FM_ERR_BUSY, FM_ERR_BAD_VALUE, FM_ERR_NOT_READY or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_shipping_begin(fm_session *session, const void *places, size_t size,
                                       char *error);

/// The standby has all shipments up to this one on its disk. Ignored from other sessions.
void fm_shipping_have(fm_session *session, uint64_t number);

/// Sends what there is. After commits, and whenever there may be news.
void fm_shipping_feed(fm_hub *hub);

/// Called at intervals: detects a silent standby.
void fm_shipping_check_time(fm_hub *hub, uint64_t now_ns);

/// The session is gone.
void fm_shipping_end_session(fm_session *session);

/// The ledger has changed, and is on the disk. Calls `then` once the standby has it (durability
/// replica), else at once. is_safe: false when the server ends before.
void fm_shipping_note_ledger(fm_hub *hub, void (*then)(void *context, bool is_safe), void *context);

/// The same for a world that is gone, here.
void fm_shipping_note_end(fm_hub *hub, uint64_t world, void (*then)(void *context, bool is_safe),
                          void *context);

/// The server ends: calls all waiting callbacks.
void fm_shipping_end(fm_hub *hub);

/// The same for a world that has begun.
void fm_shipping_note_world(fm_hub *hub, const fm_host *host,
                            void (*then)(void *context, bool is_safe), void *context);

// The standby's state, for `stats`.
typedef struct fm_shipping_report {
    fm_shipping_state state;
    const char *peer;       // of the standby; empty: none
    const char *durability; // as standby.status says
    uint64_t lag_ticks, lag_size;
} fm_shipping_report;

fm_shipping_report fm_shipping_report_get(const fm_hub *hub);

/// How durable what is sent now is, as standby.status says. Static storage.
const char *fm_shipping_durability(const fm_hub *hub);

/// Ticks that the standby is behind in one world.
uint64_t fm_shipping_lag(const fm_host *host);
