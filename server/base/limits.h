// server/base/limits.h: limits for one client, one address and one token.
//
// A meter is a token bucket, kept as a single time: taking n at a rate of r a second moves it by n
// / r seconds, and while it is more than FM_METER_BURST_S ahead of the clock, nothing more is
// given. Refused requests are answered with `busy`.
//
// Each session has a meter for messages, bytes, orders, queries and edits. A quota is what all
// connections with one address, or one token, have together. That of an address counts connections
// and subscriptions, has a meter for opening connections, and one for wrong tokens: while that is
// full, nobody from there gets in with a token that could be guessed. That of a token counts
// subscriptions. For IPv6 an address is its first 64 bits.
//
// Bounds: a quota is kept while it has connections, or while one of its meters is ahead of the
// clock; of the latter FM_QUOTAS_IDLE_MAX.
//
// Threads: the event loop.

#pragma once

#include "core/base/base.h"

#define FM_METER_BURST_S    2u    // seconds' worth that may be taken at once
#define FM_FAILURE_WINDOW_S 60u   // in which so many wrong tokens are too many
#define FM_QUOTAS_IDLE_MAX  4096u // without connections
#define FM_QUOTA_TABLE_SIZE 4096u // heads of chains

// X(enumerator, config key, what is counted)
#define FM_METER_LIST(X)                                                                           \
    X(FM_METER_MESSAGES, rate_messages, "messages")                                                \
    X(FM_METER_BYTES, rate_bytes, "bytes")                                                         \
    X(FM_METER_ORDERS, rate_orders, "orders")                                                      \
    X(FM_METER_QUERIES, rate_queries, "queries")                                                   \
    X(FM_METER_EDITS, rate_edits, "edited cells and rectangles")

typedef enum fm_meter_kind {
#define X(enumerator, key, text) enumerator,
    FM_METER_LIST(X)
#undef X
    FM_METER_COUNT,
} fm_meter_kind;

// Zeroed: nothing taken.
typedef struct fm_meter {
    uint64_t paid_ns; // until then
} fm_meter;

/// Takes `amount`, all or nothing; more than a burst is given only by an idle meter.
///
/// @param per_s    rate; 0: no limit
/// @param wait_ns  receives, on refusal, the time until something is given
bool fm_meter_take(fm_meter *meter, uint64_t amount, uint64_t per_s, uint64_t now_ns,
                   uint64_t *wait_ns);

// Of one address, or one token.
typedef struct fm_quota {
    struct fm_quota *next;
    uint64_t key;
    uint32_t connections;
    uint32_t subscriptions; // of all of them; for its users to count
    fm_meter openings;      // of connections
    fm_meter failures;      // wrong tokens
} fm_quota;

// Those of addresses, or those of tokens. Zeroed: empty.
typedef struct fm_quotas {
    fm_quota *heads[FM_QUOTA_TABLE_SIZE];
    uint32_t idle_count;
} fm_quotas;

void fm_quotas_fini(fm_quotas *quotas);

/// A connection with this number in common with others, such as a token's. Ends with
/// fm_quotas_release(). @return NULL when out of memory
fm_quota *fm_quotas_hold(fm_quotas *quotas, uint64_t key);

/// The same for a connection from an address, as text.
fm_quota *fm_quotas_hold_address(fm_quotas *quotas, const char *peer);

/// @param now_ns  those whose connections and wrong tokens are long ago are forgotten
void fm_quotas_release(fm_quotas *quotas, fm_quota *quota, uint64_t now_ns);

/// Whether an address may open the connection for which it was held.
/// @param per_s  connections a second; 0: no limit
bool fm_quota_may_open(fm_quota *quota, uint64_t per_s, uint64_t now_ns);

/// Whether an address may try a token. @param wait_ns  as in fm_meter_take()
bool fm_quota_may_try(const fm_quota *quota, uint64_t now_ns, uint64_t *wait_ns);

/// Notes a wrong token. @param per_window  how many are too many; 0: never
void fm_quota_failed(fm_quota *quota, uint64_t per_window, uint64_t now_ns);
