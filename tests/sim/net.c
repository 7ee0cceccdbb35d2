// tests/sim/net.c: see net.h. Each direction of each connection is a source of the kernel, so the
// order in which pieces of different connections arrive is random, too.

#include "tests/sim/net.h"

#include "tests/sim/memory.h"

#include <string.h>

#define KEEPALIVE_LEAST_S 60u // until the server notices a client that vanished
#define KEEPALIVE_MOST_S  75u

#define CONNECTIONS_MAX 2048u

sim_listener sim_listening[SIM_PORT_COUNT];
bool sim_net_speaks_tls;

static sim_connection *all[CONNECTIONS_MAX];
static uint32_t all_count;

// ---- bytes -------------------------------------------------------------------------------------

void sim_bytes_append(sim_bytes *queue, const void *bytes, size_t size)
{
    if (queue->begin == queue->end) {
        queue->begin = queue->end = 0;
    }
    if (queue->end + size > queue->capacity) {
        size_t used = sim_bytes_size(queue);
        size_t capacity = 2 * (used + size) + 64;
        uint8_t *grown = sim_own_allocate(capacity);
        if (used > 0) {
            memcpy(grown, sim_bytes_front(queue), used);
        }
        sim_own_release(queue->bytes);
        *queue = (sim_bytes){.bytes = grown, .end = used, .capacity = capacity};
    }
    if (size > 0) {
        memcpy(queue->bytes + queue->end, bytes, size);
        queue->end += size;
    }
}

void sim_bytes_drop(sim_bytes *queue, size_t size)
{
    FM_ASSERT(size <= sim_bytes_size(queue));
    queue->begin += size;
}

void sim_bytes_fini(sim_bytes *queue)
{
    sim_own_release(queue->bytes);
    *queue = (sim_bytes){0};
}

// ---- moving ------------------------------------------------------------------------------------

static uint64_t next_piece_ns(const sim_connection *connection)
{
    uint32_t most = connection->link.delay_max_us;
    return sim_now_ns() + (most == 0 ? 0 : sim_below(most + 1) * SIM_NS_US);
}

// How much of `size` bytes moves at once: half the time all, else 1 to 16 bytes or a random part.
static size_t piece(const sim_connection *connection, size_t size)
{
    size_t most = size < connection->link.piece_max ? size : connection->link.piece_max;
    switch (sim_below(4)) {
    case 0:
        return 1 + sim_below((uint32_t)most);
    case 1:
        return most > 16 ? 1 + sim_below(16) : 1;
    default:
        return most;
    }
}

static size_t room_up(const sim_connection *connection)
{
    size_t size = sim_bytes_size(&connection->arrived);
    return size < connection->link.window_size ? connection->link.window_size - size : 0;
}

static void refuse(void *owner);

// Makes each source due that has something to do.
static void look_again(sim_connection *connection)
{
    bool is_refused = connection->down.happen == refuse && !connection->told;
    if (connection->vanished || is_refused) {
        return; // only keep-alive is left; or nothing but to say so
    }
    bool up = !connection->server_closed &&
              ((sim_bytes_size(&connection->flight) > 0 && room_up(connection) > 0) ||
               (sim_bytes_size(&connection->flight) == 0 && connection->client_ended &&
                !connection->end_arrived));
    bool over = connection->server_ended && sim_bytes_size(&connection->socket) == 0;
    bool down = !connection->told && connection->reading &&
                (sim_bytes_size(&connection->socket) > 0 || over);
    if (!up) {
        connection->up.due_ns = SIM_NEVER;
    } else if (connection->up.due_ns == SIM_NEVER) {
        connection->up.due_ns = next_piece_ns(connection);
    }
    if (!down) {
        connection->down.due_ns = SIM_NEVER;
    } else if (connection->down.due_ns == SIM_NEVER) {
        connection->down.due_ns = next_piece_ns(connection);
    }
}

// ---- TLS ---------------------------------------------------------------------------------------

static void add_tls(sim_connection *connection)
{
    connection->tls = sim_own_allocate(sizeof *connection->tls);
    sim_tls_init(connection->tls, sim_chance(600)   ? SIM_TLS_NEW
                                  : sim_chance(500) ? SIM_TLS_1_2
                                                    : SIM_TLS_CHACHA);
}

static void drop_tls(sim_connection *connection)
{
    if (connection->tls != NULL) {
        sim_tls_fini(connection->tls);
        sim_own_release(connection->tls);
    }
}

// Sends off what the client's end of TLS has written.
static void carry_up(sim_connection *connection)
{
    sim_bytes *out = &connection->tls->out;
    sim_bytes_append(&connection->flight, sim_bytes_front(out), sim_bytes_size(out));
    sim_bytes_drop(out, sim_bytes_size(out));
    look_again(connection);
}

static void check_tls(const sim_connection *connection)
{
    const sim_tls *tls = connection->tls;
    if (tls->failed && !tls->spoilt && sim_memory_failures() == 0) {
        sim_fail("connection %u: TLS fails: %s", connection->number, tls->reason);
    }
}

// Decrypts the bytes and gives the client all complete records. The connection may be gone then.
static void take_down_tls(sim_connection *connection, const uint8_t *bytes, size_t size)
{
    static sim_bytes plain;
    sim_bytes_drop(&plain, sim_bytes_size(&plain));
    sim_tls_feed(connection->tls, bytes, size, &plain);
    check_tls(connection);
    carry_up(connection);
    if (sim_bytes_size(&plain) > 0) {
        connection->hears = true;
        connection->events->received(connection->owner, sim_bytes_front(&plain),
                                     sim_bytes_size(&plain));
    }
}

// The server must send close_notify before it ends a connection: a client must be able to tell a
// complete stream from one that was cut off.
static void check_end(const sim_connection *connection)
{
    const sim_tls *tls = connection->tls;
    if (tls != NULL && connection->owner != NULL && connection->hears && !tls->hears_end &&
        !tls->failed && !tls->spoilt && sim_memory_failures() == 0) {
        sim_fail("connection %u: the server ends it and TLS does not", connection->number);
    }
}

// ---- moving ------------------------------------------------------------------------------------

static void forget_if_over(sim_connection *connection)
{
    if (connection->server_closed && connection->owner == NULL) {
        sim_source_remove(&connection->up);
        sim_source_remove(&connection->down);
        for (uint32_t i = 0; i < all_count; i++) {
            if (all[i] == connection) {
                all[i] = all[--all_count];
            }
        }
        sim_bytes_fini(&connection->flight);
        sim_bytes_fini(&connection->arrived);
        sim_bytes_fini(&connection->socket);
        drop_tls(connection);
        sim_own_release(connection);
    }
}

static void move_up(void *owner)
{
    sim_connection *connection = owner;
    connection->up.due_ns = SIM_NEVER;
    if (connection->vanished) { // keep-alive
        connection->error = UV_ETIMEDOUT;
        sim_loop_wake();
        return;
    }
    size_t size = sim_bytes_size(&connection->flight);
    if (size > 0) {
        size = piece(connection, size);
        size = size < room_up(connection) ? size : room_up(connection);
        sim_bytes_append(&connection->arrived, sim_bytes_front(&connection->flight), size);
        sim_bytes_drop(&connection->flight, size);
    } else {
        connection->end_arrived = true;
    }
    sim_loop_wake();
    look_again(connection);
}

static void tell_closed(sim_connection *connection, bool clean)
{
    if (clean) {
        check_end(connection);
    }
    connection->told = true;
    void *client = connection->owner;
    connection->owner = NULL;
    sim_trace("connection %u closed by the server%s", connection->number,
              clean ? "" : ", perhaps in the middle of a message");
    if (client != NULL) {
        connection->events->closed(client, clean);
    }
    if (!connection->client_ended) { // the client disconnects in return
        connection->client_ended = true;
    }
    look_again(connection);
    forget_if_over(connection);
}

static void move_down(void *owner)
{
    sim_connection *connection = owner;
    connection->down.due_ns = SIM_NEVER;
    size_t size = sim_bytes_size(&connection->socket);
    if (size == 0) {
        tell_closed(connection, connection->server_finished);
        return;
    }
    uint8_t bytes[4096];
    size = piece(connection, size);
    size = size < sizeof bytes ? size : sizeof bytes;
    memcpy(bytes, sim_bytes_front(&connection->socket), size);
    sim_bytes_drop(&connection->socket, size);
    sim_loop_wake();
    look_again(connection);
    if (connection->owner != NULL && connection->tls != NULL) {
        take_down_tls(connection, bytes, size);
    } else if (connection->owner != NULL) {
        connection->events->received(connection->owner, bytes, size);
    }
}

// ---- the client's end --------------------------------------------------------------------------

static void refuse(void *owner)
{
    tell_closed(owner, false);
}

sim_connection *sim_connect(const sim_link *link, const sim_net_events *events, void *owner)
{
    static uint32_t numbers;
    sim_connection *connection = sim_own_allocate(sizeof *connection);
    *connection = (sim_connection){
        .number = ++numbers,
        .link = *link,
        .events = events,
        .owner = owner,
        .up = {.due_ns = SIM_NEVER, .happen = move_up, .owner = connection},
        .down = {.due_ns = SIM_NEVER, .happen = move_down, .owner = connection},
        .reading = true,
        .address = link->address != 0 ? link->address : (uint8_t)sim_between(1, 4),
    };
    FM_ASSERT(all_count < CONNECTIONS_MAX);
    all[all_count++] = connection;
    sim_source_add(&connection->up);
    sim_source_add(&connection->down);
    if (sim_net_speaks_tls && !link->is_raw) {
        add_tls(connection);
        carry_up(connection);
    }
    sim_listener *listener = &sim_listening[link->port];
    if (!listener->is_open || listener->backlog_count == SIM_BACKLOG_MAX) {
        connection->server_closed = true;
        connection->down.happen = refuse;
        connection->down.due_ns = sim_now_ns();
        return connection;
    }
    listener->backlog[listener->backlog_count++] = connection;
    sim_loop_wake();
    return connection;
}

void sim_send(sim_connection *connection, const void *bytes, size_t size)
{
    if (connection->tls != NULL) {
        sim_tls_write(connection->tls, bytes, size);
        carry_up(connection);
        return;
    }
    sim_bytes_append(&connection->flight, bytes, size);
    look_again(connection);
}

bool sim_spoil_records(sim_connection *connection)
{
    sim_note_fault(SIM_FAULT_SPOILT_RECORD);
    bool nothing_behind = sim_tls_spoil(connection->tls);
    carry_up(connection);
    return nothing_behind;
}

void sim_set_reading(sim_connection *connection, bool reading)
{
    connection->reading = reading;
    look_again(connection);
}

void sim_set_link(sim_connection *connection, const sim_link *link)
{
    connection->link = *link;
    if (connection->down.happen != refuse) {
        connection->up.due_ns = connection->down.due_ns = SIM_NEVER;
        look_again(connection);
    }
}

void sim_hang_up(sim_connection *connection)
{
    sim_trace("connection %u ends", connection->number);
    sim_note_fault(SIM_FAULT_HUNG_UP);
    if (connection->tls != NULL && sim_chance(500)) {
        sim_tls_end(connection->tls);
        carry_up(connection);
    }
    connection->client_ended = true;
    connection->reading = true; // the system receives for a client that is gone
    connection->owner = NULL;
    look_again(connection);
    forget_if_over(connection);
}

void sim_reset(sim_connection *connection)
{
    sim_trace("connection %u is reset", connection->number);
    sim_note_fault(SIM_FAULT_RESET);
    connection->owner = NULL;
    connection->told = true;
    connection->error = UV_ECONNRESET;
    sim_bytes_drop(&connection->flight, sim_bytes_size(&connection->flight));
    sim_bytes_drop(&connection->socket, sim_bytes_size(&connection->socket));
    if (sim_chance(500)) {
        sim_bytes_drop(&connection->arrived, sim_bytes_size(&connection->arrived));
    }
    look_again(connection);
    sim_loop_wake();
    forget_if_over(connection);
}

void sim_vanish(sim_connection *connection)
{
    sim_trace("connection %u vanishes", connection->number);
    sim_note_fault(SIM_FAULT_VANISHED);
    connection->owner = NULL;
    connection->vanished = true;
    connection->told = true;
    connection->down.due_ns = SIM_NEVER;
    connection->up.due_ns =
        sim_now_ns() + sim_between(KEEPALIVE_LEAST_S, KEEPALIVE_MOST_S) * SIM_NS_S;
    forget_if_over(connection);
}

void sim_net_calm(const sim_link *link)
{
    for (uint32_t i = 0; i < all_count; i++) {
        if (!all[i]->vanished) {
            sim_set_link(all[i], link);
        }
    }
}

bool sim_is_drained(const sim_connection *connection)
{
    return (connection->tls == NULL || sim_bytes_size(&connection->tls->waiting) == 0) &&
           sim_bytes_size(&connection->flight) == 0 && sim_bytes_size(&connection->arrived) == 0 &&
           sim_bytes_size(&connection->socket) == 0;
}

// ---- the server's end --------------------------------------------------------------------------

size_t sim_server_read(sim_connection *connection, void *bytes, size_t size)
{
    size_t there = sim_bytes_size(&connection->arrived);
    size = there < size ? there : size;
    if (size > 0) {
        size_t taken = piece(connection, size);
        if (taken < size) {
            sim_note_fault(SIM_FAULT_PARTIAL_READ);
        }
        size = taken;
        memcpy(bytes, sim_bytes_front(&connection->arrived), size);
        sim_bytes_drop(&connection->arrived, size);
        look_again(connection);
    }
    return size;
}

size_t sim_server_write(sim_connection *connection, const void *bytes, size_t size)
{
    size_t used = sim_bytes_size(&connection->socket);
    size_t room = used < connection->link.socket_size ? connection->link.socket_size - used : 0;
    size_t wanted = size;
    size = size < room ? size : room;
    if (size > 0 && sim_chance(250)) {
        size = 1 + sim_below((uint32_t)size);
    }
    if (size < wanted) {
        sim_note_fault(SIM_FAULT_PARTIAL_WRITE);
    }
    if (size > 0) {
        sim_bytes_append(&connection->socket, bytes, size);
        look_again(connection);
    }
    if (size > 0 && size < wanted && sim_bug_shows(SIM_BUG_LOST_BYTE, 500)) {
        return size + 1;
    }
    return size;
}

void sim_server_end(sim_connection *connection)
{
    connection->server_ended = connection->server_finished = true;
    look_again(connection);
}

// Closing a socket that holds unread bytes resets the connection, and the client may lose what it
// has not read yet.
void sim_server_close(sim_connection *connection)
{
    connection->server_closed = connection->server_ended = true;
    bool unread = sim_bytes_size(&connection->arrived) + sim_bytes_size(&connection->flight) > 0;
    if (!connection->told && unread && sim_chance(700)) {
        sim_bytes_drop(&connection->socket, sim_bytes_size(&connection->socket));
        connection->down.happen = refuse;
        connection->down.due_ns = sim_now_ns();
        connection->up.due_ns = SIM_NEVER;
        return;
    }
    look_again(connection);
    forget_if_over(connection);
}
