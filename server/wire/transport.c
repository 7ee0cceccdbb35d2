// server/wire/transport.c: what all transports share.

#include "server/wire/transport.h"

static bool address_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    const uint8_t *bytes = in6->sin6_addr.s6_addr;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && bytes[12] == 127);
}

void fm_transport_describe_peer(fm_transport *transport, const struct sockaddr_storage *address)
{
    if (address->ss_family != AF_INET && address->ss_family != AF_INET6) {
        return;
    }
    transport->is_loopback = address_is_loopback(address);
    uv_ip_name((const struct sockaddr *)address, transport->peer, sizeof transport->peer);
}
