// tests/server/cluster/test_etcd_login.c: a login that takes etcd long succeeds, and is not begun
// again and again.
//
// The connections below the client (server/cluster/etcd_link.h) are replaced at the linker, and so
// is the clock. A member works on logins one after the other, also on those of connections that
// have been closed meanwhile; it answers everything else after a millisecond if it is asked with a
// token that it knows.

#include "server/base/clock.h"
#include "server/cluster/etcd.h"
#include "server/cluster/etcd_link.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MEMBERS     3u
#define LINKS_MAX   4096u
#define CALL_MS     800u // as the node's thread has it
#define PASSWORD    "secret"
#define OLD_TOKEN   "{\"code\":16,\"error\":\"etcdserver: invalid auth token\"}"
#define FROZEN_MS   UINT64_MAX
#define UNTIL_S(s)  ((uint64_t)(s)*FM_NS_PER_S)
#define ANSWER_SIZE 256u

// A connection of the client.
struct connection {
    uint32_t member;
    uint64_t answered_ns; // when what was sent last is
    char answer[ANSWER_SIZE];
};

static uint64_t time_ns;
static uint64_t login_ms[MEMBERS]; // for which a member works on a login
static uint64_t idle_ns[MEMBERS];  // when it has done all that were begun
static uint32_t logins;            // that were sent
static uint32_t token;             // the number of the last one that was given out
static uint32_t first_token;       // older ones are not known any longer
static struct connection connections[LINKS_MAX];
static uint32_t opened;
static bool closes_at_logins; // a member disconnects in place of an answer

uint64_t __wrap_fm_clock_now_ns(void);
bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns);
void __wrap_fm_etcd_link_close(fm_etcd_link *link);
bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns);
size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

uint64_t __wrap_fm_clock_now_ns(void)
{
    return time_ns;
}

bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns)
{
    (void)access, (void)port, (void)deadline_ns;
    assert_true(opened < LINKS_MAX);
    connections[opened] = (struct connection){.member = (uint32_t)(host[0] - 'a')};
    *link = (fm_etcd_link){.fd = (int)opened++};
    return true;
}

void __wrap_fm_etcd_link_close(fm_etcd_link *link)
{
    link->fd = -1;
}

static void set_answer(struct connection *connection, uint32_t code, const char *body)
{
    snprintf(connection->answer, sizeof connection->answer,
             "HTTP/1.1 %u Some\r\nContent-Length: %zu\r\n\r\n%s", code, strlen(body), body);
}

static void begin_login(struct connection *connection)
{
    uint32_t member = connection->member;
    logins++;
    connection->answered_ns = UINT64_MAX;
    if (login_ms[member] != FROZEN_MS) {
        uint64_t from_ns = idle_ns[member] > time_ns ? idle_ns[member] : time_ns;
        idle_ns[member] = from_ns + login_ms[member] * FM_NS_PER_MS;
        connection->answered_ns = idle_ns[member];
    }
    set_answer(connection, 200, ""); // the token is written when it is given out
}

static void begin_request(struct connection *connection, const char *head)
{
    const char *shown = strstr(head, "Authorization: token");
    uint32_t number = shown == NULL ? 0 : (uint32_t)strtoul(shown + 20, NULL, 10);
    bool good = number >= first_token && number != 0;
    connection->answered_ns = time_ns + FM_NS_PER_MS;
    set_answer(connection, good ? 200 : 401, good ? "{\"a\":1}" : OLD_TOKEN);
}

// The client sends the head of a request in one piece, and the body in another.
bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns)
{
    char head[2048];
    (void)deadline_ns;
    if (memmem(bytes, size, "HTTP/1.1", 8) == NULL) {
        return true;
    }
    snprintf(head, sizeof head, "%.*s", (int)size, (const char *)bytes);
    if (strstr(head, "auth/authenticate") != NULL) {
        begin_login(&connections[link->fd]);
    } else {
        begin_request(&connections[link->fd], head);
    }
    return true;
}

size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns)
{
    struct connection *connection = &connections[link->fd];
    bool is_login = connection->answer[0] != '\0' && strstr(connection->answer, "{") == NULL;
    if (connection->answered_ns > deadline_ns) {
        time_ns = deadline_ns > time_ns ? deadline_ns : time_ns;
        return 0;
    }
    time_ns = connection->answered_ns > time_ns ? connection->answered_ns : time_ns;
    if (is_login && closes_at_logins) {
        return 0;
    }
    if (is_login) {
        char text[64];
        snprintf(text, sizeof text, "{\"token\":\"token%u\"}", ++token);
        set_answer(connection, 200, text);
    }
    size_t answer_size = strlen(connection->answer);
    assert_true(answer_size <= size);
    memcpy(bytes, connection->answer, answer_size);
    connection->answered_ns = UINT64_MAX;
    return answer_size;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)fds, (void)count;
    time_ns += (uint64_t)timeout_ms * FM_NS_PER_MS;
    return 0;
}

// ---- the cluster -------------------------------------------------------------------------------

struct cluster {
    fm_etcd_access access;
    fm_writer body;
    char password_file[64];
};

static void begin(struct cluster *cluster, const char *members)
{
    char error[FM_ETCD_ERROR_SIZE];
    snprintf(cluster->password_file, sizeof cluster->password_file, "test_etcd_login.XXXXXX");
    int fd = mkstemp(cluster->password_file);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(file);
    (void)fputs(PASSWORD "\n", file);
    (void)fclose(file);
    const fm_etcd_settings settings = {.members = members,
                                       .ca_file = "",
                                       .certificate = "",
                                       .key = "",
                                       .user = "fogmarch",
                                       .password_file = cluster->password_file};
    time_ns = FM_NS_PER_S;
    opened = logins = token = 0;
    first_token = 1;
    closes_at_logins = false;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        login_ms[i] = 1;
        idle_ns[i] = 0;
    }
    assert_int_equal(fm_etcd_access_init(&settings, &cluster->access, error), FM_OK);
    cluster->body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&cluster->body, "{}");
}

static void end(struct cluster *cluster)
{
    fm_writer_fini(&cluster->body);
    fm_etcd_access_fini(&cluster->access);
    (void)remove(cluster->password_file);
}

static fm_etcd *make_client(const struct cluster *cluster)
{
    fm_etcd *client = NULL;
    assert_int_equal(fm_etcd_create(&cluster->access, &client), FM_OK);
    return client;
}

static fm_etcd_outcome call(const struct cluster *cluster, fm_etcd *client)
{
    char error[FM_ETCD_ERROR_SIZE];
    json_t *answer;
    uint64_t begun_ns = time_ns;
    fm_etcd_outcome outcome =
        fm_etcd_call(client, "lease/grant", &cluster->body, CALL_MS, &answer, error);
    if (outcome == FM_ETCD_DONE) {
        json_decref(answer);
    } else {
        assert_true(error[0] != '\0');
    }
    // begin() has its own time; the lease relies on calls that end.
    assert_true(time_ns - begun_ns <= (FM_ETCD_TRY_MS + CALL_MS) * FM_NS_PER_MS);
    return outcome;
}

// Calls until one is answered, as the node's thread does. @return whether one was, until then
static bool is_answered(const struct cluster *cluster, fm_etcd *client, uint64_t until_ns)
{
    bool done = false;
    while (!done && time_ns < until_ns) {
        done = call(cluster, client) == FM_ETCD_DONE;
        time_ns += done ? 0 : 200 * FM_NS_PER_MS;
    }
    return done;
}

// ---- tests -------------------------------------------------------------------------------------

static void slow_login_succeeds(void **state)
{
    (void)state;
    static const uint64_t times_ms[] = {900, 1200, 2500, 6000};
    for (size_t i = 0; i < FM_COUNT_OF(times_ms); i++) {
        for (uint32_t members = 1; members <= MEMBERS; members += 2) {
            struct cluster cluster;
            begin(&cluster, members == 1 ? "a:1" : "a:1,b:2,c:3");
            for (uint32_t k = 0; k < members; k++) {
                login_ms[k] = times_ms[i];
            }
            fm_etcd *client = make_client(&cluster);
            assert_true(is_answered(&cluster, client, UNTIL_S(120)));
            assert_in_range(logins, 1, 6); // 1, 2, 4, 8, 16 and 32 s
            assert_int_equal(call(&cluster, client), FM_ETCD_DONE);
            fm_etcd_destroy(client);
            end(&cluster);
        }
    }
}

static void frozen_member_is_left_for_another_one(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1,b:2,c:3");
    login_ms[0] = FROZEN_MS;
    fm_etcd *client = make_client(&cluster);
    assert_true(is_answered(&cluster, client, time_ns + UNTIL_S(2)));
    assert_int_equal(logins, 2);
    fm_etcd_destroy(client);
    end(&cluster);
}

// Clients that live for one call, as those that make worlds, never wait long enough themselves.
static void one_login_is_enough_for_a_process(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1");
    login_ms[0] = 3000;
    fm_etcd *client = make_client(&cluster);
    assert_true(is_answered(&cluster, client, UNTIL_S(60)));
    uint32_t before = logins;
    for (uint32_t i = 0; i < 3; i++) {
        fm_etcd *brief = make_client(&cluster);
        assert_int_equal(call(&cluster, brief), FM_ETCD_DONE);
        fm_etcd_destroy(brief);
    }
    assert_int_equal(logins, before);
    fm_etcd_destroy(client);
    end(&cluster);
}

// A client whose login is under way takes the token that another one has got.
static void token_comes_from_another_client(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1,b:2");
    login_ms[0] = login_ms[1] = 10000;
    fm_etcd *one = make_client(&cluster), *other = make_client(&cluster);
    assert_int_equal(call(&cluster, one), FM_ETCD_UNREACHABLE);
    uint32_t before = logins;
    login_ms[0] = 1;
    idle_ns[0] = 0;
    assert_int_equal(call(&cluster, other), FM_ETCD_DONE);
    assert_int_equal(call(&cluster, one), FM_ETCD_DONE);
    assert_int_equal(logins, before + 1);
    fm_etcd_destroy(one);
    fm_etcd_destroy(other);
    end(&cluster);
}

// etcd forgets all tokens when it restarts. A client is not refused because of its old one.
static void forgotten_token_is_replaced(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1");
    fm_etcd *one = make_client(&cluster), *other = make_client(&cluster);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(call(&cluster, one), FM_ETCD_DONE);
        assert_int_equal(logins, i + 1);
        if (i != 1) { // the second time its token is older than the other one's
            assert_int_equal(call(&cluster, other), FM_ETCD_DONE);
            assert_int_equal(logins, i + 1);
        }
        first_token = token + 1;
    }
    assert_int_equal(call(&cluster, other), FM_ETCD_DONE);
    fm_etcd_destroy(one);
    fm_etcd_destroy(other);
    end(&cluster);
}

// The old token is not taken again, from those that clients share, while the login is waited for.
static void forgotten_token_is_replaced_slowly(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1");
    fm_etcd *one = make_client(&cluster), *other = make_client(&cluster);
    assert_int_equal(call(&cluster, one), FM_ETCD_DONE);
    assert_int_equal(call(&cluster, other), FM_ETCD_DONE);
    first_token = token + 1;
    login_ms[0] = 3000;
    assert_true(is_answered(&cluster, one, time_ns + UNTIL_S(60)));
    assert_in_range(logins, 2, 7); // 1, 2, 4, 8, 16 and 32 s
    assert_int_equal(call(&cluster, other), FM_ETCD_DONE);
    fm_etcd_destroy(one);
    fm_etcd_destroy(other);
    end(&cluster);
}

// One that disconnects is not waited for; after each time there is a pause of 50 ms, at the end of
// the call too.
static void lost_login_is_begun_again(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "a:1");
    closes_at_logins = true;
    fm_etcd *client = make_client(&cluster);
    assert_int_equal(call(&cluster, client), FM_ETCD_UNREACHABLE);
    assert_in_range(logins, 2, (FM_ETCD_TRY_MS + CALL_MS) / 50);
    closes_at_logins = false;
    assert_int_equal(call(&cluster, client), FM_ETCD_DONE);
    fm_etcd_destroy(client);
    end(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_login_succeeds),
        cmocka_unit_test(frozen_member_is_left_for_another_one),
        cmocka_unit_test(one_login_is_enough_for_a_process),
        cmocka_unit_test(token_comes_from_another_client),
        cmocka_unit_test(forgotten_token_is_replaced),
        cmocka_unit_test(forgotten_token_is_replaced_slowly),
        cmocka_unit_test(lost_login_is_begun_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
