// test_tls.c: the C client library over TLS, against a server in a thread.
//
// Goal: only a certificate that is for the host, and good now, is trusted; a server that is gone is
// an error, and no signal that ends the program. Method: certificates are made here, each with one
// fault; the server shakes hands, or fails to, and closes its socket without TLS's own goodbye.

#include "tests/support/support.h"

#include <fogmarch/connection.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DAY_S 86400L

struct server {
    int listener;
    char address[32], ca_file[32];
    X509 *certificate;
    EVP_PKEY *key;
    pthread_t thread;
};

// Self-signed. @param names  as in openssl.cnf @param until_s  from now on
static X509 *make_certificate(EVP_PKEY *key, const char *names, long until_s)
{
    X509 *certificate = X509_new();
    assert_int_equal(X509_set_version(certificate, 2), 1);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -2 * DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(certificate), until_s);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_set_pubkey(certificate, key);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);
    assert_non_null(extension);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    return certificate;
}

// Serves one client, which may turn away: shakes hands and ends.
static void *serve(void *context)
{
    struct server *server = context;
    SSL_CTX *settings = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(settings, server->certificate);
    SSL_CTX_use_PrivateKey(settings, server->key);
    int fd = accept(server->listener, NULL, NULL);
    SSL *ssl = SSL_new(settings);
    SSL_set_fd(ssl, fd);
    (void)SSL_accept(ssl);
    SSL_free(ssl);
    SSL_CTX_free(settings);
    close(fd);
    return NULL;
}

static void start(struct server *server, const char *names, long until_s)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    signal(SIGPIPE, SIG_IGN); // for the server's thread
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&place, &size), 0);
    assert_int_equal(listen(server->listener, 1), 0);
    snprintf(server->address, sizeof server->address, "127.0.0.1:%u", ntohs(place.sin_port));
    server->key = EVP_EC_gen("prime256v1");
    server->certificate = make_certificate(server->key, names, until_s);
    strcpy(server->ca_file, "/tmp/fogmarch-tls-XXXXXX");
    FILE *file = fdopen(mkstemp(server->ca_file), "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, server->certificate), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
    pthread_join(server->thread, NULL);
    unlink(server->ca_file);
    X509_free(server->certificate);
    EVP_PKEY_free(server->key);
    close(server->listener);
}

static fm_status join(const struct server *server, fm_client **client, fm_client_error *error)
{
    fm_client_options options = fm_client_options_default();
    options.tls = true;
    options.tls_ca_file = server->ca_file;
    return fm_client_connect(server->address, &options, client, error);
}

static void test_only_a_good_certificate_is_trusted(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        long until_s;
        const char *fault; // NULL: none
    } cases[] = {
        {"IP:127.0.0.1", DAY_S, NULL},
        {"IP:127.0.0.1", -DAY_S, "expired"},
        {"IP:127.0.0.2", DAY_S, "IP address mismatch"},
        {"DNS:127.0.0.1", DAY_S, "IP address mismatch"},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        struct server server;
        fm_client *client = NULL;
        fm_client_error error;
        start(&server, cases[i].names, cases[i].until_s);
        fm_status status = join(&server, &client, &error);
        assert_int_equal(status, cases[i].fault == NULL ? FM_OK : FM_ERR_IO);
        assert_true(cases[i].fault == NULL || strstr(error.message, cases[i].fault) != NULL);
        fm_client_destroy(client);
        stop(&server);
    }
}

static void test_a_server_that_is_gone_raises_no_signal(void **state)
{
    (void)state;
    struct server server;
    fm_client *client = NULL;
    fm_client_error error;
    start(&server, "IP:127.0.0.1", DAY_S);
    assert_int_equal(join(&server, &client, &error), FM_OK);
    stop(&server); // the client is told, but does not read
    signal(SIGPIPE, SIG_DFL);
    for (uint32_t i = 0; i < 10; i++) { // the first is answered by a reset
        assert_int_equal(fm_client_send(client, FM_METHOD_PING, NULL, NULL, NULL, NULL), FM_OK);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_int_equal(fm_client_call(client, FM_METHOD_PING, NULL, NULL), FM_ERR_IO);
    assert_int_equal(fm_client_in_flight(client), 0);
    fm_client_destroy(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_a_good_certificate_is_trusted),
        cmocka_unit_test(test_a_server_that_is_gone_raises_no_signal),
    };
    return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
