// clients/c/connect.c: see connect.h.

#include "clients/c/connect.h"

#include "clients/c/now.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_SIZE 256
#define PORT_SIZE 32

fm_status fm_client_error_set(fm_client_error *error, fm_status status, const char *format, ...)
{
    error->status = status;
    error->code = (uint64_t)status;
    snprintf(error->name, sizeof error->name, "%s", fm_status_name(status));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

// "HOST:PORT" or "[IPV6]:PORT".
static bool split_address(const char *address, char host[HOST_SIZE], char port[PORT_SIZE])
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL) {
        return false;
    }
    const char *begin = address, *end = colon;
    if (*begin == '[') {
        if (end == begin || end[-1] != ']') {
            return false;
        }
        begin++;
        end--;
    } else if (memchr(begin, ':', (size_t)(end - begin)) != NULL) {
        return false; // an IPv6 address without brackets: where would its port begin?
    }
    size_t host_size = (size_t)(end - begin), port_size = strlen(colon + 1);
    if (host_size == 0 || host_size >= HOST_SIZE || port_size == 0 || port_size >= PORT_SIZE) {
        return false;
    }
    memcpy(host, begin, host_size);
    host[host_size] = '\0';
    memcpy(port, colon + 1, port_size + 1);
    return strspn(port, "0123456789") == port_size;
}

bool fm_connect_host(const char *address, char *host, size_t size)
{
    char name[HOST_SIZE], port[PORT_SIZE];
    if (!split_address(address, name, port) || strlen(name) >= size) {
        return false;
    }
    memcpy(host, name, strlen(name) + 1);
    return true;
}

// Waits for a connection under way. @return 0 or an errno
static int finish_connecting(int fd, uint32_t timeout_ms)
{
    struct pollfd poller = {.fd = fd, .events = POLLOUT};
    uint64_t end_ms = fm_now_ms() + timeout_ms;
    int ready;
    do { // a signal only makes us poll again
        ready = poll(&poller, 1, fm_left_ms(end_ms));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        return ready == 0 ? ETIMEDOUT : errno;
    }
    int failure = 0;
    socklen_t size = sizeof failure;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 ? errno : failure;
}

// @return the socket, or -1 with errno
static int try_address(const struct addrinfo *address, uint32_t timeout_ms)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int failure = 0;
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        failure = errno == EINPROGRESS ? finish_connecting(fd, timeout_ms) : errno;
    }
    if (failure != 0) {
        close(fd);
        errno = failure;
        return -1;
    }
    // Requests are small and wanted now; a socket that cannot do this still works.
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

fm_status fm_connect(const char *address, uint32_t timeout_ms, int *fd, fm_client_error *error)
{
    char host[HOST_SIZE], port[PORT_SIZE];
    if (!split_address(address, host, port)) {
        return fm_client_error_set(error, FM_ERR_BAD_VALUE,
                                   "'%.100s' is not of the form ADDRESS:PORT", address);
    }
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    int failure = getaddrinfo(host, port, &hints, &addresses);
    if (failure != 0) {
        return fm_client_error_set(error, FM_ERR_IO, "cannot find %.100s: %s", address,
                                   gai_strerror(failure));
    }
    int connected = -1;
    for (const struct addrinfo *a = addresses; a != NULL && connected < 0; a = a->ai_next) {
        connected = try_address(a, timeout_ms);
    }
    freeaddrinfo(addresses);
    if (connected < 0) {
        return fm_client_error_set(error, FM_ERR_IO, "cannot connect to %.100s: %s", address,
                                   strerror(errno));
    }
    *fd = connected;
    return FM_OK;
}
