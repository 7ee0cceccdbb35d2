// server/relay/relay.h: a server that runs no worlds and shows those of other servers to
// spectators.
//
//   sources (relay_of, and the nodes that they name): list their worlds every second └──> a host
//     for each world, and a feed (feed.h) that fills its scenes
//            └──> sessions and streams as on any server
//
// The hosts have no world and no conductor: jobs of the streams to watch a view come here
// (fm_hub.on_watch), and publications come from feeds. The methods refuse whatever else needs a
// world.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/hub.h"

typedef struct fm_relay fm_relay;

#define FM_RELAY_ERROR_SIZE 512u

/// Whether the settings of a relay fit together, and its token can be read. fm_relay_start() says
/// the same.
///
/// @param config  with relay_of
/// @param error   receives a sentence that begins with the setting
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_IO
FM_CHECKED fm_status fm_relay_check(const fm_config *config, char error[FM_RELAY_ERROR_SIZE]);

/// Starts listing worlds. Sets hub->relay and hub->on_watch.
///
/// @param hub    with relay_of in its settings; outlives the relay
/// @param error  receives a sentence
/// @return FM_OK, FM_ERR_BAD_VALUE (settings), FM_ERR_IO (the file of the token) or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_relay_start(fm_hub *hub, char error[FM_RELAY_ERROR_SIZE]);

/// Reads the file of the token again: the next connections show what is in it. On an error, which
/// the log names, the token stays. Does nothing where there is no relay.
void fm_relay_reload(fm_hub *hub);

/// Disconnects from the sources. The loop must run until the handles are closed. NULL is allowed.
void fm_relay_close(fm_relay *relay);

/// Call after fm_relay_close(), once the loop has ended. NULL is allowed.
void fm_relay_destroy(fm_relay *relay);

/// Whether each source has listed its worlds, or could not be reached once.
bool fm_relay_is_ready(const fm_relay *relay);

/// Says which server of the settings is not relayed now, and why; an empty text: all of them are,
/// or there is no relay.
///
/// @param relay  NULL is allowed
void fm_relay_describe_missing(const fm_relay *relay, char text[FM_ERROR_TEXT_SIZE]);

/// Packs the entry `relays` of world.list: the number of this relay, which it draws when it starts,
/// and those of the relays above it, so that a relay notices that it would relay itself.
///
/// @param relay  NULL: none
void fm_relay_pack_relays(const fm_relay *relay, msgpack_packer *packer);

/// Where commands go for a world, or (host NULL) for all.
const char *fm_relay_owner(const fm_relay *relay, const fm_host *host);

/// Packs the result of world.info: the answer of the world's server, with entries that change
/// replaced by what is true here. @return false when nothing is known
bool fm_relay_pack_info(const fm_relay *relay, const fm_host *host, const fm_host_summary *summary,
                        msgpack_packer *packer);

typedef struct fm_relay_numbers {
    uint64_t sources, sources_connected;
    uint64_t views;      // that are subscribed to upstream
    uint64_t feeds_lost; // worlds that are shown but not connected now
    uint64_t lost_total; // connections lost
    uint64_t keyframes, deltas;
    uint64_t held_size; // delayed bytes
    uint64_t pauses;    // of views that found no room for what is delayed
    uint64_t bytes_in;
} fm_relay_numbers;

fm_relay_numbers fm_relay_count(const fm_relay *relay);
