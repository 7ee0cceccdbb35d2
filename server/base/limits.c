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

// ---- addresses ----------------------------------------------------------------------------------

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

static fm_address **head_of(fm_addresses *addresses, uint64_t key)
{
    return &addresses->heads[fm_mix64(key) % FM_ADDRESS_TABLE_SIZE];
}

void fm_addresses_fini(fm_addresses *addresses)
{
    for (uint32_t i = 0; i < FM_ADDRESS_TABLE_SIZE; i++) {
        while (addresses->heads[i] != NULL) {
            fm_address *address = addresses->heads[i];
            addresses->heads[i] = address->next;
            free(address);
        }
    }
    addresses->idle_count = 0;
}

fm_address *fm_addresses_hold(fm_addresses *addresses, const char *peer)
{
    return fm_addresses_hold_key(addresses, key_of(peer));
}

fm_address *fm_addresses_hold_key(fm_addresses *addresses, uint64_t key)
{
    fm_address **head = head_of(addresses, key);
    fm_address *address = *head;
    while (address != NULL && address->key != key) {
        address = address->next;
    }
    if (address != NULL) {
        addresses->idle_count -= address->connections == 0;
        address->connections++;
        return address;
    }
    address = calloc(1, sizeof *address);
    if (address != NULL) {
        *address = (fm_address){.next = *head, .key = key, .connections = 1};
        *head = address;
    }
    return address;
}

static void drop(fm_addresses *addresses, fm_address *address)
{
    fm_address **link = head_of(addresses, address->key);
    while (*link != address) {
        link = &(*link)->next;
    }
    *link = address->next;
    free(address);
}

// Whether an address may be forgotten once it has no connections.
static bool is_forgiven(const fm_address *address, uint64_t now_ns)
{
    return address->failures.paid_ns <= now_ns && address->openings.paid_ns <= now_ns;
}

static void forgive(fm_addresses *addresses, uint64_t now_ns)
{
    for (uint32_t i = 0; i < FM_ADDRESS_TABLE_SIZE; i++) {
        for (fm_address *address = addresses->heads[i], *next; address != NULL; address = next) {
            next = address->next;
            if (address->connections == 0 && is_forgiven(address, now_ns)) {
                addresses->idle_count--;
                drop(addresses, address);
            }
        }
    }
}

void fm_addresses_release(fm_addresses *addresses, fm_address *address, uint64_t now_ns)
{
    FM_ASSERT(address->connections > 0);
    if (--address->connections > 0) {
        return;
    }
    if (addresses->idle_count >= FM_ADDRESSES_IDLE_MAX) {
        forgive(addresses, now_ns);
    }
    if (is_forgiven(address, now_ns) || addresses->idle_count >= FM_ADDRESSES_IDLE_MAX) {
        drop(addresses, address);
    } else {
        addresses->idle_count++;
    }
}

bool fm_address_may_open(fm_address *address, uint64_t per_s, uint64_t now_ns)
{
    uint64_t wait_ns;
    return fm_meter_take(&address->openings, 1, per_s, now_ns, &wait_ns);
}

bool fm_address_may_try(const fm_address *address, uint64_t now_ns, uint64_t *wait_ns)
{
    uint64_t paid_ns = address->failures.paid_ns;
    if (paid_ns <= now_ns + WINDOW_NS) {
        return true;
    }
    *wait_ns = paid_ns - now_ns - WINDOW_NS;
    return false;
}

void fm_address_failed(fm_address *address, uint64_t per_window, uint64_t now_ns)
{
    if (per_window > 0) {
        fm_meter *failures = &address->failures;
        uint64_t paid_ns = failures->paid_ns < now_ns ? now_ns : failures->paid_ns;
        failures->paid_ns = paid_ns + WINDOW_NS / per_window;
    }
}
