// server/wire/proxy.c: see proxy.h.

#include "server/wire/proxy.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/networks.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE      "\r\n\r\n\0\r\nQUIT\n" // of version 2
#define SIGNATURE_SIZE 12u
#define HEAD_SIZE      16u  // of version 2, before addresses
#define LINE_MAX_SIZE  107u // of version 1, its end included
#define VERSION_LOCAL  0x20 // a health check of the proxy itself
#define VERSION_PROXY  0x21
#define TCP_4          0x11
#define TCP_6          0x21
#define FAMILY_MAX     3   // Unix; 0: not told
#define KIND_MAX       2   // datagrams; 0: not told
#define ADDRESSES_4    12u // bytes: two addresses, two ports
#define ADDRESSES_6    36u

struct waiting {
    fm_transport *transport;
    fm_proxies *proxies;
    struct waiting *next, **link; // link NULL: no longer in the list
    uint64_t since_ns;
    size_t size;
    uint8_t bytes[FM_PROXY_HEAD_MAX];
};

struct fm_proxies {
    const char *list;
    fm_accept_fn *accept;
    void *context;
    struct waiting *first;
    uint32_t count;
};

// ---- heads -------------------------------------------------------------------------------------

static void take_address(fm_proxy_head *head, const struct sockaddr_storage *address)
{
    fm_transport described = {.ops = NULL};
    fm_transport_describe_peer(&described, address);
    head->has_peer = true;
    head->is_loopback = described.is_loopback;
    memcpy(head->peer, described.peer, sizeof head->peer);
}

static void take_ipv4(fm_proxy_head *head, const void *bytes)
{
    struct sockaddr_storage address = {.ss_family = AF_INET};
    memcpy(&((struct sockaddr_in *)&address)->sin_addr, bytes, 4);
    take_address(head, &address);
}

static void take_ipv6(fm_proxy_head *head, const void *bytes)
{
    struct sockaddr_storage address = {.ss_family = AF_INET6};
    memcpy(&((struct sockaddr_in6 *)&address)->sin6_addr, bytes, 16);
    take_address(head, &address);
}

static bool is_family(uint8_t byte)
{
    return byte >> 4 <= FAMILY_MAX && (byte & 15) <= KIND_MAX;
}

static fm_proxy_reading read_version_2(const uint8_t *bytes, size_t size, fm_proxy_head *head)
{
    if (size < HEAD_SIZE) {
        return FM_PROXY_MORE;
    }
    size_t rest = (size_t)bytes[14] << 8 | bytes[15];
    uint8_t family = bytes[13];
    size_t needed = family == TCP_4 ? ADDRESSES_4 : family == TCP_6 ? ADDRESSES_6 : 0;
    if ((bytes[12] != VERSION_LOCAL && bytes[12] != VERSION_PROXY) || !is_family(family) ||
        rest > FM_PROXY_HEAD_MAX - HEAD_SIZE || (bytes[12] == VERSION_PROXY && rest < needed)) {
        return FM_PROXY_WRONG;
    }
    if (size < HEAD_SIZE + rest) {
        return FM_PROXY_MORE;
    }
    head->size = HEAD_SIZE + rest;
    if (bytes[12] == VERSION_PROXY && family == TCP_4) {
        take_ipv4(head, bytes + HEAD_SIZE);
    } else if (bytes[12] == VERSION_PROXY && family == TCP_6) {
        take_ipv6(head, bytes + HEAD_SIZE);
    } else {
        head->is_unknown = bytes[12] == VERSION_PROXY;
    }
    return FM_PROXY_DONE;
}

// "PROXY TCP4 SOURCE DESTINATION PORT PORT\r\n", or "PROXY UNKNOWN ...".
static fm_proxy_reading read_version_1(const uint8_t *bytes, size_t size, fm_proxy_head *head)
{
    const uint8_t *end = memchr(bytes, '\n', size < LINE_MAX_SIZE ? size : LINE_MAX_SIZE);
    if (end == NULL) {
        return size < LINE_MAX_SIZE ? FM_PROXY_MORE : FM_PROXY_WRONG;
    }
    char line[LINE_MAX_SIZE + 1] = "", family[8] = "", source[64] = "";
    uint8_t address[16];
    head->size = (size_t)(end - bytes) + 1;
    memcpy(line, bytes, head->size - 1);
    if (strlen(line) != head->size - 1) {
        return FM_PROXY_WRONG; // a NUL
    }
    int words = sscanf(line, "PROXY %7s %63s", family, source);
    if (words >= 1 && strcmp(family, "UNKNOWN") == 0) {
        head->is_unknown = true;
        return FM_PROXY_DONE;
    }
    if (words == 2 && strcmp(family, "TCP4") == 0 && inet_pton(AF_INET, source, address) == 1) {
        take_ipv4(head, address);
        return FM_PROXY_DONE;
    }
    if (words == 2 && strcmp(family, "TCP6") == 0 && inet_pton(AF_INET6, source, address) == 1) {
        take_ipv6(head, address);
        return FM_PROXY_DONE;
    }
    return FM_PROXY_WRONG;
}

fm_proxy_reading fm_proxy_head_read(const uint8_t *bytes, size_t size, fm_proxy_head *head)
{
    static const char first[] = "PROXY ";
    size_t text_size = strlen(first) < size ? strlen(first) : size;
    size_t signature_size = SIGNATURE_SIZE < size ? SIGNATURE_SIZE : size;
    *head = (fm_proxy_head){.size = 0};
    if (memcmp(bytes, SIGNATURE, signature_size) == 0) {
        return read_version_2(bytes, size, head);
    }
    if (memcmp(bytes, first, text_size) != 0) {
        return FM_PROXY_WRONG;
    }
    return text_size < strlen(first) ? FM_PROXY_MORE : read_version_1(bytes, size, head);
}

// ---- connections -------------------------------------------------------------------------------

static void leave_list(struct waiting *waiting)
{
    if (waiting->link != NULL) {
        *waiting->link = waiting->next;
        if (waiting->next != NULL) {
            waiting->next->link = waiting->link;
        }
        waiting->link = NULL;
        waiting->proxies->count--;
    }
}

static void on_closed(void *owner)
{
    struct waiting *waiting = owner;
    leave_list(waiting);
    free(waiting);
}

static void on_sent(void *owner)
{
    (void)owner; // nothing is sent
}

static void disconnect(struct waiting *waiting, const char *reason)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "connection of a proxy ended",
                   fm_log_text("peer", waiting->transport->peer), fm_log_text("reason", reason));
    leave_list(waiting);
    waiting->transport->ops->close(waiting->transport);
}

// Hands the connection on, with the bytes after the head. The callee becomes its owner; if it
// closes it, we stay the owner until it is closed.
static void hand_on(struct waiting *waiting, const fm_proxy_head *head, const uint8_t *rest,
                    size_t rest_size)
{
    fm_transport *transport = waiting->transport;
    fm_proxies *proxies = waiting->proxies;
    leave_list(waiting);
    if (head->has_peer) {
        memcpy(transport->peer, head->peer, sizeof transport->peer);
        // The loopback of a proxy on another machine is not ours.
        transport->is_loopback = transport->is_loopback && head->is_loopback;
    }
    transport->is_loopback = transport->is_loopback && !head->is_unknown;
    proxies->accept(proxies->context, transport);
    if (transport->owner == waiting) {
        return;
    }
    free(waiting);
    if (rest_size > 0) {
        transport->events->received(transport->owner, rest, rest_size);
    }
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    struct waiting *waiting = owner;
    fm_proxy_head head;
    if (waiting->link == NULL) {
        return; // it is being closed
    }
    size_t room = sizeof waiting->bytes - waiting->size, before = waiting->size;
    size_t taken = size < room ? size : room;
    memcpy(waiting->bytes + before, bytes, taken);
    waiting->size += taken;
    switch (fm_proxy_head_read(waiting->bytes, waiting->size, &head)) {
    case FM_PROXY_MORE:
        return;
    case FM_PROXY_WRONG:
        disconnect(waiting, "does not say for whom it is (PROXY protocol)");
        return;
    case FM_PROXY_DONE:
        hand_on(waiting, &head, bytes + (head.size - before), size - (head.size - before));
        return;
    }
}

static const fm_transport_events events = {
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
};

void fm_proxies_accept(void *context, fm_transport *transport)
{
    fm_proxies *proxies = context;
    if (proxies->list[0] == '\0' || !fm_networks_have(proxies->list, transport->peer)) {
        proxies->accept(proxies->context, transport);
        return;
    }
    struct waiting *waiting =
        proxies->count == FM_PROXIES_WAITING_MAX ? NULL : malloc(sizeof *waiting);
    if (waiting == NULL) {
        transport->ops->close(transport);
        return;
    }
    *waiting = (struct waiting){.transport = transport,
                                .proxies = proxies,
                                .next = proxies->first,
                                .link = &proxies->first,
                                .since_ns = fm_clock_now_ns()};
    if (waiting->next != NULL) {
        waiting->next->link = &waiting->next;
    }
    proxies->first = waiting;
    proxies->count++;
    transport->events = &events;
    transport->owner = waiting;
}

void fm_proxies_check_time(fm_proxies *proxies, uint64_t now_ns, uint64_t patience_ns)
{
    struct waiting *next;
    for (struct waiting *waiting = proxies == NULL ? NULL : proxies->first; waiting != NULL;
         waiting = next) {
        next = waiting->next;
        if (now_ns > waiting->since_ns && now_ns - waiting->since_ns > patience_ns) {
            disconnect(waiting, "said nothing");
        }
    }
}

void fm_proxies_close(fm_proxies *proxies)
{
    while (proxies != NULL && proxies->first != NULL) {
        disconnect(proxies->first, "server goes down");
    }
}

fm_proxies *fm_proxies_create(const char *list, fm_accept_fn *accept, void *context)
{
    fm_proxies *proxies = malloc(sizeof *proxies);
    if (proxies != NULL) {
        *proxies = (fm_proxies){.list = list, .accept = accept, .context = context};
    }
    return proxies;
}

void fm_proxies_destroy(fm_proxies *proxies)
{
    free(proxies);
}
