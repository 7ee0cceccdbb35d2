// tests/sim/openssl.h: what OpenSSL, which server and clients share, gets from the simulation:
// chance by the seed, memory that is counted, and a certificate.
//
// Threads: none.

#pragma once

#include <openssl/ssl.h>

#include "core/base/base.h"

/// Before anything else uses OpenSSL, once for all runs. Makes the certificate, and shakes hands
/// until OpenSSL has everything that it makes once and keeps.
void sim_openssl_start(void);

/// From here on chance is that of this run.
void sim_openssl_begin(uint64_t seed, uint32_t life);

/// Gives back what OpenSSL keeps for its thread. Nobody uses it afterwards.
void sim_openssl_end(void);

/// A file with the server's certificate and key.
const char *sim_certificate(void);

// What clients can do.
typedef enum sim_tls_ability {
    SIM_TLS_NEW, // TLS 1.3
    SIM_TLS_1_2,
    SIM_TLS_CHACHA,   // TLS 1.3 with the other kind of cipher
    SIM_TLS_OUTDATED, // TLS 1.1 at most: not enough
    SIM_TLS_CBC,      // TLS 1.2 with CBC only: not enough
    SIM_TLS_ABILITIES,
} sim_tls_ability;

/// A client's context; lasts.
SSL_CTX *sim_openssl_client(sim_tls_ability ability);
