// server/base/limits.c: see limits.h.

#include "server/base/limits.h"

#include "core/base/random.h"
#include "server/base/clock.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BURST_NS  (FM_METER_BURST_S * FM_NS_PER_S)
#define WINDOW_NS (FM_FAILURE_WINDOW_S * FM_NS_PER_S)

// ---- meters -------------------------------------------------------------------------------------

bool fm_meter_take(fm_meter *meter, uint64_t amount, uint64_t per_s, uint64_t now_ns,
                   uint64_t *wait_ns)
{
    if (per_s == 0) {
        return true;
    }
    uint64_t paid_ns = meter->paid_ns < now_ns ? now_ns : meter->paid_ns;
    uint64_t cost_ns = amount * FM_NS_PER_S / per_s;
    uint64_t ahead_ns = paid_ns - now_ns;
    if (ahead_ns > 0 && ahead_ns + cost_ns > BURST_NS) {
        *wait_ns = cost_ns < BURST_NS ? ahead_ns + cost_ns - BURST_NS : ahead_ns;
        return false;
    }
    meter->paid_ns = paid_ns + cost_ns;
    return true;
}

// ---- quotas ----------------------------------------------------------------------------------

static uint64_t key_of(const char *peer)
{
    struct in_addr four;
    struct in6_addr six;
    uint64_t key = 0;
    if (inet_pton(AF_INET, peer, &four) == 1) {
        return (uint64_t)0xffff << 32 | ntohl(four.s_addr);
    }
    if (inet_pton(AF_INET6, peer, &six) != 1) {
        return 0;
    }
    const uint8_t *bytes = six.s6_addr;
    uint32_t first = IN6_IS_ADDR_V4MAPPED(&six) ? 8 : 0;
    for (uint32_t i = 0; i < 8; i++) {
        key = key << 8 | bytes[first + i];
    }
    return key;
}

static fm_quota **head_of(fm_quotas *quotas, uint64_t key)
{
    return &quotas->heads[fm_mix64(key) % FM_QUOTA_TABLE_SIZE];
}

void fm_quotas_fini(fm_quotas *quotas)
{
    for (uint32_t i = 0; i < FM_QUOTA_TABLE_SIZE; i++) {
        while (quotas->heads[i] != NULL) {
            fm_quota *quota = quotas->heads[i];
            quotas->heads[i] = quota->next;
            free(quota);
        }
    }
    quotas->idle_count = 0;
}

fm_quota *fm_quotas_hold_address(fm_quotas *quotas, const char *peer)
{
    return fm_quotas_hold(quotas, key_of(peer));
}

fm_quota *fm_quotas_hold(fm_quotas *quotas, uint64_t key)
{
    fm_quota **head = head_of(quotas, key);
    fm_quota *quota = *head;
    while (quota != NULL && quota->key != key) {
        quota = quota->next;
    }
    if (quota != NULL) {
        quotas->idle_count -= quota->connections == 0;
        quota->connections++;
        return quota;
    }
    quota = calloc(1, sizeof *quota);
    if (quota != NULL) {
        *quota = (fm_quota){.next = *head, .key = key, .connections = 1};
        *head = quota;
    }
    return quota;
}

static void drop(fm_quotas *quotas, fm_quota *quota)
{
    fm_quota **link = head_of(quotas, quota->key);
    while (*link != quota) {
        link = &(*link)->next;
    }
    *link = quota->next;
    free(quota);
}

// Whether one may be forgotten once it has no connections.
static bool is_forgiven(const fm_quota *quota, uint64_t now_ns)
{
    return quota->failures.paid_ns <= now_ns && quota->openings.paid_ns <= now_ns;
}

static void forgive(fm_quotas *quotas, uint64_t now_ns)
{
    for (uint32_t i = 0; i < FM_QUOTA_TABLE_SIZE; i++) {
        for (fm_quota *quota = quotas->heads[i], *next; quota != NULL; quota = next) {
            next = quota->next;
            if (quota->connections == 0 && is_forgiven(quota, now_ns)) {
                quotas->idle_count--;
                drop(quotas, quota);
            }
        }
    }
}

void fm_quotas_release(fm_quotas *quotas, fm_quota *quota, uint64_t now_ns)
{
    FM_ASSERT(quota->connections > 0);
    if (--quota->connections > 0) {
        return;
    }
    if (quotas->idle_count >= FM_QUOTAS_IDLE_MAX) {
        forgive(quotas, now_ns);
    }
    if (is_forgiven(quota, now_ns) || quotas->idle_count >= FM_QUOTAS_IDLE_MAX) {
        drop(quotas, quota);
    } else {
        quotas->idle_count++;
    }
}

bool fm_quota_may_open(fm_quota *quota, uint64_t per_s, uint64_t now_ns)
{
    uint64_t wait_ns;
    return fm_meter_take(&quota->openings, 1, per_s, now_ns, &wait_ns);
}

bool fm_quota_may_try(const fm_quota *quota, uint64_t now_ns, uint64_t *wait_ns)
{
    uint64_t paid_ns = quota->failures.paid_ns;
    if (paid_ns <= now_ns + WINDOW_NS) {
        return true;
    }
    *wait_ns = paid_ns - now_ns - WINDOW_NS;
    return false;
}

void fm_quota_failed(fm_quota *quota, uint64_t per_window, uint64_t now_ns)
{
    if (per_window > 0) {
        fm_meter *failures = &quota->failures;
        uint64_t paid_ns = failures->paid_ns < now_ns ? now_ns : failures->paid_ns;
        failures->paid_ns = paid_ns + WINDOW_NS / per_window;
    }
}
