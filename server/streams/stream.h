// server/streams/stream.h: who is subscribed to what, and when they get it.
//
//   OPENING ── scene is live ──> DUE FOR A KEYFRAME ── sent ──> FOLLOWING
//      └── no such view ──> gone       ^                          │
//                                      └─ too far behind ── BEHIND <── its bytes are not read
//                                                             └── read, one merged delta ──>
//                                                             FOLLOWING
//
// A subscription remembers one number: the tick up to which its client was sent all. FOLLOWING and
// BEHIND differ only in how old that is; the scene makes a delta since any tick it remembers.
// So a slow client costs nothing while it is slow, and cannot make the server grow.
//
// A client that is lost may come back: the scene stays for resume_s after its last subscriber went
// without a word, and a subscription that names it (`stream`) and a tick (`since`) continues from
// there. Scenes that wait so give way to new ones.
//
// What a publication makes due is sent in turns of the loop, a bounded part in each, and the
// sessions take turns with one subscription each: many subscriptions of one keep nobody else
// waiting. A tick that comes meanwhile finds them due already and goes out in the same delta.
// Before a session gets an answer of the conductor all of its own are sent, so that it stands
// behind the deltas before it.
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
    uint64_t stream; // whose client knows all up to `since`; 0: it knows nothing
    uint64_t since;
    uint64_t number;      // of the request
    bool is_notification; // no answer is wanted
} fm_stream_request;

/// Begins a subscription; answers the request when the view turns out to exist.
/// @return FM_OK, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_stream_subscribe(fm_session *session, const fm_stream_request *request);

/// Moves a view to another rectangle of its world, and sends the client what that changes. A view
/// that followed an agent stays where it is put.
/// @return FM_OK, FM_ERR_OFF_GRID, or FM_ERR_BAD_VALUE: the session has no such subscription
FM_CHECKED fm_status fm_stream_move(fm_session *session, uint64_t number, const fm_rect *rect);

/// @return false when the session has no such subscription
bool fm_stream_unsubscribe(fm_session *session, uint64_t number);

/// Takes in what the conductor published, and sends what follows from it, or the first part of it.
/// Releases the publication.
void fm_stream_publish(fm_hub *hub, fm_publication *publication);

/// A turn of the loop begins: continues with what is still due. Called soon after hub->on_yield.
void fm_stream_take_turn(fm_hub *hub);

/// Sends all that is due to one session.
void fm_stream_catch_up(fm_session *session);

/// A few times a second: sends what subscriptions with `every` still owe when their world went
/// quiet, and forgets scenes to which nobody has come back.
void fm_stream_flush(fm_hub *hub);

/// Forgets all scenes without subscribers: the server goes down.
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

/// Drops the subscriptions of a session without a word. Their scenes stay for a while.
void fm_stream_end_session(fm_session *session);

/// Ends all subscriptions of a world that is destroyed, or has gone to another node. What they are
/// owed is sent before.
///
/// @param place  that node, as far as it is known; NULL: the world is destroyed
/// @param tick   up to where those know the world who were sent everything; 0: not known
void fm_stream_end_host(fm_hub *hub, fm_host *host, const fm_node_entry *place, uint64_t tick);
