// tests/fuzz/fuzz_http.c: any bytes to the HTTP port, on up to four connections: requests,
// handshakes, frames, in any pieces, with clients that leave, stall and come back.
//
// Every answer has a valid head and the length that it claims, every frame of a WebSocket is valid
// and none follows a close frame, and nothing is sent to a disconnected client. When all clients
// are idle, all connections end within a minute and nothing is left. wslay accepts what our frame
// decoder accepts, and decodes the same messages.
//
// An input is what a client sends, as it is. 0xfe begins a step instead: the byte behind it says
// what happens (enum step), its upper half how much or to which client. The first byte says how the
// server is set up, and whether the rest is frames for the two decoders alone.

#include "tests/fuzz/fuzz.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/process/http.h"
#include "server/process/metrics.h"
#include "server/wire/websocket.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#define PIPES_MAX 4u
#define HELD_MAX  ((size_t)1 << 20) // bytes that wait for a connection that is not read from
#define STEP_BYTE 0xfeu
#define CHECK_MS  100u
#define END_MS    60000u // until all idle clients are disconnected
#define BIG_SIZE  100000u
#define PIECE_MAX ((size_t)1 << 15) // bytes that arrive at once
#define SLEEPS    32u               // how often time-outs are checked in one long step

enum step {
    STEP_CUT,      // what was sent arrives here
    STEP_CLIENT,   // switches to another client, which connects if necessary
    STEP_HANG_UP,  //
    STEP_STALL,    // the client stops reading
    STEP_READ,     // the client reads again
    STEP_SLEEP,    // 100 ms, twice that, four times ...
    STEP_METRICS,  // the metrics are ready
    STEP_SOCKET,   // a valid handshake
    STEP_BYTEWISE, // switches on or off that bytes arrive one by one
    STEP_MORE,     // the bytes since the last step come once, twice, ..., 128 times, and no step
    STEP_COUNT,
};

struct pipe {
    fm_transport base; // first
    bool is_closing, is_finishing, is_paused, is_stalled;
    bool is_socket;                    // was answered with 101
    bool has_closed;                   // a close frame was sent
    uint32_t unsent_count, sent_count; // messages; the owner was not yet notified of the sent ones
    size_t unsent_size;
    uint8_t *held; // owned; arrived, but not read
    size_t held_size;
};

static struct {
    fm_hub hub;
    fm_config config;
    fm_http *http;
    struct pipe *pipes[PIPES_MAX];
    uint32_t current;
    bool bytewise, metrics_wait;
    uint8_t piece[PIECE_MAX]; // that arrives with the next step
    size_t piece_size;
    fm_frame *big;
} all;

static uint64_t now_ns;

uint64_t fm_clock_now_ns(void)
{
    return now_ns;
}

// ---- metrics, which are ready some time later ---------------------------------------------------

struct fm_metrics {
    void (*on_ready)(void *context);
    void *context;
    bool is_fresh;
    uint64_t made_ns; // when a text was last made without the worlds
};

static fm_metrics metrics;

fm_metrics *fm_metrics_create(fm_hub *hub, void (*on_ready)(void *context), void *context)
{
    (void)hub;
    metrics = (fm_metrics){.on_ready = on_ready, .context = context};
    return &metrics;
}

void fm_metrics_destroy(fm_metrics *gone)
{
    (void)gone;
}

bool fm_metrics_request(fm_metrics *asked)
{
    return asked->is_fresh || now_ns - asked->made_ns < FM_NS_PER_S;
}

void fm_metrics_take(fm_metrics *asked, fm_job *job)
{
    (void)asked, (void)job;
}

// Called when a scrape has waited too long.
void fm_metrics_make_do(fm_metrics *asked)
{
    asked->made_ns = now_ns;
    asked->on_ready(asked->context);
}

const char *fm_metrics_text(const fm_metrics *asked, size_t *size)
{
    static const char text[] = "fogmarch_worlds 0\n";
    (void)asked;
    *size = sizeof text - 1;
    return text;
}

// ---- what is sent -------------------------------------------------------------------------------

static void check_answer(struct pipe *pipe, fm_frame *const *frames, uint32_t count)
{
    char head[2048];
    FM_ASSERT(count <= 2 && frames[0]->size < sizeof head);
    memcpy(head, frames[0]->bytes, frames[0]->size);
    head[frames[0]->size] = '\0';
    const char *end = strstr(head, "\r\n\r\n");
    const char *length = strstr(head, "\r\ncontent-length: ");
    FM_ASSERT(strncmp(head, "HTTP/1.1 ", 9) == 0 && strlen(head) == frames[0]->size);
    FM_ASSERT(end != NULL && end + 4 == head + frames[0]->size);
    pipe->is_socket = strncmp(head + 9, "101 ", 4) == 0;
    if (count == 2) {
        FM_ASSERT(pipe->base.is_loopback || frames[1]->size < 9 ||
                  memcmp(frames[1]->bytes, "fogmarch_", 9) != 0);
        FM_ASSERT(length != NULL && strtoull(length + 18, NULL, 10) == frames[1]->size);
    }
}

static void check_frame(struct pipe *pipe, fm_frame *const *frames, uint32_t count)
{
    const uint8_t *head = (const uint8_t *)frames[0]->bytes;
    uint8_t expected[FM_WEBSOCKET_HEAD_MAX];
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        size += frames[i]->size;
    }
    FM_ASSERT(!pipe->has_closed && frames[0]->size >= 2);
    size_t head_size = (head[1] & 0x7f) < 126 ? 2 : (head[1] & 0x7f) == 126 ? 4 : 10;
    fm_websocket_kind kind = (fm_websocket_kind)(head[0] & 0xf);
    FM_ASSERT(fm_websocket_head(kind, size - head_size, expected) == head_size);
    FM_ASSERT(memcmp(head, expected, head_size) == 0);
    FM_ASSERT(kind == FM_WEBSOCKET_BINARY || (kind >= FM_WEBSOCKET_CLOSE && size <= 127));
    pipe->has_closed = kind == FM_WEBSOCKET_CLOSE;
}

static fm_status pipe_send(fm_transport *transport, fm_frame *const *frames, uint32_t count)
{
    struct pipe *pipe = (struct pipe *)transport;
    FM_ASSERT(count >= 1 && count <= FM_SEND_FRAMES_MAX);
    if (pipe->is_closing || pipe->is_finishing) {
        return FM_ERR_IO;
    }
    if (pipe->is_socket) {
        check_frame(pipe, frames, count);
    } else {
        check_answer(pipe, frames, count);
    }
    for (uint32_t i = 0; i < count && pipe->is_stalled; i++) {
        pipe->unsent_size += frames[i]->size;
    }
    pipe->unsent_size += pipe->is_stalled ? FM_SEND_OVERHEAD : 0;
    pipe->unsent_count += pipe->is_stalled;
    pipe->sent_count += !pipe->is_stalled;
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

// ---- the session of a WebSocket -----------------------------------------------------------------

// The last byte that it gets says what it does.
static void session_received(void *owner, const uint8_t *bytes, size_t size)
{
    fm_transport *transport = owner;
    switch (bytes[size - 1]) {
    case 'F':
        transport->ops->finish(transport);
        break;
    case 'C':
        transport->ops->close(transport);
        break;
    case 'P':
        transport->ops->pause(transport);
        break;
    case 'B': {
        fm_frame *const frames[] = {all.big, all.big, all.big};
        (void)!transport->ops->send(transport, frames, 3);
        break;
    }
    case 'S': {
        fm_frame *frame = fm_frame_copy(bytes, size);
        (void)!transport->ops->send(transport, &frame, 1);
        fm_frame_drop(frame);
        break;
    }
    default:
        break;
    }
}

static void session_sent(void *owner)
{
    fm_transport *transport = owner;
    transport->ops->resume(transport);
}

static void session_closed(void *owner)
{
    (void)owner;
    all.hub.session_count--;
}

static void accept_session(void *context, fm_transport *transport)
{
    static const fm_transport_events events = {
        .received = session_received,
        .sent = session_sent,
        .closed = session_closed,
    };
    (void)context;
    if (all.hub.going_down) {
        transport->ops->close(transport);
        return;
    }
    all.hub.session_count++;
    transport->events = &events;
    transport->owner = transport;
}

// ---- what arrives -------------------------------------------------------------------------------

static bool is_over(const struct pipe *pipe)
{
    return pipe->is_closing;
}

static void end_pipe(uint32_t index)
{
    struct pipe *pipe = all.pipes[index];
    all.pipes[index] = NULL;
    if (pipe->base.events != NULL) {
        pipe->base.events->closed(pipe->base.owner);
    }
    free(pipe->held);
    free(pipe);
}

// A block of its own, so that a read past its end is noticed. Those of one byte come by the
// thousand and share one, which nobody may read once it was received.
static void deliver(struct pipe *pipe, const uint8_t *bytes, size_t size)
{
    static uint8_t *one;
    if (one == NULL) {
        one = malloc(1);
    }
    uint8_t *copy = size == 1 ? one : malloc(size);
    FM_ASSERT(copy != NULL);
    ASAN_UNPOISON_MEMORY_REGION(copy, size);
    memcpy(copy, bytes, size);
    if (!pipe->is_finishing) {
        pipe->base.events->received(pipe->base.owner, copy, size);
    }
    if (copy == one) {
        ASAN_POISON_MEMORY_REGION(copy, size);
    } else {
        free(copy);
    }
}

static void deliver_held(struct pipe *pipe)
{
    while (pipe->held_size > 0 && !pipe->is_paused && !is_over(pipe)) {
        uint8_t *bytes = pipe->held;
        size_t size = pipe->held_size, piece = all.bytewise ? 1 : size;
        pipe->held = NULL;
        pipe->held_size = 0;
        size_t at = 0;
        while (at < size && !pipe->is_paused && !is_over(pipe)) {
            deliver(pipe, bytes + at, piece);
            at += piece;
        }
        if (at < size) {
            pipe->held_size = size - at;
            memmove(bytes, bytes + at, size - at);
            pipe->held = bytes;
        } else {
            free(bytes);
        }
    }
}

// The loop's part: what was sent, what is over, what can be read again.
static void settle(void)
{
    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        struct pipe *pipe = all.pipes[i];
        if (pipe == NULL) {
            continue;
        }
        deliver_held(pipe);
        for (; pipe->sent_count > 0 && !is_over(pipe); pipe->sent_count--) {
            if (!pipe->is_finishing) {
                pipe->base.events->sent(pipe->base.owner);
            }
        }
        deliver_held(pipe);
        if (is_over(pipe)) {
            end_pipe(i);
        }
    }
}

static void come(uint32_t index)
{
    struct pipe *pipe = calloc(1, sizeof *pipe);
    FM_ASSERT(pipe != NULL);
    pipe->base.ops = &pipe_ops;
    pipe->base.is_loopback = index != PIPES_MAX - 1; // one is remote: it gets nothing about worlds
    strcpy(pipe->base.peer, "127.0.0.1");
    all.pipes[index] = pipe;
    fm_http_accept(all.http, &pipe->base);
    settle();
}

static void arrive(const uint8_t *bytes, size_t size)
{
    if (all.pipes[all.current] == NULL) {
        come(all.current);
    }
    struct pipe *pipe = all.pipes[all.current];
    if (pipe == NULL || size == 0 || pipe->held_size + size > HELD_MAX) {
        return;
    }
    uint8_t *held = realloc(pipe->held, pipe->held_size + size);
    FM_ASSERT(held != NULL);
    memcpy(held + pipe->held_size, bytes, size);
    pipe->held = held;
    pipe->held_size += size;
    settle();
}

static void read_all(struct pipe *pipe)
{
    pipe->is_stalled = false;
    pipe->unsent_size = 0;
    pipe->sent_count += pipe->unsent_count;
    pipe->unsent_count = 0;
}

static bool anybody_is_connected(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        count += all.pipes[i] != NULL;
    }
    return count > 0;
}

// Lets time pass, and checks time-outs after each step, while there is anybody to whom they apply.
static void sleep_ms(uint32_t ms, uint32_t step_ms)
{
    for (; ms > 0 && anybody_is_connected(); ms -= step_ms) {
        now_ns += step_ms * FM_NS_PER_MS;
        fm_http_check_time(all.http, now_ns);
        settle();
    }
    now_ns += ms * FM_NS_PER_MS;
}

static void send_piece(void)
{
    arrive(all.piece, all.piece_size);
    all.piece_size = 0;
}

static void add_to_piece(const uint8_t *bytes, size_t size)
{
    if (size <= PIECE_MAX - all.piece_size) {
        memcpy(all.piece + all.piece_size, bytes, size);
        all.piece_size += size;
    }
}

static void take_step(uint8_t byte)
{
    static const char handshake[] = "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                                    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    struct pipe *pipe = all.pipes[all.current];
    switch ((enum step)((byte & 0xf) % STEP_COUNT)) {
    case STEP_CUT:
        break;
    case STEP_CLIENT:
        all.current = byte >> 4 & (PIPES_MAX - 1);
        break;
    case STEP_HANG_UP:
        if (pipe != NULL) {
            end_pipe(all.current);
        }
        break;
    case STEP_STALL:
        if (pipe != NULL) {
            pipe->is_stalled = true;
        }
        break;
    case STEP_READ:
        if (pipe != NULL) {
            read_all(pipe);
        }
        break;
    case STEP_SLEEP: {
        uint32_t ms = CHECK_MS << (byte >> 4 & 7);
        sleep_ms(ms, ms < SLEEPS * CHECK_MS ? CHECK_MS : ms / SLEEPS);
        break;
    }
    case STEP_METRICS:
        metrics.is_fresh = !metrics.is_fresh;
        metrics.on_ready(metrics.context);
        break;
    case STEP_SOCKET:
        arrive((const uint8_t *)handshake, sizeof handshake - 1);
        break;
    case STEP_BYTEWISE:
        all.bytewise = !all.bytewise;
        break;
    case STEP_MORE:
    case STEP_COUNT:
        FM_UNREACHABLE();
    }
    settle();
}

static bool is_more(uint8_t byte)
{
    return (byte & 0xf) % STEP_COUNT == STEP_MORE;
}

static void play(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;
    while (bytes < end) {
        const uint8_t *step = memchr(bytes, STEP_BYTE, (size_t)(end - bytes));
        bool is_step = step != NULL && step + 1 < end;
        size_t piece = (size_t)((is_step ? step : end) - bytes);
        bool more = is_step && is_more(step[1]);
        uint32_t times = more ? 1u << (step[1] >> 4 & 7) : 1;
        for (uint32_t i = 0; i < times; i++) {
            add_to_piece(bytes, piece);
        }
        if (is_step && !more) {
            send_piece();
            take_step(step[1]);
        }
        bytes = is_step ? step + 2 : end;
    }
    send_piece();
}

// All clients read and do nothing more.
static void end(void)
{
    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        if (all.pipes[i] != NULL) {
            read_all(all.pipes[i]);
            free(all.pipes[i]->held);
            all.pipes[i]->held = NULL;
            all.pipes[i]->held_size = 0;
        }
    }
    settle();
    sleep_ms(END_MS, END_MS / 60);
    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        // A session that has paused its transport decides itself how long.
        FM_ASSERT(all.pipes[i] == NULL || all.pipes[i]->is_paused || all.pipes[i]->has_closed);
        if (all.pipes[i] != NULL) {
            end_pipe(i);
        }
    }
    FM_ASSERT(all.hub.session_count == 0);
}

// ---- frames, decoded by wslay, too --------------------------------------------------------------

struct source {
    const uint8_t *bytes;
    size_t size, at;
};

static ssize_t read_source(uint8_t *out, size_t size, int flags, void *context)
{
    struct source *source = context;
    (void)flags;
    size_t left = source->size - source->at;
    size = size < left ? size : left;
    memcpy(out, source->bytes + source->at, size);
    source->at += size;
    return size == 0 ? -1 : (ssize_t)size;
}

// @return bytes of messages; SIZE_MAX: wslay refuses a frame
static size_t decode_with_wslay(const uint8_t *bytes, size_t size, uint8_t *out)
{
    struct source source = {.bytes = bytes, .size = size};
    const struct wslay_frame_callbacks callbacks = {.recv_callback = read_source};
    wslay_frame_context_ptr context;
    FM_ASSERT(wslay_frame_context_init(&context, &callbacks, &source) == 0);
    size_t count = 0;
    ssize_t result;
    struct wslay_frame_iocb frame;
    while (memset(&frame, 0, sizeof frame), (result = wslay_frame_recv(context, &frame)) >= 0) {
        if ((frame.opcode & 8) == 0) {
            memcpy(out + count, frame.data, frame.data_length);
            count += frame.data_length;
        }
    }
    wslay_frame_context_free(context);
    return result == WSLAY_ERR_WANT_READ ? count : SIZE_MAX;
}

static void compare_decoders(const uint8_t *bytes, size_t size)
{
    uint8_t *ours = malloc(size + 1), *theirs = malloc(size + 1);
    FM_ASSERT(ours != NULL && theirs != NULL);
    fm_websocket_decoder decoder = {.frame_size_max = INT64_MAX};
    fm_websocket_heard heard = {0};
    size_t count = 0, step = size > 0 ? 1 + bytes[0] % 16 : 1;
    for (size_t at = 0; at < size && heard.error_code == 0 && heard.close_code == 0; at += step) {
        size_t piece = step < size - at ? step : size - at;
        fm_websocket_decode(&decoder, bytes + at, piece, ours + count, &heard);
        FM_ASSERT(heard.size <= piece);
        count += heard.size;
    }
    size_t their_count = decode_with_wslay(bytes, size, theirs);
    if (heard.error_code == 0 && heard.close_code == 0 && their_count == SIZE_MAX) {
        // wslay refuses a length before the mask behind it has come; our decoder does so with it.
        static const uint8_t mask[4];
        uint8_t nothing[sizeof mask];
        fm_websocket_decode(&decoder, mask, sizeof mask, nothing, &heard);
        FM_ASSERT(heard.error_code != 0);
    } else if (heard.error_code == 0 && heard.close_code == 0) {
        FM_ASSERT(their_count == count && memcmp(ours, theirs, count) == 0);
    } else if (their_count != SIZE_MAX) {
        FM_ASSERT(count <= their_count && memcmp(ours, theirs, count) == 0);
    }
    free(ours);
    free(theirs);
}

// ---- one input ----------------------------------------------------------------------------------

static void write_file(const char *folder, const char *name, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    FM_ASSERT(file != NULL);
    for (size_t i = 0; i < size; i++) {
        fputc('x', file);
    }
    FM_ASSERT(fclose(file) == 0);
}

static void begin(void)
{
    const char *folder = fm_fuzz_folder();
    static uint8_t bytes[BIG_SIZE];
    FM_ASSERT(fm_tokens_start());
    fm_log_set_level(FM_LOG_ERROR);
    write_file(folder, "index.html", 20);
    write_file(folder, "large.js", BIG_SIZE);
    all.config = fm_config_default();
    snprintf(all.config.web_root, sizeof all.config.web_root, "%s", folder);
    snprintf(all.config.http_origins, sizeof all.config.http_origins, "http://b");
    all.hub.config = &all.config;
    all.big = fm_frame_copy(bytes, sizeof bytes);
    all.http = fm_http_create(&all.hub, accept_session);
    FM_ASSERT(all.http != NULL && all.big != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (all.http == NULL) {
        begin();
    }
    uint8_t setup = size > 0 ? bytes[0] : 0;
    if ((setup & 1) != 0) {
        compare_decoders(bytes + 1, size - 1);
        return 0;
    }
    now_ns = 1000 * FM_NS_PER_S;
    metrics.is_fresh = (setup & 2) != 0;
    metrics.made_ns = 0;
    all.hub.going_down = (setup & 4) != 0;
    all.current = 0;
    all.bytewise = (setup & 8) != 0;
    if (size > 1) {
        play(bytes + 1, size - 1);
    }
    end();
    return 0;
}
