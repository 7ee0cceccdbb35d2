// server/cluster/etcd.c: see etcd.h.
//
//   CLOSED ── connect ──> OPEN ── send ──> ASKED ── answer ──> OPEN
//      ^                   │                 │
//      └── error, time out, the member says that it closes ──┘

#include "server/cluster/etcd.h"

#include "server/base/clock.h"
#include "server/cluster/etcd_link.h"
#include "server/cluster/etcd_token.h"

#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define ADDRESS_SIZE  256u
#define HEAD_SIZE_MAX 8192u
#define BODY_SIZE_MAX ((size_t)64 << 20)
#define PAUSE_MS      50 // pause after all members failed
#define TOKENS_MAX    3u // that one request tries: its client's, the process's, a fresh one

#define GRPC_UNAVAILABLE       14 // no leader, or it has just changed
#define GRPC_DEADLINE_EXCEEDED 4
#define GRPC_CANCELLED         1
#define GRPC_UNKNOWN           2 // "etcdserver: request timed out" among others
#define GRPC_UNAUTHENTICATED   16

struct member {
    char host[ADDRESS_SIZE], port[8];
};

struct fm_etcd {
    struct member members[FM_ETCD_MEMBERS_MAX];
    uint32_t member_count;
    uint32_t current; // member that is asked
    const fm_etcd_access *access;
    fm_etcd_link link;
    char token[FM_ETCD_TOKEN_SIZE]; // of our user, good for all members; empty: none yet
    bool token_is_old;              // the last request was refused because of it
    bool logs_in;                   // a login was sent whole, and its answer has not come
    uint64_t login_ns;              // when it was
    uint32_t login_ms;              // for which the next answer to a login is waited for
    bool asked;                     // the same as logs_in for a request
    const char *path;               // of the request under way
    const fm_writer *body;
    uint64_t begun_ns; // when it was
    fm_writer in;      // of the answer, as received
};

// ---- members -----------------------------------------------------------------------------------

// The next entry of a list, separated by a comma, by spaces or both, as the settings are checked
// (server/base/config.c). NULL: there are no more; empty: it is missing behind a comma.
static const char *behind_separator(const char *at)
{
    at += strspn(at, " ");
    if (*at == ',') {
        at++;
        return at + strspn(at, " ");
    }
    return *at == '\0' ? NULL : at;
}

// Cuts the next member off the list. NULL: there are no more.
static const char *next_member(const char *list, struct member *member, bool *good)
{
    list += strspn(list, " ");
    size_t size = strcspn(list, ", ");
    const char *colon = memrchr(list, ':', size);
    *good = colon != NULL && colon > list && (size_t)(colon - list) < sizeof member->host &&
            size - (size_t)(colon - list) - 1 < sizeof member->port &&
            size > (size_t)(colon - list) + 1 &&
            strspn(colon + 1, "0123456789") == size - (size_t)(colon - list) - 1;
    if (*good) {
        bool brackets = list[0] == '[' && colon[-1] == ']';
        snprintf(member->host, sizeof member->host, "%.*s",
                 (int)(colon - list) - (brackets ? 2 : 0), list + brackets);
        snprintf(member->port, sizeof member->port, "%.*s",
                 (int)(size - (size_t)(colon - list) - 1), colon + 1);
    }
    return behind_separator(list + size);
}

static uint32_t read_members(const char *list, struct member *members)
{
    uint32_t count = 0;
    bool good = true;
    for (const char *rest = list; rest != NULL && good; count++) {
        if (count == FM_ETCD_MEMBERS_MAX) {
            return 0;
        }
        rest = next_member(rest, &members[count], &good);
    }
    return good ? count : 0;
}

bool fm_etcd_members_check(const char *members, char *error)
{
    struct member list[FM_ETCD_MEMBERS_MAX];
    if (read_members(members, list) > 0) {
        return true;
    }
    snprintf(error, FM_ETCD_ERROR_SIZE,
             "cluster_endpoints: '%.100s' is no list of 1 to %u members, ADDRESS:PORT separated by "
             "commas",
             members, FM_ETCD_MEMBERS_MAX);
    return false;
}

fm_status fm_etcd_create(const fm_etcd_access *access, fm_etcd **out)
{
    fm_etcd *etcd = calloc(1, sizeof *etcd);
    if (etcd == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    etcd->access = access;
    etcd->link.fd = -1;
    etcd->login_ms = FM_ETCD_TRY_MS;
    etcd->in = fm_writer_init(&fm_memory_libc);
    etcd->member_count = read_members(access->members, etcd->members);
    FM_ASSERT(etcd->member_count > 0);
    *out = etcd;
    return FM_OK;
}

static void hang_up(fm_etcd *etcd)
{
    fm_etcd_link_close(&etcd->link);
    etcd->asked = etcd->logs_in = false;
}

void fm_etcd_destroy(fm_etcd *etcd)
{
    if (etcd != NULL) {
        hang_up(etcd);
        fm_writer_fini(&etcd->in);
        sodium_memzero(etcd->token, sizeof etcd->token);
        free(etcd);
    }
}

// ---- bytes -------------------------------------------------------------------------------------

static bool is_silent(const fm_etcd *etcd)
{
    fm_etcd_silence *silence = etcd->access->silence;
    return silence != NULL && atomic_load(&silence->until_ns[etcd->current]) > fm_clock_now_ns();
}

static void note_silent(const fm_etcd *etcd, bool silent)
{
    fm_etcd_silence *silence = etcd->access->silence;
    if (silence != NULL) {
        uint64_t until_ns = silent ? fm_clock_now_ns() + FM_ETCD_SILENT_MS * FM_NS_PER_MS : 0;
        atomic_store(&silence->until_ns[etcd->current], until_ns);
    }
}

static void step(fm_etcd *etcd)
{
    etcd->current = (etcd->current + 1) % etcd->member_count;
}

// A member that is dead or frozen, with TLS, takes all of the time that there is.
static bool open_connection(fm_etcd *etcd, uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < etcd->member_count && is_silent(etcd); i++) {
        step(etcd); // once around if all are silent
    }
    const struct member *member = &etcd->members[etcd->current];
    uint64_t until_ns = fm_clock_now_ns() + FM_ETCD_CONNECT_MS * FM_NS_PER_MS;
    bool is_whole = etcd->access->tls == NULL && until_ns <= deadline_ns;
    bool open = fm_etcd_link_open(&etcd->link, etcd->access, member->host, member->port,
                                  is_whole ? until_ns : deadline_ns);
    // Not where there was hardly any time left.
    if (open || until_ns <= deadline_ns || fm_clock_now_ns() < deadline_ns) {
        note_silent(etcd, !open);
    }
    return open;
}

static bool send_request(fm_etcd *etcd, uint64_t deadline_ns)
{
    char head[512 + FM_ETCD_TOKEN_SIZE];
    const struct member *member = &etcd->members[etcd->current];
    bool known = etcd->token[0] != '\0';
    int size = snprintf(head, sizeof head,
                        "POST /v3/%s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n%s%s%s\r\n",
                        etcd->path, member->host, member->port, etcd->body->size,
                        known ? "Authorization: " : "", etcd->token, known ? "\r\n" : "");
    FM_ASSERT(size > 0 && (size_t)size < sizeof head);
    return fm_etcd_link_send(&etcd->link, head, (size_t)size, deadline_ns) &&
           fm_etcd_link_send(&etcd->link, etcd->body->data, etcd->body->size, deadline_ns);
}

// Reads more of the answer. False: the member has disconnected, or sends nothing.
static bool receive_more(fm_etcd *etcd, uint64_t deadline_ns)
{
    size_t before = etcd->in.size;
    uint8_t *room = before > BODY_SIZE_MAX ? NULL : fm_writer_extend(&etcd->in, 1u << 16);
    if (room == NULL) {
        return false;
    }
    size_t count = fm_etcd_link_receive(&etcd->link, room, 1u << 16, deadline_ns);
    etcd->in.size = before + count;
    return count > 0;
}

// ---- HTTP --------------------------------------------------------------------------------------

struct answer {
    uint32_t code;
    size_t head_size, length;
    bool chunked, closes;
};

static const char *value_of(const char *head, const char *name)
{
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        size_t size = strlen(name);
        if (strncasecmp(line, name, size) == 0 && line[size] == ':') {
            line += size + 1;
            return line + strspn(line, " \t");
        }
    }
    return NULL;
}

static bool read_head(fm_etcd *etcd, struct answer *answer, uint64_t deadline_ns)
{
    const uint8_t *end = NULL;
    etcd->in.size = 0;
    etcd->in.failed = false; // there may be memory again
    while (end == NULL) {
        if (etcd->in.size > HEAD_SIZE_MAX || !receive_more(etcd, deadline_ns)) {
            return false;
        }
        end = memmem(etcd->in.data, etcd->in.size, "\r\n\r\n", 4);
    }
    answer->head_size = (size_t)(end - etcd->in.data) + 4;
    char head[HEAD_SIZE_MAX + (1u << 16) + 1];
    memcpy(head, etcd->in.data, answer->head_size);
    head[answer->head_size] = '\0';
    const char *length = value_of(head, "Content-Length");
    const char *coding = value_of(head, "Transfer-Encoding");
    const char *connection = value_of(head, "Connection");
    answer->code = strncmp(head, "HTTP/1.1 ", 9) == 0 ? (uint32_t)strtoul(head + 9, NULL, 10) : 0;
    answer->chunked = coding != NULL && strncasecmp(coding, "chunked", 7) == 0;
    answer->closes = connection != NULL && strncasecmp(connection, "close", 5) == 0;
    answer->length = length == NULL ? 0 : strtoul(length, NULL, 10);
    return answer->code != 0 && (answer->chunked || length != NULL) &&
           answer->length <= BODY_SIZE_MAX;
}

// Removes the chunk framing, in place. 1: complete, 0: more must come, -1: invalid.
static int join_chunks(uint8_t *bytes, size_t size, size_t *joined)
{
    size_t at = 0;
    *joined = 0;
    for (int pass = 0; pass < 2; pass++) { // first check that all is there, then move
        size_t out = 0;
        for (at = 0;;) {
            const uint8_t *line_end = memmem(bytes + at, size - at, "\r\n", 2);
            if (line_end == NULL) {
                return size - at > 32 ? -1 : 0;
            }
            char number[17] = "";
            size_t digits = (size_t)(line_end - (bytes + at));
            if (digits == 0 || digits >= sizeof number) {
                return -1;
            }
            memcpy(number, bytes + at, digits);
            size_t length = strtoul(number, NULL, 16);
            size_t begin = (size_t)(line_end - bytes) + 2;
            if (length > BODY_SIZE_MAX || size - begin < length + 2) {
                return length > BODY_SIZE_MAX ? -1 : 0;
            }
            if (length == 0) {
                break;
            }
            if (pass == 1) {
                memmove(bytes + out, bytes + begin, length);
            }
            out += length;
            at = begin + length + 2;
        }
        *joined = out;
    }
    return 1;
}

// The body of the answer; points into the received bytes. NULL: it does not come.
static const char *read_body(fm_etcd *etcd, const struct answer *answer, size_t *size,
                             uint64_t deadline_ns)
{
    for (;;) {
        uint8_t *body = etcd->in.data + answer->head_size;
        size_t there = etcd->in.size - answer->head_size;
        int whole = there >= answer->length;
        *size = answer->length;
        if (answer->chunked) {
            whole = join_chunks(body, there, size);
        }
        if (whole > 0) {
            return (const char *)body;
        }
        if (whole < 0 || !receive_more(etcd, deadline_ns)) {
            return NULL;
        }
    }
}

static bool is_passing(int64_t code)
{
    return code == GRPC_UNAVAILABLE || code == GRPC_DEADLINE_EXCEEDED || code == GRPC_CANCELLED ||
           code == GRPC_UNKNOWN;
}

// Tokens expire after a while without use, and when etcd restarts.
static bool blames_token(int64_t code, const char *text)
{
    return code == GRPC_UNAUTHENTICATED ||
           (text != NULL && (strstr(text, "invalid auth token") != NULL ||
                             strstr(text, "auth store is old") != NULL));
}

// Bytes of a text up to the end of its first line; as many as an error has room for.
static size_t line_size(const char *text, size_t size)
{
    size_t most = size < 200 ? size : 200;
    const char *end = memchr(text, '\n', most);
    return end == NULL ? most : (size_t)(end - text);
}

static fm_etcd_outcome judge(fm_etcd *etcd, const struct answer *answer, const char *body,
                             size_t size, json_t **out, char *error)
{
    json_t *json = json_loadb(body, size, 0, NULL);
    if (json == NULL) { // etcd's gateway sends some errors as plain text
        snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: %" PRIu32 " %.*s", answer->code,
                 (int)line_size(body, size), body);
        return FM_ETCD_UNREACHABLE;
    }
    if (answer->code == 200) {
        *out = json;
        return FM_ETCD_DONE;
    }
    const char *text = json_string_value(json_object_get(json, "error"));
    int64_t code = json_integer_value(json_object_get(json, "code"));
    snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: %.200s", text == NULL ? "no reason given" : text);
    etcd->token_is_old = blames_token(code, text);
    json_decref(json);
    return is_passing(code) ? FM_ETCD_UNREACHABLE : FM_ETCD_REFUSED;
}

static fm_etcd_outcome receive_answer(fm_etcd *etcd, uint64_t deadline_ns, json_t **out,
                                      char *error)
{
    struct answer answer;
    size_t size = 0;
    const char *body = NULL;
    if (read_head(etcd, &answer, deadline_ns)) {
        body = read_body(etcd, &answer, &size, deadline_ns);
    }
    if (body == NULL) {
        const struct member *member = &etcd->members[etcd->current];
        snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: no answer from %.200s:%s", member->host,
                 member->port);
        return FM_ETCD_UNREACHABLE;
    }
    fm_etcd_outcome outcome = judge(etcd, &answer, body, size, out, error);
    etcd->asked = false;
    if (answer.closes) {
        hang_up(etcd);
    }
    return outcome;
}

// ---- calls -------------------------------------------------------------------------------------

// The member may have closed an idle connection meanwhile: a fresh one is tried.
static bool ask_plainly(fm_etcd *etcd, uint64_t deadline_ns)
{
    bool was_open = etcd->link.fd >= 0;
    if ((was_open || open_connection(etcd, deadline_ns)) && send_request(etcd, deadline_ns)) {
        etcd->asked = true;
        return true;
    }
    hang_up(etcd);
    if (was_open && open_connection(etcd, deadline_ns) && send_request(etcd, deadline_ns)) {
        etcd->asked = true;
        return true;
    }
    hang_up(etcd);
    return false;
}

static bool take_token(fm_etcd *etcd, json_t *answer, char *error)
{
    const char *token = json_string_value(json_object_get(answer, "token"));
    size_t size = token == NULL ? 0 : strlen(token);
    bool good = size > 0 && size < sizeof etcd->token && strpbrk(token, "\r\n") == NULL;
    if (good) {
        memcpy(etcd->token, token, size + 1);
    } else {
        snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: no token for user %.100s", etcd->access->user);
    }
    return good;
}

// Sends a login; the request under way follows it.
static fm_etcd_outcome send_login(fm_etcd *etcd, uint64_t deadline_ns, char *error)
{
    json_t *login =
        json_pack("{s:s,s:s}", "name", etcd->access->user, "password", etcd->access->password);
    char *text = login == NULL ? NULL : json_dumps(login, 0);
    json_decref(login);
    if (text == NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "the cluster's user or password is no UTF-8");
        return FM_ETCD_REFUSED;
    }
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, text);
    const char *path = etcd->path;
    const fm_writer *wanted = etcd->body;
    etcd->token[0] = '\0';
    etcd->path = "auth/authenticate";
    etcd->body = &body;
    bool sent = !body.failed && ask_plainly(etcd, deadline_ns);
    etcd->path = path;
    etcd->body = wanted;
    etcd->asked = false; // that is for the request
    sodium_memzero(text, strlen(text));
    free(text);
    sodium_memzero(body.data, body.size);
    fm_writer_fini(&body);
    etcd->logs_in = sent;
    etcd->login_ns = fm_clock_now_ns();
    return sent ? FM_ETCD_DONE : FM_ETCD_UNREACHABLE;
}

// etcd computes for a while before it answers a login, and for seconds when it has much to do. To
// begin again would give it more to do, so one login is waited for in several calls.
static bool is_worth_waiting(fm_etcd *etcd, uint64_t waited_until_ns)
{
    uint64_t now_ns = fm_clock_now_ns();
    bool is_silent_yet =
        etcd->in.size == 0 && now_ns >= waited_until_ns; // else it has disconnected
    uint64_t patient_until_ns = etcd->login_ns + etcd->login_ms * FM_NS_PER_MS;
    if (is_silent_yet && now_ns >= patient_until_ns) {
        uint32_t longer_ms = 2 * etcd->login_ms;
        etcd->login_ms = longer_ms < FM_ETCD_LOGIN_MS ? longer_ms : FM_ETCD_LOGIN_MS;
    }
    return is_silent_yet && now_ns < patient_until_ns;
}

static fm_etcd_outcome receive_token(fm_etcd *etcd, uint64_t deadline_ns, char *error)
{
    json_t *answer = NULL;
    uint64_t patient_until_ns = etcd->login_ns + etcd->login_ms * FM_NS_PER_MS;
    uint64_t until_ns = deadline_ns < patient_until_ns ? deadline_ns : patient_until_ns;
    fm_etcd_outcome outcome = receive_answer(etcd, until_ns, &answer, error);
    if (outcome == FM_ETCD_UNREACHABLE && is_worth_waiting(etcd, until_ns)) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: no answer yet to the login of user %.100s",
                 etcd->access->user);
        return outcome;
    }
    etcd->logs_in = false;
    if (outcome == FM_ETCD_DONE && !take_token(etcd, answer, error)) {
        outcome = FM_ETCD_REFUSED;
    }
    json_decref(answer);
    if (outcome == FM_ETCD_DONE) {
        etcd->login_ms = FM_ETCD_TRY_MS;
        fm_etcd_token_share(etcd->access->token, etcd->token);
    } else {
        hang_up(etcd);
    }
    return outcome;
}

// Gets a token for our user: one that another client of this process has got meanwhile, or from
// the current member.
static fm_etcd_outcome log_in(fm_etcd *etcd, uint64_t deadline_ns, char *error)
{
    if (fm_etcd_token_take(etcd->access->token, etcd->token)) {
        if (etcd->logs_in) {
            hang_up(etcd);
        }
        etcd->login_ms = FM_ETCD_TRY_MS;
        return FM_ETCD_DONE;
    }
    fm_etcd_outcome outcome = etcd->logs_in ? FM_ETCD_DONE : send_login(etcd, deadline_ns, error);
    return outcome == FM_ETCD_DONE ? receive_token(etcd, deadline_ns, error) : outcome;
}

// Sends the request, with a token where one is needed.
static fm_etcd_outcome ask(fm_etcd *etcd, uint64_t deadline_ns, char *error)
{
    if (etcd->access->user[0] != '\0' && (etcd->token[0] == '\0' || etcd->token_is_old)) {
        fm_etcd_outcome outcome = log_in(etcd, deadline_ns, error);
        if (outcome != FM_ETCD_DONE) {
            return outcome;
        }
    }
    etcd->token_is_old = false;
    return ask_plainly(etcd, deadline_ns) ? FM_ETCD_DONE : FM_ETCD_UNREACHABLE;
}

// Pauses after each round over the members, those that are left out included: one that lives and
// refuses at once is not asked without end.
static void next(fm_etcd *etcd, uint64_t deadline_ns)
{
    hang_up(etcd);
    bool is_round = false;
    for (uint32_t i = 0; i < etcd->member_count && (i == 0 || is_silent(etcd)); i++) {
        step(etcd);
        is_round = is_round || etcd->current == 0;
    }
    uint64_t now_ns = fm_clock_now_ns();
    if (is_round && now_ns < deadline_ns) { // at most until then, rounded up
        uint64_t left_ms = (deadline_ns - now_ns) / FM_NS_PER_MS + 1;
        (void)poll(NULL, 0, left_ms < PAUSE_MS ? (int)left_ms : PAUSE_MS);
    }
}

void fm_etcd_begin(fm_etcd *etcd, const char *path, const fm_writer *body)
{
    FM_ASSERT(!etcd->asked);
    etcd->path = path;
    etcd->body = body;
    etcd->begun_ns = fm_clock_now_ns();
    char error[FM_ETCD_ERROR_SIZE]; // finish() tries again and reports it
    uint64_t until_ns = etcd->begun_ns + FM_ETCD_TRY_MS * FM_NS_PER_MS;
    if (ask(etcd, until_ns, error) == FM_ETCD_UNREACHABLE && etcd->member_count > 1 &&
        !etcd->logs_in) {
        step(etcd);
        (void)ask(etcd, until_ns, error);
    }
}

void fm_etcd_wait(fm_etcd *const *clients, uint32_t count, uint64_t until_ns, bool *answered)
{
    fm_etcd_link *links[FM_ETCD_LINKS_MAX] = {NULL};
    FM_ASSERT(count <= FM_ETCD_LINKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t over_ns = clients[i]->begun_ns + FM_ETCD_TRY_MS * FM_NS_PER_MS;
        over_ns = clients[i]->asked ? over_ns : 0; // finish() tries again at once
        until_ns = over_ns < until_ns ? over_ns : until_ns;
        links[i] = &clients[i]->link;
    }
    fm_etcd_link_wait(links, count, until_ns, answered);
    uint64_t now_ns = fm_clock_now_ns();
    for (uint32_t i = 0; i < count; i++) {
        answered[i] |=
            !clients[i]->asked || now_ns >= clients[i]->begun_ns + FM_ETCD_TRY_MS * FM_NS_PER_MS;
    }
}

fm_etcd_outcome fm_etcd_finish(fm_etcd *etcd, uint32_t timeout_ms, json_t **answer, char *error)
{
    uint64_t end_ns = etcd->begun_ns + timeout_ms * FM_NS_PER_MS;
    snprintf(error, FM_ETCD_ERROR_SIZE, "etcd: no member can be reached");
    for (uint32_t refused = 0;;) {
        uint64_t from_ns = etcd->asked ? etcd->begun_ns : fm_clock_now_ns();
        uint64_t try_ns = from_ns + FM_ETCD_TRY_MS * FM_NS_PER_MS;
        try_ns = try_ns < end_ns ? try_ns : end_ns;
        fm_etcd_outcome outcome = etcd->asked ? FM_ETCD_DONE : ask(etcd, try_ns, error);
        if (outcome == FM_ETCD_DONE) {
            outcome = receive_answer(etcd, try_ns, answer, error);
        }
        bool has_user = etcd->access->user[0] != '\0';
        if (outcome == FM_ETCD_REFUSED && etcd->token_is_old && has_user &&
            ++refused < TOKENS_MAX) {
            continue; // with another token
        }
        if (outcome == FM_ETCD_DONE) {
            error[0] = '\0';
        }
        if (outcome != FM_ETCD_UNREACHABLE) {
            return outcome;
        }
        if (!etcd->logs_in) {
            next(etcd, end_ns);
        }
        if (fm_clock_now_ns() >= end_ns) {
            return FM_ETCD_UNREACHABLE;
        }
    }
}

fm_etcd_outcome fm_etcd_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                             uint32_t timeout_ms, json_t **answer, char *error)
{
    if (body->failed) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "out of memory");
        return FM_ETCD_UNREACHABLE;
    }
    fm_etcd_begin(etcd, path, body);
    return fm_etcd_finish(etcd, timeout_ms, answer, error);
}
