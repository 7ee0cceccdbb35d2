// tests/fuzz/live.h: a whole server in one thread: sessions, methods, streams, worlds and the
// conductor are the real ones; sockets, the clock and libuv's thread pool are here.
//
// Bytes go in through fm_live_send(), and every message that comes out is checked: it must be one
// whole message of the protocol, and an answer must belong to an open request. When no work is
// left, all requests of the connected clients must be answered. Numbers in answers (of worlds,
// agents, tokens ...) are kept, so that requests can use them.
//
// Only fm_live_sleep() moves the clock, and each look at it a little, so an input does the same
// every time.

#pragma once

#include "tests/fuzz/fuzz.h"

#include "proto/protocol.h"
#include "server/base/config.h"

#ifndef FM_LIVE_CLIENTS_MAX // a test may have more
#define FM_LIVE_CLIENTS_MAX 8u
#define FM_LIVE_WORKS_MAX   64u // pieces of work that wait for the thread pool
#endif
#define FM_LIVE_KNOWN_MAX 32u // numbers remembered of each kind; the latest stay

// Kinds of numbers in answers, by their keys.
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
/// @param worlds  the configuration of the owners of the worlds, outlives it: with a journal_dir,
///                or without one to save the time of writing journals
void fm_live_begin(const fm_config *config, const fm_config *worlds);

/// Ends all worlds and sessions; asserts that nothing is left of them.
void fm_live_end(void);

/// The server, for tests that look inside.
struct fm_hub *fm_live_hub(void);

/// Connects a client, which has not sent hello. The old client of that number is disconnected
/// first.
void fm_live_connect(uint32_t client);

bool fm_live_is_connected(uint32_t client);

/// Bytes arrive from a client, if it is there and is read from.
///
/// @param piece  bytes that arrive at once
void fm_live_send(uint32_t client, const void *bytes, size_t size, size_t piece);

/// A number for the next request of a client. The request must be answered from now on.
uint64_t fm_live_ask(uint32_t client, fm_method method);

/// How many requests for a method have succeeded, on all servers so far.
uint64_t fm_live_answered(fm_method method);

/// From now on the client may send anything: its answers are no longer checked.
void fm_live_run_wild(uint32_t client);

/// Sets whether a client reads.
void fm_live_stall(uint32_t client, bool stalled);

void fm_live_hang_up(uint32_t client);

/// Runs loop, conductor and thread pool until nothing is due.
void fm_live_settle(void);

/// Lets time pass, with its time-outs and ticks.
void fm_live_sleep(uint64_t ms);

/// Keeps a number that was in no answer.
void fm_live_know(fm_known_kind kind, uint64_t number);

/// How many numbers of a kind are known, and one of them (0 when there is none).
uint32_t fm_live_known_count(fm_known_kind kind);
uint64_t fm_live_known(fm_known_kind kind, uint32_t index);

/// The latest token; empty when there is none.
const char *fm_live_token(void);

/// The latest piece of a saved world. @return NULL when there is none
const void *fm_live_file(size_t *size);
