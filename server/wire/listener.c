// server/wire/listener.c: see listener.h.

#include "server/wire/listener.h"

#include "server/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG         511
#define ACCEPTS_AT_ONCE 8u   // then others get their turn: a TLS handshake takes a millisecond
#define REST_MS         100u // when there is no descriptor or memory for a connection

struct fm_listener {
    uv_poll_t poll;
    uv_timer_t rest;
    uint32_t open_handles;
    int fd;
    fm_listener_fn *take;
    void *context;
};

static void on_readable(uv_poll_t *poll, int error, int events);

static void on_rested(uv_timer_t *timer)
{
    fm_listener *listener = timer->data;
    uv_poll_start(&listener->poll, UV_READABLE, on_readable);
}

static void rest(fm_listener *listener, int error)
{
    static fm_log_site full;
    fm_log_limited(&full, FM_LOG_WARNING, "connections wait: none can be taken",
                   fm_log_text("reason", strerror(error)));
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->rest, on_rested, REST_MS, 0);
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// All other errors concern one connection that is gone already; see accept(2).
static void accept_some(fm_listener *listener)
{
    for (uint32_t i = 0; i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener->take(listener->context, fd);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (is_shortage(errno)) {
            rest(listener, errno);
            return;
        }
        if (listener->fd < 0) {
            return; // destroyed by the one who took the connection
        }
    }
}

static void on_readable(uv_poll_t *poll, int error, int events)
{
    (void)events;
    if (error == 0) {
        accept_some(poll->data);
    }
}

static void on_closed(uv_handle_t *handle)
{
    fm_listener *listener = handle->data;
    if (--listener->open_handles == 0) {
        free(listener);
    }
}

void fm_listener_destroy(fm_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->rest, on_closed);
    close(listener->fd);
    listener->fd = -1;
}

static bool parse_address(const char *address, uint16_t port, struct sockaddr_storage *out)
{
    return uv_ip4_addr(address, port, (struct sockaddr_in *)out) == 0 ||
           uv_ip6_addr(address, port, (struct sockaddr_in6 *)out) == 0;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                              : ((struct sockaddr_in6 *)&address)->sin6_port);
}

// @return -1, with errno, when the port cannot be bound
static int open_socket(const struct sockaddr_storage *address)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    socklen_t size =
        address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int yes = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(fd, (const struct sockaddr *)address, size) < 0 || listen(fd, BACKLOG) < 0) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

fm_status fm_listener_create(uv_loop_t *loop, const char *address, uint16_t port,
                             fm_listener_fn *take, void *context, uint16_t *port_taken,
                             fm_listener **out, const char **error)
{
    struct sockaddr_storage socket_address = {0};
    if (!parse_address(address, port, &socket_address)) {
        *error = "not a numeric address";
        return FM_ERR_BAD_VALUE;
    }
    fm_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        *error = "out of memory";
        return FM_ERR_NO_MEMORY;
    }
    listener->fd = open_socket(&socket_address);
    int result = listener->fd < 0 ? uv_translate_sys_error(errno)
                                  : uv_poll_init(loop, &listener->poll, listener->fd);
    if (result < 0) {
        *error = uv_strerror(result);
        if (listener->fd >= 0) {
            close(listener->fd);
        }
        free(listener);
        return FM_ERR_IO;
    }
    uv_timer_init(loop, &listener->rest);
    listener->open_handles = 2;
    listener->poll.data = listener->rest.data = listener;
    listener->take = take;
    listener->context = context;
    uv_poll_start(&listener->poll, UV_READABLE, on_readable);
    *port_taken = port_of(listener->fd);
    *out = listener;
    return FM_OK;
}
