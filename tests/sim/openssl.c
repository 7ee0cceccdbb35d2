// tests/sim/openssl.c: see openssl.h.
//
// OpenSSL's allocations in the server's threads count as the server's, so that a leaked connection
// is found. They do not fail: how OpenSSL works without memory is not tested here. What is tested
// is that a connection cannot be made (decided here, --wrap) or cannot write (decided by the buffer
// that OpenSSL writes into, which is the server's).

#define OPENSSL_SUPPRESS_DEPRECATED // RAND_METHOD: the alternative is a provider of ten functions

#include "tests/sim/openssl.h"

#include "core/base/random.h"
#include "tests/sim/bugs.h"
#include "tests/sim/kernel.h"
#include "tests/sim/memory.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <sys/mman.h>

#define CERTIFICATE_S (365l * 24 * 3600)
#define BEGIN_S       1735689600 // as in threads.c; of the real time the signature would depend
#define STEPS_MAX     20         // of a handshake, at most

SSL *__real_SSL_new(SSL_CTX *context);
SSL *__wrap_SSL_new(SSL_CTX *context);
int __real_SSL_write_ex(SSL *ssl, const void *bytes, size_t size, size_t *written);
int __wrap_SSL_write_ex(SSL *ssl, const void *bytes, size_t size, size_t *written);

static struct {
    fm_random random;
    char certificate[64]; // file name
    SSL_CTX *clients[SIM_TLS_ABILITIES];
} openssl;

const char *sim_certificate(void)
{
    return openssl.certificate;
}

SSL_CTX *sim_openssl_client(sim_tls_ability ability)
{
    return openssl.clients[ability];
}

// ---- chance -------------------------------------------------------------------------------------

static int draw_bytes(unsigned char *bytes, int size)
{
    for (int i = 0; i < size; i++) {
        bytes[i] = (unsigned char)fm_random_below(&openssl.random, 256);
    }
    return 1;
}

static int is_seeded(void)
{
    return 1;
}

void sim_openssl_begin(uint64_t seed, uint32_t life)
{
    openssl.random = fm_random_seed(fm_mix64(seed) + life);
}

// ---- memory -------------------------------------------------------------------------------------

static void *take(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return sim_counted_allocate(size);
}

static void *take_again(void *block, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return sim_counted_resize(block, size);
}

static void give_back(void *block, const char *file, int line)
{
    (void)file, (void)line;
    sim_counted_release(block);
}

// ---- replaced functions -------------------------------------------------------------------------

SSL *__wrap_SSL_new(SSL_CTX *context)
{
    return sim_task_current() != NULL && sim_memory_fails(1) ? NULL : __real_SSL_new(context);
}

int __wrap_SSL_write_ex(SSL *ssl, const void *bytes, size_t size, size_t *written)
{
    if (sim_task_current() != NULL && sim_bug_shows(SIM_BUG_LOST_RECORD, 300)) {
        *written = size;
        return 1;
    }
    return __real_SSL_write_ex(ssl, bytes, size, written);
}

// ---- the certificate ----------------------------------------------------------------------------

// Self-signed and without a name: clients do not check names.
static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    FM_ASSERT(certificate != NULL);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    ASN1_TIME_set(X509_getm_notBefore(certificate), BEGIN_S);
    ASN1_TIME_set(X509_getm_notAfter(certificate), BEGIN_S + CERTIFICATE_S);
    X509_set_pubkey(certificate, key);
    FM_ASSERT(X509_sign(certificate, key, EVP_sha256()) > 0);
    return certificate;
}

// The file is in memory only: later machines find it by its descriptor, and nothing is left behind.
static void write_certificate(const X509 *certificate, const EVP_PKEY *key)
{
    int fd = memfd_create("certificate", 0);
    FILE *file = fdopen(fd, "w");
    FM_ASSERT(file != NULL && PEM_write_X509(file, certificate) == 1);
    FM_ASSERT(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    FM_ASSERT(fflush(file) == 0);
    snprintf(openssl.certificate, sizeof openssl.certificate, "/proc/self/fd/%d", fd);
}

// ---- contexts -----------------------------------------------------------------------------------

static SSL_CTX *make_client(sim_tls_ability ability)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    FM_ASSERT(context != NULL);
    if (ability == SIM_TLS_CHACHA) {
        SSL_CTX_set_ciphersuites(context, "TLS_CHACHA20_POLY1305_SHA256");
    } else if (ability == SIM_TLS_OUTDATED) {
        SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
        SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
    } else if (ability != SIM_TLS_NEW) {
        SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    }
    if (ability == SIM_TLS_CBC) {
        SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-SHA256");
    }
    return context;
}

static SSL *make_end(SSL_CTX *context, BIO *in, BIO *out)
{
    SSL *ssl = SSL_new(context);
    FM_ASSERT(ssl != NULL && in != NULL && out != NULL);
    BIO_up_ref(in);
    BIO_up_ref(out);
    SSL_set_bio(ssl, in, out);
    return ssl;
}

// Runs one connection from beginning to end.
static void shake_hands(SSL_CTX *server_context, SSL_CTX *client_context)
{
    char byte = 0;
    size_t size;
    BIO *up = BIO_new(BIO_s_mem()), *down = BIO_new(BIO_s_mem());
    SSL *server = make_end(server_context, up, down);
    SSL *client = make_end(client_context, down, up);
    for (int i = 0; i < STEPS_MAX; i++) {
        SSL_connect(client);
        SSL_accept(server);
    }
    SSL_write_ex(client, &byte, 1, &size);
    SSL_read_ex(server, &byte, 1, &size);
    SSL_write_ex(server, &byte, 1, &size);
    SSL_read_ex(client, &byte, 1, &size);
    SSL_shutdown(server);
    SSL_free(server);
    SSL_free(client);
    BIO_free(up);
    BIO_free(down);
    ERR_clear_error();
}

static void warm_up(void)
{
    SSL_CTX *server = SSL_CTX_new(TLS_server_method());
    FM_ASSERT(server != NULL);
    SSL_CTX_set_min_proto_version(server, TLS1_2_VERSION);
    FM_ASSERT(SSL_CTX_use_certificate_chain_file(server, openssl.certificate) == 1);
    FM_ASSERT(SSL_CTX_use_PrivateKey_file(server, openssl.certificate, SSL_FILETYPE_PEM) == 1);
    for (sim_tls_ability i = 0; i < SIM_TLS_ABILITIES; i++) {
        openssl.clients[i] = make_client(i);
        shake_hands(server, openssl.clients[i]);
    }
    SSL_CTX_free(server);
    BIO_get_new_index(); // makes a lock that is kept
}

void sim_openssl_start(void)
{
    static const RAND_METHOD chance = {
        .bytes = draw_bytes, .pseudorand = draw_bytes, .status = is_seeded};
    sim_openssl_begin(0, 0);
    FM_ASSERT(CRYPTO_set_mem_functions(take, take_again, give_back) == 1);
    FM_ASSERT(RAND_set_rand_method(&chance) == 1);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    FM_ASSERT(key != NULL);
    X509 *certificate = make_certificate(key);
    write_certificate(certificate, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    warm_up();
}

void sim_openssl_end(void)
{
    OPENSSL_thread_stop();
}
