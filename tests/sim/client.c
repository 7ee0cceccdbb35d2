// tests/sim/client.c: see client.h.

#include "server/sessions/session.h"
#include "tests/sim/etcd/etcd_log.h"
#include "tests/sim/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PING_MAX_NS    (100 * SIM_NS_MS) // for the answer to ping
#define ANSWER_MAX_NS  (5 * SIM_NS_S)    // for any other answer, whatever other clients do
#define CROWDED_SHARE  4u                // see HELD_UP_SHARE in server/sessions/session.c
#define JOURNAL_MAX_NS (60 * SIM_NS_S)   // where the answer waits for a failing disk

uint64_t sim_notifications_heard;
bool sim_answers_have_bounds = true;
bool sim_journal_may_fail;

static uint64_t ping_max_ns, answer_max_ns;

uint64_t sim_ping_max_ns(void)
{
    return ping_max_ns;
}

uint64_t sim_answer_max_ns(void)
{
    return answer_max_ns;
}

// ---- views -------------------------------------------------------------------------------------

sim_view *sim_client_view(const sim_client *client, uint64_t number)
{
    for (uint32_t i = 0; i < client->view_count; i++) {
        if (client->views[i]->number == number) {
            return client->views[i];
        }
    }
    return NULL;
}

static void note_ended(void *context, const fm_mirror_ended *ended)
{
    sim_view *view = context;
    for (uint32_t i = 0; i < view->ended_count; i++) {
        if (view->ended[i] == ended->order) {
            sim_fail("subscription %" PRIu64 ": order %" PRIu64 " ends twice", view->number,
                     ended->order);
        }
    }
    FM_ASSERT(view->ended_count < SIM_ENDED_MAX);
    view->ended[view->ended_count++] = ended->order;
}

static const fm_mirror_ops mirror_ops = {.ended = note_ended};

static sim_view *add_view(sim_client *client, uint64_t number)
{
    if (client->view_count == SIM_VIEWS_MAX) {
        sim_fail("client %u has more subscriptions than it asked for", client->index);
    }
    sim_view *view = calloc(1, sizeof *view);
    FM_ASSERT(view != NULL);
    view->number = number;
    view->ended = calloc(SIM_ENDED_MAX, sizeof *view->ended);
    FM_ASSERT(view->ended != NULL);
    fm_mirror_init(&view->mirror, number, &mirror_ops, view);
    client->views[client->view_count++] = view;
    return view;
}

static void drop_view(sim_client *client, sim_view *view)
{
    for (uint32_t i = 0; i < client->view_count; i++) {
        if (client->views[i] == view) {
            client->views[i] = client->views[--client->view_count];
        }
    }
    fm_mirror_fini(&view->mirror);
    free(view->ended);
    free(view);
}

// ---- notifications -----------------------------------------------------------------------------

static void take_keyframe(sim_client *client, uint64_t number, const msgpack_object *params)
{
    sim_view *view = sim_client_view(client, number);
    if (view == NULL) {
        view = add_view(client, number); // the keyframe came before the answer
    }
    uint64_t tick = fm_object_uint(params, "tick", UINT64_MAX);
    if (view->mirror.keyframes > 0 && tick < view->mirror.tick) {
        sim_fail("client %u: a keyframe as of tick %" PRIu64 " after %" PRIu64, client->index, tick,
                 view->mirror.tick);
    }
    if (fm_mirror_apply(&view->mirror, FM_NOTIFY_KEYFRAME, params) != FM_OK) {
        sim_fail("client %u: a keyframe cannot be read", client->index);
    }
    sim_etcd_log_told(view->mirror.world, tick);
    sim_ledger_hear(view->mirror.world, tick);
}

static void take_delta(sim_client *client, uint64_t number, const msgpack_object *params)
{
    sim_view *view = sim_client_view(client, number);
    if (view == NULL || view->mirror.keyframes == 0) {
        sim_fail("client %u: a delta of subscription %" PRIu64 ", which is not open", client->index,
                 number);
    }
    uint64_t tick = fm_object_uint(params, "tick", UINT64_MAX);
    if (tick < view->mirror.tick) {
        sim_fail("client %u: a delta as of tick %" PRIu64 " after %" PRIu64, client->index, tick,
                 view->mirror.tick);
    }
    if (fm_mirror_apply(&view->mirror, FM_NOTIFY_DELTA, params) != FM_OK) {
        const fm_rect *rect = &view->mirror.rect;
        fprintf(stderr, "%u %u %u %u shows %u agents of %" PRIu64 " and hears ", rect->x, rect->y,
                rect->width, rect->height, view->mirror.agent_count, view->mirror.world);
        msgpack_object_print(stderr, *params);
        for (uint32_t i = 0; i < view->mirror.agent_count; i++) {
            const fm_mirror_agent *agent = &view->mirror.agents[i];
            fprintf(stderr, "%s%" PRIu64 " at %u,%u", i == 0 ? "\nin view: " : ", ", agent->id,
                    fm_cell_x(agent->cell), fm_cell_y(agent->cell));
        }
        fputc('\n', stderr);
        sim_fail("client %u: a delta does not fit what it goes to", client->index);
    }
    sim_etcd_log_told(view->mirror.world, tick);
    sim_ledger_hear(view->mirror.world, tick);
}

static void take_notification(sim_client *client, const char *name, const msgpack_object *params)
{
    sim_notifications_heard++;
    uint64_t number = fm_object_uint(params, "subscription", 0);
    sim_trace("client %u hears %s of %" PRIu64 " as of %" PRIu64, client->index, name, number,
              fm_object_uint(params, "tick", 0));
    if (strcmp(name, "keyframe") == 0) {
        take_keyframe(client, number, params);
    } else if (strcmp(name, "delta") == 0) {
        take_delta(client, number, params);
    } else if (strcmp(name, "world_ended") == 0 ||
               (strcmp(name, "moved") == 0 && sim_etcd != NULL)) {
        sim_view *view = sim_client_view(client, number);
        if (view != NULL && name[0] == 'w') {
            sim_ledger_hear_end(view->mirror.world);
        }
        if (view != NULL) {
            drop_view(client, view);
        }
    } else if (strcmp(name, "going_down") == 0) {
        client->warned = true;
    } else if (strcmp(name, "idle") == 0) {
        fm_params_uint(&client->params, FM_FIELD_TIME, fm_object_uint(params, "time", 0));
        sim_client_ask(client, FM_METHOD_PING, 0, fm_object_uint(params, "time", 0), false);
    } else if (strcmp(name, "debug") != 0) {
        sim_fail("client %u: a notification that is not in the protocol", client->index);
    }
}

// ---- answers -----------------------------------------------------------------------------------

static uint64_t limit_of(fm_method method)
{
    if (sim_journal_may_fail) { // subscriptions and steps hold up the rest
        return JOURNAL_MAX_NS;
    }
    uint64_t slowness = sim_rough.look_max_ns > 1000 ? 5 : 1; // factor, of the processor
    return method == FM_METHOD_PING ? slowness * PING_MAX_NS : ANSWER_MAX_NS;
}

// A subscribe counts as several open requests. A session that reaches its limit of them is not read
// from until most are done.
static void note_crowd(sim_client *client)
{
    uint32_t count = client->request_count;
    for (uint32_t i = 0; i < client->request_count; i++) {
        count += client->requests[i].method == FM_METHOD_SUBSCRIBE ? FM_SESSION_WATCH_JOBS : 0;
    }
    client->is_crowded = count >= FM_SESSION_JOBS_MAX ||
                         (client->is_crowded && count > FM_SESSION_JOBS_MAX / CROWDED_SHARE);
    if (client->is_crowded) {
        client->crowded_ns = sim_now_ns();
    }
}

// How long a request has waited, without the random stalls of threads, and without as much time
// again for the work that piled up during them.
static uint64_t waited_ns(const sim_client *client, const sim_request *request)
{
    uint64_t begin_ns = request->sent_ns;
    if (request->method == FM_METHOD_PING && client->crowded_ns > begin_ns) {
        begin_ns = client->crowded_ns;
    }
    uint64_t waited = sim_now_ns() - begin_ns;
    uint64_t stalled = 2 * sim_stalled_ns(begin_ns, sim_now_ns());
    return waited > stalled ? waited - stalled : 0;
}

static void check_time(const sim_client *client, const sim_request *request)
{
    bool is_held_up = client->is_crowded && request->method == FM_METHOD_PING;
    uint64_t waited = is_held_up ? 0 : waited_ns(client, request);
    if (sim_answers_have_bounds && waited > limit_of(request->method)) {
        sim_fail("client %u: %s %" PRIu64 " waits for %" PRIu64 " ms", client->index,
                 fm_method_name(request->method), request->id, waited / SIM_NS_MS);
    }
}

void sim_client_check_time(const sim_client *client)
{
    for (uint32_t i = 0; client->prompt && client->ready && i < client->request_count; i++) {
        check_time(client, &client->requests[i]);
    }
}

static void measure(const sim_client *client, const sim_request *request)
{
    if (client->prompt && client->ready) {
        check_time(client, request);
        uint64_t *most = request->method == FM_METHOD_PING ? &ping_max_ns : &answer_max_ns;
        uint64_t waited = waited_ns(client, request);
        *most = waited > *most ? waited : *most;
    }
}

static void take_hello(sim_client *client, const msgpack_object *result)
{
    char role[32];
    client->ready =
        fm_object_text(result, "role", role, sizeof role) && fm_role_by_name(role, &client->role);
    client->seat_world = fm_object_uint(result, "world", 0);
    client->seat_team = fm_object_uint(result, "team", 0);
    if (!client->ready) {
        sim_fail("client %u: hello is answered without a role", client->index);
    }
    // Their time starts here: before, the connection may have waited to be accepted.
    for (uint32_t i = 0; i < client->request_count; i++) {
        client->requests[i].sent_ns = sim_now_ns();
    }
}

static void take_result(sim_client *client, const sim_request *request,
                        const msgpack_object *result)
{
    sim_view *view;
    switch (request->method) {
    case FM_METHOD_HELLO:
        take_hello(client, result);
        break;
    case FM_METHOD_PING:
        if (fm_object_uint(result, "time", 0) != request->number && !client->spoilt) {
            sim_fail("client %u: ping answers another time", client->index);
        }
        break;
    case FM_METHOD_SUBSCRIBE:
        view = sim_client_view(client, fm_object_uint(result, "subscription", 0));
        if (view == NULL) {
            view = add_view(client, fm_object_uint(result, "subscription", 0));
        }
        view->answered = true;
        break;
    case FM_METHOD_UNSUBSCRIBE:
        view = sim_client_view(client, request->number);
        if (view != NULL) {
            drop_view(client, view);
        }
        break;
    default:
        break;
    }
}

static void take_response(sim_client *client, const msgpack_object *message)
{
    const msgpack_object *parts = message->via.array.ptr;
    uint64_t id = parts[1].via.u64;
    uint32_t i = 0;
    if (client->is_cut && id > client->cut_id) {
        sim_fail("client %u: %" PRIu64 " is answered, which stood behind a broken record",
                 client->index, id);
    }
    while (i < client->request_count && client->requests[i].id != id) {
        i++;
    }
    if (i == client->request_count) {
        if (!client->spoilt) {
            sim_fail("client %u: an answer to %" PRIu64 ", which waits for none", client->index,
                     id);
        }
        return;
    }
    sim_request request = client->requests[i];
    note_crowd(client); // it was crowded until this answer
    client->requests[i] = client->requests[--client->request_count];
    bool refused = parts[2].type == MSGPACK_OBJECT_MAP;
    uint64_t error = refused ? fm_object_uint(&parts[2], "code", FM_ERR_BAD_MESSAGE) : FM_OK;
    sim_trace("client %u hears the answer to %s %" PRIu64 ": %s", client->index,
              fm_method_name(request.method), id, fm_status_name((fm_status)error));
    if (!client->spoilt) {
        measure(client, &request);
    }
    if (!refused) {
        take_result(client, &request, &parts[3]);
        sim_ledger_answer(&request, &parts[3]);
    }
    if (!refused && !client->spoilt && request.method == FM_METHOD_WORLD_DESTROY) {
        sim_ledger_hear_end(request.world);
    }
    client->events->answered(client, &request, (fm_status)error, refused ? NULL : &parts[3]);
}

// ---- receiving ---------------------------------------------------------------------------------

static bool is_text(const msgpack_object *object, char *text, size_t size)
{
    if (object->type != MSGPACK_OBJECT_STR || object->via.str.size >= size) {
        return false;
    }
    memcpy(text, object->via.str.ptr, object->via.str.size);
    text[object->via.str.size] = '\0';
    return true;
}

static void take_message(sim_client *client, const msgpack_object *message)
{
    char name[32];
    const msgpack_object *parts = message->via.array.ptr;
    uint32_t count = message->type == MSGPACK_OBJECT_ARRAY ? message->via.array.size : 0;
    if (count == 4 && parts[0].via.u64 == 1 && parts[1].type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
        take_response(client, message);
    } else if (count == 3 && parts[0].via.u64 == 2 && is_text(&parts[1], name, sizeof name) &&
               parts[2].type == MSGPACK_OBJECT_ARRAY && parts[2].via.array.size == 1) {
        take_notification(client, name, parts[2].via.array.ptr);
    } else {
        sim_fail("client %u: a message that is not in the protocol", client->index);
    }
}

static void unpack(sim_client *client, size_t size)
{
    msgpack_unpacked unpacked;
    size_t offset = 0;
    msgpack_unpacked_init(&unpacked);
    if (msgpack_unpack_next(&unpacked, (const char *)sim_bytes_front(&client->input), size,
                            &offset) != MSGPACK_UNPACK_SUCCESS ||
        offset != size) {
        sim_fail("client %u: a message cannot be unpacked", client->index);
    }
    sim_bytes_drop(&client->input, size);
    take_message(client, &unpacked.data);
    msgpack_unpacked_destroy(&unpacked);
}

// Takes all complete messages.
static void take_input(sim_client *client, const uint8_t *bytes, size_t size)
{
    sim_bytes_append(&client->input, bytes, size);
    while (client->connection != NULL) {
        fm_scanner *scanner = &client->scanner;
        size_t seen = (size_t)scanner->size;
        fm_scanner_feed(scanner, sim_bytes_front(&client->input) + seen,
                        sim_bytes_size(&client->input) - seen);
        if (scanner->state == FM_SCAN_MORE) {
            return;
        }
        if (scanner->state != FM_SCAN_DONE) {
            sim_fail("client %u: bytes that are no message", client->index);
        }
        size_t message_size = (size_t)scanner->size;
        fm_scanner_reset(scanner);
        unpack(client, message_size);
    }
}

// A WebSocket message is exactly one message of the protocol.
static void take_frames(sim_client *client, const uint8_t *bytes, size_t size)
{
    sim_websocket_data data;
    sim_websocket_feed(&client->socket, bytes, size);
    while (client->connection != NULL && sim_websocket_next(&client->socket, &data)) {
        take_input(client, data.bytes, data.size);
        if (data.is_last && client->connection != NULL && sim_bytes_size(&client->input) > 0) {
            sim_fail("client %u: a WebSocket's message is not one of ours", client->index);
        }
    }
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    sim_client *client = owner;
    if (client->in_frames) {
        take_frames(client, bytes, size);
    } else {
        take_input(client, bytes, size);
    }
}

static void on_closed(void *owner, bool clean)
{
    sim_client *client = owner;
    // For a WebSocket this was checked when its close frame came.
    if (clean && !client->in_frames && sim_bytes_size(&client->input) > 0) {
        sim_fail("client %u: the server ended in the middle of a message", client->index);
    }
    client->connection = NULL;
    client->events->gone(client);
}

// ---- sending -----------------------------------------------------------------------------------

static void send_bytes(sim_client *client, const void *bytes, size_t size)
{
    if (client->connection != NULL && client->in_frames) {
        sim_websocket_send(&client->socket, bytes, size);
    } else if (client->connection != NULL) {
        sim_send(client->connection, bytes, size);
    }
}

static void pack_head(sim_client *client, msgpack_packer *packer, fm_method method, bool silent)
{
    if (!silent) {
        fm_pack_request(packer, client->id_last, method);
        return;
    }
    msgpack_pack_array(packer, 3);
    msgpack_pack_uint8(packer, 2);
    fm_pack_text(packer, fm_method_name(method));
    msgpack_pack_array(packer, 1);
}

void sim_client_ask(sim_client *client, fm_method method, uint64_t world, uint64_t number,
                    bool silent)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    FM_ASSERT(client->request_count < SIM_REQUESTS_MAX);
    client->id_last++;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    pack_head(client, &packer, method, silent);
    msgpack_pack_map(&packer, client->params.count);
    msgpack_sbuffer_write(&buffer, client->params.bytes, client->params.size);
    fm_params_clear(&client->params);
    if (!silent) {
        client->requests[client->request_count++] = (sim_request){
            .id = client->id_last,
            .method = method,
            .sent_ns = sim_now_ns(),
            .asked_ns = sim_now_ns(),
            .world = world,
            .number = number,
        };
        note_crowd(client);
    }
    sim_ledger_ask(&(sim_request){.method = method, .world = world});
    sim_trace("client %u asks %s %" PRIu64 "%s", client->index, fm_method_name(method),
              client->id_last, silent ? " and wants no answer" : "");
    send_bytes(client, buffer.data, buffer.size);
    msgpack_sbuffer_destroy(&buffer);
}

// The server must not answer requests in records behind a broken one.
static void spoil_records(sim_client *client)
{
    bool was_sound = !client->spoilt;
    client->spoilt = true;
    sim_trace("client %u spoils its records", client->index);
    if (sim_spoil_records(client->connection) && was_sound) {
        client->is_cut = true;
        client->cut_id = client->id_last;
    }
}

void sim_client_spoil(sim_client *client, const void *bytes, size_t size)
{
    if (client->connection != NULL && client->connection->tls != NULL && sim_chance(300)) {
        spoil_records(client);
        return;
    }
    client->spoilt = true;
    if (client->in_frames && client->connection != NULL && sim_chance(300)) {
        sim_websocket_spoil(&client->socket);
        return;
    }
    sim_note_fault(SIM_FAULT_SPOILT);
    sim_trace("client %u sends %zu bytes of anything", client->index, size);
    send_bytes(client, bytes, size);
}

// ---- beginning and end -------------------------------------------------------------------------

void sim_client_open(sim_client *client, uint32_t index, const sim_link *link, bool prompt,
                     const sim_client_events *client_events)
{
    static const sim_net_events events = {.received = on_received, .closed = on_closed};
    static const fm_scan_limits limits = {
        .size_max = 64u << 20, .depth_max = 16, .elements_max = 16u << 20};
    memset(client, 0, sizeof *client);
    client->index = index;
    client->events = client_events;
    client->prompt = prompt;
    fm_scanner_init(&client->scanner, &limits);
    fm_params_init(&client->params);
    client->connection = sim_connect(link, &events, client);
    sim_trace("client %u connects: %u", index, client->connection->number);
    client->in_frames = link->port == SIM_PORT_HTTP;
    if (client->in_frames) {
        sim_websocket_open(&client->socket, client->connection, index, prompt);
    }
}

void sim_client_close(sim_client *client, sim_client_end end)
{
    sim_connection *connection = client->connection;
    if (client->in_frames && end == SIM_CLIENT_HANGS_UP && sim_chance(500)) {
        sim_websocket_close(&client->socket);
    }
    client->connection = NULL;
    switch (end) {
    case SIM_CLIENT_HANGS_UP:
        sim_hang_up(connection);
        break;
    case SIM_CLIENT_RESETS:
        sim_reset(connection);
        break;
    case SIM_CLIENT_VANISHES:
        sim_vanish(connection);
        break;
    }
}

void sim_client_fini(sim_client *client)
{
    while (client->view_count > 0) {
        drop_view(client, client->views[0]);
    }
    sim_bytes_fini(&client->input);
    sim_websocket_fini(&client->socket);
    fm_params_fini(&client->params);
}
