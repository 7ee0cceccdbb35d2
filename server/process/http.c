// server/process/http.c: see http.h.
//
// Until a request is whole its bytes wait in a buffer of the connection's own, which is there only
// as long as there are any. A connection that says nothing has 140 bytes here.

#include "server/process/http.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/process/http_origin.h"
#include "server/process/http_pages.h"
#include "server/wire/proxy.h"
#include "server/wire/http_request.h"
#include "server/wire/transport_tcp.h"
#include "server/wire/transport_ws.h"
#include "server/wire/websocket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX     ((size_t)8192)     // of requests that are not answered yet
#define UNSENT_MAX    ((size_t)64 << 10) // of answers; more are not begun
#define REQUEST_MAX_S 10.0               // for a handshake and a head, whatever hello_timeout_s
#define WORLDS_NS     (2 * FM_NS_PER_S)  // for worlds to say their numbers
#define PROGRESS_NS   (10 * FM_NS_PER_S) // for the client to read some of an answer
#define KEEP_ALIVE_NS (30 * FM_NS_PER_S) // for the next request
#define LINGER_NS     FM_NS_PER_S        // for the client to close after the last answer
#define ALLOWED       "allow: GET, HEAD\r\n"

enum state {
    READING,
    WAITING,
    UPGRADED,
    ENDING
};

struct connection {
    struct connection *next, **link; // of all
    fm_http *http;
    fm_transport *inner;
    fm_quota *quota;
    fm_ws *ws; // NULL: none yet
    enum state state;
    bool answered;    // at least once
    bool is_head;     // of the request that waits
    bool keeps_alive; // the same
    bool paused;      // not read from: answers wait for the client, or it for one
    uint8_t *input;   // owned, INPUT_MAX; NULL while there is none
    size_t input_size, looked;
    uint64_t since_ns;    // when the state, or the head that is not whole, began
    uint64_t progress_ns; // when the client was last seen to read, or had nothing to read
    size_t unsent_size;   // as of then
};

struct fm_http {
    fm_hub *hub;
    fm_tls *tls;          // owned; NULL: none
    fm_proxies *proxies;  // owned; before TLS; NULL: it does not listen yet
    fm_accept_fn *accept; // NULL: there are no WebSockets, this port is the operators'
    fm_tcp_listener *listener;
    fm_quotas address_quotas; // those who are connected
    fm_http_pages *pages;
    struct connection *connections;
    uint32_t connection_count;
    char error[FM_TLS_ERROR_SIZE];
};

// ---- ending ------------------------------------------------------------------------------------

static void enter(struct connection *connection, enum state state)
{
    connection->state = state;
    connection->since_ns = fm_clock_now_ns();
}

static void drop_input(struct connection *connection)
{
    free(connection->input);
    connection->input = NULL;
    connection->input_size = connection->looked = 0;
}

// Writes queued bytes, and then waits for the client to close: closing first would make the system
// drop our answer if the client still sends.
static void finish(struct connection *connection)
{
    enter(connection, ENDING);
    connection->inner->ops->finish(connection->inner);
}

static void hang_up(struct connection *connection)
{
    enter(connection, ENDING);
    connection->inner->ops->close(connection->inner);
}

// ---- answers -----------------------------------------------------------------------------------

static bool holds_back(const struct connection *connection)
{
    return connection->inner->ops->unsent_size(connection->inner) > UNSENT_MAX;
}

// Takes the answer's body over.
static void send_answer(struct connection *connection, fm_http_answer *answer, bool is_head,
                        bool closes)
{
    bool has_body = answer->body != NULL;
    fm_frame *frames[] = {fm_http_answer_head(answer, closes), answer->body};
    bool is_whole = frames[0] != NULL && (has_body || answer->status == 304);
    uint32_t count = has_body && !is_head && answer->body->size > 0 ? 2 : 1;
    if (!is_whole || connection->inner->ops->send(connection->inner, frames, count) != FM_OK) {
        hang_up(connection);
    } else if (closes) {
        finish(connection);
    }
    fm_frame_drop(frames[0]);
    fm_frame_drop(answer->body);
    connection->answered = true;
}

static void refuse(struct connection *connection, uint32_t status, const char *further,
                   const char *reason)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_INFO, "HTTP request refused",
                   fm_log_text("peer", connection->inner->peer), fm_log_uint("status", status),
                   fm_log_bytes("reason", reason, strcspn(reason, "\n")));
    fm_http_answer answer = fm_http_answer_text(status, further, reason);
    send_answer(connection, &answer, false, true);
}

static void pause_reading(struct connection *connection)
{
    if (!connection->paused) {
        connection->paused = true;
        connection->inner->ops->pause(connection->inner);
    }
}

// ---- WebSocket ---------------------------------------------------------------------------------

// @return whether the subprotocol is ours, or the client leaves it out: there is only one
static bool protocol_is_right(const struct connection *connection, fm_http_text protocols)
{
    static fm_log_site site;
    if (protocols.size == 0) {
        fm_log_limited(&site, FM_LOG_INFO, "WebSocket without the subprotocol " FM_WS_PROTOCOL,
                       fm_log_text("peer", connection->inner->peer));
        return true;
    }
    return fm_http_list_has(protocols, FM_WS_PROTOCOL, false);
}

static void refuse_origin(struct connection *connection)
{
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "WebSocket refused",
                   fm_log_text("peer", connection->inner->peer),
                   fm_log_text("reason", "its origin is not allowed; see http_origins"));
    refuse(connection, 403, NULL, "this origin is not allowed\n");
}

static void open_websocket(struct connection *connection, const char *accept, bool has_protocol)
{
    fm_http *http = connection->http;
    fm_frame *head = fm_http_answer_upgrade(accept, has_protocol ? FM_WS_PROTOCOL : NULL);
    if (head == NULL || connection->inner->ops->send(connection->inner, &head, 1) != FM_OK) {
        fm_frame_drop(head);
        hang_up(connection);
        return;
    }
    fm_frame_drop(head);
    enter(connection, UPGRADED);
    connection->ws =
        fm_ws_open(connection->inner, http->hub->config->message_size_max, http->accept, http->hub);
    if (connection->ws == NULL) {
        hang_up(connection);
    }
}

static void take_handshake(struct connection *connection, const fm_http_request *request)
{
    const fm_hub *hub = connection->http->hub;
    char accept[FM_WEBSOCKET_ACCEPT_SIZE];
    if (!request->upgrades) {
        refuse(connection, 426, "upgrade: websocket\r\n", "this page is a WebSocket\n");
    } else if (!request->is_websocket ||
               !fm_websocket_accept(request->socket_key.bytes, request->socket_key.size, accept)) {
        refuse(connection, 400, NULL, "the WebSocket handshake is malformed\n");
    } else if (!fm_http_text_is(request->socket_version, "13")) {
        refuse(connection, 426, "sec-websocket-version: 13\r\n",
               "the version of WebSocket must be 13\n");
    } else if (!fm_http_origin_is_welcome(request, hub->config->http_origins,
                                          fm_tokens_are_needed(&hub->tokens))) {
        refuse_origin(connection);
    } else if (!protocol_is_right(connection, request->socket_protocols)) {
        refuse(connection, 400, NULL, "the WebSocket subprotocol must be " FM_WS_PROTOCOL "\n");
    } else {
        open_websocket(connection, accept, request->socket_protocols.size > 0);
    }
}

// ---- requests ----------------------------------------------------------------------------------

static void take_request(struct connection *connection, const uint8_t *head, size_t size)
{
    fm_http_request request;
    fm_http_refusal refusal;
    fm_http_answer answer;
    if (size > FM_HTTP_HEAD_MAX) {
        refuse(connection, 431, NULL, "the head of a request has 4 KiB at most\n");
    } else if (!fm_http_request_read(head, size, &request, &refusal)) {
        refuse(connection, refusal.status, refusal.status == 405 ? ALLOWED : NULL, refusal.reason);
    } else if (connection->http->accept != NULL && fm_http_text_is(request.path, "/ws")) {
        take_handshake(connection, &request);
    } else if (request.upgrades) {
        refuse(connection, 400, NULL, "the only WebSocket is /ws of the port for everybody\n");
    } else if (fm_http_pages_answer(connection->http->pages, &request,
                                    connection->inner->is_loopback, &answer)) {
        send_answer(connection, &answer, request.is_head, !request.keeps_alive);
    } else {
        connection->is_head = request.is_head;
        connection->keeps_alive = request.keeps_alive;
        enter(connection, WAITING);
        pause_reading(connection);
    }
}

// The head of the next request, in what has come in from `at` on. 0: it is not whole yet.
static size_t find_head(struct connection *connection, size_t at)
{
    size_t size = connection->input_size - at;
    size_t head_size = fm_http_head_size(connection->input + at, size, &connection->looked);
    if (head_size == 0 && size > FM_HTTP_HEAD_MAX) {
        return size; // too large in any case
    }
    return head_size;
}

// Takes the requests that are whole, as long as the client reads the answers.
static void take_requests(struct connection *connection)
{
    size_t at = 0;
    while (connection->state == READING && at < connection->input_size) {
        if (holds_back(connection)) {
            pause_reading(connection);
            break;
        }
        size_t size = find_head(connection, at);
        if (size == 0) {
            break;
        }
        take_request(connection, connection->input + at, size);
        connection->looked = 0;
        at += size;
        connection->since_ns = fm_clock_now_ns();
    }
    if (at > 0) { // otherwise there may be no input at all
        connection->input_size -= at;
        memmove(connection->input, connection->input + at, connection->input_size);
    }
}

static void hand_on_input(struct connection *connection)
{
    if (connection->ws != NULL && connection->input_size > 0) {
        fm_ws_receive(connection->ws, connection->input, connection->input_size);
    }
    drop_input(connection);
}

// @return false when out of memory
static bool make_input(struct connection *connection)
{
    if (connection->input == NULL) {
        connection->input = malloc(INPUT_MAX);
        connection->since_ns =
            connection->state == READING ? fm_clock_now_ns() : connection->since_ns;
    }
    return connection->input != NULL;
}

// @return how many of the bytes were taken
static size_t take_bytes(struct connection *connection, const uint8_t *bytes, size_t size)
{
    size_t room = INPUT_MAX - connection->input_size;
    size = size < room ? size : room;
    memcpy(connection->input + connection->input_size, bytes, size);
    connection->input_size += size;
    take_requests(connection);
    return size;
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    struct connection *connection = owner;
    fm_hub_beat(connection->http->hub);
    while (size > 0 && (connection->state == READING || connection->state == WAITING)) {
        if (!make_input(connection)) {
            hang_up(connection);
            break;
        }
        size_t taken = take_bytes(connection, bytes, size);
        if (taken == 0) {
            refuse(connection, 400, NULL, "too many requests behind one that is not answered\n");
        }
        bytes += taken;
        size -= taken;
    }
    if (connection->state == UPGRADED || connection->state == ENDING ||
        connection->input_size == 0) {
        hand_on_input(connection);
    }
    if (connection->ws != NULL && size > 0) {
        fm_ws_receive(connection->ws, bytes, size);
    }
}

// Continues after an answer that was awaited.
static void go_on(struct connection *connection)
{
    if (connection->state == READING && connection->paused && !holds_back(connection)) {
        connection->paused = false;
        take_requests(connection);
        if (connection->state == READING && !connection->paused) {
            connection->inner->ops->resume(connection->inner);
        }
        if (connection->state != WAITING &&
            (connection->state != READING || connection->input_size == 0)) {
            hand_on_input(connection);
        }
    }
}

static void on_sent(void *owner)
{
    struct connection *connection = owner;
    if (connection->ws != NULL) {
        fm_ws_sent(connection->ws);
    } else {
        go_on(connection);
    }
}

// The next ones may ask for metrics again, and wait in their turn.
static void on_metrics(void *context)
{
    fm_http *http = context;
    for (struct connection *connection = http->connections; connection != NULL;
         connection = connection->next) {
        if (connection->state == WAITING) {
            fm_http_answer answer;
            fm_http_pages_answer_metrics(http->pages, &answer);
            enter(connection, READING);
            send_answer(connection, &answer, connection->is_head, !connection->keeps_alive);
            go_on(connection);
        }
    }
}

// ---- connections -------------------------------------------------------------------------------

static void on_closed(void *owner)
{
    struct connection *connection = owner;
    fm_http *http = connection->http;
    fm_hub_beat(http->hub);
    if (connection->ws != NULL) {
        fm_ws_closed(connection->ws);
    }
    *connection->link = connection->next;
    if (connection->next != NULL) {
        connection->next->link = connection->link;
    }
    http->connection_count--;
    fm_quotas_release(&http->address_quotas, connection->quota, fm_clock_now_ns());
    drop_input(connection);
    free(connection);
}

static const fm_transport_events inner_events = {
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
};

static bool is_full(const fm_http *http, const fm_quota *address)
{
    const fm_config *config = http->hub->config;
    return http->connection_count >= config->http_connections_max ||
           (config->sessions_per_address_max > 0 &&
            address->connections > config->sessions_per_address_max);
}

static void log_turned_away(fm_http *http, const char *peer, bool too_fast)
{
    static fm_log_site too_many;
    http->hub->counts.turned_away++;
    http->hub->counts.too_fast += too_fast;
    fm_log_limited(&too_many, FM_LOG_WARNING, "connection turned away", fm_log_text("peer", peer),
                   fm_log_text("reason", too_fast ? "rate_connections" : "too many"),
                   fm_log_uint("http_connections", http->connection_count));
}

static void add_connection(fm_http *http, struct connection *connection)
{
    connection->next = http->connections;
    connection->link = &http->connections;
    if (connection->next != NULL) {
        connection->next->link = &connection->next;
    }
    http->connections = connection;
    http->connection_count++;
}

// An address is held from here until the connection is closed.
void fm_http_accept(void *context, fm_transport *inner)
{
    fm_http *http = context;
    uint64_t now_ns = fm_clock_now_ns();
    fm_quota *address = fm_quotas_hold_address(&http->address_quotas, inner->peer);
    bool too_fast =
        address != NULL && !fm_quota_may_open(address, http->hub->config->rate_connections, now_ns);
    bool is_refused = address != NULL && (too_fast || is_full(http, address));
    struct connection *connection =
        address == NULL || is_refused ? NULL : calloc(1, sizeof *connection);
    if (is_refused) {
        log_turned_away(http, inner->peer, too_fast);
    }
    if (connection == NULL) {
        if (address != NULL) {
            fm_quotas_release(&http->address_quotas, address, now_ns);
        }
        inner->ops->close(inner);
        return;
    }
    connection->http = http;
    connection->inner = inner;
    connection->quota = address;
    connection->since_ns = connection->progress_ns = now_ns;
    inner->events = &inner_events;
    inner->owner = connection;
    add_connection(http, connection);
}

// ---- time --------------------------------------------------------------------------------------

static uint64_t patience_ns(const fm_config *config)
{
    double patience_s = ceil(config->hello_timeout_s);
    return (uint64_t)((patience_s < REQUEST_MAX_S ? patience_s : REQUEST_MAX_S) * 1e9);
}

// Since when the client has not taken anything of what waits for it.
static uint64_t stuck_since_ns(struct connection *connection, uint64_t now_ns)
{
    size_t unsent_size = connection->inner->ops->unsent_size(connection->inner);
    if (unsent_size == 0 || unsent_size != connection->unsent_size) {
        connection->unsent_size = unsent_size;
        connection->progress_ns = now_ns;
    }
    return connection->progress_ns;
}

static void check_reading(struct connection *connection, uint64_t now_ns)
{
    bool is_idle = connection->answered && connection->input_size == 0;
    uint64_t limit_ns = is_idle ? KEEP_ALIVE_NS : patience_ns(connection->http->hub->config);
    if (connection->paused) {
        connection->since_ns = now_ns; // it is not read from
    } else if (now_ns - connection->since_ns > limit_ns) {
        if (connection->input_size > 0) {
            refuse(connection, 408, NULL, "the request took too long\n");
        } else {
            hang_up(connection);
        }
        drop_input(connection);
    }
}

static void check_time(struct connection *connection, uint64_t now_ns)
{
    uint64_t stuck_ns = now_ns - stuck_since_ns(connection, now_ns);
    switch (connection->state) {
    case READING:
        check_reading(connection, now_ns);
        break;
    case WAITING:
        if (now_ns - connection->since_ns > WORLDS_NS) {
            fm_http_pages_make_do(connection->http->pages);
        }
        break;
    case UPGRADED:
        fm_ws_check_time(connection->ws, now_ns);
        return; // its session detects slow readers
    case ENDING:
        if (connection->unsent_size == 0 && now_ns - connection->since_ns > LINGER_NS) {
            hang_up(connection);
        }
        break;
    }
    if (stuck_ns > PROGRESS_NS) {
        hang_up(connection);
    }
}

void fm_http_check_time(fm_http *http, uint64_t now_ns)
{
    struct connection *connection = http == NULL ? NULL : http->connections;
    fm_proxies_check_time(http == NULL ? NULL : http->proxies, now_ns,
                          http == NULL ? 0 : patience_ns(http->hub->config));
    for (; connection != NULL; connection = connection->next) {
        check_time(connection, now_ns);
    }
}

static void forgive(struct connection *connection, uint64_t pause_ns, uint64_t now_ns)
{
    uint64_t *const times[] = {&connection->since_ns, &connection->progress_ns};
    for (uint32_t i = 0; i < FM_COUNT_OF(times); i++) {
        *times[i] = now_ns - *times[i] < pause_ns ? now_ns : *times[i] + pause_ns;
    }
    if (connection->ws != NULL) {
        fm_ws_forgive(connection->ws, pause_ns, now_ns);
    }
}

void fm_http_forgive(fm_http *http, uint64_t pause_ns, uint64_t now_ns)
{
    struct connection *connection = http == NULL ? NULL : http->connections;
    for (; connection != NULL; connection = connection->next) {
        forgive(connection, pause_ns, now_ns);
    }
}

// ---- beginning and end -------------------------------------------------------------------------

fm_http *fm_http_create(fm_hub *hub, fm_accept_fn *accept)
{
    fm_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return NULL;
    }
    http->hub = hub;
    http->accept = accept;
    http->pages = fm_http_pages_create(hub, accept == NULL, on_metrics, http);
    if (http->pages == NULL) {
        free(http);
        return NULL;
    }
    return http;
}

fm_status fm_http_listen(fm_http *http, const char *address, uint16_t port, uv_buf_t read_buffer,
                         uint16_t *port_taken, const char **error)
{
    const fm_config *config = http->hub->config;
    if (config->tls_certificate[0] != '\0') {
        const char *key = config->tls_key[0] == '\0' ? config->tls_certificate : config->tls_key;
        fm_status status = fm_tls_create(config->tls_certificate, key, fm_http_accept, http,
                                         &http->tls, http->error);
        if (status != FM_OK) {
            *error = http->error;
            return status;
        }
    }
    bool secret = http->tls != NULL;
    http->proxies =
        fm_proxies_create(config->trusted_proxies, secret ? fm_tls_accept : fm_http_accept,
                          secret ? (void *)http->tls : (void *)http);
    if (http->proxies == NULL) {
        *error = "out of memory";
        return FM_ERR_NO_MEMORY;
    }
    return fm_tcp_listen(http->hub->loop, address, port, read_buffer, fm_proxies_accept,
                         http->proxies, port_taken, &http->listener, error);
}

fm_status fm_http_renew_certificate(fm_http *http, char *error)
{
    return http == NULL || http->tls == NULL ? FM_OK : fm_tls_reload(http->tls, error);
}

void fm_http_read_files(fm_http *http)
{
    if (http != NULL) {
        fm_http_pages_read_files(http->pages);
    }
}

void fm_http_take_scrape(fm_http *http, fm_job *job)
{
    if (http != NULL) {
        fm_http_pages_take_scrape(http->pages, job);
    } else {
        fm_job_destroy(job);
    }
}

void fm_http_close(fm_http *http)
{
    if (http == NULL) {
        return;
    }
    fm_tcp_listener_destroy(http->listener);
    http->listener = NULL;
    fm_proxies_close(http->proxies);
    for (struct connection *connection = http->connections; connection != NULL;
         connection = connection->next) {
        connection->inner->ops->close(connection->inner);
    }
}

void fm_http_destroy(fm_http *http)
{
    if (http != NULL) {
        FM_ASSERT(http->connection_count == 0);
        fm_proxies_destroy(http->proxies);
        fm_tls_destroy(http->tls);
        fm_http_pages_destroy(http->pages);
        fm_quotas_fini(&http->address_quotas);
        free(http);
    }
}
