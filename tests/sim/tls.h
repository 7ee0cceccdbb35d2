// tests/sim/tls.h: a client's end of TLS, between what it says and what the network carries.
//
//   sim_tls_write ──> waits for the handshake ──> encrypted ──> out ──> network
//   plain text   <──────────── decrypted <──────────────────── sim_tls_feed
//
// What comes in is checked: it is TLS, and what the server does not want to say is said by an
// alert.

#pragma once

#include "tests/sim/bytes.h"
#include "tests/sim/openssl.h"

typedef struct sim_tls {
    SSL *ssl;                     // owned
    BIO *from_server, *to_server; // ssl's
    sim_bytes waiting;            // plain text, until hands are shaken
    sim_bytes out;                // for the network; whoever carries it drops it
    bool spoilt;                  // what is no record was sent: anything may come back
    bool hears_end;               // the server has said that it says no more
    bool failed;                  // what came in is no TLS, or an alert that ends it
    char reason[160];             // why
} sim_tls;

/// Begins the handshake.
void sim_tls_init(sim_tls *tls, sim_tls_ability ability);

void sim_tls_fini(sim_tls *tls);

bool sim_tls_is_ready(const sim_tls *tls);

/// Something for the server to read, in one record or some.
void sim_tls_write(sim_tls *tls, const void *bytes, size_t size);

/// The network brought bytes. Appends what they say to `plain`.
void sim_tls_feed(sim_tls *tls, const void *bytes, size_t size, sim_bytes *plain);

/// Says that it says no more.
void sim_tls_end(sim_tls *tls);

/// Sends what is no record, or one that is damaged.
/// @return whether the server can read nothing that comes behind it
bool sim_tls_spoil(sim_tls *tls);
