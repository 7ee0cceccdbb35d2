// clients/c/link.h: what carries a client's bytes: a non-blocking socket, plain or with TLS.
//
// Reading and writing behave like recv() and send(): bytes, 0 at the end, or -1 with errno; EAGAIN
// means later. Threads: one at a time.

#pragma once

#include <fogmarch/connection.h>

#include <sys/types.h>

typedef struct fm_link {
    int fd;
    void *ssl;     // SSL; NULL: plain
    void *context; // SSL_CTX; NULL: plain
    void *method;  // BIO_METHOD, of the BIO between them; NULL: plain
} fm_link;

/// Speaks TLS over a connected, non-blocking socket, and checks the server's certificate.
///
/// @param link     with its fd, which stays the caller's on failure
/// @param host     name or address that the certificate must be for
/// @param ca_file  certificates that are trusted, in PEM; NULL: those of the system
/// @return FM_OK, FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_link_secure(fm_link *link, const char *host, const char *ca_file,
                                    uint32_t timeout_ms, fm_client_error *error);

ssize_t fm_link_read(fm_link *link, void *bytes, size_t size);
ssize_t fm_link_write(fm_link *link, const void *bytes, size_t size);

/// Closes the socket.
void fm_link_close(fm_link *link);
