// tests/sim/strangers.c: see strangers.h.
//
//   AWAY ── connects, begins a handshake or something else ──> HERE ── leaves, is disconnected ──>
//   AWAY

#include "tests/sim/strangers.h"

#include "tests/sim/memory.h"
#include "tests/sim/net.h"

#include <math.h>
#include <string.h>

#define PATIENCE_MAX_S 10.0           // the HTTP port's longest time-out
#define PATIENCE_MORE  (4 * SIM_NS_S) // the server checks its time-outs only now and then
#define HANDSHAKE_MAX  700u           // a little more than a client sends in a handshake
#define ALERT          21u            // first byte of an alert

typedef enum stranger_kind {
    STRANGER_PLAIN,   // sends plain text
    STRANGER_NOISE,   // begins like a handshake
    STRANGER_BROKEN,  // its handshake stops at some byte
    STRANGER_DAMAGED, // one byte of its handshake is wrong
    STRANGER_WEAK,    // supports only versions and ciphers that are refused
    STRANGER_KINDS,
} stranger_kind;

struct stranger {
    uint32_t index;
    stranger_kind kind;
    sim_connection *connection; // NULL: not connected
    sim_source turn;
    sim_tls tls;
    uint32_t at;   // byte at which the handshake stops or is damaged
    uint32_t sent; // bytes of the handshake so far
    uint64_t begun_ns;
};

static struct {
    const sim_plan *plan;
    struct stranger strangers[SIM_STRANGERS_MAX];
    bool calm;
} all;

static void forget(struct stranger *stranger)
{
    stranger->connection = NULL;
    if (stranger->kind >= STRANGER_BROKEN) {
        sim_tls_fini(&stranger->tls);
    }
}

// ---- what is sent ------------------------------------------------------------------------------

// Sends what the handshake has written, up to where this stranger stops.
static void carry(struct stranger *stranger)
{
    sim_bytes *out = &stranger->tls.out;
    while (sim_bytes_size(out) > 0) {
        uint8_t byte = *sim_bytes_front(out);
        sim_bytes_drop(out, 1);
        bool is_there = stranger->sent++ == stranger->at;
        if (stranger->kind == STRANGER_BROKEN && stranger->sent > stranger->at) {
            continue;
        }
        if (stranger->kind == STRANGER_DAMAGED && is_there) {
            byte ^= (uint8_t)(1u << sim_below(8));
        }
        sim_send(stranger->connection, &byte, 1);
    }
}

static void send_plain(struct stranger *stranger)
{
    static const char *const texts[] = {
        "\x94\x01\x02\xc0", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "\x80\x2e\x01\x03\x01", "\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
    const char *text = texts[sim_below(FM_COUNT_OF(texts))];
    sim_send(stranger->connection, text, strlen(text));
}

static void send_noise(struct stranger *stranger)
{
    uint8_t bytes[64] = {22, 3, 1, 0, (uint8_t)sim_below(256), 1};
    uint32_t size = sim_between(1, sizeof bytes);
    for (uint32_t i = sim_between(1, 6); i < size; i++) {
        bytes[i] = (uint8_t)sim_below(256);
    }
    sim_send(stranger->connection, bytes, size);
}

static void begin(struct stranger *stranger)
{
    if (stranger->kind == STRANGER_PLAIN) {
        send_plain(stranger);
    } else if (stranger->kind == STRANGER_NOISE) {
        send_noise(stranger);
    } else {
        bool is_weak = stranger->kind == STRANGER_WEAK;
        sim_tls_init(&stranger->tls, is_weak           ? sim_between(SIM_TLS_OUTDATED, SIM_TLS_CBC)
                                     : sim_chance(500) ? SIM_TLS_NEW
                                                       : SIM_TLS_1_2);
        carry(stranger);
    }
}

// ---- what is heard -----------------------------------------------------------------------------

static void hear_handshake(struct stranger *stranger, const uint8_t *bytes, size_t size)
{
    sim_bytes plain = {0};
    sim_tls *tls = &stranger->tls;
    sim_tls_feed(tls, bytes, size, &plain);
    if (sim_bytes_size(&plain) > 0 && stranger->sent > stranger->at) {
        sim_fail("stranger %u has not shaken hands and hears something", stranger->index);
    }
    sim_bytes_fini(&plain);
    if (stranger->kind == STRANGER_WEAK && sim_tls_is_ready(tls)) {
        sim_fail("stranger %u: hands are shaken with %s, %s", stranger->index,
                 SSL_get_version(tls->ssl), SSL_get_cipher_name(tls->ssl));
    }
    if (stranger->kind == STRANGER_BROKEN && tls->failed && sim_memory_failures() == 0) {
        sim_fail("stranger %u: a sound handshake fails: %s", stranger->index, tls->reason);
    }
    carry(stranger);
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    struct stranger *stranger = owner;
    sim_trace("stranger %u hears %zu bytes", stranger->index, size);
    if (stranger->kind == STRANGER_PLAIN) {
        sim_fail("stranger %u speaks no TLS and is answered", stranger->index);
    } else if (stranger->kind >= STRANGER_BROKEN) {
        hear_handshake(stranger, bytes, size);
    } else if (stranger->sent == 0 && bytes[0] != ALERT) {
        sim_fail("stranger %u sends noise and is answered with %02x", stranger->index, bytes[0]);
    } else {
        stranger->sent += (uint32_t)size; // the alert may come in pieces
    }
}

static void on_closed(void *owner, bool clean)
{
    struct stranger *stranger = owner;
    (void)clean;
    forget(stranger);
}

// ---- turns -------------------------------------------------------------------------------------

static uint64_t patience_ns(void)
{
    double hello_s = ceil(all.plan->config.hello_timeout_s);
    return (uint64_t)((hello_s < PATIENCE_MAX_S ? hello_s : PATIENCE_MAX_S) * 1e9) + PATIENCE_MORE;
}

static void check_time(const struct stranger *stranger)
{
    uint64_t waited = sim_now_ns() - stranger->begun_ns;
    uint64_t stalled = 2 * sim_stalled_ns(stranger->begun_ns, sim_now_ns());
    if (waited > patience_ns() + stalled) {
        sim_fail("stranger %u of kind %d, at byte %u, is still there", stranger->index,
                 (int)stranger->kind, stranger->at);
    }
}

static void come(struct stranger *stranger)
{
    static const sim_net_events events = {.received = on_received, .closed = on_closed};
    sim_link link = sim_plan_prompt_link();
    link.piece_max = 1u << sim_below(13);
    link.port = all.plan->has_http && sim_chance(500) ? SIM_PORT_HTTP : SIM_PORT_TCP;
    link.is_raw = true;
    stranger->kind = sim_below(STRANGER_KINDS);
    stranger->at = sim_below(HANDSHAKE_MAX);
    stranger->sent = 0;
    stranger->begun_ns = sim_now_ns();
    stranger->connection = sim_connect(&link, &events, stranger);
    sim_note_fault(SIM_FAULT_STRANGER);
    sim_trace("stranger %u of kind %d, at byte %u, connects to port %d: %u", stranger->index,
              (int)stranger->kind, stranger->at, (int)link.port, stranger->connection->number);
    begin(stranger);
}

static void leave(struct stranger *stranger)
{
    sim_connection *connection = stranger->connection;
    forget(stranger);
    switch (sim_below(3)) {
    case 0:
        sim_hang_up(connection);
        break;
    case 1:
        sim_reset(connection);
        break;
    default:
        sim_vanish(connection);
        break;
    }
}

static void take_turn(void *owner)
{
    struct stranger *stranger = owner;
    if (all.calm) {
        stranger->turn.due_ns = SIM_NEVER;
        return;
    }
    stranger->turn.due_ns = sim_now_ns() + sim_between(1, all.plan->turn_max_us) * SIM_NS_US;
    if (stranger->connection == NULL && sim_chance(200)) {
        come(stranger);
    } else if (stranger->connection != NULL) {
        check_time(stranger);
        if (sim_chance(30)) {
            leave(stranger);
        }
    }
}

void sim_strangers_begin(const sim_plan *plan)
{
    all.plan = plan;
    for (uint32_t i = 0; i < plan->stranger_count; i++) {
        struct stranger *stranger = &all.strangers[i];
        stranger->index = i;
        stranger->turn =
            (sim_source){.due_ns = sim_now_ns(), .happen = take_turn, .owner = stranger};
        sim_source_add(&stranger->turn);
    }
}

void sim_strangers_calm(void)
{
    all.calm = true;
}

// ---- the end -----------------------------------------------------------------------------------

static bool nobody_is_left(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < SIM_STRANGERS_MAX; i++) {
        if (all.strangers[i].connection != NULL) {
            return false;
        }
    }
    return true;
}

void sim_strangers_audit(void)
{
    sim_run(nobody_is_left, NULL, sim_now_ns() + patience_ns(), "the end of strangers");
}
