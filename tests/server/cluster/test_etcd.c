// tests/server/cluster/test_etcd.c: clients of etcd do not each wait for a member that cannot be
// connected to.
//
// The connections below the client (server/cluster/etcd_link.h) are replaced at the linker, and so
// is the clock: some hosts refuse after all the time that they are given, the others answer.

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

#define CLIENTS   16u
#define ANSWER    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
#define NO_LEADER "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 11\r\n\r\n{\"code\":14}"

static uint64_t time_ns;
static const char *dead;    // host names that do not answer, each followed by a comma
static uint32_t dead_tries; // connections to these
static uint32_t opened;
static const char *answer_text = ANSWER; // of those that answer

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
    char name[64];
    (void)access, (void)port;
    *link = (fm_etcd_link){.fd = -1};
    snprintf(name, sizeof name, "%s,", host);
    if (strstr(dead, name) != NULL) {
        dead_tries++;
        time_ns = deadline_ns > time_ns ? deadline_ns : time_ns;
        return false;
    }
    link->fd = 1000 + (int)opened++;
    return true;
}

void __wrap_fm_etcd_link_close(fm_etcd_link *link)
{
    link->fd = -1;
}

bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns)
{
    (void)bytes, (void)size, (void)deadline_ns;
    return link->fd >= 0;
}

size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns)
{
    (void)link, (void)size, (void)deadline_ns;
    time_ns += FM_NS_PER_MS;
    memcpy(bytes, answer_text, strlen(answer_text));
    return strlen(answer_text);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)fds, (void)count;
    time_ns += (uint64_t)timeout_ms * FM_NS_PER_MS;
    return 0;
}

struct cluster {
    fm_etcd_access access;
    fm_etcd *clients[CLIENTS];
    fm_writer body;
};

static void begin_with(struct cluster *cluster, const char *members, const char *dead_hosts)
{
    char error[FM_ETCD_ERROR_SIZE];
    const fm_etcd_settings settings = {.members = members,
                                       .ca_file = "",
                                       .certificate = "",
                                       .key = "",
                                       .user = "",
                                       .password_file = ""};
    time_ns = FM_NS_PER_S;
    dead = dead_hosts;
    dead_tries = opened = 0;
    assert_int_equal(fm_etcd_access_init(&settings, &cluster->access, error), FM_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(fm_etcd_create(&cluster->access, &cluster->clients[i]), FM_OK);
    }
    cluster->body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&cluster->body, "{}");
}

static void begin(struct cluster *cluster, const char *dead_hosts)
{
    begin_with(cluster, "one:1,two:2,three:3", dead_hosts);
}

static void end(struct cluster *cluster)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        fm_etcd_destroy(cluster->clients[i]);
    }
    fm_writer_fini(&cluster->body);
    fm_etcd_access_fini(&cluster->access);
}

static fm_etcd_outcome finish(fm_etcd *client)
{
    char error[FM_ETCD_ERROR_SIZE];
    json_t *answer;
    fm_etcd_outcome outcome = fm_etcd_finish(client, 3000, &answer, error);
    if (outcome == FM_ETCD_DONE) {
        json_decref(answer);
    }
    return outcome;
}

// The first one waits a little; the others know.
static void one_client_finds_out_for_all(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "one,");
    uint64_t begun_ns = time_ns;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        fm_etcd_begin(cluster.clients[i], "kv/txn", &cluster.body);
    }
    assert_int_equal(dead_tries, 1);
    assert_true(time_ns - begun_ns <= FM_ETCD_CONNECT_MS * FM_NS_PER_MS);
    assert_int_equal(opened, CLIENTS); // all have asked another member
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(finish(cluster.clients[i]), FM_ETCD_DONE);
    }
    end(&cluster);
}

static void it_is_tried_again_later(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "one,");
    for (uint32_t i = 0; i < 2; i++) {
        fm_etcd_begin(cluster.clients[i], "kv/txn", &cluster.body);
        assert_int_equal(finish(cluster.clients[i]), FM_ETCD_DONE);
        time_ns += 2 * FM_ETCD_SILENT_MS * FM_NS_PER_MS;
    }
    assert_int_equal(dead_tries, 2);
    end(&cluster);
}

static void all_are_tried_when_all_are_silent(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "one,two,three,");
    for (uint32_t i = 0; i < 2; i++) {
        fm_etcd_begin(cluster.clients[i], "kv/txn", &cluster.body);
        assert_int_equal(finish(cluster.clients[i]), FM_ETCD_UNREACHABLE);
    }
    dead = "";
    fm_etcd_begin(cluster.clients[0], "kv/txn", &cluster.body);
    assert_int_equal(finish(cluster.clients[0]), FM_ETCD_DONE);
    end(&cluster);
}

// Two cannot be connected to, and the third has no leader and says so at once.
static void who_refuses_at_once_is_not_asked_without_end(void **state)
{
    (void)state;
    struct cluster cluster;
    begin(&cluster, "two,three,");
    for (uint32_t i = 0; i < 2; i++) { // the second time it is known who is silent
        opened = 0;
        answer_text = NO_LEADER;
        fm_etcd_begin(cluster.clients[i], "kv/txn", &cluster.body);
        assert_int_equal(finish(cluster.clients[i]), FM_ETCD_UNREACHABLE);
        assert_in_range(opened, 2, 100); // in 3 s
    }
    answer_text = ANSWER;
    end(&cluster);
}

// What --check-config takes, however it is separated: the first two are dead, the third answers.
static void members_are_separated_as_the_settings_say(void **state)
{
    (void)state;
    static const char *const lists[] = {"one:1,two:2,three:3", "one:1 two:2 three:3",
                                        " one:1 , two:2  ,three:3 ", "one:1  two:2,three:3"};
    static const char *const bad[] = {"",       " ",    ",",          "one:1,", "one:1,,two:2",
                                      ",one:1", "one:", "one: two:2", ":1",     "one:1x"};
    char error[FM_ETCD_ERROR_SIZE];
    for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct cluster cluster;
        begin_with(&cluster, lists[i], "one,two,");
        fm_etcd_begin(cluster.clients[0], "kv/txn", &cluster.body);
        assert_int_equal(finish(cluster.clients[0]), FM_ETCD_DONE);
        assert_int_equal(dead_tries, 2);
        end(&cluster);
    }
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(fm_etcd_members_check(bad[i], error));
        assert_non_null(strstr(error, "is no list of 1 to 9 members"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_client_finds_out_for_all),
        cmocka_unit_test(it_is_tried_again_later),
        cmocka_unit_test(all_are_tried_when_all_are_silent),
        cmocka_unit_test(who_refuses_at_once_is_not_asked_without_end),
        cmocka_unit_test(members_are_separated_as_the_settings_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
