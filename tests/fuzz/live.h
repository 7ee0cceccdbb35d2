// tests/fuzz/live.h: a whole server in one thread: sessions, methods, streams, worlds and the
// conductor are the real ones; sockets, the clock and libuv's thread pool are here.
//
// Bytes go in through fm_live_send() and every message that comes out is looked at: it has to be
// one whole message of the protocol, an answer has to belong to a request that is still open, and
// when nothing is left to do every request of a session that is still open has been answered, once.
// What answers name (worlds, agents, tokens ...) is remembered, so that requests can be made of it.
//
// The clock stands still but for fm_live_sleep() and a moment per look, so an input does the
// same every time.

#pragma once

#include "tests/fuzz/fuzz.h"

#include "proto/protocol.h"
#include "server/base/config.h"

#define FM_LIVE_CLIENTS_MAX 8u
#define FM_LIVE_KNOWN_MAX   32u // numbers remembered of each kind; the latest stay

// What answers name, by the key under which they do.
// X(enumerator, key)
#define FM_LIVE_KNOWN_LIST(X)                                                                      \
    X(FM_KNOWN_WORLD, "world")                                                                     \
    X(FM_KNOWN_TEAM, "team")                                                                       \
    X(FM_KNOWN_AGENT, "agents")                                                                    \
    X(FM_KNOWN_NAME, "names")                                                                      \
    X(FM_KNOWN_BUILDING, "building")                                                               \
    X(FM_KNOWN_SUBSCRIPTION, "subscription")                                                       \
    X(FM_KNOWN_UPLOAD, "upload")                                                                   \
    X(FM_KNOWN_SAVE, "save")                                                                       \
    X(FM_KNOWN_TOTAL, "total")                                                                     \
    X(FM_KNOWN_NUMBER, "number")

typedef enum fm_known_kind {
#define X(enumerator, key) enumerator,
    FM_LIVE_KNOWN_LIST(X)
#undef X
    FM_KNOWN_COUNT,
} fm_known_kind;

/// Begins a server without clients and worlds.
///
/// @param config  outlives it; one worker. Journals in its journal_dir can be looked at
/// @param worlds  what it says to those who own the worlds, outlives it: with a journal_dir, or
///                without one, so that no time is lost with writing journals
void fm_live_begin(const fm_config *config, const fm_config *worlds);

/// Ends all worlds and sessions; asserts that nothing is left of them.
void fm_live_end(void);

/// Connects a client that has said nothing yet; one of that number is disconnected first.
void fm_live_connect(uint32_t client);

bool fm_live_is_connected(uint32_t client);

/// Bytes arrive from a client, if it is there and is read from.
///
/// @param piece  bytes that arrive at once
void fm_live_send(uint32_t client, const void *bytes, size_t size, size_t piece);

/// A number for the next request of a client, which has to be answered from now on.
uint64_t fm_live_ask(uint32_t client, fm_method method);

/// How many requests for a method have been answered without an error, from the first server on.
uint64_t fm_live_answered(fm_method method);

/// From now on it may send what it likes: its answers are no longer counted.
void fm_live_run_wild(uint32_t client);

/// Whether a client reads what it is sent.
void fm_live_stall(uint32_t client, bool stalled);

void fm_live_hang_up(uint32_t client);

/// Lets loop, conductor and thread pool do all that is due.
void fm_live_settle(void);

/// Time passes. Time-outs and ticks are looked at on the way.
void fm_live_sleep(uint64_t ms);

/// Remembers a number that no answer has named.
void fm_live_know(fm_known_kind kind, uint64_t number);

/// How many numbers of a kind are known, and one of them (0 when there is none).
uint32_t fm_live_known_count(fm_known_kind kind);
uint64_t fm_live_known(fm_known_kind kind, uint32_t index);

/// The token made last; empty when there is none.
const char *fm_live_token(void);

/// The piece of a saved world that came last. @return NULL when there is none
const void *fm_live_file(size_t *size);
