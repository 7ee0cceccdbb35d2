// server/streams/subscription_quota.c: see subscription_quota.h.

#include "server/streams/subscription_quota.h"

#include <string.h>

// Tokens have the same key once in a billion billions.
bool fm_subscription_quota_hold(fm_session *session)
{
    uint64_t key;
    memcpy(&key, session->token_hash, sizeof key);
    if (session->has_token && session->token_quota == NULL) {
        session->token_quota = fm_quotas_hold(&session->hub->token_quotas, key);
    }
    return !session->has_token || session->token_quota != NULL;
}

bool fm_subscription_quota_is_full(const fm_session *session)
{
    const fm_quota *token = session->token_quota, *address = session->address_quota;
    uint64_t token_max = session->hub->config->subscriptions_per_token_max;
    uint64_t address_max = session->hub->config->subscriptions_per_address_max;
    return session->subscription_count == FM_SESSION_SUBSCRIPTIONS_MAX ||
           (token_max > 0 && token != NULL && token->subscriptions >= token_max) ||
           (address_max > 0 && address->subscriptions >= address_max);
}

void fm_subscription_quota_count(fm_session *session, int32_t more)
{
    session->subscription_count += (uint32_t)more;
    session->address_quota->subscriptions += (uint32_t)more;
    if (session->token_quota != NULL) {
        session->token_quota->subscriptions += (uint32_t)more;
    }
}
