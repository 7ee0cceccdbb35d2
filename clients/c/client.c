// clients/c/client.c: requests out, answers and notifications in. See fogmarch/connection.h.
//
// Requests in flight lie in a ring: request `id` at slot id % capacity. Ids count up, so the ring
// is a window from the oldest request without an answer to the newest; answers may come in any
// order.
//
// Bytes in are fed to the frame scanner as they come and unpacked when a message is whole, into a
// zone that is used again for the next. Texts in an unpacked message point into the input buffer,
// which does not move until the callback returns.

#include "clients/c/client.h"

#include "clients/c/connect.h"
#include "clients/c/contents.h"
#include "clients/c/link.h"
#include "clients/c/now.h"

#include <fogmarch/object.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE          (64u << 10) // bytes asked for at a time
#define READS_PER_TURN_MAX 64u         // then the event loop gets its turn
#define KEEP_BUFFER_MAX    (1u << 20)  // bytes of an empty output buffer that are kept
#define FIRST_CAPACITY     64u         // requests

// ---- life ---------------------------------------------------------------------------------------

fm_client_options fm_client_options_default(void)
{
    return (fm_client_options){
        .name = "fogmarch-client",
        .connect_timeout_ms = 5000,
        .timeout_ms = 30000,
        .requests_max = 65536,
        .unsent_max = 64u << 20,
        .limits = {.size_max = 256u << 20, .depth_max = 16, .elements_max = 40u << 20},
    };
}

static fm_status secure(fm_client *client, const char *address, const fm_client_options *options,
                        fm_client_error *error)
{
    char host[256];
    return fm_connect_host(address, host, sizeof host)
               ? fm_link_secure(&client->link, host, options->tls_ca_file,
                                options->connect_timeout_ms, error)
               : fm_client_error_set(error, FM_ERR_BAD_VALUE, "'%.100s' names no host", address);
}

fm_status fm_client_open(const char *address, const fm_client_options *options, fm_client **out,
                         fm_client_error *error)
{
    int fd;
    fm_status status = fm_connect(address, options->connect_timeout_ms, &fd, error);
    if (status != FM_OK) {
        return status;
    }
    fm_client *client;
    status = fm_client_adopt(fd, options, &client);
    if (status != FM_OK) {
        return fm_client_error_set(error, status, "%s", fm_status_text(status));
    }
    if (options->tls) {
        status = secure(client, address, options, error);
    }
    if (status != FM_OK) {
        fm_client_destroy(client);
        return status;
    }
    *out = client;
    return FM_OK;
}

fm_status fm_client_adopt(int fd, const fm_client_options *options, fm_client **out)
{
    fm_client *client = calloc(1, sizeof *client);
    struct fm_client_pending *ring = calloc(FIRST_CAPACITY, sizeof *ring);
    if (client == NULL || ring == NULL) {
        free(client);
        free(ring);
        close(fd);
        return FM_ERR_NO_MEMORY;
    }
    client->link.fd = fd;
    client->options = options == NULL ? fm_client_options_default() : *options;
    snprintf(client->name, sizeof client->name, "%s", client->options.name);
    if (client->options.token != NULL) {
        snprintf(client->token, sizeof client->token, "%s", client->options.token);
    }
    if (client->options.resume != NULL) {
        snprintf(client->resume, sizeof client->resume, "%s", client->options.resume);
    }
    client->options.name = client->name;
    client->options.token = client->token;
    client->options.resume = client->resume;
    client->options.tls_ca_file = NULL; // only needed to connect
    client->ring = ring;
    client->capacity = FIRST_CAPACITY;
    client->earliest_ms = UINT64_MAX;
    client->message_size_max = 64u << 10; // until hello announces the limit
    msgpack_sbuffer_init(&client->out);
    msgpack_packer_init(&client->packer, &client->out, msgpack_sbuffer_write);
    fm_scanner_init(&client->scanner, &client->options.limits);
    msgpack_sbuffer_init(&client->reply_bytes);
    if (!msgpack_zone_init(&client->zone, MSGPACK_ZONE_CHUNK_SIZE) ||
        !msgpack_zone_init(&client->reply_zone, MSGPACK_ZONE_CHUNK_SIZE)) {
        fm_client_destroy(client);
        return FM_ERR_NO_MEMORY;
    }
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    *out = client;
    return FM_OK;
}

static void answer_all(fm_client *client);

// The first reason stays.
static void break_connection(fm_client *client, const char *reason)
{
    if (!client->broken) {
        client->broken = true;
        fm_client_error_set(&client->broken_error, FM_ERR_IO, "connection lost: %s", reason);
    }
}

static void break_strange(fm_client *client, const char *reason)
{
    client->is_strange = true;
    break_connection(client, reason);
}

void fm_client_destroy(fm_client *client)
{
    if (client == NULL) {
        return;
    }
    FM_ASSERT(!client->delivering);
    break_connection(client, "closed by this side");
    answer_all(client);
    if (client->hooks != NULL) {
        client->hooks->destroy(client);
    }
    fm_link_close(&client->link);
    free(client->ring);
    free(client->in);
    msgpack_sbuffer_destroy(&client->out);
    msgpack_sbuffer_destroy(&client->reply_bytes);
    msgpack_zone_destroy(&client->zone);
    msgpack_zone_destroy(&client->reply_zone);
    free(client);
}

// ---- requests in flight -------------------------------------------------------------------------

static struct fm_client_pending *slot_of(const fm_client *client, uint32_t id)
{
    return &client->ring[id & (client->capacity - 1)];
}

// Makes room for one more request. The window may be wide because one old request still waits.
static fm_status reserve_slot(fm_client *client)
{
    uint32_t span = client->next_id - client->oldest_id;
    if (span < client->capacity) {
        return FM_OK;
    }
    struct fm_client_pending *ring = calloc((size_t)client->capacity * 2, sizeof *ring);
    if (ring == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < span; i++) {
        uint32_t id = client->oldest_id + i;
        ring[id & (client->capacity * 2 - 1)] = *slot_of(client, id);
    }
    free(client->ring);
    client->ring = ring;
    client->capacity *= 2;
    return FM_OK;
}

// Takes a request out of the ring and notifies its owner. A request is answered here and nowhere
// else.
static void answer(fm_client *client, uint32_t id, const fm_client_error *error,
                   const msgpack_object *result)
{
    struct fm_client_pending request =
        *slot_of(client, id); // a copy: the callback may grow the ring
    slot_of(client, id)->waits = false;
    slot_of(client, id)->bytes = NULL;
    free(request.bytes);
    client->in_flight--;
    while (client->oldest_id != client->next_id && !slot_of(client, client->oldest_id)->waits) {
        client->oldest_id++;
    }
    if (request.on_reply != NULL) {
        client->delivering = true;
        request.on_reply(request.context, id, error, result);
        client->delivering = false;
    }
}

// Call after the end of the connection.
static void answer_all(fm_client *client)
{
    while (client->in_flight > 0) {
        answer(client, client->oldest_id, &client->broken_error, NULL);
    }
}

static bool waits(const fm_client *client, uint64_t id)
{
    return id <= UINT32_MAX &&
           (uint32_t)id - client->oldest_id < client->next_id - client->oldest_id &&
           slot_of(client, (uint32_t)id)->waits;
}

// ---- sending ------------------------------------------------------------------------------------

static fm_status fail(fm_client *client, const fm_client_error *error)
{
    client->error = *error;
    return error->status;
}

static size_t unsent_size(const fm_client *client)
{
    return client->out.size - client->sent_size;
}

static void forget_sent(fm_client *client)
{
    if (unsent_size(client) == 0) {
        client->sent_size = 0;
        msgpack_sbuffer_clear(&client->out);
        if (client->out.alloc > KEEP_BUFFER_MAX) {
            msgpack_sbuffer_destroy(&client->out);
            msgpack_sbuffer_init(&client->out);
        }
    } else if (client->sent_size > client->out.size / 2) {
        client->out.size -= client->sent_size;
        memmove(client->out.data, client->out.data + client->sent_size, client->out.size);
        client->sent_size = 0;
    }
}

fm_status fm_client_flush(fm_client *client)
{
    while (!client->broken && client->write_errno == 0 && unsent_size(client) > 0) {
        ssize_t size =
            fm_link_write(&client->link, client->out.data + client->sent_size, unsent_size(client));
        if (size >= 0) {
            client->sent_size += (size_t)size;
            client->traffic.bytes_out += (size_t)size;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            client->write_errno = errno;
            client->sent_size = client->out.size;
        }
    }
    forget_sent(client);
    return client->broken ? fail(client, &client->broken_error) : FM_OK;
}

static bool pack(fm_client *client, uint32_t id, fm_method method, const fm_params *params)
{
    static const fm_params none;
    params = params == NULL ? &none : params;
    return !params->failed && fm_pack_request(&client->packer, id, method) &&
           msgpack_pack_map(&client->packer, params->count) == 0 &&
           (params->size == 0 ||
            msgpack_sbuffer_write(&client->out, params->bytes, params->size) == 0);
}

// What was packed last, where it may have to be sent again. @return false when out of memory
static bool keep(const fm_client *client, size_t begin, char **bytes)
{
    if (client->hooks == NULL) {
        return true;
    }
    *bytes = malloc(client->out.size - begin);
    if (*bytes != NULL) {
        memcpy(*bytes, client->out.data + begin, client->out.size - begin);
    }
    return *bytes != NULL;
}

static bool is_full(const fm_client *client, const fm_params *params)
{
    size_t size = params == NULL ? 0 : params->size;
    return client->next_id - client->oldest_id >= client->options.requests_max ||
           unsent_size(client) + size > client->options.unsent_max;
}

fm_status fm_client_send(fm_client *client, fm_method method, const fm_params *params,
                         fm_client_reply_fn *on_reply, void *context, uint64_t *id)
{
    if (client->broken) {
        return fail(client, &client->broken_error);
    }
    if (is_full(client, params)) {
        return fm_client_error_set(&client->error, FM_ERR_BUSY,
                                   "%u requests and %zu bytes wait for the server already",
                                   client->in_flight, unsent_size(client));
    }
    uint64_t world = 0;
    if (client->hooks != NULL) {
        params = client->hooks->prepare(client, method, params, &world);
    }
    size_t size_before = client->out.size;
    char *bytes = NULL;
    if (reserve_slot(client) != FM_OK || !pack(client, client->next_id, method, params) ||
        !keep(client, size_before, &bytes)) {
        client->out.size = size_before;
        return fm_client_error_set(&client->error, FM_ERR_NO_MEMORY, "%s",
                                   fm_status_text(FM_ERR_NO_MEMORY));
    }
    uint64_t now_ms = fm_now_ms(), deadline_ms = now_ms + client->options.timeout_ms;
    *slot_of(client, client->next_id) = (struct fm_client_pending){
        .waits = true,
        .method = method,
        .on_reply = on_reply,
        .context = context,
        .sent_ms = now_ms,
        .deadline_ms = deadline_ms,
        .timeout_ms = client->options.timeout_ms,
        .bytes = bytes,
        .size = client->out.size - size_before,
        .world = world,
    };
    if (deadline_ms < client->earliest_ms) {
        client->earliest_ms = deadline_ms;
    }
    if (id != NULL) {
        *id = client->next_id;
    }
    client->next_id++;
    client->in_flight++;
    client->traffic.messages_out++;
    return fm_client_flush(client);
}

// ---- receiving ----------------------------------------------------------------------------------

#define X(enumerator, name, text) +1
static const uint64_t status_count = FM_STATUS_LIST(X);
#undef X

// The server's {code, name, message}.
static void read_error(const msgpack_object *sent, fm_client_error *error)
{
    uint64_t code = fm_object_uint(sent, "code", FM_ERR_BAD_MESSAGE);
    bool known = code > FM_OK && code < status_count;
    fm_client_error_set(error, known ? (fm_status)code : FM_ERR_BAD_MESSAGE, "%s",
                        "the server gave no reason");
    error->code = code;
    char message[FM_ERROR_TEXT_SIZE];
    fm_object_text(sent, "name", error->name, sizeof error->name);
    if (fm_object_text(sent, "message", message, sizeof message)) {
        memcpy(error->message, message, sizeof message);
    }
}

static const char *deliver_response(fm_client *client, const msgpack_object_array *message)
{
    if (message->size != 4 || message->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return "the server sent an answer that is not one";
    }
    uint64_t id = message->ptr[1].via.u64;
    if (!waits(client, id)) {
        return NULL; // too late: it has timed out already
    }
    bool failed = message->ptr[2].type != MSGPACK_OBJECT_NIL;
    if (failed && !fm_contents_are_sound(&message->ptr[2])) {
        return "the server sent an error that is none";
    }
    if (!failed &&
        !fm_contents_are_result(slot_of(client, (uint32_t)id)->method, &message->ptr[3])) {
        return "the server answered with something else than the method's result";
    }
    fm_client_error error;
    if (failed) {
        read_error(&message->ptr[2], &error);
    }
    if (client->hooks != NULL &&
        client->hooks->holds(client, slot_of(client, (uint32_t)id), failed ? &error : NULL,
                             &message->ptr[failed ? 2 : 3])) {
        return NULL; // it will be sent to another node
    }
    if (!failed) {
        answer(client, (uint32_t)id, NULL, &message->ptr[3]);
    } else {
        answer(client, (uint32_t)id, &error, NULL);
    }
    return NULL;
}

static bool find_notification(const msgpack_object *name, fm_notification *notification)
{
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        const char *known = fm_notification_name((fm_notification)i);
        if (strlen(known) == name->via.str.size &&
            memcmp(known, name->via.str.ptr, name->via.str.size) == 0) {
            *notification = (fm_notification)i;
            return true;
        }
    }
    return false;
}

// Its answer is not needed.
static void answer_ping(fm_client *client, const msgpack_object *ping)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_TIME, fm_object_uint(ping, "time", 0));
    (void)!fm_client_send(client, FM_METHOD_PING, &params, NULL, NULL, NULL);
    fm_params_fini(&params);
}

void fm_client_tell(fm_client *client, fm_notification notification, const msgpack_object *params)
{
    if (client->on_notification != NULL) {
        bool was_delivering = client->delivering;
        client->delivering = true;
        client->on_notification(client->notification_context, notification, params);
        client->delivering = was_delivering;
    }
}

static const char *deliver_notification(fm_client *client, const msgpack_object_array *message)
{
    if (message->size != 3 || message->ptr[1].type != MSGPACK_OBJECT_STR ||
        message->ptr[2].type != MSGPACK_OBJECT_ARRAY || message->ptr[2].via.array.size != 1 ||
        !fm_contents_are_sound(&message->ptr[2].via.array.ptr[0])) {
        return "the server sent a notification that is not one";
    }
    fm_notification notification;
    if (!find_notification(&message->ptr[1], &notification)) {
        return NULL; // newer than this build
    }
    if (notification == FM_NOTIFY_IDLE) {
        answer_ping(client, &message->ptr[2].via.array.ptr[0]);
    } else if (client->hooks == NULL ||
               client->hooks->routes(client, notification, &message->ptr[2].via.array.ptr[0])) {
        fm_client_tell(client, notification, &message->ptr[2].via.array.ptr[0]);
    }
    return NULL;
}

// Whether the message is a notification that is not to be unpacked. A client that reads a large
// view only to count its bytes would spend most of its time unpacking.
static bool is_skipped(const fm_client *client)
{
    const uint8_t *message = client->message;
    const char *idle = fm_notification_name(FM_NOTIFY_IDLE); // needs an answer in any case
    size_t name_size = client->message_size > 3 ? message[2] & 0x1f : 0;
    return client->skips_notifications && client->message_size > 3 + name_size &&
           message[0] == 0x93 && message[1] == FM_MESSAGE_NOTIFICATION &&
           (message[2] & 0xe0) == 0xa0 && // a short text
           (name_size != strlen(idle) || memcmp(message + 3, idle, name_size) != 0);
}

// @return NULL, or what is wrong with the message
static const char *deliver(fm_client *client)
{
    if (is_skipped(client)) {
        return NULL;
    }
    msgpack_object object;
    size_t offset = 0;
    msgpack_unpack_return unpacked = msgpack_unpack(
        (const char *)client->message, client->message_size, &offset, &client->zone, &object);
    if (unpacked == MSGPACK_UNPACK_NOMEM_ERROR) {
        return "not enough memory for a message";
    }
    if (unpacked != MSGPACK_UNPACK_SUCCESS || object.type != MSGPACK_OBJECT_ARRAY ||
        object.via.array.size == 0 ||
        object.via.array.ptr[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return "the server sent something else than MessagePack-RPC";
    }
    switch (object.via.array.ptr[0].via.u64) {
    case FM_MESSAGE_RESPONSE:
        return deliver_response(client, &object.via.array);
    case FM_MESSAGE_NOTIFICATION:
        return deliver_notification(client, &object.via.array);
    default:
        return "the server sent something else than answers and notifications";
    }
}

// Finds the messages in what was received.
static void scan(fm_client *client)
{
    while (!client->broken && client->in_scanned < client->in_end) {
        client->in_scanned += fm_scanner_feed(&client->scanner, client->in + client->in_scanned,
                                              client->in_end - client->in_scanned);
        switch (client->scanner.state) {
        case FM_SCAN_MORE:
            break;
        case FM_SCAN_DONE:
            client->message = client->in + client->in_begin;
            client->message_size = client->in_scanned - client->in_begin;
            client->traffic.messages_in++;
            const char *wrong = deliver(client);
            msgpack_zone_clear(&client->zone);
            if (wrong != NULL) {
                break_strange(client, wrong);
            }
            client->in_begin = client->in_scanned;
            fm_scanner_reset(&client->scanner);
            break;
        case FM_SCAN_BAD:
        case FM_SCAN_LARGE:
            break_strange(client, client->scanner.reason);
            break;
        }
    }
}

// Room for READ_SIZE bytes behind in_end.
static bool reserve_input(fm_client *client)
{
    if (client->in_begin > 0) {
        client->in_end -= client->in_begin;
        client->in_scanned -= client->in_begin;
        memmove(client->in, client->in + client->in_begin, client->in_end);
        client->in_begin = 0;
    }
    if (client->in_capacity - client->in_end >= READ_SIZE) {
        return true;
    }
    size_t capacity = client->in_capacity == 0 ? 2 * READ_SIZE : client->in_capacity * 2;
    uint8_t *in = realloc(client->in, capacity);
    if (in == NULL) {
        break_connection(client, "not enough memory for a message");
        return false;
    }
    client->in = in;
    client->in_capacity = capacity;
    return true;
}

// Reads once and delivers. @return whether there may be more
static bool read_once(fm_client *client)
{
    if (!reserve_input(client)) {
        return false;
    }
    size_t room = client->in_capacity - client->in_end;
    ssize_t size = fm_link_read(&client->link, client->in + client->in_end, room);
    if (size < 0 && errno == EAGAIN) {
        return false;
    }
    if (size < 0) {
        if (errno != EINTR) {
            break_connection(client, strerror(errno));
        }
        return !client->broken;
    }
    if (size == 0) {
        break_connection(client, "the server disconnected");
        return false;
    }
    client->traffic.bytes_in += (size_t)size;
    client->in_end += (size_t)size;
    scan(client);
    return !client->broken && (size_t)size == room;
}

// Whether the connection has ended and no other one was found.
static bool is_over(fm_client *client)
{
    if (client->hooks != NULL) {
        client->hooks->recover(client);
    }
    return client->broken;
}

fm_status fm_client_on_readable(fm_client *client)
{
    FM_ASSERT(!client->delivering);
    uint32_t reads = 0;
    while (!client->broken && reads < READS_PER_TURN_MAX && read_once(client)) {
        reads++;
    }
    if (client->write_errno != 0 && reads < READS_PER_TURN_MAX) {
        break_connection(client, strerror(client->write_errno));
    }
    if (is_over(client)) {
        answer_all(client);
        return fail(client, &client->broken_error);
    }
    return FM_OK;
}

// ---- time ---------------------------------------------------------------------------------------

int fm_client_timeout_ms(const fm_client *client)
{
    uint64_t due = client->in_flight == 0 ? UINT64_MAX : client->earliest_ms;
    uint64_t watch_ms = client->hooks == NULL ? UINT64_MAX : client->hooks->watch_ms(client);
    due = watch_ms < due ? watch_ms : due;
    if (due == UINT64_MAX && client->in_flight == 0) {
        return -1;
    }
    return client->broken || client->write_errno != 0 ? 0 : fm_left_ms(due);
}

static void give_up(fm_client *client, uint32_t id)
{
    const struct fm_client_pending *request = slot_of(client, id);
    fm_client_error error;
    fm_client_error_set(&error, FM_ERR_IO, "no answer to %s within %u ms",
                        fm_method_name(request->method), request->timeout_ms);
    snprintf(error.name, sizeof error.name, "timeout");
    answer(client, id, &error, NULL);
}

void fm_client_expire(fm_client *client)
{
    FM_ASSERT(!client->delivering);
    if (client->broken || client->write_errno != 0) {
        (void)!fm_client_on_readable(client); // answers everything
        return;
    }
    uint64_t now = fm_now_ms();
    if (client->hooks != NULL && client->hooks->watch_ms(client) <= now) {
        if (fm_client_on_readable(client) != FM_OK) { // what came while nobody looked
            return;
        }
        client->hooks->watch(client);
        if (is_over(client)) {
            answer_all(client);
            return;
        }
        now = fm_now_ms();
    }
    if (now < client->earliest_ms) {
        return;
    }
    client->earliest_ms = UINT64_MAX;
    uint32_t end = client->next_id; // requests made by callbacks are not due yet
    for (uint32_t id = client->oldest_id; id != end; id++) {
        if (waits(client, id) && slot_of(client, id)->deadline_ms <= now) {
            give_up(client, id);
        } else if (waits(client, id) && slot_of(client, id)->deadline_ms < client->earliest_ms) {
            client->earliest_ms = slot_of(client, id)->deadline_ms;
        }
    }
}

fm_status fm_client_wait(fm_client *client, int timeout_ms)
{
    FM_ASSERT(!client->delivering);
    if (is_over(client)) {
        answer_all(client);
        return fail(client, &client->broken_error);
    }
    int due_ms = fm_client_timeout_ms(client);
    if (timeout_ms < 0 || (due_ms >= 0 && due_ms < timeout_ms)) {
        timeout_ms = due_ms;
    }
    struct pollfd poller = {.fd = client->link.fd, .events = fm_client_events(client)};
    int ready = poll(&poller, 1, timeout_ms);
    if (ready > 0 && (poller.revents & POLLOUT) != 0) {
        (void)!fm_client_flush(client); // a failure shows when reading
    }
    if (ready > 0 && (poller.revents & ~POLLOUT) != 0) {
        (void)!fm_client_on_readable(client);
    }
    fm_client_expire(client);
    return client->broken ? fail(client, &client->broken_error) : FM_OK;
}

// ---- for who follows ----------------------------------------------------------------------------

void fm_client_exchange(fm_client *client, fm_client *other)
{
    fm_client old = *client;
    client->link = other->link;
    client->in = other->in;
    client->in_capacity = other->in_capacity;
    client->in_begin = other->in_begin;
    client->in_scanned = other->in_scanned;
    client->in_end = other->in_end;
    client->scanner = other->scanner;
    client->message_size_max = other->message_size_max;
    other->link = old.link;
    other->in = old.in;
    other->in_capacity = old.in_capacity;
    other->in_begin = other->in_scanned = other->in_end = 0;
    client->broken = false;
    client->write_errno = 0;
    client->sent_size = 0;
    msgpack_sbuffer_clear(&client->out);
}

struct fm_client_pending *fm_client_pending_of(const fm_client *client, uint32_t id)
{
    return waits(client, id) ? slot_of(client, id) : NULL;
}

bool fm_client_repeat(fm_client *client, uint32_t id)
{
    struct fm_client_pending *request = slot_of(client, id);
    request->refused = false;
    request->sent_ms = fm_now_ms(); // its deadline stays: it bounds the call with all repeats
    return msgpack_sbuffer_write(&client->out, request->bytes, request->size) == 0;
}

void fm_client_answer(fm_client *client, uint32_t id, const fm_client_error *error)
{
    answer(client, id, error, NULL);
}

void fm_client_break(fm_client *client, const char *reason)
{
    break_connection(client, reason);
}

// ---- small things -------------------------------------------------------------------------------

fm_client_error *fm_client_error_of(fm_client *client)
{
    return &client->error;
}

size_t fm_client_message_size_max(const fm_client *client)
{
    return client->message_size_max;
}

void fm_client_on_notification(fm_client *client, fm_client_notification_fn *on_notification,
                               void *context)
{
    client->on_notification = on_notification;
    client->notification_context = context;
}

void fm_client_skip_notifications(fm_client *client)
{
    client->skips_notifications = true;
}

void fm_client_set_timeout(fm_client *client, uint32_t timeout_ms)
{
    client->options.timeout_ms = timeout_ms;
}

int fm_client_fd(const fm_client *client)
{
    return client->link.fd;
}

short fm_client_events(const fm_client *client)
{
    return (short)(POLLIN | (unsent_size(client) > 0 ? POLLOUT : 0));
}

const fm_client_error *fm_client_error_last(const fm_client *client)
{
    return &client->error;
}

uint32_t fm_client_in_flight(const fm_client *client)
{
    return client->in_flight;
}

fm_client_traffic fm_client_traffic_get(const fm_client *client)
{
    return client->traffic;
}
