// server/sessions/hub.h: what the parts of the event loop share: sessions, worlds and counters.
//
// Sessions and worlds are kept in the order of their numbers, which only grow, so a number is found
// by binary search. Only the event loop uses this.

#pragma once

#include "server/base/config.h"
#include "server/base/histogram.h"
#include "server/base/limits.h"
#include "server/cluster/node.h"
#include "server/sessions/resume.h"
#include "server/sessions/ticket.h"
#include "server/worlds/conductor.h"
#include "server/worlds/host.h"

#include <stdatomic.h>
#include <uv.h>

#define FM_REPLAYS_MAX     64u               // journals that are open as replays at once
#define FM_HUB_ALIAS_HEADS 4096u             // of chains of sessions
#define FM_SCENES_SIZE_MAX ((size_t)1 << 30) // bytes of the cells of all scenes

typedef struct fm_session fm_session;
typedef struct fm_standby fm_standby;       // server/process/standby.h
typedef struct fm_shipping fm_shipping;     // server/streams/shipping.h
typedef struct fm_membership fm_membership; // server/process/membership.c

typedef struct fm_hub_counts {
    uint64_t messages, bytes_in, bytes_out;
    uint64_t deltas_merged, keyframes_forced, streams_resumed, protocol_errors;
    uint64_t sight_size;            // bytes of visible cells, among bytes_out
    uint64_t turned_away, too_fast; // the latter among the former
    uint64_t wrong_tokens, rate_refusals;
    uint64_t recovery_mismatches;         // ticks replayed at the start with a different digest
    uint64_t replay_mismatches;           // the same, of replays that are closed
    fm_tally keyframe_sizes, delta_sizes; // by fm_hub_size_edges
    fm_tally delta_ticks;                 // in one delta, by fm_hub_tick_edges
} fm_hub_counts;

extern const uint64_t fm_hub_size_edges[FM_TALLY_EDGES]; // bytes
extern const uint64_t fm_hub_tick_edges[FM_TALLY_EDGES];

// The state of a standby.
typedef struct fm_standby_report {
    const char *role, *state; // as standby.status says; static
    const char *peer;         // address that it follows; lives as long as the standby
    char error[FM_ERROR_TEXT_SIZE];
} fm_standby_report;

// Functions of a standby, for lower rooms.
typedef struct fm_standby_calls {
    void (*report)(fm_standby *standby, fm_standby_report *report);

    /// Starts taking over. The request is answered when that is done.
    /// @return FM_OK or FM_ERR_BUSY: it does already, or FM_ERR_NO_MEMORY
    fm_status (*promote)(fm_standby *standby, fm_session *session, uint64_t request,
                         bool is_notification);
} fm_standby_calls;

// Changes of tokens that are under way (server/methods/issuance.c), which owns them.
typedef struct fm_issuance {
    struct fm_issuance_entry *waiting; // for other nodes
    // The first is being written to the tokens' file, the others in the order in which they came:
    // what ends a token must not be written before what made it.
    struct fm_issuance_entry *unwritten, *unwritten_last;
    uint32_t writing_count; // that are being written, or are to be
    uint32_t asked_count;   // that clients asked for, answered or not: FM_ISSUANCE_MAX at most
} fm_issuance;

#define FM_ISSUANCE_MAX 4096u

#define FM_ENDINGS_MAX 32u // all reasons in the code, and some room

// Sessions that have ended for one reason.
typedef struct fm_ending {
    const char *reason; // static
    uint64_t count;
} fm_ending;

typedef struct fm_hub {
    const fm_config *config;
    uv_loop_t *loop;
    fm_conductor *conductor;
    fm_conductor *replayer;                // the conductor of the replays; NULL: there can be none
    fm_world_log_store *log_store;         // of the cluster; NULL: this server is no node of one
    fm_node *node;                         // the same; NULL as well until clients can connect
    fm_membership *membership;             // the same; owned
    fm_standby *standby;                   // this server follows another one; NULL: it does not
    const fm_standby_calls *standby_calls; // the same
    fm_standby *former_standby;            // it did, and has taken over
    fm_shipping *shipping;                 // another one follows this server; NULL: none does
    struct fm_copy_wait *copy_waits;       // what waits for a standby's copy; owned
    bool shipping_is_over;                 // the server ends, and nothing waits any more
    uint64_t epoch;                        // grows with each standby that took over
    uint64_t replaced;                     // the epoch of a standby that has; 0: none
    uint64_t ledger_version;               // counts changes of the ledger
    uint64_t start_ns;
    _Atomic uint64_t beats; // counts what the event loop does, for its watchdog
    const char *commit;     // of what was built
    bool going_down;
    const struct fm_session_events *session_events;
    void (*on_session_gone)(struct fm_hub *hub); // after a session was released
    /// A world that goes to another node was stopped, and its log says whose it is; NULL: none
    /// goes.
    void (*on_left)(struct fm_hub *hub, fm_host *host);
    struct fm_relay *relay; // NULL: this server runs worlds of its own
    /// With a relay: takes over a job for a view to be watched, or not any more, that otherwise
    /// goes to the conductor; later, not before this returns.
    void (*on_watch)(struct fm_hub *hub, fm_job *job);
    void (*on_yield)(struct fm_hub *hub); // fm_sessions_take_turns() is due; NULL: nobody
                                          // calls it, and sessions do not yield

    fm_session **sessions; // owned array
    uint32_t session_count, session_capacity;
    fm_session *by_alias[FM_HUB_ALIAS_HEADS];
    fm_session *yield_first, *yield_last; // sessions that wait for their turn
    uint32_t yield_count;
    fm_host **hosts; // owned array; state FM_HOST_LIVE
    uint32_t host_count, host_capacity;
    struct fm_creation *creations; // worlds being made
    uint32_t creation_count;
    fm_host *replays[FM_REPLAYS_MAX]; // open; state FM_HOST_LIVE
    uint32_t replay_count, opening_count;
    uint32_t listing_count; // replays being opened

    uint64_t session_last, host_last, serial_last, upload_last; // numbers given out
    uint64_t download_last;                                     // the same
    uint32_t saves_waiting;                                     // worlds that are being saved
    size_t uploads_size;                                        // bytes of all uploads and saves
    fm_session *due_first, *due_last;                           // with subscriptions that are due
    uint32_t due_taken; // of those, in this turn of the loop
    uint64_t due_ns;    // when this turn began
    size_t scenes_size; // bytes of the cells of all scenes
    fm_tokens tokens;
    fm_issuance issuance;
    struct fm_ledger *ledger; // tokens and keys on the disk; NULL: none
    fm_resume_key resume_key;
    fm_secrets secrets;       // of the cluster; none: resume tokens are good here alone
    fm_quotas address_quotas; // of all sessions
    fm_quotas token_quotas;   // of those that have subscribed
    fm_hub_counts counts;
    fm_ending endings[FM_ENDINGS_MAX];
    uint32_t ending_count;
} fm_hub;

/// Notes that the event loop moves (server/process/watchdog.h).
static inline void fm_hub_beat(fm_hub *hub)
{
    atomic_fetch_add_explicit(&hub->beats, 1, memory_order_relaxed);
}

/// @return NULL when there is no such session, or no longer
fm_session *fm_hub_find_session(const fm_hub *hub, uint64_t number);
fm_session *fm_hub_find_session_by_alias(const fm_hub *hub, uint64_t alias);

/// @return NULL when there is no such world, or replay
fm_host *fm_hub_find_host(const fm_hub *hub, uint64_t number);

/// Not a replay, which has the name that its world had. @return NULL when there is no such world
fm_host *fm_hub_find_host_by_name(const fm_hub *hub, const char *name, size_t size);

/// Adds one whose number is higher than all others'. @return false when out of memory
bool fm_hub_add_session(fm_hub *hub, fm_session *session);

/// Makes room for all worlds that are being made and one more. @return false when out of memory
bool fm_hub_reserve_host(fm_hub *hub);

/// Adds a world with a number of its own, for which room was made.
void fm_hub_add_host(fm_hub *hub, fm_host *host);

void fm_hub_drop_session(fm_hub *hub, const fm_session *session);

/// Counts a session that ends. @param reason  a static text
void fm_hub_count_ending(fm_hub *hub, const char *reason);

void fm_hub_drop_host(fm_hub *hub, const fm_host *host);

/// Adds a replay, for which there must be room (asserted).
void fm_hub_add_replay(fm_hub *hub, fm_host *host);
void fm_hub_drop_replay(fm_hub *hub, const fm_host *host);

/// Who owns a world.
fm_conductor *fm_hub_conductor(const fm_hub *hub, const fm_host *host);
