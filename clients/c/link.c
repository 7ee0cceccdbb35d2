// clients/c/link.c: see link.h.

#include "clients/c/link.h"

#include "clients/c/connect.h"
#include "clients/c/now.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- the socket below TLS -----------------------------------------------------------------------
//
// OpenSSL's own BIO for sockets raises SIGPIPE where the server is gone, which would end the
// program.

static int fd_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int write_below(BIO *bio, const char *bytes, int size)
{
    BIO_clear_retry_flags(bio);
    int sent = (int)send(fd_of(bio), bytes, (size_t)size, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
        BIO_set_retry_write(bio);
    }
    return sent;
}

static int read_below(BIO *bio, char *bytes, int size)
{
    BIO_clear_retry_flags(bio);
    int read = (int)recv(fd_of(bio), bytes, (size_t)size, 0);
    if (read < 0 && (errno == EAGAIN || errno == EINTR)) {
        BIO_set_retry_read(bio);
    }
    return read;
}

static long control_below(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; // nothing is kept
}

static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "fogmarch socket");
    if (method != NULL && (BIO_meth_set_write(method, write_below) != 1 ||
                           BIO_meth_set_read(method, read_below) != 1 ||
                           BIO_meth_set_ctrl(method, control_below) != 1)) {
        BIO_meth_free(method);
        method = NULL;
    }
    return method;
}

static bool put_below(SSL *ssl, BIO_METHOD *method, int fd)
{
    BIO *bio = method == NULL ? NULL : BIO_new(method);
    if (bio == NULL) {
        return false;
    }
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); // which owns it
    return true;
}

// ---- beginning ----------------------------------------------------------------------------------

// OpenSSL's own words for an error, without its numbers; the system's for an error of the system.
static void describe(unsigned long code, char *reason, size_t size)
{
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    if (text == NULL) {
        ERR_error_string_n(code, reason, size);
    } else {
        snprintf(reason, size, "%s", text);
    }
}

static fm_status fail(fm_client_error *error, const char *what, const SSL *ssl)
{
    char reason[128] = "the server disconnected";
    unsigned long code = ERR_get_error();
    long verdict = ssl == NULL ? X509_V_OK : SSL_get_verify_result(ssl);
    if (verdict != X509_V_OK) {
        snprintf(reason, sizeof reason, "the certificate: %s",
                 X509_verify_cert_error_string(verdict));
    } else if (code != 0) {
        describe(code, reason, sizeof reason);
    }
    ERR_clear_error();
    return fm_client_error_set(error, FM_ERR_IO, "%s: %s", what, reason);
}

static bool is_address(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

// Sets the host that the certificate must be for.
static bool expect_host(SSL *ssl, const char *host)
{
    return is_address(host)
               ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
               : SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

// @return whether the handshake is over; else `events` is what to poll for, 0 for a failure
static bool shake_hands(SSL *ssl, short *events)
{
    ERR_clear_error();
    int result = SSL_connect(ssl);
    int reason = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
    *events = reason == SSL_ERROR_WANT_READ ? POLLIN : reason == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
    return result == 1;
}

static fm_status connect_ssl(SSL *ssl, int fd, uint32_t timeout_ms, fm_client_error *error)
{
    uint64_t end_ms = fm_now_ms() + timeout_ms;
    short events;
    while (!shake_hands(ssl, &events)) {
        int left_ms = fm_left_ms(end_ms);
        struct pollfd poller = {.fd = fd, .events = events};
        if (events == 0) {
            return SSL_get_verify_result(ssl) == X509_V_OK
                       ? fail(error, "no TLS with the server, which may not speak it", ssl)
                       : fail(error, "no TLS with the server", ssl);
        }
        if (left_ms == 0) {
            return fm_client_error_set(error, FM_ERR_IO, "no TLS with the server: %s",
                                       "it did not answer in time");
        }
        (void)poll(&poller, 1, left_ms); // a signal only makes us poll again
    }
    return FM_OK;
}

static SSL_CTX *make_context(const char *ca_file, fm_client_error *error)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) {
        fm_client_error_set(error, FM_ERR_NO_MEMORY, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    bool loaded = ca_file == NULL ? SSL_CTX_set_default_verify_paths(context) == 1
                                  : SSL_CTX_load_verify_file(context, ca_file) == 1;
    if (!loaded) {
        fail(error, ca_file == NULL ? "certificates of the system" : ca_file, NULL);
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

fm_status fm_link_secure(fm_link *link, const char *host, const char *ca_file, uint32_t timeout_ms,
                         fm_client_error *error)
{
    SSL_CTX *context = make_context(ca_file, error);
    if (context == NULL) {
        return error->status;
    }
    SSL *ssl = SSL_new(context);
    BIO_METHOD *method = make_method();
    fm_status status;
    if (ssl == NULL || !expect_host(ssl, host) || !put_below(ssl, method, link->fd)) {
        status = fail(error, "TLS", NULL);
    } else {
        status = connect_ssl(ssl, link->fd, timeout_ms, error);
    }
    if (status != FM_OK) {
        SSL_free(ssl);
        SSL_CTX_free(context);
        BIO_meth_free(method);
        return status;
    }
    link->ssl = ssl;
    link->context = context;
    link->method = method;
    return FM_OK;
}

// ---- bytes --------------------------------------------------------------------------------------

// Sets the result as recv() or send() would.
static ssize_t result_of(fm_link *link, int result, size_t size)
{
    if (result == 1) {
        return (ssize_t)size;
    }
    switch (SSL_get_error(link->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        errno = errno == 0 ? ECONNRESET : errno;
        return -1;
    default:
        errno = EPROTO;
        return -1;
    }
}

ssize_t fm_link_read(fm_link *link, void *bytes, size_t size)
{
    if (link->ssl == NULL) {
        return recv(link->fd, bytes, size, 0);
    }
    size_t read = 0;
    errno = 0;
    ERR_clear_error();
    int result = SSL_read_ex(link->ssl, bytes, size, &read);
    return result_of(link, result, read);
}

ssize_t fm_link_write(fm_link *link, const void *bytes, size_t size)
{
    if (link->ssl == NULL) {
        return send(link->fd, bytes, size, MSG_NOSIGNAL);
    }
    size_t written = 0;
    errno = 0;
    ERR_clear_error();
    int result = SSL_write_ex(link->ssl, bytes, size, &written);
    return result_of(link, result, written);
}

void fm_link_close(fm_link *link)
{
    SSL_free(link->ssl);
    SSL_CTX_free(link->context);
    BIO_meth_free(link->method);
    close(link->fd);
}
