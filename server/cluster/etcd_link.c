// server/cluster/etcd_link.c: see etcd_link.h.

#include "server/cluster/etcd_link.h"

#include "core/base/base.h"
#include "server/base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static bool wait_for(const fm_etcd_link *link, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now_ns = fm_clock_now_ns();
        if (now_ns >= deadline_ns) {
            return false;
        }
        struct pollfd wanted = {.fd = link->fd, .events = events};
        int count = poll(&wanted, 1, (int)((deadline_ns - now_ns) / FM_NS_PER_MS) + 1);
        if (count > 0) {
            return true;
        }
        if (count < 0 && errno != EINTR) {
            return false;
        }
    }
}

// ---- TLS ---------------------------------------------------------------------------------------

// After a call that did not succeed: waits until it can continue. False: do not try again.
static bool wait_for_tls(fm_etcd_link *link, int result, uint64_t deadline_ns)
{
    int wanted = SSL_get_error(link->tls, result);
    ERR_clear_error();
    return (wanted == SSL_ERROR_WANT_READ && wait_for(link, POLLIN, deadline_ns)) ||
           (wanted == SSL_ERROR_WANT_WRITE && wait_for(link, POLLOUT, deadline_ns));
}

static bool names_host(SSL *tls, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    bool is_address =
        inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    return is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1
                      : SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1;
}

static bool shake_hands(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                        uint64_t deadline_ns)
{
    link->tls = SSL_new(access->tls);
    if (link->tls == NULL || !names_host(link->tls, host) || SSL_set_fd(link->tls, link->fd) != 1) {
        return false;
    }
    int result;
    do {
        result = SSL_connect(link->tls);
    } while (result != 1 && wait_for_tls(link, result, deadline_ns));
    return result == 1;
}

// ---- connections -------------------------------------------------------------------------------

static bool try_address(fm_etcd_link *link, const struct addrinfo *address, uint64_t deadline_ns)
{
    int error = 0, yes = 1;
    socklen_t size = sizeof error;
    link->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (link->fd < 0) {
        return false;
    }
    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(link->fd, address->ai_addr, address->ai_addrlen) == 0) {
        return true;
    }
    if (errno == EINPROGRESS && wait_for(link, POLLOUT, deadline_ns) &&
        getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) {
        return true;
    }
    fm_etcd_link_close(link);
    return false;
}

bool fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                       const char *port, uint64_t deadline_ns)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    *link = (fm_etcd_link){.fd = -1};
    if (getaddrinfo(host, port, &hints, &addresses) != 0) {
        return false;
    }
    bool open = false;
    for (const struct addrinfo *one = addresses; one != NULL && !open; one = one->ai_next) {
        open = try_address(link, one, deadline_ns);
    }
    freeaddrinfo(addresses);
    if (open && access->tls != NULL && !shake_hands(link, access, host, deadline_ns)) {
        fm_etcd_link_close(link);
        open = false;
    }
    return open;
}

void fm_etcd_link_close(fm_etcd_link *link)
{
    SSL_free(link->tls);
    link->tls = NULL;
    if (link->fd >= 0) {
        close(link->fd);
        link->fd = -1;
    }
}

// ---- bytes -------------------------------------------------------------------------------------

// -1: try again; 0: over.
static ssize_t send_some(fm_etcd_link *link, const void *bytes, size_t size, uint64_t deadline_ns)
{
    if (link->tls != NULL) {
        size_t sent = 0;
        int result = SSL_write_ex(link->tls, bytes, size, &sent);
        return result == 1 ? (ssize_t)sent : wait_for_tls(link, result, deadline_ns) ? -1 : 0;
    }
    ssize_t sent = send(link->fd, bytes, size, MSG_NOSIGNAL);
    bool again =
        sent < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(link, POLLOUT, deadline_ns)));
    return sent > 0 ? sent : again ? -1 : 0;
}

bool fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size, uint64_t deadline_ns)
{
    const uint8_t *next = bytes;
    while (size > 0) {
        ssize_t sent = send_some(link, next, size, deadline_ns);
        if (sent == 0) {
            return false;
        }
        next += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static ssize_t receive_some(fm_etcd_link *link, void *bytes, size_t size, uint64_t deadline_ns)
{
    if (link->tls != NULL) {
        size_t count = 0;
        int result = SSL_read_ex(link->tls, bytes, size, &count);
        return result == 1 ? (ssize_t)count : wait_for_tls(link, result, deadline_ns) ? -1 : 0;
    }
    ssize_t count = recv(link->fd, bytes, size, 0);
    bool again =
        count < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(link, POLLIN, deadline_ns)));
    return count > 0 ? count : again ? -1 : 0;
}

size_t fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size, uint64_t deadline_ns)
{
    ssize_t count;
    do {
        count = receive_some(link, bytes, size, deadline_ns);
    } while (count < 0);
    return (size_t)count;
}

void fm_etcd_link_wait(fm_etcd_link *const *links, uint32_t count, uint64_t until_ns,
                       bool *readable)
{
    struct pollfd wanted[FM_ETCD_LINKS_MAX];
    FM_ASSERT(count <= FM_ETCD_LINKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = (struct pollfd){.fd = links[i]->fd, .events = POLLIN};
        if (links[i]->tls != NULL && SSL_pending(links[i]->tls) > 0) {
            until_ns = 0;
        }
    }
    uint64_t now_ns = fm_clock_now_ns();
    uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / FM_NS_PER_MS + 1 : 0;
    (void)poll(wanted, count,
               (int)(left_ms < 1000 ? left_ms : 1000)); // cut short: as if nothing came
    for (uint32_t i = 0; i < count; i++) {
        readable[i] =
            wanted[i].revents != 0 || (links[i]->tls != NULL && SSL_pending(links[i]->tls) > 0);
    }
}
