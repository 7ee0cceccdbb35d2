// server/relay/upstream.c: see upstream.h.

#include "server/relay/upstream.h"

#include "server/base/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 2000u               // per address, and for hello
#define REQUEST_TIMEOUT_MS (24u * 3600 * 1000) // a delayed relay answers late
#define PING_NS            FM_NS_PER_S
#define SILENCE_NS         (5 * FM_NS_PER_S) // time for a server to answer
#define LIKE_NAME          "fogmarch-relay"

enum state {
    STATE_CLOSED,
    STATE_CONNECTING,
    STATE_OPEN,
};

// Data of a thread of the pool. It outlives the connection when that is destroyed meanwhile.
struct attempt {
    uv_work_t work;            // first
    fm_upstream *upstream;     // NULL: destroyed
    fm_upstream_access access; // its token is the next one
    char token[FM_UPSTREAM_TOKEN_SIZE];
    char address[FM_UPSTREAM_ADDRESS_SIZE];
    fm_client *client; // NULL: none
    char reason[FM_ERROR_TEXT_SIZE];
    char seeds[FM_UPSTREAM_SEEDS_MAX][FM_UPSTREAM_ADDRESS_SIZE];
    uint32_t seed_count;
    bool unwanted;
};

struct fm_upstream {
    uv_loop_t *loop;
    const fm_upstream_access *access;
    const fm_upstream_events *events;
    void *context;
    enum state state;
    struct attempt *attempt; // while CONNECTING
    uv_poll_t *poll;         // while OPEN; goes with its close callback
    fm_client *client;       // the same
    char address[FM_UPSTREAM_ADDRESS_SIZE];
    char seeds[FM_UPSTREAM_SEEDS_MAX][FM_UPSTREAM_ADDRESS_SIZE];
    uint32_t seed_count;
    uint64_t pinged_ns;
    bool ping_waits;
    uint64_t bytes_in_before; // of earlier connections
};

fm_upstream *fm_upstream_create(uv_loop_t *loop, const fm_upstream_access *access,
                                const fm_upstream_events *events, void *context)
{
    fm_upstream *upstream = calloc(1, sizeof *upstream);
    if (upstream != NULL) {
        upstream->loop = loop;
        upstream->access = access;
        upstream->events = events;
        upstream->context = context;
    }
    return upstream;
}

// ---- closing -----------------------------------------------------------------------------------

static void on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

void fm_upstream_close(fm_upstream *upstream)
{
    if (upstream->attempt != NULL) {
        upstream->attempt->unwanted = true;
    }
    if (upstream->state == STATE_OPEN) {
        fm_client *client = upstream->client;
        uv_poll_stop(upstream->poll);
        uv_close((uv_handle_t *)upstream->poll, on_poll_closed);
        upstream->bytes_in_before += fm_client_traffic_get(client).bytes_in;
        upstream->poll = NULL;
        upstream->client = NULL;
        upstream->state = STATE_CLOSED;
        fm_client_destroy(client); // answers what has no answer yet
    }
}

void fm_upstream_destroy(fm_upstream *upstream)
{
    if (upstream == NULL) {
        return;
    }
    fm_upstream_close(upstream);
    if (upstream->attempt != NULL) {
        upstream->attempt->upstream = NULL;
        (void)uv_cancel((uv_req_t *)&upstream->attempt->work); // or it ends soon
    }
    free(upstream);
}

static void break_off(fm_upstream *upstream, const char *reason)
{
    char copy[FM_ERROR_TEXT_SIZE];
    snprintf(copy, sizeof copy, "%s", reason);
    fm_upstream_close(upstream);
    upstream->events->closed(upstream->context, copy);
}

// ---- connecting --------------------------------------------------------------------------------

static void take_seeds(struct attempt *attempt, const msgpack_object *result)
{
    const msgpack_object *seeds = fm_object_get(result, "seeds");
    for (uint32_t i = 0; i < fm_object_count(seeds) && i < FM_UPSTREAM_SEEDS_MAX; i++) {
        char *seed = attempt->seeds[attempt->seed_count];
        attempt->seed_count +=
            fm_object_text(fm_object_at(seeds, i), "tcp", seed, FM_UPSTREAM_ADDRESS_SIZE) &&
            seed[0] != '\0';
    }
}

// A role that sees only one team cannot serve a relay.
static bool may_watch(const msgpack_object *result)
{
    char role[32];
    fm_object_text(result, "role", role, sizeof role);
    return strcmp(role, "observer") == 0 || strcmp(role, "debug") == 0 ||
           strcmp(role, "admin") == 0;
}

static fm_status say_hello(struct attempt *attempt)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    fm_params_text(&params, FM_FIELD_CLIENT, LIKE_NAME);
    if (attempt->access.token[0] != '\0') {
        fm_params_text(&params, FM_FIELD_TOKEN, attempt->access.token);
    }
    const msgpack_object *result = NULL;
    fm_status status = fm_client_call(attempt->client, FM_METHOD_HELLO, &params, &result);
    fm_params_fini(&params);
    if (status != FM_OK) {
        snprintf(attempt->reason, sizeof attempt->reason, "%.200s%s",
                 fm_client_error_last(attempt->client)->message,
                 status == FM_ERR_DENIED ? " (relay_token_file)" : "");
    } else if (!may_watch(result)) {
        snprintf(attempt->reason, sizeof attempt->reason,
                 "its token is not for observers (relay_token_file)");
        status = FM_ERR_DENIED;
    } else {
        take_seeds(attempt, result);
    }
    return status;
}

// On the thread pool.
static void attempt_to_connect(uv_work_t *work)
{
    struct attempt *attempt = (struct attempt *)work;
    fm_client_error error = {.status = FM_OK};
    fm_client_options options = fm_client_options_default();
    options.name = LIKE_NAME;
    options.tls = attempt->access.tls;
    options.tls_ca_file = attempt->access.ca_file;
    options.connect_timeout_ms = CONNECT_TIMEOUT_MS;
    options.timeout_ms = CONNECT_TIMEOUT_MS;
    if (fm_client_connect(attempt->address, &options, &attempt->client, &error) != FM_OK) {
        attempt->client = NULL;
        snprintf(attempt->reason, sizeof attempt->reason, "%s", error.message);
    } else if (say_hello(attempt) != FM_OK) {
        fm_client_destroy(attempt->client);
        attempt->client = NULL;
    }
}

static void notify(void *context, fm_notification notification, const msgpack_object *params)
{
    const fm_upstream *upstream = context;
    upstream->events->notified(upstream->context, notification, params);
}

static void poll_for(fm_upstream *upstream);

// Call after each use of the client; none of these may end it from inside.
static void look_after(fm_upstream *upstream, fm_status status)
{
    if (status == FM_OK) {
        status = fm_client_flush(upstream->client);
    }
    if (status == FM_OK) {
        poll_for(upstream);
    } else {
        break_off(upstream, fm_client_error_last(upstream->client)->message);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    fm_upstream *upstream = poll->data;
    bool may_read = status < 0 || (events & (UV_READABLE | UV_DISCONNECT)) != 0;
    look_after(upstream, may_read ? fm_client_on_readable(upstream->client) : FM_OK);
}

static void poll_for(fm_upstream *upstream)
{
    bool writes = (fm_client_events(upstream->client) & POLLOUT) != 0;
    (void)uv_poll_start(upstream->poll, UV_READABLE | (writes ? UV_WRITABLE : 0), on_poll);
}

static bool open_client(fm_upstream *upstream, fm_client *client)
{
    uv_poll_t *poll = malloc(sizeof *poll);
    if (poll == NULL || uv_poll_init(upstream->loop, poll, fm_client_fd(client)) < 0) {
        free(poll);
        return false;
    }
    poll->data = upstream;
    upstream->poll = poll;
    upstream->client = client;
    upstream->state = STATE_OPEN;
    upstream->pinged_ns = fm_clock_now_ns();
    upstream->ping_waits = false;
    fm_client_set_timeout(client, REQUEST_TIMEOUT_MS);
    fm_client_on_notification(client, notify, upstream);
    return true;
}

static void finish_attempt(fm_upstream *upstream, struct attempt *attempt)
{
    upstream->attempt = NULL;
    upstream->state = STATE_CLOSED;
    if (attempt->unwanted) {
        return;
    }
    if (attempt->client == NULL) {
        upstream->events->closed(upstream->context, attempt->reason);
    } else if (!open_client(upstream, attempt->client)) {
        upstream->events->closed(upstream->context, "out of memory");
    } else {
        attempt->client = NULL;
        memcpy(upstream->seeds, attempt->seeds, sizeof upstream->seeds);
        upstream->seed_count = attempt->seed_count;
        upstream->events->opened(upstream->context);
        look_after(upstream, FM_OK);
    }
}

static void free_attempt(struct attempt *attempt)
{
    explicit_bzero(attempt->token, sizeof attempt->token);
    free(attempt);
}

static void on_attempted(uv_work_t *work, int status)
{
    (void)status; // cancelled: there is no client
    struct attempt *attempt = (struct attempt *)work;
    if (attempt->upstream != NULL) {
        finish_attempt(attempt->upstream, attempt);
    }
    fm_client_destroy(attempt->client);
    free_attempt(attempt);
}

fm_status fm_upstream_connect(fm_upstream *upstream, const char *address)
{
    FM_ASSERT(upstream->state == STATE_CLOSED);
    struct attempt *attempt = calloc(1, sizeof *attempt);
    if (attempt == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    attempt->upstream = upstream;
    attempt->access = *upstream->access;
    snprintf(attempt->token, sizeof attempt->token, "%s", upstream->access->token);
    attempt->access.token = attempt->token;
    snprintf(attempt->address, sizeof attempt->address, "%s", address);
    snprintf(upstream->address, sizeof upstream->address, "%s", address);
    if (uv_queue_work(upstream->loop, &attempt->work, attempt_to_connect, on_attempted) < 0) {
        free_attempt(attempt);
        return FM_ERR_NO_MEMORY;
    }
    upstream->attempt = attempt;
    upstream->state = STATE_CONNECTING;
    return FM_OK;
}

bool fm_upstream_is_closed(const fm_upstream *upstream)
{
    return upstream->state == STATE_CLOSED;
}

bool fm_upstream_is_open(const fm_upstream *upstream)
{
    return upstream->state == STATE_OPEN;
}

const char *fm_upstream_address(const fm_upstream *upstream)
{
    return upstream->address;
}

uint32_t fm_upstream_seeds(const fm_upstream *upstream,
                           const char (**seeds)[FM_UPSTREAM_ADDRESS_SIZE])
{
    *seeds = (const char(*)[FM_UPSTREAM_ADDRESS_SIZE])upstream->seeds;
    return upstream->seed_count;
}

// ---- while it is open --------------------------------------------------------------------------

fm_status fm_upstream_send(fm_upstream *upstream, fm_method method, const fm_params *params,
                           fm_client_reply_fn *on_reply, void *context, uint64_t *id)
{
    if (upstream->state != STATE_OPEN) {
        return FM_ERR_IO;
    }
    fm_status status = fm_client_send(upstream->client, method, params, on_reply, context, id);
    poll_for(upstream); // the rest is sent when the socket is writable
    return status;
}

static void on_pong(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    (void)error;
    (void)result;
    fm_upstream *upstream = context;
    upstream->ping_waits = false;
}

void fm_upstream_check(fm_upstream *upstream, uint64_t now_ns)
{
    if (upstream->state != STATE_OPEN) {
        return;
    }
    if (upstream->ping_waits && now_ns - upstream->pinged_ns >= SILENCE_NS) {
        break_off(upstream, "it does not answer");
        return;
    }
    if (!upstream->ping_waits && now_ns - upstream->pinged_ns >= PING_NS) {
        upstream->pinged_ns = now_ns;
        upstream->ping_waits =
            fm_upstream_send(upstream, FM_METHOD_PING, NULL, on_pong, upstream, NULL) == FM_OK;
    }
    look_after(upstream, fm_client_on_readable(upstream->client)); // TLS may have buffered bytes
}

uint64_t fm_upstream_bytes_in(const fm_upstream *upstream)
{
    return upstream->bytes_in_before +
           (upstream->client == NULL ? 0 : fm_client_traffic_get(upstream->client).bytes_in);
}
