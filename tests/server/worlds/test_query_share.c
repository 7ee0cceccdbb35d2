// test_query_share.c: questions get a share of the time where ticks are always late. With a fixed
// slice after each tick they got less, the longer ticks took: a field over 4096 x 4096 cells took
// three minutes.
//
// The whole server runs in one thread (tests/fuzz/live.h), on a clock that moves by a microsecond
// with each look. A field is asked for twice: in a world that stands still, and in one whose ticks
// take 20 times their period.

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/pacer.h"
#include "server/sessions/hub.h"
#include "tests/server/methods/asking.h"
#include "tests/support/support.h"

#define SIDE       1024u // cells
#define TICK_LOOKS 20000u
#define TURNS_MAX  100000u
#define LONGER_MAX 24u // times: a sixteenth of the time, and up to a tick and a turn more

static bool is_slow; // each tick takes TICK_LOOKS microseconds longer

void __wrap_fm_pacer_end(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                         uint64_t now_ns);
void __real_fm_pacer_end(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                         uint64_t now_ns);

void __wrap_fm_pacer_end(fm_pacer *pacer, const fm_pace *pace, const fm_tick_report *report,
                         uint64_t now_ns)
{
    __real_fm_pacer_end(pacer, pace, report, now_ns);
    for (uint32_t i = 0; is_slow && i < TICK_LOOKS; i++) {
        (void)fm_clock_now_ns();
    }
}

static void put_world(void)
{
    put_uint(FM_FIELD_WORLD, fm_live_hub()->host_last);
}

static void begin(const fm_config *config)
{
    fm_live_begin(config, config);
    fm_live_connect(ADMIN);
    put_uint(FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    ask(FM_METHOD_HELLO);
    make_open_world(SIDE);
}

// Asks for costs in one corner to the opposite one. @return nanoseconds until they are known
static uint64_t time_of_field(void)
{
    const fm_host *host = fm_hub_find_host(fm_live_hub(), fm_live_hub()->host_last);
    put_world();
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){SIDE - 1, SIDE - 1}, 2);
    put_rect(FM_FIELD_RECT, 0, 0, 16, 16);
    ask_as(ADMIN, FM_METHOD_PATH_FIELD);
    uint64_t begun_ns = fm_clock_now_ns();
    uint32_t turns = 0;
    do {
        (void)fm_conductor_turn(fm_live_hub()->conductor);
        assert_true(++turns < TURNS_MAX);
    } while (host->queries.count > 0);
    return fm_clock_now_ns() - begun_ns;
}

static void late_ticks_leave_a_share(void **state)
{
    (void)state;
    fm_config config = fm_config_default();
    config.workers = 1;
    begin(&config);
    uint64_t idle_ns = time_of_field();
    fm_live_settle();
    is_slow = true;
    put_world();
    put_uint(FM_FIELD_TICK_HZ, 1000);
    ask_as(ADMIN, FM_METHOD_WORLD_RESUME);
    uint64_t busy_ns = time_of_field();
    is_slow = false;
    fm_live_settle();
    print_message("idle %.3f ms, ticks late %.3f ms\n", (double)idle_ns / 1e6,
                  (double)busy_ns / 1e6);
    assert_true(busy_ns <= LONGER_MAX * idle_ns);
    fm_live_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_ticks_leave_a_share),
    };
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    return cmocka_run_group_tests(tests, NULL, NULL);
}
