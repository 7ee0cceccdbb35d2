// test_http_pages.c: which client gets which page of the HTTP ports.
//
// Goal    fog hides from players what others do, so only an operator may read it from a port.
// Method  requests like those of local and remote clients, without sockets, because no test can
//         connect from another machine; the metrics are replaced, too.

#include "server/process/http_pages.h"
#include "tests/support/support.h"

#include <string.h>

struct fm_metrics {
    int unused;
};

static fm_metrics metrics;

fm_metrics *fm_metrics_create(fm_hub *hub, void (*on_ready)(void *context), void *context)
{
    (void)hub, (void)on_ready, (void)context;
    return &metrics;
}

void fm_metrics_destroy(fm_metrics *gone)
{
    (void)gone;
}

bool fm_metrics_request(fm_metrics *asked)
{
    (void)asked;
    return true;
}

void fm_metrics_take(fm_metrics *asked, fm_job *job)
{
    (void)asked, (void)job;
}

void fm_metrics_make_do(fm_metrics *asked)
{
    (void)asked;
}

const char *fm_metrics_text(const fm_metrics *asked, size_t *size)
{
    static const char text[] = "fogmarch_worlds 0\n";
    (void)asked;
    *size = sizeof text - 1;
    return text;
}

static const char *const paths[] = {"/livez", "/readyz", "/healthz", "/metrics", "/"};

// Asks for all pages and checks the answers.
static void check(const char *metrics_listen, bool for_operators, bool is_local,
                  const uint32_t *statuses)
{
    fm_config config = fm_config_default();
    snprintf(config.metrics_listen, sizeof config.metrics_listen, "%s", metrics_listen);
    snprintf(config.web_root, sizeof config.web_root, "/nonexistent");
    fm_hub hub = {.config = &config};
    fm_http_pages *pages = fm_http_pages_create(&hub, for_operators, NULL, NULL);
    assert_non_null(pages);
    for (uint32_t i = 0; i < FM_COUNT_OF(paths); i++) {
        fm_http_request request = {.path = {paths[i], strlen(paths[i])}};
        fm_http_answer answer;
        assert_true(fm_http_pages_answer(pages, &request, is_local, &answer));
        assert_int_equal(answer.status, statuses[i]);
        assert_non_null(answer.body);
        fm_frame_drop(answer.body);
    }
    fm_http_pages_destroy(pages);
}

static void test_strangers_are_told_nothing_of_worlds(void **state)
{
    (void)state;
    check("", false, false, (const uint32_t[]){200, 200, 403, 403, 404});
    check("", false, true, (const uint32_t[]){200, 200, 200, 200, 404});
}

static void test_operators_have_a_port_of_their_own(void **state)
{
    (void)state;
    check("127.0.0.1:0", false, false, (const uint32_t[]){200, 200, 404, 404, 404});
    check("127.0.0.1:0", false, true, (const uint32_t[]){200, 200, 404, 404, 404});
    check("127.0.0.1:0", true, true, (const uint32_t[]){200, 200, 200, 200, 404});
    check("10.0.0.1:9000", true, false, (const uint32_t[]){200, 200, 200, 200, 404});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strangers_are_told_nothing_of_worlds),
        cmocka_unit_test(test_operators_have_a_port_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
