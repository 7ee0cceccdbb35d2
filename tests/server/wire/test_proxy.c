// test_proxy.c: lists of networks, and the heads that proxies send (server/wire/proxy.h).
//
// Method: examples; random heads, cut at every length: a part of a head is never taken for a whole
// one, and a wrong byte is refused or changes the address, and does nothing else.

#include "server/wire/proxy.h"

#include "core/base/random.h"
#include "server/base/networks.h"
#include "tests/support/support.h"

#include <arpa/inet.h>

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *peer;
        bool has;
    } cases[] = {
        {"", "127.0.0.1", false},
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "::ffff:127.0.0.1", true},
        {"127.0.0.1", "127.0.0.2", false},
        {"10.0.0.0/8, 192.168.4.0/22", "10.255.1.2", true},
        {"10.0.0.0/8, 192.168.4.0/22", "192.168.7.255", true},
        {"10.0.0.0/8, 192.168.4.0/22", "192.168.8.0", false},
        {"0.0.0.0/0", "203.0.113.1", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"::1", "::1", true},
        {"::1", "nonsense", false},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        assert_true(fm_networks_have(cases[i].list, NULL));
        assert_int_equal(fm_networks_have(cases[i].list, cases[i].peer), cases[i].has);
    }
    static const char *const wrong[] = {"localhost", "10.0.0.0/33",     "10.0.0/8",
                                        "::1/129",   "10.0.0.0/",       "10.0.0.0/x",
                                        "/8",        "1.2.3.4;5.6.7.8", "10.0.0.0/-1"};
    for (uint32_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        assert_false(fm_networks_have(wrong[i], NULL));
    }
}

// @return bytes
static size_t make_head(fm_random *random, uint8_t *bytes, char *peer, size_t peer_size)
{
    bool is_six = fm_random_below(random, 2) == 0;
    uint8_t address[16];
    for (uint32_t i = 0; i < sizeof address; i++) {
        address[i] = (uint8_t)fm_random_below(random, 256);
    }
    inet_ntop(is_six ? AF_INET6 : AF_INET, address, peer, (socklen_t)peer_size);
    if (fm_random_below(random, 2) == 0) {
        return (size_t)sprintf((char *)bytes, "PROXY TCP%d %s %s 1234 443\r\n", is_six ? 6 : 4,
                               peer, is_six ? "2001:db8::1" : "192.0.2.1");
    }
    size_t one = is_six ? 16 : 4, more = fm_random_below(random, 400), rest = 2 * one + 4 + more;
    memcpy(bytes, "\r\n\r\n\0\r\nQUIT\n\x21", 13);
    bytes[13] = is_six ? 0x21 : 0x11;
    bytes[14] = (uint8_t)(rest >> 8);
    bytes[15] = (uint8_t)rest;
    memset(bytes + 16, 7, rest);
    memcpy(bytes + 16, address, one);
    return 16 + rest;
}

static void test_heads(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 2000; round++) {
        uint8_t bytes[1024];
        char peer[64];
        fm_proxy_head head;
        size_t size = make_head(&random, bytes, peer, sizeof peer);
        for (size_t part = 0; part < size; part++) {
            assert_int_equal(fm_proxy_head_read(bytes, part, &head), FM_PROXY_MORE);
        }
        memset(bytes + size, 0xff, 100);
        assert_int_equal(fm_proxy_head_read(bytes, size + 100, &head), FM_PROXY_DONE);
        assert_int_equal(head.size, size);
        assert_true(head.has_peer);
        assert_string_equal(head.peer, peer);
        bytes[fm_random_below(&random, (uint32_t)size)] ^=
            (uint8_t)(1 + fm_random_below(&random, 255));
        if (fm_proxy_head_read(bytes, size + 100, &head) == FM_PROXY_DONE) {
            assert_true(head.size <= FM_PROXY_HEAD_MAX && head.size > 0);
        }
    }
}

#define VERSION_2 "\r\n\r\n\0\r\nQUIT\n"

// Who is behind the proxy may be unknown; the proxy's own connections are not.
static void test_unknown_clients(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        fm_proxy_reading reading;
        bool is_unknown;
    } cases[] = {
#define HEAD(bytes) bytes, sizeof bytes - 1
        {HEAD("PROXY UNKNOWN\r\n"), FM_PROXY_DONE, true},
        {HEAD("PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n"), FM_PROXY_DONE, false},
        {HEAD("PROXY TCP4 192.0.2.7\0 192.0.2.1 1 2\r\n"), FM_PROXY_WRONG, false},
        {HEAD("PROXY TCP4 \x1b[31m 192.0.2.1 1 2\r\n"), FM_PROXY_WRONG, false},
        {HEAD(VERSION_2 "\x20\0\0\0"), FM_PROXY_DONE, false},
        {HEAD(VERSION_2 "\x20\x11\0\2ab"), FM_PROXY_DONE, false},
        {HEAD(VERSION_2 "\x21\0\0\0"), FM_PROXY_DONE, true},
        {HEAD(VERSION_2 "\x21\x31\0\2/a"), FM_PROXY_DONE, true},
        {HEAD(VERSION_2 "\x21\x12\0\0"), FM_PROXY_DONE, true},
        {HEAD(VERSION_2 "\x21\x44\0\0"), FM_PROXY_WRONG, false},
        {HEAD(VERSION_2 "\x21\x13\0\0"), FM_PROXY_WRONG, false},
        {HEAD(VERSION_2 "\x22\x11\0\0"), FM_PROXY_WRONG, false},
        {HEAD(VERSION_2 "\x21\x11\0\x0b"
                        "12345678901"),
         FM_PROXY_WRONG, false},
#undef HEAD
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        fm_proxy_head head;
        assert_int_equal(fm_proxy_head_read((const uint8_t *)cases[i].bytes, cases[i].size, &head),
                         cases[i].reading);
        assert_int_equal(head.is_unknown, cases[i].is_unknown);
    }
}

// ---- connections --------------------------------------------------------------------------------

static void take_bytes(void *owner, const uint8_t *bytes, size_t size)
{
    (void)owner, (void)bytes, (void)size;
}

static void take_connection(void *context, fm_transport *transport)
{
    static const fm_transport_events events = {.received = take_bytes};
    transport->events = &events;
    transport->owner = context;
}

// Who is on the machine of a proxy is on ours only where the proxy is.
static void test_loopback_is_of_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *proxy;
        bool is_here;
        const char *head;
        bool is_loopback;
    } cases[] = {
        {"127.0.0.1", true, "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n", true},
        {"127.0.0.1", true, "PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n", false},
        {"127.0.0.1", true, "PROXY UNKNOWN\r\n", false},
        {"10.0.0.1", false, "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n", false},
        {"10.0.0.1", false, "PROXY TCP6 ::1 ::1 1 2\r\n", false},
    };
    for (uint32_t i = 0; i < FM_COUNT_OF(cases); i++) {
        fm_transport transport = {.is_loopback = cases[i].is_here};
        snprintf(transport.peer, sizeof transport.peer, "%s", cases[i].proxy);
        fm_proxies *proxies =
            fm_proxies_create("127.0.0.0/8, 10.0.0.0/8", take_connection, &transport);
        fm_proxies_accept(proxies, &transport);
        transport.events->received(transport.owner, (const uint8_t *)cases[i].head,
                                   strlen(cases[i].head));
        assert_ptr_equal(transport.owner, &transport);
        assert_int_equal(transport.is_loopback, cases[i].is_loopback);
        fm_proxies_destroy(proxies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_clients),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_loopback_is_of_this_machine),
    };
    return cmocka_run_group_tests_name("proxy", tests, NULL, NULL);
}
