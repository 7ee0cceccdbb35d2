// server/streams/stream.h: subscriptions, and when each is served.
//
//   OPENING ── scene is live ──> DUE FOR A KEYFRAME ── sent ──> FOLLOWING
//      └── no such view ──> gone       ^                          │
//                                      └─ too far behind ── BEHIND <── its bytes are not read
//                                                             └── read, one merged delta ──>
//                                                             FOLLOWING
//
// A subscription remembers one number: the tick up to which its client was sent everything.
// FOLLOWING and BEHIND differ only in how old that is; the scene makes a delta since any tick it
// remembers.
// So a slow client costs nothing while it is slow, and cannot make the server grow.
//
// A client that is lost may come back: the scene stays for resume_s after its last subscriber was
// lost, and a subscription that names it (`stream`) and a tick (`since`) continues from there. New
// scenes may evict such scenes.
//
// Deltas that a publication makes due are sent in turns of the loop, a bounded part in each.
// Sessions take turns with one subscription each, so many subscriptions of one do not delay the
// others. A tick that comes meanwhile finds them due already and goes out in the same delta. Before
// a session gets an answer of the conductor, all its due deltas are sent, so that the answer comes
// after them.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/session.h"

// What a client asks for.
typedef struct fm_stream_request {
    fm_host *host;
    uint32_t team;   // FM_ALL_TEAMS: everything
    fm_rect rect;    // inside the map
    uint32_t every;  // at most one delta in so many ticks
    bool dense;      // deltas with steps and runs
    bool sight;      // and what is visible
    bool motion;     // and how agents move
    uint64_t follow; // agent to keep in the middle of the rectangle; 0: none
    uint64_t stream; // stream that the client knows up to `since`; 0: none
    uint64_t since;
    uint64_t number;      // of the request
    bool is_notification; // no answer is wanted
} fm_stream_request;

/// Begins a subscription; answers the request once the view exists.
/// @return FM_OK, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_stream_subscribe(fm_session *session, const fm_stream_request *request);

/// Moves a view to another rectangle of its world, and sends the client what that changes. A view
/// that followed an agent stays where it is put.
/// @return FM_OK, FM_ERR_OFF_GRID, or FM_ERR_BAD_VALUE: the session has no such subscription
FM_CHECKED fm_status fm_stream_move(fm_session *session, uint64_t number, const fm_rect *rect);

/// @return false when the session has no such subscription
bool fm_stream_unsubscribe(fm_session *session, uint64_t number);

/// Takes in a publication of the conductor, and sends the first part of what it makes due. Releases
/// the publication.
void fm_stream_publish(fm_hub *hub, fm_publication *publication);

/// At the beginning of a turn of the loop: continues with what is due. Called soon after
/// hub->on_yield.
void fm_stream_take_turn(fm_hub *hub);

/// Sends all that is due to one session.
void fm_stream_catch_up(fm_session *session);

/// A few times a second: sends what `every` has delayed in worlds that went quiet, and closes
/// scenes without readers.
void fm_stream_flush(fm_hub *hub);

/// Closes all scenes without subscribers: the server goes down.
void fm_stream_forget(fm_hub *hub);

/// Bytes that all sessions hold with their subscriptions, but for the views behind these, and bytes
/// that wait for their clients. Frames that go to several clients count for each.
///
/// @param unsent  receives the second
size_t fm_stream_session_bytes(const fm_hub *hub, size_t *unsent);

/// Ticks that the subscription farthest behind has not been sent yet.
uint64_t fm_stream_lag_max(const fm_hub *hub);

/// A watch job came back.
void fm_stream_watched(fm_hub *hub, const fm_job *job);

/// The client has read; sends what it missed.
void fm_stream_drained(fm_session *session);

/// Drops the subscriptions of a lost session. Their scenes stay for a while.
void fm_stream_end_session(fm_session *session);

/// Ends all subscriptions of a world that is destroyed, or has gone to another node. What is due to
/// them is sent before.
///
/// @param place  that node, as far as it is known; NULL: the world is destroyed
/// @param tick   the tick up to which clients know the world that were sent everything; 0: not
///               known
void fm_stream_end_host(fm_hub *hub, fm_host *host, const fm_node_entry *place, uint64_t tick);
