// tests/sim/tls.h: a client's end of TLS, between its plain text and the network.
//
//   sim_tls_write ──> waits for the handshake ──> encrypted ──> out ──> network
//   plain text   <──────────── decrypted <──────────────────── sim_tls_feed
//
// It checks that everything from the server is TLS, and that refusals are alerts.

#pragma once

#include "tests/sim/bytes.h"
#include "tests/sim/openssl.h"

typedef struct sim_tls {
    SSL *ssl;                     // owned
    BIO *from_server, *to_server; // ssl's
    sim_bytes waiting;            // plain text, until the handshake is done
    sim_bytes out;                // for the network; the caller sends it and drops it
    bool spoilt;                  // invalid or damaged records were sent: anything may come back
    bool hears_end;               // the server has sent close_notify
    bool failed;      // the server sent an alert that ends TLS, or something that is no TLS
    char reason[160]; // why
} sim_tls;

/// Begins the handshake.
void sim_tls_init(sim_tls *tls, sim_tls_ability ability);

void sim_tls_fini(sim_tls *tls);

bool sim_tls_is_ready(const sim_tls *tls);

/// Sends plain text to the server, in one or more records.
void sim_tls_write(sim_tls *tls, const void *bytes, size_t size);

/// Takes bytes from the network. Appends the plain text in them to `plain`.
void sim_tls_feed(sim_tls *tls, const void *bytes, size_t size, sim_bytes *plain);

/// Sends close_notify.
void sim_tls_end(sim_tls *tls);

/// Sends noise or a damaged record.
/// @return whether the server can read nothing behind it
bool sim_tls_spoil(sim_tls *tls);
