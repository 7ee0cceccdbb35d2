// tests/sim/sockets.h: descriptors of the simulated server, which are numbers of their own.

#pragma once

#include "tests/sim/net.h"

#include <sys/socket.h>

/// Before everything else: the process may have as many descriptors as it takes.
void sim_sockets_start(void);

/// Takes the connection away from a descriptor, which is free then.
sim_connection *sim_socket_take(int fd);

/// Who is at the other end.
///
/// @param size  of `address`; receives what it would take
void sim_socket_peer(const sim_connection *connection, struct sockaddr *address, socklen_t *size);

// What libuv looks at.
bool sim_socket_can_read(int fd);
bool sim_socket_can_write(int fd);
bool sim_socket_has_failed(int fd);
