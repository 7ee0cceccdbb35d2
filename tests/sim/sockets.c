// tests/sim/sockets.c: the system calls by which the server listens and accepts. The linker puts
// them in the place of the real ones (--wrap); descriptors that are not the simulation's go
// through.
//
// There is one listener. Its descriptor is FD_LISTENER, that of a connection FD_FIRST and more.

#include "tests/sim/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define SERVER_PORT 7421u
#define FD_LISTENER 100000
#define FD_FIRST    100001
#define FD_MAX      65536u

int __real_close(int fd);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_listen(int fd, int backlog);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_close(int fd);

static sim_connection *connections[FD_MAX]; // accepted, not taken over by a stream yet
static uint32_t connection_count;           // ever accepted

int __wrap_socket(int domain, int type, int protocol)
{
    (void)type, (void)protocol;
    if (domain != AF_INET) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return FD_LISTENER;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    (void)fd, (void)level, (void)name, (void)value, (void)size;
    return 0;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    (void)fd, (void)address, (void)size;
    return 0;
}

int __wrap_listen(int fd, int backlog)
{
    FM_ASSERT(fd == FD_LISTENER && backlog > 0);
    sim_listening.is_open = true;
    return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
    FM_ASSERT(fd == FD_LISTENER);
    struct sockaddr_in own = {
        .sin_family = AF_INET,
        .sin_port = htons(SERVER_PORT),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    memcpy(address, &own, sizeof own);
    *size = sizeof own;
    return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    (void)address, (void)size, (void)flags;
    FM_ASSERT(fd == FD_LISTENER && sim_listening.is_open && connection_count < FD_MAX);
    if (sim_listening.backlog_count == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (sim_chance(20)) {
        static const int errors[] = {EMFILE, ENOBUFS, ECONNABORTED, EINTR};
        errno = errors[sim_below(FM_COUNT_OF(errors))];
        sim_note_fault(SIM_FAULT_NOT_ACCEPTED);
        sim_trace("accept fails: %d", errno);
        return -1;
    }
    sim_connection *connection = sim_listening.backlog[0];
    memmove(sim_listening.backlog, sim_listening.backlog + 1,
            --sim_listening.backlog_count * sizeof(sim_connection *));
    sim_trace("connection %u accepted", connection->number);
    connections[connection_count] = connection;
    return FD_FIRST + (int)connection_count++;
}

sim_connection *sim_socket_connection(int fd)
{
    sim_connection *connection = connections[fd - FD_FIRST];
    connections[fd - FD_FIRST] = NULL;
    return connection;
}

static void close_listener(void)
{
    sim_listening.is_open = false;
    while (sim_listening.backlog_count > 0) {
        sim_server_close(sim_listening.backlog[--sim_listening.backlog_count]);
    }
}

int __wrap_close(int fd)
{
    if (fd < FD_LISTENER) {
        return __real_close(fd);
    }
    if (fd == FD_LISTENER) {
        close_listener();
    } else {
        sim_server_close(sim_socket_connection(fd));
    }
    return 0;
}
