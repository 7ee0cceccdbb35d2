// tests/sim/pages.c: see pages.h.
//
//   AWAY ── connects, asks ──> WAITS ── all is answered ──> IDLE ── asks again ──> WAITS
//
// A visitor that has sent an invalid request reads everything and checks only that the server
// disconnects in time after half a request; some visitors stay until the end for that.

#include "tests/sim/pages.h"

#include "tests/sim/disk.h"
#include "tests/sim/etcd/etcd_store.h"
#include "tests/sim/memory.h"

#include "server/cluster/node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKED_MAX      4u    // open requests of one visitor
#define HEAD_MAX       2048u // bytes of an answer's head
#define ANSWER_MAX_NS  (5 * SIM_NS_S)
#define PATIENCE_MAX_S 10.0           // the server's longest time-out of a whole request
#define PATIENCE_MORE  (4 * SIM_NS_S) // the server checks its time-outs only now and then
#define AUDIT_ADDRESS  9u             // the auditor's

// What is checked of an answer's body.
typedef enum page_check {
    CHECK_NOTHING,
    CHECK_HEALTH,
    CHECK_METRICS,
} page_check;

struct page {
    const char *request;
    uint32_t status, status_else; // right ones; status_else: while the server is not ready
    page_check check;
    bool hangs_up; // the server disconnects after the answer
};

#define GET(path) "GET " path " HTTP/1.1\r\nHost: 127.0.0.1:7422\r\n\r\n"

static const struct page pages[] = {
    {GET("/livez"), 200, 200, CHECK_NOTHING, false},
    {GET("/readyz"), 200, 503, CHECK_NOTHING, false},
    {GET("/healthz"), 200, 503, CHECK_HEALTH, false},
    {GET("/metrics"), 200, 503, CHECK_METRICS, false},
    {GET("/"), 404, 404, CHECK_NOTHING, false},
    {GET("/there/is/no/such?page=1"), 404, 404, CHECK_NOTHING, false},
    {"GET /livez HTTP/1.0\r\n\r\n", 200, 200, CHECK_NOTHING, true},
    {"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 405, 405, CHECK_NOTHING,
     true},
    {"DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 405, 405, CHECK_NOTHING, true},
    {"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 400, 400, CHECK_NOTHING,
     true},
    {"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, 400,
     CHECK_NOTHING, true},
    {"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
     "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
     400, 400, CHECK_NOTHING, true},
    {"GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", 426, 426, CHECK_NOTHING, true},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, 505, CHECK_NOTHING, true},
};

struct visitor {
    uint32_t index;
    sim_connection *connection; // NULL: away
    sim_source turn;
    bool is_prompt;
    bool is_rude;      // has sent an invalid or a half request
    bool is_half;      // has sent half a request only: the server must disconnect
    bool has_asked;    // has asked for a page on this connection
    bool is_over;      // the server will disconnect
    uint64_t begun_ns; // of the connection
    const struct page *asked[ASKED_MAX];
    uint64_t asked_ns;
    uint32_t asked_count;
    sim_bytes input;
};

static struct {
    const sim_plan *plan;
    struct visitor visitors[SIM_VISITORS_MAX];
    struct visitor auditor;
    bool calm, end_expected;
    uint64_t read;
} all;

uint64_t sim_pages_read(void)
{
    return all.read;
}

// ---- answers -----------------------------------------------------------------------------------

static _Noreturn void complain(const struct visitor *visitor, const char *what, const char *text)
{
    sim_fail("visitor %u asks for %.30s and gets %s: %s", visitor->index,
             visitor->asked[0]->request, what, text);
}

static bool begins_with_status(const char *text, const char *state)
{
    char beginning[64];
    snprintf(beginning, sizeof beginning, "{\"status\":\"%s\",", state);
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void check_health(const struct visitor *visitor, const char *text)
{
    // The last ones: what is wrong with the cluster.
    const char *states[] = {"ok",
                            "loading",
                            "going down",
                            fm_cluster_state_name(FM_CLUSTER_NO_MAJORITY),
                            fm_cluster_state_name(FM_CLUSTER_REFUSED),
                            fm_cluster_state_name(FM_CLUSTER_QUOTA_FULL),
                            fm_cluster_state_name(FM_CLUSTER_LEASE_OVER)};
    // In a cluster the journal is in etcd.
    bool known =
        (sim_disk_has_failed() || sim_etcd != NULL) && begins_with_status(text, "journal_failing");
    for (uint32_t i = 0; i < (sim_etcd != NULL ? FM_COUNT_OF(states) : 3); i++) {
        known |= begins_with_status(text, states[i]);
    }
    size_t size = strlen(text);
    if (!known || size < 2 || strcmp(text + size - 2, "}\n") != 0) {
        complain(visitor, "this", text);
    }
}

// Whether a line is a comment, or a name, optional labels, and a number.
static bool is_sample(const char *line, size_t size)
{
    char copy[512];
    char *end;
    if (size == 0 || size >= sizeof copy) {
        return false;
    }
    memcpy(copy, line, size);
    copy[size] = '\0';
    const char *number = strrchr(copy, ' ');
    if (copy[0] == '#') {
        return strncmp(copy, "# HELP fogmarch_", 16) == 0 ||
               strncmp(copy, "# TYPE fogmarch_", 16) == 0;
    }
    if (strncmp(copy, "fogmarch_", 9) != 0 || number == NULL) {
        return false;
    }
    strtod(number + 1, &end);
    return end != number + 1 && *end == '\0';
}

static void check_metrics(const struct visitor *visitor, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        if (line[size] != '\n' || !is_sample(line, size)) {
            complain(visitor, "this line", line);
        }
        line += size + 1;
    }
    if (strstr(text, "\nfogmarch_build_info{") == NULL) {
        complain(visitor, "metrics without build_info", text);
    }
}

static void check_answer(const struct visitor *visitor, uint32_t status, const char *body)
{
    const struct page *page = visitor->asked[0];
    bool memory_failed = sim_memory_failures() > 0 && status == 503;
    if (status != page->status && status != page->status_else && !memory_failed) {
        complain(visitor, "a wrong status", body);
    }
    bool is_well = status == 200;
    if (page->check == CHECK_HEALTH) {
        check_health(visitor, body);
    } else if (page->check == CHECK_METRICS && is_well) {
        check_metrics(visitor, body);
    }
}

// The number in a header line; -1: there is no such line.
static int64_t number_of(const char *head, const char *name)
{
    const char *line = strcasestr(head, name);
    return line == NULL ? -1 : (int64_t)strtoull(line + strlen(name), NULL, 10);
}

static void next_page(struct visitor *visitor)
{
    visitor->is_over |= visitor->asked[0]->hangs_up;
    memmove(visitor->asked, visitor->asked + 1, --visitor->asked_count * sizeof visitor->asked[0]);
    all.read++;
}

// Takes one answer if it is complete. @return whether it did
static bool take_answer(struct visitor *visitor)
{
    char head[HEAD_MAX + 1];
    const uint8_t *input = sim_bytes_front(&visitor->input);
    size_t there = sim_bytes_size(&visitor->input);
    size_t kept = there < HEAD_MAX ? there : HEAD_MAX;
    memcpy(head, input, kept);
    head[kept] = '\0';
    char *end = strstr(head, "\r\n\r\n");
    if (end == NULL) {
        if (there >= HEAD_MAX) {
            complain(visitor, "no head", head);
        }
        return false;
    }
    end[2] = '\0';
    size_t head_size = (size_t)(end - head) + 4;
    int64_t size = number_of(head, "\r\ncontent-length:");
    if (strncmp(head, "HTTP/1.", 7) != 0 || head[8] != ' ' || size < 0) {
        complain(visitor, "this head", head);
    }
    if (there - head_size < (size_t)size) {
        return false;
    }
    char *body = sim_own_allocate((size_t)size + 1);
    memcpy(body, input + head_size, (size_t)size);
    body[size] = '\0';
    sim_trace("visitor %u gets %.12s, %lld bytes", visitor->index, head, (long long)size);
    check_answer(visitor, (uint32_t)atoi(head + 9), body);
    sim_own_release(body);
    sim_bytes_drop(&visitor->input, head_size + (size_t)size);
    next_page(visitor);
    return true;
}

static void on_received(void *owner, const uint8_t *bytes, size_t size)
{
    struct visitor *visitor = owner;
    if (visitor->is_rude) {
        return;
    }
    sim_bytes_append(&visitor->input, bytes, size);
    while (visitor->asked_count > 0 && sim_bytes_size(&visitor->input) > 0 &&
           take_answer(visitor)) {
    }
    if (visitor->asked_count == 0 && sim_bytes_size(&visitor->input) > 0) {
        sim_fail("visitor %u hears what it has not asked for: %.*s", visitor->index,
                 (int)sim_bytes_size(&visitor->input),
                 (const char *)sim_bytes_front(&visitor->input));
    }
}

// ---- time --------------------------------------------------------------------------------------

static uint64_t since_ns(uint64_t begin_ns)
{
    uint64_t waited = sim_now_ns() - begin_ns;
    uint64_t stalled = 2 * sim_stalled_ns(begin_ns, sim_now_ns());
    return waited > stalled ? waited - stalled : 0;
}

static bool ends_connection(const struct visitor *visitor)
{
    for (uint32_t i = 0; i < visitor->asked_count; i++) {
        if (visitor->asked[i]->hangs_up) {
            return true;
        }
    }
    return false;
}

// Whether the server may disconnect a client that asks for a page and reads the answer.
static bool may_be_left(const struct visitor *visitor)
{
    const fm_config *config = &all.plan->config;
    bool slow = !visitor->is_prompt || sim_stalled_ns(visitor->begun_ns, sim_now_ns()) > 0;
    return all.end_expected || sim_memory_failures() > 0 || slow ||
           ends_connection(visitor) || // the reset may lose answers
           config->http_connections_max < SIM_HTTP_ROOMY;
}

static void on_closed(void *owner, bool clean)
{
    struct visitor *visitor = owner;
    (void)clean;
    if (visitor->asked_count > 0 && !visitor->is_rude && !may_be_left(visitor)) {
        complain(visitor, "nothing", "the server disconnects");
    }
    visitor->connection = NULL;
}

static uint64_t patience_ns(void)
{
    double hello_s = ceil(all.plan->config.hello_timeout_s);
    double patience_s = hello_s < PATIENCE_MAX_S ? hello_s : PATIENCE_MAX_S;
    return (uint64_t)(patience_s * 1e9) + PATIENCE_MORE;
}

static void check_time(const struct visitor *visitor)
{
    if (visitor->is_half && since_ns(visitor->begun_ns) > patience_ns()) {
        sim_fail("visitor %u has sent half a request and is still there", visitor->index);
    }
    if (visitor->is_prompt && !visitor->is_rude && visitor->asked_count > 0 && !all.end_expected &&
        sim_memory_failures() == 0 && since_ns(visitor->asked_ns) > ANSWER_MAX_NS) {
        complain(visitor, "nothing", "for five seconds");
    }
}

// ---- what they do ------------------------------------------------------------------------------

static void come(struct visitor *visitor)
{
    static const sim_net_events events = {.received = on_received, .closed = on_closed};
    sim_link link = visitor->is_prompt ? sim_plan_prompt_link() : sim_plan_any_link();
    link.port = SIM_PORT_HTTP;
    link.address = visitor == &all.auditor ? AUDIT_ADDRESS : 0;
    sim_bytes_fini(&visitor->input);
    visitor->asked_count = 0;
    visitor->is_rude = visitor->is_half = visitor->is_over = visitor->has_asked = false;
    visitor->begun_ns = sim_now_ns();
    visitor->connection = sim_connect(&link, &events, visitor);
    sim_trace("visitor %u connects: %u", visitor->index, visitor->connection->number);
}

static void ask(struct visitor *visitor, const struct page *page)
{
    if (visitor->asked_count == 0) {
        visitor->asked_ns = sim_now_ns();
    }
    visitor->asked[visitor->asked_count++] = page;
    visitor->has_asked = true;
    sim_trace("visitor %u asks for page %u", visitor->index, (unsigned)(page - pages));
    sim_send(visitor->connection, page->request, strlen(page->request));
}

// Asks for one page or several at once; after one that ends the connection it asks no more.
static void ask_some(struct visitor *visitor)
{
    uint32_t count = sim_chance(300) ? sim_between(2, ASKED_MAX) : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct page *page = &pages[sim_below(FM_COUNT_OF(pages))];
        ask(visitor, page);
        if (page->hangs_up) {
            return;
        }
    }
}

static void send_anything(struct visitor *visitor)
{
    uint8_t bytes[64];
    uint32_t size = sim_between(1, sizeof bytes);
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] =
            sim_chance(500) ? (uint8_t)sim_below(256) : (uint8_t) "GET /\r\n: "[sim_below(9)];
    }
    sim_send(visitor->connection, bytes, size);
}

static void send_long_head(struct visitor *visitor)
{
    static const char line[] = "X-Nothing: nothing at all, but a lot of it\r\n";
    static const char first[] = "GET /livez HTTP/1.1\r\n";
    sim_send(visitor->connection, first, sizeof first - 1);
    uint32_t count = sim_between(1, 200);
    for (uint32_t i = 0; i < count; i++) {
        sim_send(visitor->connection, line, sizeof line - 1);
    }
}

// An upgrade with missing lines, or from a page of another site.
static void send_wrong_upgrade(struct visitor *visitor)
{
    static const char *const parts[] = {"Upgrade: websocket\r\n", "Connection: Upgrade\r\n",
                                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                                        "Sec-WebSocket-Version: 13\r\n",
                                        "Sec-WebSocket-Protocol: fogmarch\r\n"};
    static const char first[] = "GET /ws HTTP/1.1\r\nHost: a\r\nOrigin: http://elsewhere\r\n";
    sim_send(visitor->connection, first, sizeof first - 1);
    for (uint32_t i = 0; i < FM_COUNT_OF(parts); i++) {
        if (sim_chance(900)) {
            sim_send(visitor->connection, parts[i], strlen(parts[i]));
        }
    }
    sim_send(visitor->connection, "\r\n", 2);
}

// HTTP/2 without an agreement: an upgrade in most cases, and frames.
static void send_frames(struct visitor *visitor)
{
    static const char upgrade[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n"
                                  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                  "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    static const uint8_t settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    static const uint8_t data[] = {0, 0, 5, 0, 0, 0, 0, 0, 1, 'h', 'e', 'l', 'l', 'o'};
    if (sim_chance(800)) {
        sim_send(visitor->connection, upgrade, sizeof upgrade - 1);
    }
    sim_send(visitor->connection, preface, sizeof preface - 1);
    sim_send(visitor->connection, settings, sizeof settings);
    for (uint32_t count = sim_between(0, 5); count > 0; count--) {
        sim_send(visitor->connection, data, sizeof data);
    }
}

// Far more requests than the server queues, the last one with a body.
static void send_many(struct visitor *visitor)
{
    static const char body[] = "Content-Length: 5\r\n\r\nhelloGET ";
    uint32_t count = sim_between(1, 400);
    for (uint32_t i = 0; i < count; i++) {
        const char *request = sim_chance(100) ? GET("/metrics") : GET("/livez");
        sim_send(visitor->connection, request, strlen(request));
    }
    sim_send(visitor->connection, GET("/livez"), sizeof GET("/livez") - 3);
    sim_send(visitor->connection, body, sizeof body - 1);
}

static void be_rude(struct visitor *visitor)
{
    const char *request = pages[sim_below(FM_COUNT_OF(pages))].request;
    visitor->is_rude = true;
    sim_note_fault(SIM_FAULT_HALF_REQUEST);
    uint32_t kind = sim_below(7);
    sim_trace("visitor %u is rude: %u", visitor->index, kind);
    if (kind == 0) {
        send_anything(visitor);
    } else if (kind == 1) {
        send_long_head(visitor);
    } else if (kind == 2) {
        send_wrong_upgrade(visitor);
    } else if (kind == 3) {
        send_frames(visitor);
    } else if (kind == 4) {
        send_many(visitor);
    } else {
        sim_send(visitor->connection, request, sim_between(1, (uint32_t)strlen(request) - 1));
    }
    visitor->is_half = (kind == 1 || kind > 2) && !visitor->has_asked;
}

static void leave(struct visitor *visitor)
{
    sim_connection *connection = visitor->connection;
    visitor->connection = NULL;
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

static void stop_reading(struct visitor *visitor)
{
    sim_trace("visitor %u stops reading", visitor->index);
    sim_note_fault(SIM_FAULT_STOPPED_READING);
    visitor->is_prompt = false;
    sim_set_reading(visitor->connection, false);
}

static void take_turn_here(struct visitor *visitor)
{
    check_time(visitor);
    if (sim_chance(visitor->is_prompt ? 20 : 100)) {
        leave(visitor);
    } else if (!visitor->is_prompt && sim_chance(30)) {
        stop_reading(visitor);
    } else if (visitor->asked_count == 0 && !visitor->is_rude && !visitor->is_over) {
        if (!visitor->is_prompt && sim_chance(300)) {
            be_rude(visitor);
        } else {
            ask_some(visitor);
        }
    }
}

static void take_turn(void *owner)
{
    struct visitor *visitor = owner;
    if (all.calm) {
        visitor->turn.due_ns = SIM_NEVER;
        return;
    }
    visitor->turn.due_ns = sim_now_ns() + sim_between(1, all.plan->turn_max_us) * SIM_NS_US;
    if (visitor->connection != NULL) {
        take_turn_here(visitor);
    } else if (sim_chance(300)) {
        visitor->is_prompt = sim_chance(400);
        come(visitor);
    }
}

void sim_pages_begin(const sim_plan *plan)
{
    all.plan = plan;
    for (uint32_t i = 0; i < plan->visitor_count; i++) {
        struct visitor *visitor = &all.visitors[i];
        visitor->index = i;
        visitor->turn = (sim_source){.due_ns = sim_now_ns(), .happen = take_turn, .owner = visitor};
        sim_source_add(&visitor->turn);
    }
}

void sim_pages_calm(void)
{
    all.calm = true;
    for (uint32_t i = 0; i < SIM_VISITORS_MAX; i++) {
        struct visitor *visitor = &all.visitors[i];
        if (visitor->connection != NULL && (!visitor->is_half || !visitor->connection->reading)) {
            leave(visitor);
        }
    }
}

void sim_pages_expect_end(void)
{
    all.end_expected = true;
}

// ---- the end -----------------------------------------------------------------------------------

static bool no_half_is_left(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < SIM_VISITORS_MAX; i++) {
        if (all.visitors[i].connection != NULL) {
            return false;
        }
    }
    return true;
}

// After a request with a body the server disconnects without reading the body, and the answer may
// be lost.
static bool is_answered(void *context)
{
    const struct visitor *visitor = context;
    return visitor->asked_count == 0 ||
           (visitor->connection == NULL && visitor->asked[0]->hangs_up);
}

void sim_pages_audit(void)
{
    struct visitor *visitor = &all.auditor;
    sim_run(no_half_is_left, NULL, sim_now_ns() + patience_ns(), "the end of half a request");
    if (!all.plan->has_http || all.plan->config.http_connections_max < SIM_HTTP_ROOMY) {
        return; // else the server may turn it away
    }
    for (uint32_t i = 0; i < FM_COUNT_OF(pages); i++) {
        visitor->index = SIM_VISITORS_MAX;
        visitor->is_prompt = true;
        if (visitor->connection == NULL || visitor->is_over) {
            if (visitor->connection != NULL) {
                leave(visitor);
            }
            come(visitor);
        }
        ask(visitor, &pages[i]);
        sim_run(is_answered, visitor, sim_now_ns() + ANSWER_MAX_NS, "the answer to a page");
    }
}
