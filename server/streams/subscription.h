// server/streams/subscription.h: one client's subscription, for the files that send it something.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/session.h"
#include "server/streams/scene.h"

struct fm_subscription {
    fm_subscription *next_of_scene;
    fm_subscription **link_of_scene; // that points to this one
    fm_subscription *next_of_session;
    fm_session *session;
    fm_scene *scene;
    uint64_t number;
    fm_rect rect;      // that it wants to show
    fm_rect sent_rect; // that the client shows
    uint64_t follow;   // agent to keep in the middle, by name or id; 0: none
    uint32_t every;
    bool dense;           // its deltas have steps and runs
    bool sight;           // and what is visible
    bool motion;          // and how agents move
    bool opening;         // its request is not answered yet
    bool is_notification; // nor will be
    uint64_t request;
    uint64_t wanted_stream, wanted_since; // to continue there, until that is tried; 0: nowhere
    bool has_keyframe;                    // has had a keyframe, in an earlier session perhaps
    bool resumed;                         // in an earlier session
    uint64_t tick;                        // the client knows all up to here
    bool lacks_ends;                      // but for the orders that ended, and alerts, in that one
    bool behind;                          // something is due that it was too slow for
    bool due;                             // in its session's line, to be brought up to date
    bool owes;                            // due, and has waited long enough for `every`
    fm_subscription *next_due;
};

/// A player knows agents and orders by names; the others by the world's ids.
bool fm_subscription_is_veiled(const fm_subscription *subscription);

/// What its client wants to have of a keyframe or a delta.
fm_form fm_subscription_form(const fm_subscription *subscription);

/// Sends a notification: the head with its number, then `body`, then `tail` where that has a frame.
///
/// @return false when out of memory; then nothing is sent. So too when `body` has no frame
bool fm_subscription_send(const fm_subscription *subscription, fm_notification notification,
                          fm_body body, fm_body tail);

/// Its world is at another node. Disconnects its session when out of memory, as the next does.
///
/// @param tick  the newest of the world
void fm_subscription_send_moved(const fm_subscription *subscription, const fm_node_entry *place,
                                uint64_t tick);

/// Its world was destroyed.
void fm_subscription_send_world_ended(const fm_subscription *subscription);
