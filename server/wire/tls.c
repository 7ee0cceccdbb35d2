// server/wire/tls.c: see tls.h.

#include "server/wire/tls.h"

#include "server/base/log.h"
#include "server/base/settings_read.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_SIZE       (16u << 10) // of a TLS record
#define RECORD_HANDSHAKE 0x16        // first byte of a TLS connection
#define FILE_NAME_SIZE   256u

struct fm_tls {
    SSL_CTX *context;
    BIO_METHOD *bio; // how OpenSSL reads and writes
    char certificate[FILE_NAME_SIZE], key[FILE_NAME_SIZE];
    fm_accept_fn *accept;
    void *accept_context;
};

struct tls_transport {
    fm_transport base;
    fm_transport *inner;
    SSL *ssl;
    const uint8_t *in; // bytes just received; OpenSSL takes all of them before we return
    size_t in_size;
    msgpack_sbuffer out; // what OpenSSL has written; empty between two calls of ours
    bool begun;          // the first byte has come
    bool ready;          // the handshake is over
    bool dead;           // no more input is taken
};

static uint8_t gather[PLAIN_SIZE]; // of one message that is being sent

// ---- files --------------------------------------------------------------------------------------

// OpenSSL's own words for an error, without its numbers; the system's for an error of the system.
static void describe_code(unsigned long code, char *reason, size_t size)
{
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    if (text == NULL) {
        ERR_error_string_n(code, reason, size);
    } else {
        snprintf(reason, size, "%s", text);
    }
}

static void describe_error(const char *file, char *error)
{
    char reason[160] = "unknown reason";
    unsigned long code = ERR_get_error();
    if (code != 0) {
        describe_code(code, reason, sizeof reason);
    }
    ERR_clear_error();
    snprintf(error, FM_TLS_ERROR_SIZE, "%.80s: %s", file, reason);
}

static bool is_regular(const char *file, char *error)
{
    const char *wrong = fm_settings_check_regular(file);
    if (wrong != NULL) {
        snprintf(error, FM_TLS_ERROR_SIZE, "%.80s: %s", file, wrong);
    }
    return wrong == NULL;
}

static fm_status load(const fm_tls *tls, SSL_CTX *context, char *error)
{
    const char *file = tls->certificate;
    if (!is_regular(tls->certificate, error) || !is_regular(tls->key, error)) {
        return FM_ERR_BAD_VALUE; // OpenSSL would wait for a pipe's writer
    }
    if (SSL_CTX_use_certificate_chain_file(context, tls->certificate) == 1) {
        file = tls->key;
        bool is_taken = SSL_CTX_use_PrivateKey_file(context, tls->key, SSL_FILETYPE_PEM) == 1;
        if (is_taken && SSL_CTX_check_private_key(context) == 1) {
            return FM_OK;
        }
        if (!is_taken && !ERR_SYSTEM_ERROR(ERR_peek_error()) &&
            ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509) { // OpenSSL says "unsupported"
            ERR_clear_error();
            snprintf(error, FM_TLS_ERROR_SIZE,
                     "%.80s: has no private key that can be read without a password", file);
            return FM_ERR_BAD_VALUE;
        }
    }
    describe_error(file, error);
    return FM_ERR_BAD_VALUE;
}

// In this order, unless the client prefers otherwise for lack of AES instructions. SHA-256 keeps
// 200 bytes less for each connection than SHA-384, and the key exchange is no stronger than 128
// bits anyway.
// TLS 1.2 goes without CBC, whose padding has been attacked too often, and with forward secrecy.
#define SUITES_1_2 "ECDHE+AESGCM:ECDHE+CHACHA20"
#define SUITES     "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384"

static fm_status equip(const fm_tls *tls, SSL_CTX *context, char *error)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_ciphersuites(context, SUITES);
    SSL_CTX_set_cipher_list(context, SUITES_1_2);
    return load(tls, context, error);
}

// ---- OpenSSL's end -----------------------------------------------------------------------------
//
// OpenSSL's own memory BIOs would copy once more and never shrink: 2.4 KiB for each idle
// connection, and a keyframe's size for each that has ever had one.

static int bio_read(BIO *bio, char *bytes, size_t size, size_t *taken)
{
    struct tls_transport *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *taken = size < tls->in_size ? size : tls->in_size;
    if (*taken == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(bytes, tls->in, *taken);
    tls->in += *taken;
    tls->in_size -= *taken;
    return 1;
}

static int bio_write(BIO *bio, const char *bytes, size_t size, size_t *written)
{
    struct tls_transport *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *written = size;
    return msgpack_sbuffer_write(&tls->out, bytes, size) == 0;
}

// Nothing to flush; other controls are not supported.
static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "session");
    if (method != NULL) {
        BIO_meth_set_read_ex(method, bio_read);
        BIO_meth_set_write_ex(method, bio_write);
        BIO_meth_set_ctrl(method, bio_control);
    }
    return method;
}

// ---- contexts -----------------------------------------------------------------------------------

static fm_status make_context(const fm_tls *tls, SSL_CTX **out, char *error)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) {
        snprintf(error, FM_TLS_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = equip(tls, context, error);
    if (status != FM_OK) {
        SSL_CTX_free(context);
        return status;
    }
    *out = context;
    return FM_OK;
}

fm_status fm_tls_create(const char *certificate, const char *key, fm_accept_fn *accept,
                        void *context, fm_tls **out, char *error)
{
    fm_tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        snprintf(error, FM_TLS_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    snprintf(tls->certificate, sizeof tls->certificate, "%s", certificate);
    snprintf(tls->key, sizeof tls->key, "%s", key);
    tls->accept = accept;
    tls->accept_context = context;
    tls->bio = make_bio_method();
    if (tls->bio == NULL) {
        snprintf(error, FM_TLS_ERROR_SIZE, "out of memory");
        free(tls);
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = make_context(tls, &tls->context, error);
    if (status != FM_OK) {
        BIO_meth_free(tls->bio);
        free(tls);
        return status;
    }
    *out = tls;
    return FM_OK;
}

fm_status fm_tls_check(const char *certificate, const char *key, char *error)
{
    fm_tls *tls;
    fm_status status = fm_tls_create(certificate, key, NULL, NULL, &tls, error);
    if (status == FM_OK) {
        fm_tls_destroy(tls);
    }
    return status;
}

void fm_tls_destroy(fm_tls *tls)
{
    if (tls != NULL) {
        SSL_CTX_free(tls->context);
        BIO_meth_free(tls->bio);
        free(tls);
    }
}

fm_status fm_tls_reload(fm_tls *tls, char *error)
{
    SSL_CTX *context;
    fm_status status = make_context(tls, &context, error);
    if (status == FM_OK) {
        SSL_CTX_free(tls->context); // connections that began with it hold it
        tls->context = context;
    }
    return status;
}

// ---- out ----------------------------------------------------------------------------------------

static struct tls_transport *tls_of(fm_transport *transport)
{
    return (struct tls_transport *)transport;
}

// Hands what OpenSSL has written to the inner transport.
static fm_status flush(struct tls_transport *tls)
{
    if (tls->out.size == 0) {
        return FM_OK;
    }
    fm_frame *frame = fm_frame_take(&tls->out);
    if (frame == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = tls->inner->ops->send(tls->inner, &frame, 1);
    fm_frame_drop(frame);
    return status;
}

static bool encrypt(struct tls_transport *tls, const void *bytes, size_t size)
{
    size_t written;
    ERR_clear_error();
    return size == 0 || SSL_write_ex(tls->ssl, bytes, size, &written) == 1;
}

// Frames that are small together become one record: the head of a WebSocket message would be one of
// its own otherwise, of 30 bytes for 4.
static bool encrypt_message(struct tls_transport *tls, fm_frame *const *frames, uint32_t count)
{
    size_t gathered = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i]->size > PLAIN_SIZE - gathered) {
            if (!encrypt(tls, gather, gathered)) {
                return false;
            }
            gathered = 0;
        }
        if (frames[i]->size > PLAIN_SIZE) {
            if (!encrypt(tls, frames[i]->bytes, frames[i]->size)) {
                return false;
            }
            continue;
        }
        memcpy(gather + gathered, frames[i]->bytes, frames[i]->size);
        gathered += frames[i]->size;
    }
    return encrypt(tls, gather, gathered);
}

static fm_status tls_send(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count)
{
    struct tls_transport *tls = tls_of(transport);
    if (tls->dead) {
        return FM_ERR_IO;
    }
    if (!tls->ready) {
        return FM_OK; // the peer has sent nothing yet, and could not read an answer
    }
    return encrypt_message(tls, frames, frame_count) ? flush(tls) : FM_ERR_IO;
}

static size_t tls_unsent_size(const fm_transport *transport)
{
    const struct tls_transport *tls = (const struct tls_transport *)transport;
    return tls->inner->ops->unsent_size(tls->inner);
}

static void tls_pause(fm_transport *transport)
{
    struct tls_transport *tls = tls_of(transport);
    tls->inner->ops->pause(tls->inner);
}

static void tls_resume(fm_transport *transport)
{
    struct tls_transport *tls = tls_of(transport);
    tls->inner->ops->resume(tls->inner);
}

static void tls_finish(fm_transport *transport)
{
    struct tls_transport *tls = tls_of(transport);
    if (!tls->dead && tls->ready) {
        ERR_clear_error();
        SSL_shutdown(tls->ssl);
        (void)!flush(tls);
    }
    tls->dead = true;
    tls->inner->ops->finish(tls->inner);
}

static void tls_close(fm_transport *transport)
{
    struct tls_transport *tls = tls_of(transport);
    tls->dead = true;
    tls->inner->ops->close(tls->inner);
}

static const fm_transport_ops tls_ops = {
    .send = tls_send,
    .unsent_size = tls_unsent_size,
    .pause = tls_pause,
    .resume = tls_resume,
    .finish = tls_finish,
    .close = tls_close,
};

// ---- in -----------------------------------------------------------------------------------------

static void tls_free(struct tls_transport *tls)
{
    SSL_free(tls->ssl);
    msgpack_sbuffer_destroy(&tls->out);
    free(tls);
}

static void on_closed(void *owner)
{
    struct tls_transport *tls = owner;
    if (tls->base.events != NULL) {
        tls->base.events->closed(tls->base.owner);
    }
    tls_free(tls);
}

static void on_sent(void *owner)
{
    struct tls_transport *tls = owner;
    if (!tls->dead && tls->ready) {
        tls->base.events->sent(tls->base.owner);
    }
}

static void refuse_plaintext(struct tls_transport *tls)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "plaintext refused: this port speaks TLS only",
                   fm_log_text("peer", tls->base.peer));
    tls_close(&tls->base);
}

// The alert that OpenSSL has written says why.
static void give_up(struct tls_transport *tls, const char *what)
{
    static fm_log_site site;
    char reason[160] = "broken off";
    unsigned long code = ERR_get_error();
    if (code != 0) {
        describe_code(code, reason, sizeof reason);
    }
    ERR_clear_error();
    fm_log_limited(&site, FM_LOG_WARNING, what, fm_log_text("peer", tls->base.peer),
                   fm_log_text("reason", reason));
    (void)!flush(tls);
    tls->dead = true;
    tls->inner->ops->finish(tls->inner);
}

static bool shake_hands(struct tls_transport *tls)
{
    ERR_clear_error();
    int result = SSL_do_handshake(tls->ssl);
    if (result != 1 && SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ) {
        give_up(tls, "TLS handshake failed");
        return false;
    }
    if (flush(tls) != FM_OK) {
        tls_close(&tls->base);
        return false;
    }
    tls->ready = result == 1;
    return tls->ready;
}

// Delivers whole records to the owner, which may end the connection at any time.
static void deliver(struct tls_transport *tls)
{
    static uint8_t plain[PLAIN_SIZE]; // the loop delivers for one connection at a time
    while (!tls->dead) {
        size_t size;
        ERR_clear_error();
        int result = SSL_read_ex(tls->ssl, plain, sizeof plain, &size);
        if (result == 1) {
            tls->base.events->received(tls->base.owner, plain, size);
            continue;
        }
        int error = SSL_get_error(tls->ssl, result);
        if (error == SSL_ERROR_ZERO_RETURN) {
            tls_close(&tls->base); // the peer has sent close_notify
        } else if (error != SSL_ERROR_WANT_READ) {
            give_up(tls, "TLS failed");
        } else if (flush(tls) != FM_OK) { // such as answers to key updates
            tls_close(&tls->base);
        }
        return;
    }
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    struct tls_transport *tls = owner;
    if (tls->dead) {
        return;
    }
    if (!tls->begun && bytes[0] != RECORD_HANDSHAKE) {
        refuse_plaintext(tls);
        return;
    }
    tls->begun = true;
    tls->in = bytes;
    tls->in_size = size;
    if (tls->ready || shake_hands(tls)) {
        deliver(tls);
    }
    tls->in_size = 0; // of a connection that has ended in the middle
}

static const fm_transport_events inner_events = {
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
};

static struct tls_transport *tls_make(const fm_tls *context)
{
    struct tls_transport *tls = calloc(1, sizeof *tls);
    SSL *ssl = SSL_new(context->context);
    BIO *bio = BIO_new(context->bio);
    if (tls == NULL || ssl == NULL || bio == NULL) {
        BIO_free(bio);
        SSL_free(ssl);
        free(tls);
        return NULL;
    }
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    tls->ssl = ssl;
    msgpack_sbuffer_init(&tls->out);
    return tls;
}

void fm_tls_accept(void *context, fm_transport *inner)
{
    fm_tls *owner = context;
    struct tls_transport *tls = tls_make(owner);
    if (tls == NULL) {
        inner->ops->close(inner);
        return;
    }
    tls->base.ops = &tls_ops;
    tls->base.is_loopback = inner->is_loopback;
    memcpy(tls->base.peer, inner->peer, sizeof tls->base.peer);
    tls->inner = inner;
    inner->events = &inner_events;
    inner->owner = tls;
    owner->accept(owner->accept_context, &tls->base);
}
