// test_shares.c: a backlog is in order of turns, however much who asks for, and of equal turns in
// the order in which jobs came; jobs of one holder stay in order.
//
// Method: random jobs of a few holders and of none are queued and taken, in bursts, beside a list
// into which each job is put by walking from its beginning. Both must give the same job each time.

#include "core/base/random.h"
#include "server/worlds/shares.h"
#include "tests/support/support.h"

#define JOBS   20000u
#define TOKEN  (UINT64_C(1) << 63)
#define NO_JOB UINT32_MAX

static fm_job jobs[JOBS];
static uint32_t after[JOBS], first = NO_JOB; // the list
static uint64_t newest[8];                   // number of the last job taken, by holder

static const uint64_t holders[] = {0, 1, 2, 130, TOKEN | 1, TOKEN | 2};

// Behind all whose turn is not later.
static void put(uint32_t number)
{
    uint32_t *link = &first;
    while (*link != NO_JOB && jobs[*link].turn <= jobs[number].turn) {
        link = &after[*link];
    }
    after[number] = *link;
    *link = number;
}

static void take(fm_host *host)
{
    fm_job *job = fm_shares_take(host);
    fm_shares_begin(job);
    uint32_t number = (uint32_t)(job - jobs);
    assert_int_equal(number, first);
    first = after[first];
    uint32_t holder = 0;
    while (holders[holder] != job->holder) {
        holder += 1;
    }
    assert_true(number + 1 > newest[holder]);
    newest[holder] = number + 1;
}

static void jobs_come_in_order_of_turns(void **state)
{
    (void)state;
    fm_host *host = calloc(1, sizeof *host);
    assert_non_null(host);
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t overtaken = 0;
    for (uint32_t number = 0; number < JOBS;) {
        uint32_t burst = 1 + fm_random_below(&random, fm_random_below(&random, 4) == 0 ? 900 : 20);
        for (uint32_t i = 0; i < burst && number < JOBS; i++, number++) {
            fm_job *job = &jobs[number];
            *job = (fm_job){.host = host, .kind = FM_JOB_COMMAND};
            job->holder = holders[fm_random_below(&random, FM_COUNT_OF(holders))];
            job->command.command = (fm_command){.kind = FM_COMMAND_ORDER,
                                                .agent_count = fm_random_below(&random, 9000)};
            fm_shares_queue(job);
            put(number);
            overtaken += host->backlog.last != &job->event;
        }
        for (uint32_t i = fm_random_below(&random, 2 * burst); i-- > 0 && first != NO_JOB;) {
            take(host);
        }
    }
    while (first != NO_JOB) {
        take(host);
    }
    assert_null(host->backlog.first);
    assert_true(overtaken > JOBS / 20);
    free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_come_in_order_of_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
