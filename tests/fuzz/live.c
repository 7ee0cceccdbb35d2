// tests/fuzz/live.c: see live.h.

#include "tests/fuzz/live.h"

#include "server/base/clock.h"
#include "server/methods/methods.h"
#include "server/streams/stream.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS     1000u   // that a look at the clock costs
#define OPEN_MAX    512u    // open requests of a client
#define TURNS_MAX   100000u // of the conductor, until all work must be done
#define STEP_MS     100u    // how often time-outs are checked while time passes
#define OUTPUT_SIZE ((size_t)1 << 22)
#define FILE_SIZE   ((size_t)1 << 16) // of a saved world that is kept

struct pipe {
    fm_transport base; // first
    uint32_t client;
    bool is_open, is_closing, is_paused, is_stalled, is_finishing;
    size_t unsent_size;
};

struct client {
    struct pipe *pipe; // owned until it is closed; NULL: not connected
    bool is_wild;
    uint64_t asked_last;
    struct question {
        uint64_t number;
        fm_method method;
    } open[OPEN_MAX]; // requests
    uint32_t open_count;
};

struct live {
    fm_hub hub; // first
    struct client clients[FM_LIVE_CLIENTS_MAX];
    uint64_t known[FM_KNOWN_COUNT][FM_LIVE_KNOWN_MAX];
    uint64_t known_count[FM_KNOWN_COUNT]; // in total
    char token[FM_TOKEN_TEXT_SIZE];
    size_t file_size;
    uv_work_t *works[FM_LIVE_WORKS_MAX]; // for the thread pool, oldest first
    uv_after_work_cb after[FM_LIVE_WORKS_MAX];
    uv_work_cb todo[FM_LIVE_WORKS_MAX];
    uint32_t work_count;
};

static struct live live;
static uv_loop_t empty_loop; // empty between two servers
static uint8_t file[FILE_SIZE];
static uint64_t answered[FM_METHOD_COUNT];
static uint64_t now_ns;

// ---- in place of libuv and the clock ------------------------------------------------------------

uint64_t fm_clock_now_ns(void)
{
    now_ns += LOOK_NS;
    return now_ns;
}

uint64_t fm_clock_unix_s(void)
{
    return 1700000000 + now_ns / FM_NS_PER_S;
}

// In place of libuv's function: the work waits for fm_live_settle().
int uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work, uv_after_work_cb after)
{
    request->loop = loop;
    FM_ASSERT(live.work_count < FM_COUNT_OF(live.works));
    live.works[live.work_count] = request;
    live.todo[live.work_count] = work;
    live.after[live.work_count] = after;
    live.work_count++;
    return 0;
}

static bool run_works(void)
{
    uint32_t count = live.work_count;
    for (uint32_t i = 0; i < count; i++) {
        uv_work_t *request = live.works[0];
        uv_work_cb work = live.todo[0];
        uv_after_work_cb after = live.after[0];
        live.work_count--;
        memmove(live.works, live.works + 1, live.work_count * sizeof live.works[0]);
        memmove(live.todo, live.todo + 1, live.work_count * sizeof live.todo[0]);
        memmove(live.after, live.after + 1, live.work_count * sizeof live.after[0]);
        work(request);
        after(request, 0);
    }
    return count > 0;
}

// ---- messages to clients -----------------------------------------------------------------------

// Keeps each number once: frequent numbers are not more interesting than the others.
void fm_live_know(fm_known_kind kind, uint64_t number)
{
    if (number == 0) {
        return; // none
    }
    for (uint32_t i = 0; i < fm_live_known_count(kind); i++) {
        if (live.known[kind][i] == number) {
            return;
        }
    }
    live.known[kind][live.known_count[kind]++ % FM_LIVE_KNOWN_MAX] = number;
}

static bool is_text(const msgpack_object *object, const char *text)
{
    return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(text) &&
           memcmp(object->via.str.ptr, text, object->via.str.size) == 0;
}

static void remember_entry(const msgpack_object_kv *entry)
{
    static const char *const keys[] = {
#define X(enumerator, key) [enumerator] = key,
        FM_LIVE_KNOWN_LIST(X)
#undef X
    };
    const msgpack_object *value = &entry->val;
    if (is_text(&entry->key, "token") && value->via.str.size < sizeof live.token) {
        memcpy(live.token, value->via.str.ptr, value->via.str.size);
        live.token[value->via.str.size] = '\0';
    }
    if (value->type == MSGPACK_OBJECT_BIN && value->via.bin.size <= FILE_SIZE) {
        memcpy(file, value->via.bin.ptr, value->via.bin.size);
        live.file_size = value->via.bin.size;
    }
    for (fm_known_kind kind = 0; kind < FM_KNOWN_COUNT; kind++) {
        if (!is_text(&entry->key, keys[kind])) {
            continue;
        }
        if (value->type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
            fm_live_know(kind, value->via.u64);
        } else if (value->type == MSGPACK_OBJECT_ARRAY) {
            for (uint32_t i = 0; i < value->via.array.size; i++) {
                fm_live_know(kind, value->via.array.ptr[i].via.u64);
            }
        }
    }
}

static void take_answer(struct client *client, const msgpack_object *parts)
{
    FM_ASSERT(parts[1].type == MSGPACK_OBJECT_POSITIVE_INTEGER);
    FM_ASSERT(parts[2].type == MSGPACK_OBJECT_NIL || parts[3].type == MSGPACK_OBJECT_NIL);
    uint32_t at = 0;
    while (at < client->open_count && client->open[at].number != parts[1].via.u64) {
        at++;
    }
    FM_ASSERT(at < client->open_count || client->is_wild);
    if (at < client->open_count) {
        answered[client->open[at].method] += parts[2].type == MSGPACK_OBJECT_NIL;
        client->open[at] = client->open[--client->open_count];
    }
    if (parts[2].type != MSGPACK_OBJECT_NIL) {
        FM_ASSERT(parts[2].type == MSGPACK_OBJECT_MAP && parts[2].via.map.size >= 3);
        return;
    }
    FM_ASSERT(parts[3].type == MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < parts[3].via.map.size; i++) {
        remember_entry(&parts[3].via.map.ptr[i]);
    }
}

static bool is_notification(const msgpack_object *name)
{
    for (fm_notification i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        if (is_text(name, fm_notification_name(i))) {
            return true;
        }
    }
    return false;
}

static void take_message(struct client *client, const char *bytes, size_t size)
{
    static const fm_scan_limits limits = {
        .size_max = UINT32_MAX, .depth_max = FM_SCANNER_DEPTH_MAX, .elements_max = UINT32_MAX};
    fm_scanner scanner;
    fm_scanner_init(&scanner, &limits);
    size_t taken = fm_scanner_feed(&scanner, (const uint8_t *)bytes, size);
    FM_ASSERT(taken == size && scanner.state == FM_SCAN_DONE);
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    FM_ASSERT(msgpack_unpack_next(&unpacked, bytes, size, &offset) == MSGPACK_UNPACK_SUCCESS);
    const msgpack_object *message = &unpacked.data;
    FM_ASSERT(message->type == MSGPACK_OBJECT_ARRAY);
    const msgpack_object *parts = message->via.array.ptr;
    if (message->via.array.size == 4) {
        FM_ASSERT(parts[0].via.u64 == FM_MESSAGE_RESPONSE);
        take_answer(client, parts);
    } else {
        FM_ASSERT(message->via.array.size == 3 && parts[0].via.u64 == FM_MESSAGE_NOTIFICATION);
        FM_ASSERT(is_notification(&parts[1]));
    }
    msgpack_unpacked_destroy(&unpacked);
}

// ---- the transport -----------------------------------------------------------------------------

static fm_status pipe_send(fm_transport *transport, fm_frame *const *frames, uint32_t frame_count)
{
    static char output[OUTPUT_SIZE];
    struct pipe *pipe = (struct pipe *)transport;
    size_t size = 0;
    FM_ASSERT(frame_count >= 1 && frame_count <= FM_SEND_FRAMES_MAX);
    for (uint32_t i = 0; i < frame_count; i++) {
        FM_ASSERT(frames[i]->size <= OUTPUT_SIZE - size);
        memcpy(output + size, frames[i]->bytes, frames[i]->size);
        size += frames[i]->size;
    }
    take_message(&live.clients[pipe->client], output, size);
    pipe->unsent_size += pipe->is_stalled ? size : 0;
    return FM_OK;
}

static size_t pipe_unsent_size(const fm_transport *transport)
{
    return ((const struct pipe *)transport)->unsent_size;
}

static void pipe_pause(fm_transport *transport)
{
    ((struct pipe *)transport)->is_paused = true;
}

static void pipe_resume(fm_transport *transport)
{
    ((struct pipe *)transport)->is_paused = false;
}

static void pipe_finish(fm_transport *transport)
{
    ((struct pipe *)transport)->is_finishing = true;
}

static void pipe_close(fm_transport *transport)
{
    ((struct pipe *)transport)->is_closing = true;
}

static const fm_transport_ops pipe_ops = {
    .send = pipe_send,
    .unsent_size = pipe_unsent_size,
    .pause = pipe_pause,
    .resume = pipe_resume,
    .finish = pipe_finish,
    .close = pipe_close,
};

// Notifies the owners of closed pipes, as the loop does: not within a call from an owner.
static bool close_pipes(void)
{
    bool closed = false;
    for (uint32_t i = 0; i < FM_LIVE_CLIENTS_MAX; i++) {
        struct pipe *pipe = live.clients[i].pipe;
        bool is_over =
            pipe != NULL && (pipe->is_closing || (pipe->is_finishing && pipe->unsent_size == 0));
        if (is_over) {
            live.clients[i] = (struct client){0};
            if (pipe->base.events != NULL) {
                pipe->base.events->closed(pipe->base.owner);
            }
            free(pipe);
            closed = true;
        }
    }
    return closed;
}

struct fm_hub *fm_live_hub(void)
{
    return &live.hub;
}

// ---- clients -----------------------------------------------------------------------------------

void fm_live_connect(uint32_t client)
{
    fm_live_hang_up(client);
    struct pipe *pipe = calloc(1, sizeof *pipe);
    FM_ASSERT(pipe != NULL);
    pipe->base.ops = &pipe_ops;
    pipe->base.is_loopback = true;
    strcpy(pipe->base.peer, "127.0.0.1");
    pipe->client = client;
    live.clients[client] = (struct client){.pipe = pipe};
    fm_session_accept(&live.hub, &pipe->base);
    close_pipes(); // the server may have turned it away
}

bool fm_live_is_connected(uint32_t client)
{
    return live.clients[client].pipe != NULL;
}

static bool can_receive(const struct pipe *pipe)
{
    return pipe != NULL && !pipe->is_closing && !pipe->is_finishing && !pipe->is_paused;
}

void fm_live_send(uint32_t client, const void *bytes, size_t size, size_t piece)
{
    struct pipe *pipe = live.clients[client].pipe;
    const uint8_t *next = bytes;
    if (!can_receive(pipe)) {
        fm_live_run_wild(client); // its open requests are lost
    }
    while (size > 0 && can_receive(pipe)) {
        size_t taken = piece < size ? piece : size;
        uint8_t *copy = malloc(taken); // a block of its own: a read past its end is noticed
        FM_ASSERT(copy != NULL);
        memcpy(copy, next, taken);
        pipe->base.events->received(pipe->base.owner, copy, taken);
        free(copy);
        next += taken;
        size -= taken;
        if (size > 0 && !can_receive(pipe)) {
            fm_live_run_wild(client);
        }
    }
}

uint64_t fm_live_ask(uint32_t client, fm_method method)
{
    struct client *asker = &live.clients[client];
    FM_ASSERT(asker->open_count < OPEN_MAX);
    asker->open[asker->open_count++] = (struct question){++asker->asked_last, method};
    return asker->asked_last;
}

uint64_t fm_live_answered(fm_method method)
{
    return answered[method];
}

void fm_live_run_wild(uint32_t client)
{
    live.clients[client].is_wild = true;
    live.clients[client].open_count = 0;
}

void fm_live_stall(uint32_t client, bool stalled)
{
    struct pipe *pipe = live.clients[client].pipe;
    if (pipe == NULL) {
        return;
    }
    pipe->is_stalled = stalled;
    if (!stalled && pipe->unsent_size > 0) {
        pipe->unsent_size = 0;
        if (!pipe->is_closing) {
            pipe->base.events->sent(pipe->base.owner);
        }
    }
}

void fm_live_hang_up(uint32_t client)
{
    if (live.clients[client].pipe != NULL) {
        live.clients[client].pipe->is_closing = true;
        close_pipes();
    }
}

// ---- time --------------------------------------------------------------------------------------

static bool take_events(fm_conductor *conductor)
{
    fm_event *event = fm_conductor_receive(conductor);
    bool any = event != NULL;
    while (event != NULL) {
        fm_event *next = event->next;
        if (event->kind == FM_EVENT_JOB) {
            fm_methods_job_done(&live.hub, (fm_job *)event);
        } else if (event->kind == FM_EVENT_PUBLICATION) {
            fm_stream_publish(&live.hub, (fm_publication *)event);
        }
        event = next;
    }
    return any;
}

void fm_live_settle(void)
{
    bool busy = true;
    for (uint32_t turn = 0; busy; turn++) {
        FM_ASSERT(turn < TURNS_MAX);
        busy = fm_conductor_turn(live.hub.conductor) <= now_ns;
        busy |= fm_conductor_turn(live.hub.replayer) <= now_ns;
        busy |= take_events(live.hub.conductor);
        busy |= take_events(live.hub.replayer);
        busy |= run_works();
        busy |= close_pipes();
        uv_run(&empty_loop, UV_RUN_NOWAIT);
    }
}

// Checks that every connected client has all of its answers.
static void check_answers(void)
{
    for (uint32_t i = 0; i < FM_LIVE_CLIENTS_MAX; i++) {
        const struct client *client = &live.clients[i];
        bool is_open = can_receive(client->pipe) && !client->is_wild;
        FM_ASSERT(!is_open || client->open_count == 0);
    }
}

void fm_live_sleep(uint64_t ms)
{
    for (uint64_t slept = 0; slept < ms; slept += STEP_MS) {
        now_ns += STEP_MS * FM_NS_PER_MS;
        for (uint32_t i = 0; i < live.hub.session_count; i++) {
            fm_session_check_time(live.hub.sessions[i], now_ns);
        }
        fm_stream_flush(&live.hub);
        fm_live_settle();
    }
}

uint32_t fm_live_known_count(fm_known_kind kind)
{
    uint64_t count = live.known_count[kind];
    return count < FM_LIVE_KNOWN_MAX ? (uint32_t)count : FM_LIVE_KNOWN_MAX;
}

uint64_t fm_live_known(fm_known_kind kind, uint32_t index)
{
    uint32_t count = fm_live_known_count(kind);
    return count == 0 ? 0 : live.known[kind][index % count];
}

const char *fm_live_token(void)
{
    return live.token;
}

const void *fm_live_file(size_t *size)
{
    *size = live.file_size;
    return live.file_size > 0 ? file : NULL;
}

// ---- beginning and end -------------------------------------------------------------------------

static void on_event(void *context)
{
    (void)context; // fm_live_settle() polls
}

static void on_session_gone(fm_hub *hub)
{
    (void)hub;
}

static void init_loop(void)
{
    static bool initialized;
    if (!initialized) {
        FM_ASSERT(uv_loop_init(&empty_loop) == 0);
        initialized = true;
    }
}

static fm_conductor *make_conductor(const fm_config *config, bool for_replays)
{
    fm_conductor *conductor;
    fm_status status = fm_conductor_create_driven(config, for_replays, on_event, NULL, &conductor);
    FM_ASSERT(status == FM_OK);
    return conductor;
}

void fm_live_begin(const fm_config *config, const fm_config *worlds)
{
    init_loop();
    live = (struct live){.hub = {.config = config,
                                 .session_events = &fm_methods_session_events,
                                 .on_session_gone = on_session_gone}};
    now_ns = FM_NS_PER_S;
    live.hub.tokens.configured = config->grants;
    live.hub.start_ns = fm_clock_now_ns();
    live.hub.loop = &empty_loop;
    live.hub.conductor = make_conductor(worlds, false);
    live.hub.replayer = make_conductor(config, true);
}

static void end_worlds(void)
{
    while (live.hub.host_count > 0) {
        fm_host *host = live.hub.hosts[0];
        fm_job *job = fm_job_create(FM_JOB_REMOVE, host);
        FM_ASSERT(job != NULL);
        fm_status status = fm_conductor_post(live.hub.conductor, job);
        FM_ASSERT(status == FM_OK);
        host->state = FM_HOST_ENDING;
        fm_stream_end_host(&live.hub, host, NULL, 0);
        fm_hub_drop_host(&live.hub, host);
    }
    fm_live_settle();
}

static void end_conductor(fm_conductor *conductor)
{
    fm_conductor_stop(conductor);
    take_events(conductor);
    fm_conductor_destroy(conductor);
}

void fm_live_end(void)
{
    for (uint32_t i = 0; i < FM_LIVE_CLIENTS_MAX; i++) {
        fm_live_stall(i, false);
    }
    fm_live_settle();
    check_answers();
    for (uint32_t i = 0; i < FM_LIVE_CLIENTS_MAX; i++) {
        fm_live_hang_up(i);
    }
    end_worlds();
    FM_ASSERT(live.hub.session_count == 0 && live.hub.host_count == 0);
    FM_ASSERT(live.hub.creation_count == 0 && live.work_count == 0);
    FM_ASSERT(live.hub.replay_count == 0 && live.hub.opening_count == 0);
    FM_ASSERT(live.hub.listing_count == 0);
    FM_ASSERT(live.hub.uploads_size == 0 && live.hub.scenes_size == 0);
    end_conductor(live.hub.conductor);
    end_conductor(live.hub.replayer);
    fm_tokens_fini(&live.hub.tokens);
    fm_quotas_fini(&live.hub.address_quotas);
    fm_quotas_fini(&live.hub.token_quotas);
    free(live.hub.hosts);
    free(live.hub.sessions);
    FM_ASSERT(!uv_loop_alive(&empty_loop));
}
