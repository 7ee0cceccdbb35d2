// test_pacer.c: the pacer with a made-up clock.
//
// Goal    ticks stay on their schedule; each overload policy does what its name says and counts it;
//         the grant follows the measured cost of an expansion; the deadline leaves room for the
//         stages after the search.
// Method  simulated ticks of a chosen length, no waiting.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "server/base/clock.h"
#include "server/base/pacer.h"

#define MS FM_NS_PER_MS

static fm_tick_report report_of(uint64_t before, uint64_t search, uint64_t expansions)
{
    fm_tick_report report = {.expansions = expansions};
    report.stage_ns[FM_STAGE_SENSE] = before;
    report.stage_ns[FM_STAGE_SEARCH] = report.rounds_ns = search;
    return report;
}

static void schedule_does_not_drift(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 30, 20, FM_OVERLOAD_SLIP, 0);
    for (uint32_t tick = 0; tick < 3000; tick++) {
        uint64_t due = fm_pacer_due_ns(&pacer);
        fm_pacer_begin(&pacer, due + tick % 7 * MS); // woken a little late each time
    }
    uint64_t due = fm_pacer_due_ns(&pacer);
    assert_in_range(due, 100000 * MS - MS, 100000 * MS + MS);
    assert_int_equal(pacer.late_ticks, 0);
}

static void slip_moves_the_schedule(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    fm_pacer_begin(&pacer, 0);
    fm_pacer_begin(&pacer, 450 * MS); // due at 100
    assert_int_equal(fm_pacer_due_ns(&pacer), 550 * MS);
    assert_int_equal(pacer.late_ticks, 1);
    assert_int_equal(pacer.skipped_ticks, 0);
}

static void skip_leaves_ticks_out(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SKIP, 0);
    fm_pacer_begin(&pacer, 0);
    fm_pacer_begin(&pacer, 450 * MS); // due at 100: the ticks of 100, 200 and 300 are left out
    assert_int_equal(fm_pacer_due_ns(&pacer), 500 * MS);
    assert_int_equal(pacer.skipped_ticks, 3);
    assert_int_equal(pacer.late_ticks, 1);
}

static void degrade_cuts_the_budget_until_in_time(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_DEGRADE, 0);
    fm_pace full = fm_pacer_begin(&pacer, 0);
    uint64_t last = 0;
    for (uint32_t tick = 0; tick < 3; tick++) { // due at 100, 200, 300
        fm_pace pace = fm_pacer_begin(&pacer, 450 * MS);
        assert_true(pace.expansions < full.expansions);
        assert_true(pace.expansions > last); // the further behind, the smaller the grant
        assert_true(pace.deadline_ns - pace.start_ns < full.deadline_ns - full.start_ns);
        last = pace.expansions;
    }
    assert_int_equal(pacer.degraded_ticks, 3);
    fm_pace pace = fm_pacer_begin(&pacer, 450 * MS); // due at 400
    assert_int_equal(pace.expansions, full.expansions);
    assert_int_equal(fm_pacer_due_ns(&pacer), 500 * MS);
}

static void degrade_slips_when_hopeless(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_DEGRADE, 0);
    fm_pacer_begin(&pacer, 3600 * 1000 * MS);
    uint64_t behind = 3600 * 1000 * MS - fm_pacer_due_ns(&pacer);
    assert_true(behind <= FM_PACER_BEHIND_MAX * 100 * MS);
}

static void grant_follows_the_measured_cost(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    uint64_t now = 0;
    fm_pace pace = {0};
    for (uint32_t tick = 0; tick < 200; tick++) {
        now += 100 * MS;
        pace = fm_pacer_begin(&pacer, now);
        fm_tick_report report = report_of(4 * MS, 10 * MS, 50000); // 200 ns each
        fm_pacer_end(&pacer, &pace, &report, now + 20 * MS);       // 6 ms after the search
    }
    // 50 ms minus 4 before, 6 after and 2.5 in reserve, at 200 ns.
    assert_in_range(pace.expansions, 186000, 189000);
    assert_in_range(pace.deadline_ns - pace.start_ns, 41 * MS, 42 * MS);
}

// The time of commands counts for the next tick only.
static void what_was_spent_before_comes_off_the_budget(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    fm_pace free = fm_pacer_begin(&pacer, 0);
    fm_pacer_spend(&pacer, 15 * MS);
    fm_pacer_spend(&pacer, 5 * MS);
    fm_pace pace = fm_pacer_begin(&pacer, 100 * MS);
    assert_int_equal(pace.spent_ns, 20 * MS);
    assert_int_equal(pace.deadline_ns - 100 * MS, free.deadline_ns - 20 * MS);
    assert_true(pace.expansions < free.expansions);
    assert_true(pace.expansions > free.expansions / 2);

    fm_pacer_spend(&pacer, 7000 * MS); // the search keeps its least share
    pace = fm_pacer_begin(&pacer, 200 * MS);
    assert_true(pace.deadline_ns > 200 * MS);
    assert_true(pace.expansions > 0);

    pace = fm_pacer_begin(&pacer, 300 * MS);
    assert_int_equal(pace.spent_ns, 0);
    assert_int_equal(pace.expansions, free.expansions);
}

// 30 ms of the search stage pass before the first search, whatever the grant.
static void telling_planners_does_not_make_expansions_dear(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    fm_pace pace = {0};
    for (uint64_t tick = 0; tick < 200; tick++) {
        pace = fm_pacer_begin(&pacer, tick * 100 * MS);
        uint64_t searched = pace.expansions < 50000 ? pace.expansions : 50000;
        fm_tick_report report = report_of(4 * MS, searched * 100, searched + 7000);
        report.notify_expansions = 7000;
        report.stage_ns[FM_STAGE_SEARCH] += 30 * MS;
        fm_pacer_end(&pacer, &pace, &report, tick * 100 * MS + 36 * MS + searched * 100);
    }
    // 50 ms minus 34 before, 2 after and 2.5 in reserve, at 100 ns.
    assert_in_range(pace.expansions, 113000, 117000);
}

// The search ends at its deadline, give or take; what comes after it takes 2 to 6 ms.
static void ticks_stay_in_the_budget(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    uint32_t overruns = 0;
    for (uint32_t tick = 0; tick < 2000; tick++) {
        fm_pace pace = fm_pacer_begin(&pacer, tick * 100 * MS);
        uint64_t late = fm_random_below(&random, MS / 2);
        uint64_t after = 2 * MS + fm_random_below(&random, 4 * MS);
        uint64_t search_end = pace.deadline_ns + late;
        fm_tick_report report = report_of(MS, search_end - pace.start_ns - MS, 200000);
        fm_pacer_end(&pacer, &pace, &report, search_end + after);
        bool learned = tick >= 100;
        overruns += learned && fm_pacer_overrun_ns(&pacer, search_end + after - pace.start_ns) > 0;
        assert_true(!learned || pace.deadline_ns - pace.start_ns > 38 * MS); // nor is time wasted
    }
    assert_in_range(overruns, 0, 100);
}

static void other_stages_cannot_starve_the_search(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    fm_pace pace = {0};
    for (uint32_t tick = 0; tick < 200; tick++) {
        pace = fm_pacer_begin(&pacer, tick * 100 * MS);
        fm_tick_report report = report_of(40 * MS, 1 * MS, 5000);
        fm_pacer_end(&pacer, &pace, &report, pace.start_ns + 90 * MS);
    }
    assert_true(pace.expansions >= 10000);
    assert_true(pace.deadline_ns > pace.start_ns + 40 * MS);
}

static void quiet_ticks_teach_nothing(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    double before = pacer.ns_per_expansion;
    fm_pace pace = fm_pacer_begin(&pacer, 0);
    fm_tick_report report = report_of(0, MS, 3);
    fm_pacer_end(&pacer, &pace, &report, MS);
    assert_true(pacer.ns_per_expansion == before);
    assert_int_equal(fm_pacer_overrun_ns(&pacer, 49 * MS), 0);
    assert_int_equal(fm_pacer_overrun_ns(&pacer, 53 * MS), 3 * MS);
}

// A search of 4000 planners, each of which takes 5 us besides its expansions of 150 ns.
static uint64_t search_ns_of(uint64_t expansions)
{
    return 20 * MS + 150 * expansions;
}

static uint64_t tick_of_many(fm_pacer *pacer, uint32_t tick, uint64_t wanted)
{
    fm_pace pace = fm_pacer_begin(pacer, tick * 100 * MS);
    uint64_t expansions = wanted < pace.expansions ? wanted : pace.expansions;
    uint64_t search_end = pace.start_ns + MS + search_ns_of(expansions);
    if (search_end > pace.deadline_ns) {
        search_end = pace.deadline_ns;
        expansions = (search_end - pace.start_ns - MS - search_ns_of(0)) / 150;
    }
    fm_tick_report report = report_of(MS, search_end - pace.start_ns - MS, expansions);
    report.planners_searched = 4000;
    report.planners_unfinished = expansions < wanted;
    fm_pacer_end(pacer, &pace, &report, search_end + 4 * MS);
    return expansions;
}

// The cost of planners that expand nothing is not mistaken for the cost of expansions: after ticks
// with little to search the grant is large when much is asked for, and whatever the estimate, the
// time of the tick is used.
static void time_that_is_left_is_given_out(void **state)
{
    (void)state;
    fm_pacer pacer;
    fm_pacer_init(&pacer, 10, 50, FM_OVERLOAD_SLIP, 0);
    uint32_t tick = 0;
    for (; tick < 300; tick++) {
        tick_of_many(&pacer, tick, 2000);
    }
    assert_true(tick_of_many(&pacer, tick++, 1000000) > 80000);
    pacer.ns_per_expansion = 5000;
    for (uint32_t i = 0; i < 20; i++) {
        tick_of_many(&pacer, tick++, 1000000);
    }
    for (uint32_t i = 0; i < 200; i++) { // the grant stays as large; 160,000 take all of the time
        assert_true(tick_of_many(&pacer, tick++, 1000000) > 120000);
    }
}

// One tick of a world in which so many searches wait for their turn, as in core/world/due.h.
// Returns how many were finished.
static uint32_t tick_of_searches(fm_pacer *pacer, uint32_t tick, uint32_t waiting, uint32_t slower)
{
    const uint64_t told_ns = 200, expansion_ns = 150, turn_ns = 1000;
    const uint32_t cost = 40, told_for = 16; // expansions
    uint64_t now = tick * 100 * MS;
    fm_pace pace = fm_pacer_begin(pacer, now);
    uint64_t told = pace.expansions / told_for < waiting ? pace.expansions / told_for : waiting;
    uint64_t before = told * told_ns * slower;
    uint64_t search_ns = (turn_ns + cost * expansion_ns) * slower;
    uint64_t left_ns = pace.deadline_ns > now + before ? pace.deadline_ns - now - before : 0;
    uint64_t finished = pace.expansions / cost < told ? pace.expansions / cost : told;
    uint64_t taken_ns = finished * search_ns;
    if (taken_ns > left_ns) {
        finished = left_ns / search_ns;
        taken_ns = left_ns + MS / 20; // the deadline is noticed a little late
    }
    fm_tick_report report = report_of(before, taken_ns, finished * cost);
    report.planners_searched = (uint32_t)told;
    report.planners_unfinished = waiting - (uint32_t)finished;
    fm_pacer_end(pacer, &pace, &report, now + before + taken_ns + MS);
    return (uint32_t)finished;
}

// Ten times the load that fits, on a machine that is a hundred times slower for one second: as many
// searches are finished as before, and the estimate of their cost does not run away.
static void overload_does_not_make_expansions_dear(void **state)
{
    (void)state;
    uint64_t best = 0, last = 0;
    for (uint32_t times = 1; times <= 10; times += 3) {
        fm_pacer pacer;
        fm_pacer_init(&pacer, 10, 40, FM_OVERLOAD_SLIP, 0);
        last = 0;
        for (uint32_t tick = 0; tick < 350; tick++) {
            uint32_t slower = tick >= 100 && tick < 110 ? 100 : 1;
            uint32_t finished = tick_of_searches(&pacer, tick, 5000 * times, slower);
            last += tick >= 200 ? finished : 0;
        }
        best = last > best ? last : best;
        print_message("load %u: %llu finished\n", times, (unsigned long long)last);
    }
    assert_true(last * 100 >= best * 85);
    assert_true(last >= (uint64_t)150 * 3000); // of 5,100 that would fit without notifying
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedule_does_not_drift),
        cmocka_unit_test(slip_moves_the_schedule),
        cmocka_unit_test(skip_leaves_ticks_out),
        cmocka_unit_test(degrade_cuts_the_budget_until_in_time),
        cmocka_unit_test(degrade_slips_when_hopeless),
        cmocka_unit_test(grant_follows_the_measured_cost),
        cmocka_unit_test(what_was_spent_before_comes_off_the_budget),
        cmocka_unit_test(telling_planners_does_not_make_expansions_dear),
        cmocka_unit_test(ticks_stay_in_the_budget),
        cmocka_unit_test(other_stages_cannot_starve_the_search),
        cmocka_unit_test(quiet_ticks_teach_nothing),
        cmocka_unit_test(overload_does_not_make_expansions_dear),
        cmocka_unit_test(time_that_is_left_is_given_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
