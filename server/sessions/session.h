// server/sessions/session.h: one connected client.
//
//   GREETING ── hello ok ──> READY ────────┐
//      │                       │           │ server goes down
//      │ refused, too late     │ bad bytes │
//      v                       v           v
//   FINISHING (last answers are written) ──┴──> GONE <── disconnect, too slow to read
//
// Bytes come from a transport, are measured by the scanner, and only then unpacked. A session
// never touches a world: its requests become jobs.
//
// What waits for the client is bounded. Answers: a session whose client does not read them is not
// read from, so it cannot ask for more. Streams: see stream.h.
//
// Nor can it monopolize the loop: after FM_SESSION_TURN_NS of work for one session the others get
// their turn, however much the client has sent.
//
// Threads: the event loop. A session is released in its transport's closed() and nowhere else.

#pragma once

#include "proto/protocol.h"
#include "proto/scanner.h"
#include "server/sessions/hub.h"
#include "server/wire/transport.h"

#define FM_SESSION_JOBS_MAX          1024u // requests that wait for the conductor
#define FM_SESSION_WATCH_JOBS        256u  // how many of these a view counts as while it is opened
#define FM_SESSION_SUBSCRIPTIONS_MAX 1024u
#define FM_GREETING_SIZE_MAX         4096u               // bytes of a message before hello
#define FM_SESSION_TURN_NS           250000u             // or one message, where that takes longer
#define FM_SAVES_WAITING_MAX         4u                  // worlds that are being saved for clients
#define FM_SESSION_UNSENT_MAX        ((size_t)256 << 20) // bytes; a keyframe of the largest world fits

typedef struct fm_subscription fm_subscription;

typedef enum fm_session_state {
    FM_SESSION_GREETING,
    FM_SESSION_READY,
    FM_SESSION_FINISHING,
    FM_SESSION_GONE,
} fm_session_state;

// A map that is uploaded in pieces.
typedef struct fm_upload {
    uint64_t number; // 0: none
    char *bytes;     // owned
    size_t total, received;
} fm_upload;

// A saved world that is downloaded in pieces.
typedef struct fm_download {
    uint64_t number; // 0: none
    uint8_t *bytes;  // owned
    size_t total;
} fm_download;

// Handlers of a session's events. Set once, as fm_hub.session_events.
typedef struct fm_session_events {
    /// Handles one message that was unpacked, which is good until this returns. May end the
    /// session.
    void (*received)(fm_session *session, const msgpack_object *message);

    /// The client has read.
    void (*drained)(fm_session *session);

    /// The connection is gone: drops references to the session, which is released after this.
    void (*closed)(fm_session *session);
} fm_session_events;

struct fm_session {
    fm_hub *hub;
    fm_transport *transport;
    uint64_t number;           // counts sessions: for logs and jobs, never sent to clients
    uint64_t alias;            // its number for the client: random, not 0
    fm_session *next_of_alias; // with the same head in the hub
    fm_session_state state;
    fm_role role;
    fm_seat seat;    // of a player
    char client[65]; // name it gave
    bool resumed;    // it was opened with a resume token
    bool has_token;  // it was opened with the token of this hash, now or before it was resumed
    uint8_t token_hash[FM_TOKEN_HASH_SIZE];
    bool is_vouched; // another node knows that token, and this one does not: it came with a ticket
    uint64_t vouched_until_s; // Unix time; tickets for it end then

    fm_quota *address_quota; // of all sessions from its address
    fm_quota *token_quota;   // of all sessions with its token; NULL: it has not subscribed yet
    fm_meter meters[FM_METER_COUNT];

    fm_scanner scanner;
    size_t message_size; // bytes of it
    uint8_t *input;      // owned; bytes of messages that are not whole yet
    size_t input_size, input_capacity;
    bool held_up; // not read from: too many bytes wait for it
    bool yields;  // not read from: its turn is over, the next one comes soon
    fm_session *before_yielding, *next_yielding; // in the hub's line
    uint64_t turn_ns, worked_ns; // when its turn began, and when work for it was last done

    uint32_t jobs_waiting;
    uint32_t queries_waiting; // of the jobs
    struct fm_asker *asker;   // of these; held; NULL: it has not asked yet
    fm_subscription *subscriptions;
    uint32_t subscription_count;
    uint32_t behind_count; // of these, that wait until it has read
    uint64_t subscription_last;
    fm_subscription *due_first, *due_last; // subscriptions that are due, in order
    fm_session *before_due, *next_due;     // in the hub's line
    fm_upload upload;
    bool saving; // world.save is under way
    fm_download download;

    uint64_t opened_ns, finish_ns;
    uint64_t received_ns, pinged_ns; // when bytes came in, and when it was last pinged
    uint64_t message_ns;             // when the message that is not whole yet began
    uint64_t progress_ns;  // when the client was last seen to read, or had nothing to read
    uint64_t queued_size;  // bytes ever queued
    uint64_t written_size; // of these, written as of the last check
};

/// Takes over a transport that was just accepted; fits fm_accept_fn.
void fm_session_accept(void *hub, fm_transport *transport);

/// Called while hello is handled: the client is known now and may send larger messages.
void fm_session_let_in(fm_session *session);

/// Disconnects at once. May be called from anywhere and more than once.
///
/// @param reason  for the log
void fm_session_disconnect(fm_session *session, const char *reason);

/// Writes queued bytes, then disconnects.
void fm_session_finish(fm_session *session, const char *reason);

/// Queues frames that make one message.
void fm_session_send(fm_session *session, fm_frame *const *frames, uint32_t frame_count);

/// Bytes that wait for the client.
size_t fm_session_unsent_size(const fm_session *session);

/// Bytes that the session holds, but for its subscriptions and what waits for the client.
size_t fm_session_bytes(const fm_session *session);

/// Takes from one of the session's meters.
/// @return FM_OK, or FM_ERR_BUSY with a sentence in `error`
FM_CHECKED fm_status fm_session_meter(fm_session *session, fm_meter_kind kind, uint64_t amount,
                                      char *error);

/// Whether messages can still be sent.
bool fm_session_is_open(const fm_session *session);

/// One of its requests was answered by the conductor, or one that counts as several.
void fm_session_job_done(fm_session *session);
void fm_session_jobs_done(fm_session *session, uint32_t count);

/// Continues with the sessions that have yielded, each for one turn. Called soon after
/// hub->on_yield.
void fm_sessions_take_turns(fm_hub *hub);

/// Disconnects all sessions whose token is no longer valid.
///
/// @param but  a session to keep for now; may be NULL
void fm_sessions_check_tokens(fm_hub *hub, const fm_session *but);

/// Disconnects clients that are too slow to say hello or to read. Called a few times a second.
void fm_session_check_time(fm_session *session, uint64_t now_ns);

/// The server itself was stalled for so long: time-outs do not count that time.
void fm_session_forgive(fm_session *session, uint64_t pause_ns, uint64_t now_ns);

// ---- answers -----------------------------------------------------------------------------------

// An answer on its way.
typedef struct fm_reply {
    msgpack_sbuffer buffer;
    msgpack_packer packer;
} fm_reply;

/// Begins a result; the caller packs it and ends with fm_reply_send().
void fm_reply_begin(fm_reply *reply, uint64_t request);
void fm_reply_send(fm_session *session, fm_reply *reply);

/// @param message  NULL: the status's own text
void fm_reply_error(fm_session *session, uint64_t request, fm_status status, const char *message);

/// Answers FM_ERR_MOVED, with where a world is now and a ticket for there.
void fm_reply_moved(fm_session *session, uint64_t request, uint64_t world);

/// A ticket for the client of this session. Empty: the cluster issues none
void fm_session_ticket(const fm_session *session, char text[FM_TICKET_TEXT_SIZE]);
