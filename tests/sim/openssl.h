// tests/sim/openssl.h: what the simulation gives to OpenSSL, which server and clients share: random
// numbers from the seed, counted memory, and a certificate.
//
// Threads: none.

#pragma once

#include <openssl/ssl.h>

#include "core/base/base.h"

/// Call it once for all runs, before anything else uses OpenSSL. Makes the certificate and runs
/// handshakes, so that OpenSSL makes everything that it keeps.
void sim_openssl_start(void);

/// From here on OpenSSL's random numbers are those of this run.
void sim_openssl_begin(uint64_t seed, uint32_t life);

/// Releases what OpenSSL keeps for its thread. OpenSSL must not be used afterwards.
void sim_openssl_end(void);

/// A file with the server's certificate and key.
const char *sim_certificate(void);

// What a client's TLS supports.
typedef enum sim_tls_ability {
    SIM_TLS_NEW, // TLS 1.3
    SIM_TLS_1_2,
    SIM_TLS_CHACHA,   // TLS 1.3 with ChaCha20 only
    SIM_TLS_OUTDATED, // TLS 1.1 at most: refused
    SIM_TLS_CBC,      // TLS 1.2 with CBC only: refused
    SIM_TLS_ABILITIES,
} sim_tls_ability;

/// A client's context. Never released.
SSL_CTX *sim_openssl_client(sim_tls_ability ability);
