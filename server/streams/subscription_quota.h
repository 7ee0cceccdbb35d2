// server/streams/subscription_quota.h: how many subscriptions a session, its token and its address
// may have.
//
// Those of a token and of an address are counted with them, so that none has to go through all
// sessions; many sessions of one player count once.
//
// Threads: the loop's.

#pragma once

#include "server/sessions/session.h"

/// Before the first subscription of a session: finds its token's count. A session without a token
/// has none. @return false when out of memory
bool fm_subscription_quota_hold(fm_session *session);

/// Whether one more would be too many: FM_SESSION_SUBSCRIPTIONS_MAX, or subscriptions_per_token_max
/// or subscriptions_per_address_max of the settings.
bool fm_subscription_quota_is_full(const fm_session *session);

/// Counts so many more, or fewer.
void fm_subscription_quota_count(fm_session *session, int32_t more);
