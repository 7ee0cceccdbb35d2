// server/relay/feed.h: one world on a relay: a connection to the world's server, a subscription for
// each view that is watched here, and delayed messages.
//
//   view:  WANTED ── subscribe ──> ASKED ── keyframe, or resumed ──> FOLLOWING
//             ^                                                          │
//             └── connection lost, world moved, out of step ─────────────┘
//
// Subscriptions are of the whole map, dense: any rectangle is served from the scene. With a delay,
// messages wait as bytes until the world is so many ticks further. They are decoded only then,
// because decoding a dense delta needs the scene of the tick before. When there is no room for one
// more, the view is no longer subscribed to: what waits is shown, and once all of it is, or half of
// the room is free, a keyframe begins it again.
//
// Threads: the event loop.

#pragma once

#include "server/relay/upstream.h"
#include "server/sessions/hub.h"

typedef struct fm_feed fm_feed;

typedef struct fm_feed_counts {
    uint64_t keyframes, deltas; // taken from upstream
    uint64_t breaks;            // connections that were lost
    uint64_t held_size;         // bytes of memory for what is delayed now, relay_delay_mib at most
    uint64_t views;             // that are there now
    uint64_t pauses;            // of views that found no room or memory for what is delayed
} fm_feed_counts;

/// @param counts  shared by all feeds; outlives them
/// @return NULL when out of memory
fm_feed *fm_feed_create(fm_hub *hub, fm_host *host, const fm_upstream_access *access,
                        fm_feed_counts *counts);

/// Call when the world is gone or the relay ends. NULL is allowed.
void fm_feed_destroy(fm_feed *feed);

/// Takes a job of the streams: FM_JOB_WATCH, answered when there is a picture or an error, or
/// FM_JOB_UNWATCH. Takes it over.
void fm_feed_take(fm_feed *feed, fm_job *job);

/// A few times a second, and after each message: connects if needed, shows what has waited long
/// enough.
///
/// @param address  address of the world's server; NULL: not known now
void fm_feed_check(fm_feed *feed, const char *address, uint64_t now_ns);

/// The world's tick, as learned elsewhere.
void fm_feed_note_tick(fm_feed *feed, uint64_t tick);

/// The world has restarted at an earlier tick.
void fm_feed_go_back(fm_feed *feed, uint64_t tick);

/// The world has ended: nothing more comes, and what is held back is shown at the world's speed.
/// Only the first of several calls counts.
///
/// @param tick_hz  greater than 0
void fm_feed_run_out(fm_feed *feed, double tick_hz, uint64_t now_ns);

/// The world is there after all.
void fm_feed_go_on(fm_feed *feed);

/// Whether it runs out, and all that was held back may be shown.
bool fm_feed_has_run_out(const fm_feed *feed);

/// The newest tick that may be shown.
uint64_t fm_feed_shown_tick(const fm_feed *feed);

/// Address of the server that it was connected to last, which may be one that the world has moved
/// to; empty: none yet. Good as long as the feed.
const char *fm_feed_node(const fm_feed *feed);

/// Whether upstream said that the world was destroyed.
bool fm_feed_has_ended(const fm_feed *feed);

/// Why it is not connected, though it should be; empty: it is, has not been tried yet, or need not
/// be.
const char *fm_feed_reason(const fm_feed *feed);

/// Whether it is connected, or need not be.
bool fm_feed_is_well(const fm_feed *feed);
uint32_t fm_feed_view_count(const fm_feed *feed);
uint64_t fm_feed_bytes_in(const fm_feed *feed);
