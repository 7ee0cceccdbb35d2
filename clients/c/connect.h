// clients/c/connect.h: from "HOST:PORT" to a connected, non-blocking TCP socket.

#pragma once

#include <fogmarch/connection.h>

/// Tries each address of the host in turn, for timeout_ms milliseconds each.
///
/// @param fd     receives the socket; left alone on failure
/// @param error  receives a sentence
/// @return FM_OK, FM_ERR_BAD_VALUE (not an address) or FM_ERR_IO
FM_CHECKED fm_status fm_connect(const char *address, uint32_t timeout_ms, int *fd,
                                fm_client_error *error);

/// The host in "HOST:PORT", without brackets. @return false when it is not of that form
bool fm_connect_host(const char *address, char *host, size_t size);

/// Fills an error in. `format` makes its message.
/// @return the status
fm_status fm_client_error_set(fm_client_error *error, fm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
