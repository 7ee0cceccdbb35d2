// server/wire/tls.h: TLS in front of a session, as a transport over another transport.
//
//   peer <── encrypted ──> inner transport (TCP) <──> OpenSSL <──> session
//
// TLS 1.2 and 1.3 only, the former without CBC, no renegotiation. A peer that does not begin with a
// TLS record, such as a client that was not set up to use TLS, is disconnected, and the log says
// so. The certificate can be read again at any time; open connections keep the one they began with.
//
// Bounds: input is decrypted as it comes, at most one read buffer at a time; output is encrypted
// into the inner transport's queue, whose bytes count as unsent.
//
// Threads: the event loop.

#pragma once

#include "server/wire/transport.h"

typedef struct fm_tls fm_tls;

/// Reads a certificate (PEM, with the chain behind it) and its key.
///
/// @param accept, context  receives the connections
/// @param out    receives it; left alone on failure
/// @param error  receives the reason; room for FM_TLS_ERROR_SIZE
/// @return FM_OK, FM_ERR_NO_MEMORY, or FM_ERR_BAD_VALUE: the files
FM_CHECKED fm_status fm_tls_create(const char *certificate, const char *key, fm_accept_fn *accept,
                                   void *context, fm_tls **out, char *error);

#define FM_TLS_ERROR_SIZE 256u

/// Whether certificate and key can be read and belong together. @return as above
FM_CHECKED fm_status fm_tls_check(const char *certificate, const char *key, char *error);

/// Call when no connection uses it. NULL is allowed.
void fm_tls_destroy(fm_tls *tls);

/// Reads the files again. On failure the old ones are kept.
FM_CHECKED fm_status fm_tls_reload(fm_tls *tls, char *error);

/// Takes a connection whose bytes are encrypted and hands on one whose bytes are not; fits
/// fm_accept_fn, `tls` is the context.
void fm_tls_accept(void *tls, fm_transport *inner);
