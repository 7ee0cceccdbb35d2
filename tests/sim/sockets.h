// tests/sim/sockets.h: descriptors of the simulated server, which are numbers of their own.

#pragma once

#include "tests/sim/net.h"

#include <sys/socket.h>

/// Takes the connection away from a descriptor, which is free then.
sim_connection *sim_socket_take(int fd);

/// Who is at the other end.
///
/// @param size  of `address`; receives what it would take
void sim_socket_peer(const sim_connection *connection, struct sockaddr *address, socklen_t *size);

/// Whether somebody waits at a port that listens.
bool sim_socket_can_read(int fd);
