// tests/sim/sockets.c: the system calls that the server makes on sockets.
//
// Where the simulation must not see the calls of other libraries, the linker redirects only the
// server's own calls (--wrap). The other functions here replace libc's for the whole program and
// pass the system's own descriptors on to the system.
//
// As in the system, the next descriptor gets the lowest free number.

#include "tests/sim/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FD_FIRST    256 // lower ones are the system's
#define FD_COUNT    3072
#define SERVER_PORT 7421u // of the first listener; the others follow

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_listen(int fd, int backlog);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

typedef enum descriptor_kind {
    DESCRIPTOR_FREE,
    DESCRIPTOR_SOCKET, // neither listens nor is connected
    DESCRIPTOR_LISTENER,
    DESCRIPTOR_CONNECTION,
} descriptor_kind;

struct descriptor {
    descriptor_kind kind;
    sim_port port;              // of sockets and listeners
    sim_connection *connection; // of connections
};

static struct descriptor descriptors[FD_COUNT];

// NULL: a descriptor of the system.
static struct descriptor *find(int fd)
{
    bool is_ours = fd >= FD_FIRST && fd < FD_FIRST + FD_COUNT;
    return is_ours && descriptors[fd - FD_FIRST].kind != DESCRIPTOR_FREE
               ? &descriptors[fd - FD_FIRST]
               : NULL;
}

static struct descriptor *find_kind(int fd, descriptor_kind kind)
{
    struct descriptor *found = find(fd);
    FM_ASSERT(found != NULL && found->kind == kind);
    return found;
}

static int add(struct descriptor descriptor)
{
    for (int i = 0; i < FD_COUNT; i++) {
        if (descriptors[i].kind == DESCRIPTOR_FREE) {
            descriptors[i] = descriptor;
            return FD_FIRST + i;
        }
    }
    errno = EMFILE;
    return -1;
}

// ---- listening ---------------------------------------------------------------------------------

int __wrap_socket(int domain, int type, int protocol)
{
    (void)type, (void)protocol;
    if (domain != AF_INET) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return add((struct descriptor){.kind = DESCRIPTOR_SOCKET});
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    struct sockaddr_in own;
    FM_ASSERT(size == sizeof own);
    memcpy(&own, address, sizeof own);
    uint16_t port = ntohs(own.sin_port);
    FM_ASSERT(port >= SERVER_PORT && port < SERVER_PORT + SIM_PORT_COUNT);
    find_kind(fd, DESCRIPTOR_SOCKET)->port = (sim_port)(port - SERVER_PORT);
    return 0;
}

int __wrap_listen(int fd, int backlog)
{
    struct descriptor *descriptor = find_kind(fd, DESCRIPTOR_SOCKET);
    FM_ASSERT(backlog > 0);
    descriptor->kind = DESCRIPTOR_LISTENER;
    sim_listening[descriptor->port].is_open = true;
    return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    (void)address, (void)size, (void)flags;
    sim_listener *listener = &sim_listening[find_kind(fd, DESCRIPTOR_LISTENER)->port];
    if (listener->backlog_count == 0) {
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
    sim_connection *connection = listener->backlog[0];
    memmove(listener->backlog, listener->backlog + 1,
            --listener->backlog_count * sizeof(sim_connection *));
    sim_trace("connection %u accepted", connection->number);
    int accepted = add((struct descriptor){
        .kind = DESCRIPTOR_CONNECTION,
        .connection = connection,
    });
    FM_ASSERT(accepted >= 0);
    return accepted;
}

static void close_listener(sim_listener *listener)
{
    listener->is_open = false;
    while (listener->backlog_count > 0) {
        sim_server_close(listener->backlog[--listener->backlog_count]);
    }
}

// ---- connections -------------------------------------------------------------------------------

sim_connection *sim_socket_take(int fd)
{
    struct descriptor *descriptor = find_kind(fd, DESCRIPTOR_CONNECTION);
    descriptor->kind = DESCRIPTOR_FREE;
    return descriptor->connection;
}

void sim_socket_peer(const sim_connection *connection, struct sockaddr *address, socklen_t *size)
{
    struct sockaddr_in peer = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)(20000 + connection->number)),
        .sin_addr.s_addr = htonl(0x7f000000u | connection->address),
    };
    memcpy(address, &peer, *size < sizeof peer ? *size : sizeof peer);
    *size = sizeof peer;
}

// ---- any of them -------------------------------------------------------------------------------

int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
    const struct descriptor *descriptor = find(fd);
    if (descriptor == NULL) {
        return (int)syscall(SYS_getsockname, fd, address, size);
    }
    struct sockaddr_in own = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)(SERVER_PORT + descriptor->port)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    memcpy(address, &own, *size < sizeof own ? *size : sizeof own);
    *size = sizeof own;
    return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    return find(fd) != NULL ? 0 : (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

int close(int fd)
{
    struct descriptor *descriptor = find(fd);
    if (descriptor == NULL) {
        return (int)syscall(SYS_close, fd);
    }
    if (descriptor->kind == DESCRIPTOR_LISTENER) {
        close_listener(&sim_listening[descriptor->port]);
    } else if (descriptor->kind == DESCRIPTOR_CONNECTION) {
        sim_server_close(descriptor->connection);
    }
    descriptor->kind = DESCRIPTOR_FREE;
    return 0;
}

// ---- what is ready -----------------------------------------------------------------------------

bool sim_socket_can_read(int fd)
{
    const struct descriptor *descriptor = find(fd);
    return descriptor != NULL && descriptor->kind == DESCRIPTOR_LISTENER &&
           sim_listening[descriptor->port].backlog_count > 0;
}
