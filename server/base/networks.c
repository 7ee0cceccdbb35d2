// server/base/networks.c: see networks.h.

#include "server/base/networks.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// @return bits of an address; 0: not an address
static uint32_t read_address(const char *text, uint8_t bytes[16])
{
    if (inet_pton(AF_INET, text, bytes) == 1) {
        return 32;
    }
    if (inet_pton(AF_INET6, text, bytes) != 1) {
        return 0;
    }
    struct in6_addr six;
    memcpy(&six, bytes, sizeof six);
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
        memmove(bytes, bytes + 12, 4);
        return 32;
    }
    return 128;
}

static bool begins_alike(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
    uint32_t whole = bits / 8, rest = bits % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

// @return false: it cannot be read
static bool read_network(const char *text, uint8_t bytes[16], uint32_t *bits, uint32_t *prefix)
{
    char address[64];
    size_t size = strcspn(text, "/");
    snprintf(address, sizeof address, "%.*s", (int)size, text);
    *bits = *prefix = read_address(address, bytes);
    if (*bits == 0 || text[size] == '\0') {
        return *bits != 0;
    }
    char *end;
    unsigned long given = strtoul(text + size + 1, &end, 10);
    *prefix = given > *bits ? *bits : (uint32_t)given;
    return end != text + size + 1 && *end == '\0' && given <= *bits;
}

bool fm_networks_have(const char *list, const char *peer)
{
    uint8_t wanted[16] = {0}, network[16];
    uint32_t wanted_bits = peer == NULL ? 0 : read_address(peer, wanted), bits, prefix;
    const char *entry = list + strspn(list, ", ");
    while (*entry != '\0') {
        char text[80];
        size_t size = strcspn(entry, ", ");
        snprintf(text, sizeof text, "%.*s", (int)size, entry);
        if (size >= sizeof text || !read_network(text, network, &bits, &prefix)) {
            return false;
        }
        if (peer != NULL && bits == wanted_bits && begins_alike(network, wanted, prefix)) {
            return true;
        }
        entry += size;
        entry += strspn(entry, ", ");
    }
    return peer == NULL;
}
