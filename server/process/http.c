// server/process/http.c: see http.h.

#include "server/process/http.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/process/metrics.h"
#include "server/wire/listener.h"
#include "server/wire/transport_ws.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_SIZE    ((size_t)4096) // of a request
#define BODY_CHUNK     ((size_t)32 << 10)
#define REQUEST_TIME_S 10u // for a handshake, a request's header, and for taking an answer
#define KEEP_ALIVE_S   30
#define PING_S         20
#define HANG_UP_S      35

struct fm_http {
    fm_hub *hub;
    const fm_tls *tls;      // NULL: none
    struct ssl_ctx_st *ssl; // libwebsockets' one, once it listens
    fm_accept_fn *accept;
    struct lws_context *context;
    bool closed; // the context lets go of its handles, or has
    struct lws_vhost *vhost;
    fm_listener *listener;
    fm_addresses addresses; // those who are connected
    fm_metrics *metrics;
    struct http_slot *waiting; // for metrics
    uint32_t connection_count;
    char error[FM_TLS_ERROR_SIZE];
    void *loops[1];
    bool has_files;
    char web_root[FM_CONFIG_TEXT_MAX + 1];
    struct lws_http_mount mounts[6];
};

// What libwebsockets keeps per HTTP connection.
struct http_slot {
    struct lws *wsi;
    struct http_slot *next; // of those that wait
    bool waits;
    uint8_t *body; // owned; LWS_PRE bytes before the text
    size_t size, sent;
};

// ---- answers -----------------------------------------------------------------------------------

static fm_http *http_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

static void drop_body(struct http_slot *slot)
{
    free(slot->body);
    slot->body = NULL;
    slot->size = slot->sent = 0;
}

// Sends the header and keeps a copy of the body until the client has taken it.
// Returns what the callback has to return.
static int answer(struct lws *wsi, struct http_slot *slot, unsigned int status, const char *type,
                  const char *body, size_t size)
{
    uint8_t header[LWS_PRE + 1024];
    uint8_t *start = header + LWS_PRE, *cursor = start, *end = header + sizeof header - 1;
    drop_body(slot);
    slot->body = malloc(LWS_PRE + size);
    if (slot->body == NULL) {
        return -1;
    }
    memcpy(slot->body + LWS_PRE, body, size);
    slot->size = size;
    if (lws_add_http_common_headers(wsi, status, type, size, &cursor, end) != 0 ||
        lws_add_http_header_by_name(wsi, (const uint8_t *)"cache-control:",
                                    (const uint8_t *)"no-store", 8, &cursor, end) != 0 ||
        lws_finalize_write_http_header(wsi, start, &cursor, end) != 0) {
        return -1;
    }
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, (int)REQUEST_TIME_S);
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_text(struct lws *wsi, struct http_slot *slot, unsigned int status,
                       const char *body)
{
    return answer(wsi, slot, status, "text/plain; charset=utf-8", body, strlen(body));
}

static int write_body(struct lws *wsi, struct http_slot *slot)
{
    if (slot->body == NULL) {
        return 0;
    }
    size_t size = slot->size - slot->sent;
    size = size < BODY_CHUNK ? size : BODY_CHUNK;
    bool is_last = slot->sent + size == slot->size;
    enum lws_write_protocol kind = is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP;
    if (lws_write(wsi, slot->body + LWS_PRE + slot->sent, size, kind) < (int)size) {
        return -1;
    }
    slot->sent += size;
    if (!is_last) {
        lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, (int)REQUEST_TIME_S);
        lws_callback_on_writable(wsi);
        return 0;
    }
    drop_body(slot);
    return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

// ---- pages -------------------------------------------------------------------------------------

static bool is_ready(const fm_hub *hub)
{
    return !hub->going_down && hub->creation_count == 0;
}

static int answer_health(struct lws *wsi, struct http_slot *slot, const fm_hub *hub)
{
    uint64_t agents = 0;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        agents += fm_conductor_summary(hub->conductor, hub->hosts[i]).agents;
    }
    char body[512];
    int size =
        snprintf(body, sizeof body,
                 "{\"status\":\"%s\",\"version\":\"%s\",\"uptime_seconds\":%.3f,"
                 "\"worlds\":%u,\"worlds_loading\":%u,\"agents\":%llu,\"clients\":%u}\n",
                 hub->going_down           ? "going down"
                 : hub->creation_count > 0 ? "loading"
                                           : "ok",
                 FOGMARCH_VERSION, (double)(uv_hrtime() - hub->start_ns) / 1e9, hub->host_count,
                 hub->creation_count, (unsigned long long)agents, hub->session_count);
    return answer(wsi, slot, is_ready(hub) ? HTTP_STATUS_OK : HTTP_STATUS_SERVICE_UNAVAILABLE,
                  "application/json", body, (size_t)size);
}

static int answer_metrics(struct lws *wsi, struct http_slot *slot, const fm_metrics *metrics)
{
    size_t size;
    const char *text = fm_metrics_text(metrics, &size);
    if (text == NULL) {
        return answer_text(wsi, slot, HTTP_STATUS_SERVICE_UNAVAILABLE, "out of memory\n");
    }
    return answer(wsi, slot, HTTP_STATUS_OK, "text/plain; version=0.0.4; charset=utf-8", text,
                  size);
}

static int take_metrics(struct lws *wsi, struct http_slot *slot, fm_http *http)
{
    if (fm_metrics_request(http->metrics)) {
        return answer_metrics(wsi, slot, http->metrics);
    }
    slot->wsi = wsi;
    slot->waits = true;
    slot->next = http->waiting;
    http->waiting = slot;
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, (int)REQUEST_TIME_S);
    return 0;
}

void fm_http_take_scrape(fm_http *http, fm_job *job)
{
    if (http != NULL) {
        fm_metrics_take(http->metrics, job);
    } else {
        fm_job_destroy(job);
    }
}

// The next writable callback of each sends what is ready now.
static void on_metrics_ready(void *context)
{
    fm_http *http = context;
    for (struct http_slot *slot = http->waiting; slot != NULL; slot = slot->next) {
        lws_callback_on_writable(slot->wsi);
    }
}

static void stop_waiting(struct http_slot *slot, fm_http *http)
{
    if (!slot->waits) {
        return;
    }
    slot->waits = false;
    struct http_slot **link = &http->waiting;
    while (*link != slot) {
        link = &(*link)->next;
    }
    *link = slot->next;
}

// It ends the connection: what else comes may be the body of this request, and an answer to HEAD
// has none, so nothing that follows could be told apart.
static int refuse_method(struct lws *wsi)
{
    lws_return_http_status(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "only GET is served");
    return -1;
}

static int take_request(struct lws *wsi, struct http_slot *slot)
{
    fm_http *http = http_of(wsi);
    char path[256] = "";
    if (lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) <= 0) {
        return refuse_method(wsi);
    }
    if (strcmp(path, "/livez") == 0) {
        return answer_text(wsi, slot, HTTP_STATUS_OK, "ok\n");
    }
    if (strcmp(path, "/readyz") == 0) {
        return is_ready(http->hub)
                   ? answer_text(wsi, slot, HTTP_STATUS_OK, "ok\n")
                   : answer_text(wsi, slot, HTTP_STATUS_SERVICE_UNAVAILABLE, "not ready\n");
    }
    if (strcmp(path, "/healthz") == 0) {
        return answer_health(wsi, slot, http->hub);
    }
    if (strcmp(path, "/metrics") == 0) {
        return take_metrics(wsi, slot, http);
    }
    if (strcmp(path, "/") == 0 && !http->has_files) {
        return answer_text(
            wsi, slot, HTTP_STATUS_NOT_FOUND,
            "The web client was not built with this server. With npm installed, run\n"
            "    cmake --build --preset release --target web\n"
            "in the source folder, or name the folder of a built one with --web-root.\n");
    }
    return answer_text(wsi, slot, HTTP_STATUS_NOT_FOUND, "there is no such page\n");
}

// ---- who may connect ---------------------------------------------------------------------------

static bool origin_is_listed(const char *origins, const char *origin)
{
    size_t size = strlen(origin);
    for (const char *entry = origins; *entry != '\0';) {
        size_t entry_size = strcspn(entry, ", ");
        if (entry_size == size && strncasecmp(entry, origin, size) == 0) {
            return true;
        }
        entry += entry_size;
        entry += strspn(entry, ", ");
    }
    return false;
}

// Whether a Host header names a machine by itself: a number, or localhost.
static bool host_is_fixed(const char *host)
{
    struct in6_addr address;
    char name[256];
    bool in_brackets = host[0] == '[';
    size_t size = in_brackets ? strcspn(host + 1, "]") : strcspn(host, ":");
    snprintf(name, sizeof name, "%.*s", (int)size, host + in_brackets);
    return strcasecmp(name, "localhost") == 0 ||
           inet_pton(in_brackets ? AF_INET6 : AF_INET, name, &address) == 1;
}

// Browsers say which page a script belongs to. Programs that are not browsers leave it out: they
// could say what they like anyway. A page that came from here may come back, but where everybody is
// admin not under any name: the owner of a name can have it lead here once his page is loaded.
static bool origin_is_welcome(struct lws *wsi, const fm_hub *hub)
{
    char origin[300] = "", host[256] = "";
    int size = lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN);
    if (size == 0) {
        return true;
    }
    if (size < 0 || lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0) {
        return false;
    }
    const char *authority = strstr(origin, "://");
    bool is_own = authority != NULL && strcasecmp(authority + 3, host) == 0 &&
                  (fm_tokens_are_needed(&hub->tokens) || host_is_fixed(host));
    return is_own || origin_is_listed(hub->config->http_origins, origin);
}

static int filter_websocket(struct lws *wsi)
{
    static fm_log_site refused;
    fm_http *http = http_of(wsi);
    char peer[64] = "";
    if (!origin_is_welcome(wsi, http->hub)) {
        lws_get_peer_simple(wsi, peer, sizeof peer);
        fm_log_limited(&refused, FM_LOG_WARNING, "WebSocket refused", fm_log_text("peer", peer),
                       fm_log_text("reason", "its origin is not allowed; see http_origins"));
        lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, "this origin is not allowed");
        return 1;
    }
    return 0;
}

// ---- connections -------------------------------------------------------------------------------

static bool is_full(const fm_http *http, const fm_address *address)
{
    const fm_config *config = http->hub->config;
    return http->connection_count >= config->http_connections_max ||
           (config->sessions_per_address_max > 0 &&
            address->connections > config->sessions_per_address_max);
}

static void turn_away(fm_http *http, const char *peer, bool too_fast)
{
    static fm_log_site too_many;
    http->hub->counts.turned_away++;
    http->hub->counts.too_fast += too_fast;
    fm_log_limited(&too_many, FM_LOG_WARNING, "connection turned away", fm_log_text("peer", peer),
                   fm_log_text("reason", too_fast ? "rate_connections" : "too many"),
                   fm_log_uint("http_connections", http->connection_count));
}

// An address is held from here until libwebsockets forgets the connection.
static void on_connection(void *context, int fd)
{
    fm_http *http = context;
    fm_transport peer = {0};
    struct sockaddr_storage socket_address = {0};
    socklen_t size = sizeof socket_address;
    if (getpeername(fd, (struct sockaddr *)&socket_address, &size) == 0) {
        fm_transport_describe_peer(&peer, &socket_address);
    }
    fm_address *address = fm_addresses_hold(&http->addresses, peer.peer);
    if (address == NULL) {
        close(fd);
        return;
    }
    struct lws *wsi = NULL;
    uint64_t now_ns = fm_clock_now_ns();
    bool too_fast = !fm_address_may_open(address, http->hub->config->rate_connections, now_ns);
    if (too_fast || is_full(http, address)) {
        turn_away(http, peer.peer, too_fast);
        close(fd);
    } else {
        wsi = lws_adopt_socket_vhost(http->vhost, fd); // closes it on failure
    }
    if (wsi == NULL) {
        fm_addresses_release(&http->addresses, address, now_ns);
        return;
    }
    lws_set_opaque_user_data(wsi, address);
    http->connection_count++;
}

static void forget_connection(fm_http *http, struct lws *wsi)
{
    fm_address *address = lws_get_opaque_user_data(wsi);
    if (address != NULL) {
        lws_set_opaque_user_data(wsi, NULL);
        fm_addresses_release(&http->addresses, address, fm_clock_now_ns());
        http->connection_count--;
    }
}

// ---- libwebsockets -----------------------------------------------------------------------------

// What the callback has to return: 0, or 1 for a failure.
static int equip(fm_http *http, struct ssl_ctx_st *ssl)
{
    http->ssl = ssl;
    return http->tls == NULL || fm_tls_equip(http->tls, ssl, http->error) == FM_OK ? 0 : 1;
}

// Pages, and the events that concern any connection.
static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    struct http_slot *slot = user;
    switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
        return equip(http_of(wsi), user);
    case LWS_CALLBACK_WSI_DESTROY:
        forget_connection(http_of(wsi), wsi);
        return 0;
    case LWS_CALLBACK_HTTP:
        return take_request(wsi, slot);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        if (slot != NULL && slot->waits) {
            stop_waiting(slot, http_of(wsi));
            return answer_metrics(wsi, slot, http_of(wsi)->metrics);
        }
        return slot == NULL ? 0 : write_body(wsi, slot);
    case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
    case LWS_CALLBACK_CLOSED_HTTP:
        if (slot != NULL) {
            stop_waiting(slot, http_of(wsi));
            drop_body(slot);
        }
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        lws_return_http_status(wsi, HTTP_STATUS_BAD_REQUEST,
                               "the WebSocket subprotocol must be " FM_WS_PROTOCOL);
        return 1;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

static int on_websocket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t size)
{
    fm_ws_slot *slot = user;
    fm_http *http = http_of(wsi);
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return filter_websocket(wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return fm_ws_open(wsi, slot, http->accept, http->hub) ? 0 : -1;
    case LWS_CALLBACK_RECEIVE:
        return fm_ws_receive(slot, in, size) ? 0 : -1;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return fm_ws_write(slot) ? 0 : -1;
    case LWS_CALLBACK_CLOSED:
        fm_ws_closed(slot);
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_http, .per_session_data_size = sizeof(struct http_slot)},
    {.name = FM_WS_PROTOCOL,
     .callback = on_websocket,
     .per_session_data_size = sizeof(fm_ws_slot),
     .rx_buffer_size = 16 << 10},
    {0},
};

static const lws_retry_bo_t keep_alive = {
    .secs_since_valid_ping = PING_S,
    .secs_since_valid_hangup = HANG_UP_S,
};

static void on_log(int level, const char *line)
{
    static fm_log_site said;
    char text[256];
    size_t size = strcspn(line, "\n");
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), line);
    fm_log_limited(&said, level == LLL_ERR ? FM_LOG_ERROR : FM_LOG_WARNING, "libwebsockets",
                   fm_log_text("text", text));
}

// ---- the files ---------------------------------------------------------------------------------

// web_root, or the folder beside the program that the build puts the web client into.
static bool find_files(fm_http *http)
{
    const fm_config *config = http->hub->config;
    if (config->web_root[0] != '\0') {
        snprintf(http->web_root, sizeof http->web_root, "%s", config->web_root);
    } else {
        char program[FM_CONFIG_TEXT_MAX + 1];
        size_t size = sizeof program;
        if (uv_exepath(program, &size) < 0) {
            return false;
        }
        char *slash = strrchr(program, '/');
        if (slash == NULL) {
            return false;
        }
        *slash = '\0';
        int wanted =
            snprintf(http->web_root, sizeof http->web_root, "%s/../share/fogmarch/web", program);
        if (wanted < 0 || (size_t)wanted >= sizeof http->web_root) {
            return false;
        }
    }
    char index[FM_CONFIG_TEXT_MAX + 16];
    snprintf(index, sizeof index, "%s/index.html", http->web_root);
    uv_fs_t request;
    int result = uv_fs_stat(NULL, &request, index, NULL);
    uv_fs_req_cleanup(&request);
    return result == 0;
}

static void set_mounts(fm_http *http)
{
    static const char *const pages[] = {"/livez", "/readyz", "/healthz", "/metrics"};
    uint32_t count = 0;
    for (; count < FM_COUNT_OF(pages); count++) {
        http->mounts[count] = (struct lws_http_mount){
            .mount_next = &http->mounts[count + 1],
            .mountpoint = pages[count],
            .mountpoint_len = (unsigned char)strlen(pages[count]),
            .protocol = "http",
            .origin_protocol = LWSMPRO_CALLBACK,
        };
    }
    http->mounts[count] = (struct lws_http_mount){
        .mountpoint = "/",
        .mountpoint_len = 1,
        .origin = http->has_files ? http->web_root : NULL,
        .def = http->has_files ? "index.html" : NULL,
        .protocol = http->has_files ? NULL : "http",
        .origin_protocol = http->has_files ? LWSMPRO_FILE : LWSMPRO_CALLBACK,
        .cache_max_age = 0,
        .cache_reusable = 1,
        .cache_revalidate = 1,
    };
}

// ---- beginning and end -------------------------------------------------------------------------

fm_http *fm_http_create(fm_hub *hub, const fm_tls *tls, fm_accept_fn *accept)
{
    fm_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        return NULL;
    }
    http->metrics = fm_metrics_create(hub, on_metrics_ready, http);
    if (http->metrics == NULL) {
        free(http);
        return NULL;
    }
    http->hub = hub;
    http->tls = tls;
    http->accept = accept;
    http->loops[0] = hub->loop;
    http->has_files = find_files(http);
    set_mounts(http);
    return http;
}

static uint32_t patience_s(const fm_config *config)
{
    return config->hello_timeout_s < REQUEST_TIME_S ? (uint32_t)ceil(config->hello_timeout_s)
                                                    : REQUEST_TIME_S;
}

// Connections are accepted here and adopted by libwebsockets, which does not listen itself.
static struct lws_context *make_context(fm_http *http, struct lws_context_creation_info *info)
{
    uint32_t connections_max = (uint32_t)http->hub->config->http_connections_max;
    *info = (struct lws_context_creation_info){
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   (http->tls == NULL ? 0 : LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT),
        .foreign_loops = http->loops,
        .user = http,
        .gid = -1,
        .uid = -1,
        .max_http_header_data = HEADER_SIZE,
        // As many as connections: one that is slow to send its header holds up nobody else.
        .max_http_header_pool =
            (unsigned short)(connections_max < UINT16_MAX ? connections_max : UINT16_MAX),
        .timeout_secs = patience_s(http->hub->config),
    };
    return lws_create_context(info);
}

static struct lws_vhost *make_vhost(fm_http *http, struct lws_context_creation_info *info)
{
    info->options = LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE |
                    (http->tls == NULL ? 0
                                       : LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
                                             LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX);
    info->alpn = "http/1.1";
    info->mounts = http->mounts;
    info->keepalive_timeout = KEEP_ALIVE_S;
    info->timeout_secs_ah_idle = patience_s(http->hub->config); // for the whole of a header
    info->retry_and_idle_policy = &keep_alive;
    info->vhost_name = "fogmarch";
    return lws_create_vhost(http->context, info);
}

fm_status fm_http_listen(fm_http *http, const char *address, uint16_t port, uint16_t *port_taken,
                         const char **error)
{
    struct lws_context_creation_info info;
    lws_set_log_level(LLL_ERR | LLL_WARN, on_log);
    http->context = make_context(http, &info);
    if (http->context == NULL) {
        *error = "libwebsockets does not start; its libuv plugin is libwebsockets-evlib-uv";
        return FM_ERR_NO_MEMORY;
    }
    http->vhost = make_vhost(http, &info);
    if (http->vhost == NULL) {
        *error = http->error[0] == '\0' ? "libwebsockets does not start" : http->error;
        return FM_ERR_IO;
    }
    return fm_listener_create(http->hub->loop, address, port, on_connection, http, port_taken,
                              &http->listener, error);
}

fm_status fm_http_renew_certificate(fm_http *http, char *error)
{
    return http == NULL || http->ssl == NULL ? FM_OK : fm_tls_equip(http->tls, http->ssl, error);
}

void fm_http_close(fm_http *http)
{
    if (http != NULL && http->context != NULL && !http->closed) {
        fm_listener_destroy(http->listener);
        http->listener = NULL;
        http->closed = true;
        lws_context_destroy(http->context);
    }
}

void fm_http_destroy(fm_http *http)
{
    if (http != NULL) {
        FM_ASSERT(http->context == NULL || http->closed);
        lws_context_destroy(http->context); // the rest of it, now that the loop has ended
        fm_metrics_destroy(http->metrics);
        fm_addresses_fini(&http->addresses);
        free(http);
    }
}
