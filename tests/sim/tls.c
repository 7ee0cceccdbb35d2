// tests/sim/tls.c: see tls.h.

#include "tests/sim/tls.h"

#include "tests/sim/kernel.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 5u  // bytes of a record's head
#define RECORD    23u // record type of data

// Moves what OpenSSL has written to the network.
static void carry(sim_tls *tls)
{
    char *bytes;
    long size = BIO_get_mem_data(tls->to_server, &bytes);
    if (size > 0) {
        sim_bytes_append(&tls->out, bytes, (size_t)size);
        BIO_reset(tls->to_server);
    }
}

static void note_failure(sim_tls *tls, int result)
{
    int error = SSL_get_error(tls->ssl, result);
    if (error == SSL_ERROR_ZERO_RETURN) {
        tls->hears_end = true;
    } else if (error != SSL_ERROR_WANT_READ && !tls->failed) {
        tls->failed = true;
        ERR_error_string_n(ERR_peek_error(), tls->reason, sizeof tls->reason);
    }
    ERR_clear_error();
}

// Writes may have to wait for the rest of a message from the server; they are tried again with the
// next bytes. @return how much was written
static size_t write_records(sim_tls *tls, const uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (size > 0 && !tls->failed) {
        size_t part = sim_chance(100) ? 1 + sim_below((uint32_t)size) : size;
        size_t written = 0;
        if (sim_chance(5) && SSL_version(tls->ssl) == TLS1_3_VERSION) {
            SSL_key_update(tls->ssl, SSL_KEY_UPDATE_REQUESTED);
        }
        int result = SSL_write_ex(tls->ssl, bytes, part, &written);
        if (result != 1) {
            note_failure(tls, result);
            break;
        }
        bytes += written;
        size -= written;
        done += written;
    }
    return done;
}

static void go_on(sim_tls *tls)
{
    if (!tls->failed && !sim_tls_is_ready(tls)) {
        int result = SSL_do_handshake(tls->ssl);
        if (result != 1) {
            note_failure(tls, result);
        }
    }
    size_t waiting = sim_bytes_size(&tls->waiting);
    if (waiting > 0 && sim_tls_is_ready(tls)) {
        size_t done = write_records(tls, sim_bytes_front(&tls->waiting), waiting);
        sim_bytes_drop(&tls->waiting, tls->failed ? waiting : done);
    }
    carry(tls);
}

void sim_tls_init(sim_tls *tls, sim_tls_ability ability)
{
    *tls = (sim_tls){
        .ssl = SSL_new(sim_openssl_client(ability)),
        .from_server = BIO_new(BIO_s_mem()),
        .to_server = BIO_new(BIO_s_mem()),
    };
    FM_ASSERT(tls->ssl != NULL && tls->from_server != NULL && tls->to_server != NULL);
    BIO_set_mem_eof_return(tls->from_server, -1); // an empty BIO is not an end
    SSL_set_bio(tls->ssl, tls->from_server, tls->to_server);
    SSL_set_connect_state(tls->ssl);
    go_on(tls);
}

void sim_tls_fini(sim_tls *tls)
{
    SSL_free(tls->ssl);
    sim_bytes_fini(&tls->waiting);
    sim_bytes_fini(&tls->out);
    *tls = (sim_tls){0};
}

bool sim_tls_is_ready(const sim_tls *tls)
{
    return SSL_is_init_finished(tls->ssl) == 1;
}

void sim_tls_write(sim_tls *tls, const void *bytes, size_t size)
{
    sim_bytes_append(&tls->waiting, bytes, size);
    go_on(tls);
}

void sim_tls_feed(sim_tls *tls, const void *bytes, size_t size, sim_bytes *plain)
{
    uint8_t piece[4096];
    BIO_write(tls->from_server, bytes, (int)size);
    go_on(tls);
    while (!tls->failed && !tls->hears_end && sim_tls_is_ready(tls)) {
        size_t taken = 0;
        int result = SSL_read_ex(tls->ssl, piece, sizeof piece, &taken);
        if (result != 1) {
            note_failure(tls, result);
            break;
        }
        sim_bytes_append(plain, piece, taken);
    }
    go_on(tls); // writes that waited for the rest of a message from the server
}

void sim_tls_end(sim_tls *tls)
{
    if (!tls->failed && sim_tls_is_ready(tls)) {
        SSL_shutdown(tls->ssl);
        ERR_clear_error();
        carry(tls);
    }
}

// ---- damaged records ---------------------------------------------------------------------------

static void send_noise(sim_tls *tls, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)sim_below(256);
        sim_bytes_append(&tls->out, &byte, 1);
    }
}

// A record's head that claims `size` bytes, and `there` bytes of noise.
static void send_record(sim_tls *tls, uint32_t size, uint32_t there)
{
    uint8_t head[HEAD_SIZE] = {RECORD, 3, 3, (uint8_t)(size >> 8), (uint8_t)size};
    sim_bytes_append(&tls->out, head, sizeof head);
    send_noise(tls, there);
}

// A record with one flipped bit.
static void send_damaged(sim_tls *tls)
{
    static const uint8_t nothing[] = {0xc0};
    size_t before = sim_bytes_size(&tls->out);
    (void)write_records(tls, nothing, sizeof nothing);
    carry(tls);
    size_t size = sim_bytes_size(&tls->out) - before;
    if (size > HEAD_SIZE) {
        uint32_t at = HEAD_SIZE + sim_below((uint32_t)size - HEAD_SIZE);
        tls->out.bytes[tls->out.begin + before + at] ^= (uint8_t)(1u << sim_below(8));
    }
}

bool sim_tls_spoil(sim_tls *tls)
{
    uint32_t kind = sim_tls_is_ready(tls) ? sim_below(4) : 0;
    uint32_t size = sim_between(1, 64);
    tls->spoilt = true;
    switch (kind) {
    case 0:
        send_noise(tls, size);
        return false;
    case 1:
        send_record(tls, size, size);
        return true;
    case 2:
        send_record(tls, 65535, size);
        return true;
    default:
        send_damaged(tls);
        return true;
    }
}
