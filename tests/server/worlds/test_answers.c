// test_answers.c: who has the answer to a request that changed a world may ask world.info, and
// hears of the world as it is now: the summary is shown before the answer is given to the loop,
// which is another thread.
//
// The whole server runs in one thread (tests/fuzz/live.h). At the moment at which an answer goes to
// the loop the summary is compared with the world.

#include "server/base/log.h"
#include "server/sessions/hub.h"
#include "tests/server/methods/asking.h"
#include "tests/support/support.h"

#define SIDE 32u

static uint32_t compared;

void __wrap_fm_mailbox_emit(fm_mailbox *mailbox, fm_event *first, fm_event *last);
void __real_fm_mailbox_emit(fm_mailbox *mailbox, fm_event *first, fm_event *last);

static void compare(fm_mailbox *mailbox, const fm_host *host)
{
    fm_host_summary summary = fm_mailbox_summary(mailbox, host);
    assert_int_equal(summary.paused, host->paused);
    assert_true(summary.tick_hz == host->tick_hz);
    assert_int_equal(summary.tick, host->tick);
    assert_int_equal(summary.agents, host->agents);
    assert_int_equal(summary.teams, host->teams);
    compared++;
}

void __wrap_fm_mailbox_emit(fm_mailbox *mailbox, fm_event *first, fm_event *last)
{
    for (fm_event *event = first; event != NULL; event = event == last ? NULL : event->next) {
        const fm_job *job = (const fm_job *)event;
        if (event->kind == FM_EVENT_JOB && fm_job_kinds[job->kind].changes_world) {
            compare(mailbox, job->host);
        }
    }
    __real_fm_mailbox_emit(mailbox, first, last);
}

static void put_world(void)
{
    put_uint(FM_FIELD_WORLD, fm_live_hub()->host_last);
}

static void ask_world(fm_method method)
{
    put_world();
    ask(method);
}

static void answers_come_after_the_summary(void **state)
{
    (void)state;
    fm_config config = fm_config_default();
    config.workers = 1;
    fm_live_begin(&config, &config);
    fm_live_connect(ADMIN);
    put_uint(FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    ask(FM_METHOD_HELLO);
    make_open_world(SIDE);
    compared = 0;
    ask_world(FM_METHOD_TEAM_CREATE);
    put_uint(FM_FIELD_TEAM, 1);
    put_numbers(FM_FIELD_CELLS, (const uint64_t[]){3, 3, 5, 5}, 4);
    ask_world(FM_METHOD_AGENT_SPAWN);
    ask_world(FM_METHOD_WORLD_STEP);
    put_uint(FM_FIELD_TICK_HZ, 50);
    ask_world(FM_METHOD_WORLD_RESUME);
    ask_world(FM_METHOD_WORLD_PAUSE);
    assert_true(compared >= 5);
    fm_live_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_after_the_summary),
    };
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    return cmocka_run_group_tests(tests, NULL, NULL);
}
