// tests/sim/sockets.h: descriptors of the simulated server, in a range of their own.

#pragma once

#include "tests/sim/net.h"

#include <sys/socket.h>

/// Takes the connection away from a descriptor and frees the descriptor.
sim_connection *sim_socket_take(int fd);

/// The peer's address.
///
/// @param size  of `address`; receives the size that it needs
void sim_socket_peer(const sim_connection *connection, struct sockaddr *address, socklen_t *size);

/// Whether a connection waits to be accepted at a listening port.
bool sim_socket_can_read(int fd);
