// server/relay/relay_state.h: what the files of a relay share: relay.c finds worlds and keeps them,
// relay_report.c says what there is, and what is missing.
//
// Threads: the event loop.

#pragma once

#include "server/relay/feed.h"
#include "server/relay/relay.h"

#define FM_RELAY_SOURCES_MAX 64u // bits of fm_relay_world.listed_by
#define FM_RELAY_RELAYS_MAX  64u // numbers of relays that are passed on
#define FM_RELAY_TOLD_MAX    64u // changes of a world that are held back; more are merged

// A source: a server that lists its worlds.
struct fm_relay_source {
    fm_relay *relay;
    uint32_t index;
    char address[FM_UPSTREAM_ADDRESS_SIZE];
    fm_upstream *upstream;
    bool was_tried;
    bool has_listed; // since it was connected
    bool list_waits;
    char reason[FM_ERROR_TEXT_SIZE];      // why it has not listed since
    uint64_t relays[FM_RELAY_RELAYS_MAX]; // numbers of the relays that it told of: itself, and its
                                          // sources
    uint32_t relays_count;
    uint64_t listed_ns, retry_ns;
    uint64_t named_ns; // when it was last named by another source; UINT64_MAX: by the settings
};

// What a world's server told of it besides its picture.
struct fm_relay_told {
    uint64_t tick; // of the world then, at least; 0 once it was shown
    uint32_t teams;
    bool paused;
    double tick_hz, budget_ms;
};

struct fm_relay_world {
    struct fm_relay_world *next;
    fm_relay *relay;
    fm_host *host;
    fm_feed *feed;
    uint64_t listed_by;              // sources, as bits
    uint32_t used;                   // index of the source that its feed connects to
    uint64_t listed_tick;            // as last heard
    char halted[FM_ERROR_TEXT_SIZE]; // why it stands still, as last heard; not delayed
    uint64_t unlisted_ns; // since when no source lists it; 0: listed, or no source is connected
    msgpack_sbuffer info; // of world.info
    struct fm_relay_told told[FM_RELAY_TOLD_MAX]; // changes, oldest first: the last that may be
                                                  // shown, and later ones
    uint32_t told_count;
};

struct fm_relay {
    fm_hub *hub;
    uint64_t number; // of this relay, drawn at random; never 0
    fm_upstream_access access;
    char token[FM_UPSTREAM_TOKEN_SIZE];
    char ca_file[FM_CONFIG_TEXT_MAX + 1];
    struct fm_relay_source sources[FM_RELAY_SOURCES_MAX];
    uint32_t source_count;
    struct fm_relay_world *worlds;
    fm_events jobs; // of the streams, to be taken in the loop's next round
    fm_feed_counts counts;
    uint64_t bytes_in_before; // of worlds that are gone
    uv_timer_t check;
    uv_async_t wake;
    bool closing;
};

/// NULL: there is no such world.
struct fm_relay_world *fm_relay_find_world(const fm_relay *relay, uint64_t number);
