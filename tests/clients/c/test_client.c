// test_client.c: the C client library against a peer that may do anything.
//
// Goal: every request gets exactly one result, even if the peer answers in any order and in any
// pieces, sends errors or garbage, or is silent; messages of the server arrive unchanged; a broken
// connection reports why. Method: both ends of a socket pair in one thread. The peer writes before
// the client reads, so blocking calls find their answer waiting. Pieces and orders are random, from
// a printed seed.

#include "tests/support/support.h"

#include <fogmarch/connection.h>
#include <fogmarch/object.h>
#include "core/base/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUESTS_MAX 512u

struct peer {
    fm_client *client;
    int fd; // the server's end
};

static struct peer start(const fm_client_options *options)
{
    int fds[2];
    struct peer peer;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(fm_client_adopt(fds[0], options, &peer.client), FM_OK);
    peer.fd = fds[1];
    assert_int_equal(fcntl(peer.fd, F_SETFL, O_NONBLOCK), 0);
    return peer;
}

static void stop(struct peer *peer)
{
    fm_client_destroy(peer->client);
    if (peer->fd >= 0) {
        close(peer->fd);
    }
}

// Closes as a server does, after it has read what the client sent.
static void hang_up(struct peer *peer)
{
    char sink[4096];
    while (read(peer->fd, sink, sizeof sink) > 0) {
    }
    close(peer->fd);
    peer->fd = -1;
}

static void say(const struct peer *peer, const void *bytes, size_t size)
{
    assert_int_equal(write(peer->fd, bytes, size), size);
}

// [1, id, nil, {"n": n}]
static void pack_answer(msgpack_packer *packer, uint64_t id, uint64_t n)
{
    assert_true(fm_pack_result(packer, id));
    msgpack_pack_map(packer, 1);
    fm_pack_text(packer, "n");
    msgpack_pack_uint64(packer, n);
}

static void say_answer(const struct peer *peer, uint64_t id, uint64_t n)
{
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    pack_answer(&packer, id, n);
    say(peer, bytes.data, bytes.size);
    msgpack_sbuffer_destroy(&bytes);
}

static void say_error(const struct peer *peer, uint64_t id, uint64_t code, const char *name,
                      const char *message)
{
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, 4);
    msgpack_pack_int(&packer, FM_MESSAGE_RESPONSE);
    msgpack_pack_uint64(&packer, id);
    msgpack_pack_map(&packer, 3);
    fm_pack_text(&packer, "code");
    msgpack_pack_uint64(&packer, code);
    fm_pack_text(&packer, "name");
    fm_pack_text(&packer, name);
    fm_pack_text(&packer, "message");
    fm_pack_text(&packer, message);
    msgpack_pack_nil(&packer);
    say(peer, bytes.data, bytes.size);
    msgpack_sbuffer_destroy(&bytes);
}

// The results of requests that were sent with on_reply().
struct outcome {
    uint32_t answers; // must be 1 at the end
    bool failed;
    fm_client_error error;
    uint64_t n;
};

static void on_reply(void *context, uint64_t id, const fm_client_error *error,
                     const msgpack_object *result)
{
    (void)id;
    struct outcome *outcome = context;
    outcome->answers++;
    outcome->failed = error != NULL;
    assert_true((error == NULL) != (result == NULL));
    if (error != NULL) {
        outcome->error = *error;
    } else {
        outcome->n = fm_object_uint(result, "n", UINT64_MAX);
    }
}

static uint64_t send_ping(const struct peer *peer, struct outcome *outcome)
{
    uint64_t id;
    assert_int_equal(fm_client_send(peer->client, FM_METHOD_PING, NULL, on_reply, outcome, &id),
                     FM_OK);
    return id;
}

// ---- blocking -----------------------------------------------------------------------------------

static void test_call_returns_its_result_unharmed(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    // Another message right behind the answer: reading further would overwrite a careless
    // pointer.
    say_answer(&peer, 0, 4711);
    char others[10 * 1000];
    for (size_t i = 0; i < 1000; i++) {
        memcpy(others + 10 * i, "\x93\x02\xa5other\x91\x80", 10);
    }
    say(&peer, others, sizeof others);
    const msgpack_object *result;
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, &result), FM_OK);
    assert_int_equal(fm_object_uint(result, "n", 0), 4711);
    assert_int_equal(fm_client_in_flight(peer.client), 0);
    stop(&peer);
}

static void test_call_tells_the_servers_error(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    say_error(&peer, 0, FM_ERR_OFF_GRID, "off_grid", "cell 9,9 lies outside the map");
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL), FM_ERR_OFF_GRID);
    const fm_client_error *error = fm_client_error_last(peer.client);
    assert_int_equal(error->code, FM_ERR_OFF_GRID);
    assert_string_equal(error->name, "off_grid");
    assert_string_equal(error->message, "cell 9,9 lies outside the map");

    say_error(&peer, 1, 999, "too_new", "nobody knew this then");
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL), FM_ERR_BAD_MESSAGE);
    assert_int_equal(error->code, 999);
    assert_string_equal(error->name, "too_new");
    // The connection still works.
    say_answer(&peer, 2, 1);
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL), FM_OK);
    say_error(&peer, 3, FM_ERR_READ_ONLY, "read_only", "the newest status of the list");
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL), FM_ERR_READ_ONLY);
    stop(&peer);
}

static void test_hello_says_and_learns(void **state)
{
    (void)state;
    fm_client_options options = fm_client_options_default();
    options.name = "tester";
    options.token = "secret";
    options.resume = "from before";
    struct peer peer = start(&options);
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    fm_pack_result(&packer, 0);
    msgpack_pack_map(&packer, 5);
    fm_pack_text(&packer, "resume");
    fm_pack_text(&packer, "for the next");
    fm_pack_text(&packer, "resumed");
    msgpack_pack_true(&packer);
    fm_pack_text(&packer, "role");
    fm_pack_text(&packer, "admin");
    fm_pack_text(&packer, "session");
    msgpack_pack_uint64(&packer, 7);
    fm_pack_text(&packer, "limits");
    msgpack_pack_map(&packer, 1);
    fm_pack_text(&packer, "message_size");
    msgpack_pack_uint64(&packer, 5000);
    say(&peer, bytes.data, bytes.size);
    msgpack_sbuffer_destroy(&bytes);

    fm_client_welcome welcome;
    assert_int_equal(fm_client_hello(peer.client, &welcome), FM_OK);
    assert_string_equal(welcome.role, "admin");
    assert_int_equal(welcome.session, 7);
    assert_string_equal(welcome.resume, "for the next");
    assert_true(welcome.resumed);
    assert_int_equal(welcome.message_size, 5000);
    assert_string_equal(welcome.server, "");

    char request[256];
    ssize_t size = read(peer.fd, request, sizeof request);
    assert_true(size > 0);
    assert_non_null(memmem(request, (size_t)size, "tester", 6));
    assert_non_null(memmem(request, (size_t)size, "secret", 6));
    assert_non_null(memmem(request, (size_t)size, "from before", 11));
    stop(&peer);
}

// ---- polling ------------------------------------------------------------------------------------

// Answers in random order, cut at random places, with notifications between them.
static void test_every_request_is_answered_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 30; round++) {
        struct peer peer = start(NULL);
        struct outcome outcomes[REQUESTS_MAX] = {{0}};
        uint64_t ids[REQUESTS_MAX];
        uint32_t count = 1 + fm_random_below(&random, REQUESTS_MAX);
        for (uint32_t i = 0; i < count; i++) {
            ids[i] = send_ping(&peer, &outcomes[i]);
        }
        assert_int_equal(fm_client_in_flight(peer.client), count);

        uint32_t order[REQUESTS_MAX];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t other = fm_random_below(&random, i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        msgpack_sbuffer bytes;
        msgpack_packer packer;
        msgpack_sbuffer_init(&bytes);
        msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
        for (uint32_t i = 0; i < count; i++) {
            if (fm_random_below(&random, 4) == 0) {
                fm_pack_notification(&packer, FM_NOTIFY_GOING_DOWN);
                msgpack_pack_map(&packer, 0);
            }
            pack_answer(&packer, ids[order[i]], order[i] * 3 + 1);
        }
        for (size_t offset = 0; offset < bytes.size;) {
            size_t piece = 1 + fm_random_below(&random, round % 2 == 0 ? 9 : 900);
            piece = piece < bytes.size - offset ? piece : bytes.size - offset;
            say(&peer, bytes.data + offset, piece);
            offset += piece;
            assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
        }
        msgpack_sbuffer_destroy(&bytes);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(outcomes[i].answers, 1);
            assert_false(outcomes[i].failed);
            assert_int_equal(outcomes[i].n, i * 3 + 1);
        }
        assert_int_equal(fm_client_in_flight(peer.client), 0);
        assert_int_equal(fm_client_timeout_ms(peer.client), -1);
        stop(&peer);
    }
}

struct heard {
    uint32_t counts[FM_NOTIFICATION_COUNT];
    uint64_t in_ms;
    struct peer *peer;
    struct outcome *outcome; // of a request sent from inside the callback
};

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    struct heard *heard = context;
    heard->counts[notification]++;
    heard->in_ms = fm_object_uint(params, "in_ms", 0);
    if (heard->outcome != NULL) {
        send_ping(heard->peer, heard->outcome);
    }
}

static void test_notifications_arrive_and_may_send(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    struct outcome outcome = {0};
    struct heard heard = {.peer = &peer, .outcome = &outcome};
    fm_client_on_notification(peer.client, on_notification, &heard);
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    fm_pack_notification(&packer, FM_NOTIFY_GOING_DOWN);
    msgpack_pack_map(&packer, 1);
    fm_pack_text(&packer, "in_ms");
    msgpack_pack_uint64(&packer, 250);
    say(&peer, bytes.data, bytes.size);
    say(&peer,
        "\x93\x02\xa6"
        "future\x91\x80",
        11); // unknown: dropped
    msgpack_sbuffer_destroy(&bytes);
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    assert_int_equal(heard.counts[FM_NOTIFY_GOING_DOWN], 1);
    assert_int_equal(heard.counts[FM_NOTIFY_KEYFRAME] + heard.counts[FM_NOTIFY_DELTA], 0);
    assert_int_equal(heard.in_ms, 250);
    say_answer(&peer, 0, 5);
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    assert_int_equal(outcome.answers, 1);
    stop(&peer);
}

// They are counted but not unpacked, so broken ones pass, and answers still arrive.
static void test_notifications_can_be_skipped(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    struct outcome outcome = {0};
    struct heard heard = {.peer = &peer};
    fm_client_on_notification(peer.client, on_notification, &heard);
    fm_client_skip_notifications(peer.client);
    uint64_t before = fm_client_traffic_get(peer.client).messages_in;
    say(&peer,
        "\x93\x02\xa5"
        "delta\xc0",
        9); // without its map
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    assert_int_equal(fm_client_traffic_get(peer.client).messages_in, before + 1);
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        assert_int_equal(heard.counts[i], 0);
    }
    say_answer(&peer, send_ping(&peer, &outcome), 5);
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    assert_int_equal(outcome.answers, 1);
    stop(&peer);
}

static void test_silence_is_given_up_and_late_answers_are_dropped(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    struct outcome slow = {0}, quick = {0};
    uint64_t slow_id = send_ping(&peer, &slow); // 30 seconds
    fm_client_set_timeout(peer.client, 1);
    uint64_t quick_id = send_ping(&peer, &quick);
    while (quick.answers == 0) {
        assert_int_equal(fm_client_wait(peer.client, -1), FM_OK);
    }
    assert_true(quick.failed);
    assert_int_equal(quick.error.status, FM_ERR_IO);
    assert_string_equal(quick.error.name, "timeout");
    assert_non_null(strstr(quick.error.message, "ping"));
    assert_int_equal(slow.answers, 0);
    assert_true(fm_client_timeout_ms(peer.client) > 1000);

    say_answer(&peer, quick_id, 1);
    say_answer(&peer, slow_id, 2);
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    assert_int_equal(quick.answers, 1);
    assert_int_equal(slow.answers, 1);
    assert_int_equal(slow.n, 2);
    stop(&peer);
}

static void test_limits_of_what_waits(void **state)
{
    (void)state;
    fm_client_options options = fm_client_options_default();
    options.requests_max = 3;
    struct peer peer = start(&options);
    struct outcome outcomes[5] = {{0}};
    for (int i = 0; i < 3; i++) {
        send_ping(&peer, &outcomes[i]);
    }
    assert_int_equal(
        fm_client_send(peer.client, FM_METHOD_PING, NULL, on_reply, &outcomes[3], NULL),
        FM_ERR_BUSY);
    say_answer(&peer, 0, 0);
    assert_int_equal(fm_client_on_readable(peer.client), FM_OK);
    send_ping(&peer, &outcomes[4]);
    stop(&peer);
    assert_int_equal(outcomes[3].answers, 0);
    assert_int_equal(outcomes[4].answers, 1); // by the end of the connection
    assert_true(outcomes[4].failed);

    options.requests_max = 65536;
    options.unsent_max = 100000;
    peer = start(&options);
    struct outcome many = {0};
    char bulk[4096] = {0};
    fm_params params;
    fm_params_init(&params);
    fm_params_bytes(&params, FM_FIELD_DATA, bulk, sizeof bulk);
    fm_status status = FM_OK;
    uint32_t sent = 0;
    while (status == FM_OK && sent < 100000) { // the peer does not read
        status = fm_client_send(peer.client, FM_METHOD_MAP_UPLOAD, &params, on_reply, &many, NULL);
        sent += status == FM_OK;
    }
    assert_int_equal(status, FM_ERR_BUSY);
    assert_true(fm_client_events(peer.client) & POLLOUT);
    // Now the peer reads: all requests are sent, and more are accepted.
    char sink[65536];
    for (int idle = 0; idle < 2;) {
        idle = read(peer.fd, sink, sizeof sink) > 0 ? 0 : idle + 1;
        assert_int_equal(fm_client_flush(peer.client), FM_OK);
    }
    assert_false(fm_client_events(peer.client) & POLLOUT);
    fm_params_fini(&params);
    stop(&peer);
    assert_int_equal(many.answers, sent);
}

// ---- garbage ------------------------------------------------------------------------------------

// The garbage breaks the connection. All requests get an error, and every later call reports it.
static void expect_break(const char *bytes, size_t size, bool then_hang_up, const char *why)
{
    fm_client_options options = fm_client_options_default();
    options.limits.size_max = 1000;
    struct peer peer = start(&options);
    struct outcome outcomes[2] = {{0}};
    send_ping(&peer, &outcomes[0]);
    send_ping(&peer, &outcomes[1]);
    if (size > 0) {
        say(&peer, bytes, size);
    }
    if (then_hang_up) {
        hang_up(&peer);
    }
    // Messages from the last read are delivered before the end of the stream.
    fm_status status = fm_client_on_readable(peer.client);
    status = status == FM_OK ? fm_client_on_readable(peer.client) : status;
    assert_int_equal(status, FM_ERR_IO);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outcomes[i].answers, 1);
        assert_true(outcomes[i].failed);
        assert_int_equal(outcomes[i].error.status, FM_ERR_IO);
    }
    const fm_client_error *error = fm_client_error_last(peer.client);
    if (strstr(error->message, why) == NULL) {
        fail_msg("'%s' should say '%s'", error->message, why);
    }
    assert_int_equal(fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL), FM_ERR_IO);
    assert_int_equal(fm_client_wait(peer.client, -1), FM_ERR_IO);
    assert_int_equal(fm_client_flush(peer.client), FM_ERR_IO);
    assert_non_null(strstr(error->message, why));
    stop(&peer);
}

static void test_rubbish_breaks_the_connection(void **state)
{
    (void)state;
    expect_break("", 0, true, "disconnected");
    expect_break("\x94\x01", 2, true, "disconnected");                    // in mid-message
    expect_break("\xc1", 1, false, "connection lost");                    // no msgpack
    expect_break("\xdb\x3f\xff\xff\xff", 5, false, "connection lost");    // a text of a gigabyte
    expect_break("\xdd\xff\xff\xff\xff", 5, false, "connection lost");    // 2^32 - 1 elements
    expect_break("\x2a", 1, false, "MessagePack-RPC");                    // a number
    expect_break("\x90", 1, false, "MessagePack-RPC");                    // an empty array
    expect_break("\x94\x00\x01\xa4ping\x90", 9, false, "something else"); // a request
    expect_break("\x92\x01\x00", 3, false, "answer");                     // half an answer
    expect_break("\x93\x02\xa5"
                 "delta\x90",
                 9, false, "notification"); // without its map
    char large[2000];
    memset(large, 0x90, sizeof large);
    memcpy(large, "\xdc\x07\x00", 3); // an array of 1792 elements in 1795 bytes
    expect_break(large, sizeof large, false, "connection lost");
}

static void test_random_bytes_never_answer_twice(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (int round = 0; round < 2000; round++) {
        struct peer peer = start(NULL);
        struct outcome outcomes[4] = {{0}};
        for (int i = 0; i < 4; i++) {
            send_ping(&peer, &outcomes[i]);
        }
        msgpack_sbuffer bytes;
        msgpack_packer packer;
        msgpack_sbuffer_init(&bytes);
        msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
        for (uint32_t i = 0; i < 6; i++) {
            pack_answer(&packer, fm_random_below(&random, 5), i);
        }
        for (uint32_t i = fm_random_below(&random, 4); i > 0; i--) {
            bytes.data[fm_random_below(&random, (uint32_t)bytes.size)] =
                (char)fm_random_next(&random);
        }
        say(&peer, bytes.data, bytes.size);
        msgpack_sbuffer_destroy(&bytes);
        fm_status status = fm_client_on_readable(peer.client);
        assert_true(status == FM_OK || status == FM_ERR_IO);
        stop(&peer);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(outcomes[i].answers, 1);
        }
    }
}

// ---- sending ------------------------------------------------------------------------------------

static void test_the_server_accepts_what_is_packed(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, 3);
    fm_params_uints(&params, FM_FIELD_AGENTS, (uint64_t[]){1, 1ull << 40, 7}, 3);
    fm_params_text(&params, FM_FIELD_KIND, "move");
    fm_params_cells(&params, FM_FIELD_GOAL, (fm_cell[]){fm_cell_at(4095, 17)}, 1);
    assert_int_equal(fm_client_send(peer.client, FM_METHOD_AGENT_ORDER, &params, NULL, NULL, NULL),
                     FM_OK);
    fm_params_clear(&params);
    fm_params_text(&params, FM_FIELD_NAME, "w");
    fm_params_real(&params, FM_FIELD_TICK_HZ, 12.5);
    fm_params_bool(&params, FM_FIELD_PAUSED, true);
    fm_params_bytes(&params, FM_FIELD_MAP, "type\0octile", 11);
    assert_int_equal(fm_client_send(peer.client, FM_METHOD_WORLD_CREATE, &params, NULL, NULL, NULL),
                     FM_OK);
    fm_params_fini(&params);

    char bytes[1024], text[FM_ERROR_TEXT_SIZE];
    ssize_t size = read(peer.fd, bytes, sizeof bytes);
    assert_true(size > 0);
    size_t offset = 0;
    msgpack_unpacked message;
    fm_request request;
    msgpack_unpacked_init(&message);
    assert_int_equal(msgpack_unpack_next(&message, bytes, (size_t)size, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(fm_request_check(&message.data, &request, text), FM_OK);
    assert_int_equal(request.method, FM_METHOD_AGENT_ORDER);
    assert_int_equal(request.id, 0);
    assert_int_equal(request.values[FM_FIELD_WORLD].number, 3);
    assert_int_equal(request.values[FM_FIELD_AGENTS].count, 3);
    assert_int_equal(fm_value_at(&request.values[FM_FIELD_AGENTS], 1), 1ull << 40);
    assert_int_equal(fm_value_at(&request.values[FM_FIELD_GOAL], 0), 4095);
    assert_int_equal(fm_value_at(&request.values[FM_FIELD_GOAL], 1), 17);
    assert_int_equal(msgpack_unpack_next(&message, bytes, (size_t)size, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(fm_request_check(&message.data, &request, text), FM_OK);
    assert_int_equal(request.method, FM_METHOD_WORLD_CREATE);
    assert_int_equal(request.id, 1);
    assert_true(request.values[FM_FIELD_TICK_HZ].real == 12.5);
    assert_int_equal(request.values[FM_FIELD_PAUSED].number, 1);
    assert_int_equal(request.values[FM_FIELD_MAP].size, 11);
    assert_int_equal(offset, size);
    msgpack_unpacked_destroy(&message);
    stop(&peer);
}

// A server in its own thread that assembles the pieces of an upload.
struct receiver {
    int fd;
    char *map;
    size_t size, received;
    uint32_t pieces;
    bool in_order;
};

static void take_piece(struct receiver *receiver, const fm_request *request)
{
    const fm_value *data = &request->values[FM_FIELD_DATA];
    const fm_value *upload = &request->values[FM_FIELD_UPLOAD];
    const fm_value *total = &request->values[FM_FIELD_TOTAL];
    bool first = receiver->pieces == 0;
    bool fits = request->values[FM_FIELD_OFFSET].number == receiver->received &&
                data->size <= receiver->size - receiver->received && upload->present != first &&
                total->present == first &&
                (first ? total->number == receiver->size : upload->number == 77);
    receiver->in_order = receiver->in_order && fits;
    receiver->pieces++;
    if (fits) {
        memcpy(receiver->map + receiver->received, data->bytes, data->size);
        receiver->received += data->size;
    }
}

// Reads requests until the client disconnects; answers each with upload 77.
static void *receive_upload(void *context)
{
    struct receiver *receiver = context;
    msgpack_unpacker unpacker;
    msgpack_unpacked message;
    msgpack_unpacker_init(&unpacker, 1 << 16);
    msgpack_unpacked_init(&message);
    for (;;) {
        msgpack_unpacker_reserve_buffer(&unpacker, 1 << 16);
        ssize_t size = read(receiver->fd, msgpack_unpacker_buffer(&unpacker), 1 << 16);
        if (size <= 0) {
            break;
        }
        msgpack_unpacker_buffer_consumed(&unpacker, (size_t)size);
        while (msgpack_unpacker_next(&unpacker, &message) == MSGPACK_UNPACK_SUCCESS) {
            fm_request request;
            char text[FM_ERROR_TEXT_SIZE];
            if (fm_request_check(&message.data, &request, text) != FM_OK) {
                receiver->in_order = false;
                continue;
            }
            take_piece(receiver, &request);
            unsigned char answer[] = {
                0x94, 0x01, (unsigned char)request.id, 0xc0, 0x81, 0xa6, 'u', 'p', 'l', 'o', 'a',
                'd',  77};
            if (write(receiver->fd, answer, sizeof answer) != (ssize_t)sizeof answer) {
                receiver->in_order = false;
            }
        }
    }
    msgpack_unpacked_destroy(&message);
    msgpack_unpacker_destroy(&unpacker);
    return NULL;
}

static void test_upload_sends_every_byte_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    size_t size = 1000000 + fm_random_below(&random, 500000);
    char *map = malloc(size);
    for (size_t i = 0; i < size; i++) {
        map[i] = (char)fm_random_next(&random);
    }
    struct peer peer = start(NULL);
    assert_int_equal(fcntl(peer.fd, F_SETFL, 0), 0); // the thread may wait
    struct receiver receiver = {
        .fd = peer.fd, .map = calloc(1, size), .size = size, .in_order = true};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, receive_upload, &receiver), 0);
    uint64_t upload = 0;
    fm_status status = fm_client_upload(peer.client, map, size, &upload);
    fm_client_destroy(peer.client);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(peer.fd);
    assert_int_equal(status, FM_OK);
    assert_int_equal(upload, 77);
    assert_true(receiver.in_order);
    assert_true(receiver.pieces > 1);
    assert_int_equal(receiver.received, size);
    assert_memory_equal(receiver.map, map, size);
    free(receiver.map);
    free(map);
}

static void test_an_empty_upload_is_refused(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    uint64_t upload = 5;
    assert_int_equal(fm_client_upload(peer.client, "", 0, &upload), FM_ERR_BAD_VALUE);
    assert_int_equal(upload, 5);
    stop(&peer);
}

// ---- connecting ---------------------------------------------------------------------------------

static void test_addresses_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",       ":",     "host",    "host:",    ":80",  "a:b", "1.2.3.4:http",
        "::1:80", "[::1]", "[::1:80", "host:80 ", "[]:80"};
    for (size_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        fm_client *client = NULL;
        fm_client_error error;
        assert_int_equal(fm_client_connect(wrong[i], NULL, &client, &error), FM_ERR_BAD_VALUE);
        assert_null(client);
        assert_non_null(strstr(error.message, "ADDRESS:PORT"));
    }
}

// A port that was bound and closed again refuses connections.
static void test_nobody_listens(void **state)
{
    (void)state;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&place, &size), 0);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(place.sin_port));
    fm_client *client = NULL;
    fm_client_error error;
    assert_int_equal(fm_client_connect(address, NULL, &client, &error), FM_ERR_IO);
    close(fd);
    assert_null(client);
    assert_non_null(strstr(error.message, address));
    assert_non_null(strstr(error.message, "refused"));
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
}

// A signal each millisecond from now on, which restarts no system call; 0: none.
static void set_alarm(long period_us)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {.it_interval.tv_usec = period_us, .it_value.tv_usec = period_us};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

// A listener whose queue is full lets a connection wait.
static void test_signals_do_not_end_connecting(void **state)
{
    (void)state;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    int listener = socket(AF_INET, SOCK_STREAM, 0), waiting[4];
    assert_int_equal(bind(listener, (struct sockaddr *)&place, sizeof place), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&place, &size), 0);
    assert_int_equal(listen(listener, 0), 0);
    for (size_t i = 0; i < FM_COUNT_OF(waiting); i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(waiting[i], (struct sockaddr *)&place, sizeof place);
    }
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(place.sin_port));
    fm_client_options options = fm_client_options_default();
    options.connect_timeout_ms = 200;
    fm_client *client = NULL;
    fm_client_error error;
    set_alarm(1000);
    fm_status status = fm_client_connect(address, &options, &client, &error);
    set_alarm(0);
    assert_int_equal(status, FM_ERR_IO);
    assert_non_null(strstr(error.message, strerror(ETIMEDOUT)));
    for (size_t i = 0; i < FM_COUNT_OF(waiting); i++) {
        close(waiting[i]);
    }
    close(listener);
}

static void *answer_late(void *context)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); // they are for the client's thread
    usleep(100000);
    say_answer(context, 0, 7);
    return NULL;
}

static void test_signals_do_not_end_a_call(void **state)
{
    (void)state;
    struct peer peer = start(NULL);
    pthread_t server;
    assert_int_equal(pthread_create(&server, NULL, answer_late, &peer), 0);
    set_alarm(1000);
    fm_status status = fm_client_call(peer.client, FM_METHOD_PING, NULL, NULL);
    set_alarm(0);
    pthread_join(server, NULL);
    assert_int_equal(status, FM_OK);
    stop(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_returns_its_result_unharmed),
        cmocka_unit_test(test_call_tells_the_servers_error),
        cmocka_unit_test(test_hello_says_and_learns),
        cmocka_unit_test(test_every_request_is_answered_once),
        cmocka_unit_test(test_notifications_arrive_and_may_send),
        cmocka_unit_test(test_notifications_can_be_skipped),
        cmocka_unit_test(test_silence_is_given_up_and_late_answers_are_dropped),
        cmocka_unit_test(test_limits_of_what_waits),
        cmocka_unit_test(test_rubbish_breaks_the_connection),
        cmocka_unit_test(test_random_bytes_never_answer_twice),
        cmocka_unit_test(test_the_server_accepts_what_is_packed),
        cmocka_unit_test(test_upload_sends_every_byte_once),
        cmocka_unit_test(test_an_empty_upload_is_refused),
        cmocka_unit_test(test_addresses_that_are_none),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_signals_do_not_end_connecting),
        cmocka_unit_test(test_signals_do_not_end_a_call),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
