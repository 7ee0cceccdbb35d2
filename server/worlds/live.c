// server/worlds/live.c: see live.h.

#include "server/worlds/live.h"

#include "core/commands/order_command.h"
#include "server/base/clock.h"
#include "server/worlds/inspection.h"
#include "server/worlds/jobs.h"
#include "server/worlds/outbox.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"

static void show(fm_mailbox *mailbox, fm_host *host)
{
    fm_outbox_show(mailbox, host, NULL);
}

// ---- ticking -----------------------------------------------------------------------------------

static bool deadline_passed(void *context)
{
    const fm_pace *pace = context;
    return fm_clock_now_ns() >= pace->deadline_ns;
}

static uint64_t now_ns_for_stages(void *context)
{
    (void)context;
    return fm_clock_now_ns();
}

static void record_tick(fm_host *host, const fm_tick_report *report, const fm_pace *pace,
                        uint64_t tick_ns)
{
    host->times.commands_ns += pace->spent_ns;
    fm_distribution_add(&host->times.commands_times, pace->spent_ns / 1000);
    host->tick_ns += 0.2 * ((double)tick_ns - host->tick_ns);
    fm_histogram_add(&host->times.tick_histogram, tick_ns / 1000);
    uint64_t overrun_us = fm_pacer_overrun_ns(&host->pacer, tick_ns) / 1000;
    fm_histogram_add(&host->times.overrun_histogram, overrun_us);
    fm_distribution_add(&host->times.tick_times, tick_ns / 1000);
    fm_distribution_add(&host->times.overrun_times, overrun_us);
    for (uint32_t stage = 0; stage < FM_STAGE_COUNT; stage++) {
        host->times.stage_ns[stage] += report->stage_ns[stage];
        fm_distribution_add(&host->times.stage_times[stage], report->stage_ns[stage] / 1000);
    }
}

static void tick_host(fm_mailbox *mailbox, fm_host *host, fm_workers *workers, const fm_pace *pace)
{
    fm_queries_detach(host);
    fm_tick_clock clock = {
        .deadline = {.passed = deadline_passed, .context = (void *)pace},
        .now_ns = now_ns_for_stages,
    };
    fm_tick_report report;
    fm_tick_run(host->world, workers, pace->expansions, &clock, &report);
    host->tick = report.record.tick;
    host->digest = report.record.digest;
    fm_recording_add_tick(host, mailbox->config, &report.record);
    show(mailbox, host);

    fm_load load = {
        .tick_us = (fm_clock_now_ns() - pace->start_ns + pace->spent_ns) / 1000,
        .search_us = report.stage_ns[FM_STAGE_SEARCH] / 1000,
        .expansions = report.expansions,
        .moved = report.moved_count,
        .agents = host->agents,
    };
    fm_publish_tick(mailbox, host, &load);
    fm_trace_all(mailbox, host);
    uint64_t end_ns = fm_clock_now_ns();
    record_tick(host, &report, pace, end_ns - pace->start_ns + pace->spent_ns);
    fm_pacer_end(&host->pacer, pace, &report, end_ns);
}

static void count_step(fm_mailbox *mailbox, fm_host *host)
{
    fm_job *step = host->step;
    if (step != NULL) {
        step->step.done++;
        if (--step->step.left == 0) {
            fm_jobs_finish_step(mailbox, host);
        }
    }
}

static void turn(fm_mailbox *mailbox, fm_host *host, fm_workers *workers)
{
    uint64_t now_ns = fm_clock_now_ns();
    fm_pace pace = host->paused ? fm_pacer_begin_step(&host->pacer, now_ns)
                                : fm_pacer_begin(&host->pacer, now_ns);
    tick_host(mailbox, host, workers, &pace);
    count_step(mailbox, host);
    fm_jobs_finish_order(mailbox, host);
    fm_recording_flush(mailbox, host);
    uint64_t over_ns = fm_clock_now_ns();
    if (fm_recording_keep(host, mailbox->config)) {
        fm_jobs_finish_order(mailbox, host); // the keyframe may have completed it
        fm_recording_flush(mailbox, host);
        fm_pacer_spend(&host->pacer, fm_clock_now_ns() - over_ns);
    }
}

static uint64_t due_ns(const fm_config *config, const fm_host *host)
{
    if (fm_recording_stands_still(config, host)) {
        return UINT64_MAX;
    }
    if (host->paused) {
        return host->step != NULL ? 0 : UINT64_MAX;
    }
    return fm_pacer_due_ns(&host->pacer);
}

// ---- jobs --------------------------------------------------------------------------------------

// Whether an order is on its way to all its agents, in ticks to come; after a recovery nobody waits
// for its answer. Where the disk blocks the ticks, jobs that would change the world are refused
// instead of waiting.
static bool is_carried_on(const fm_config *config, const fm_host *host)
{
    return fm_world_left_to_do(host->world) > 0 && !host->paused &&
           !fm_recording_stands_still(config, host);
}

// Whether the next job is one that may be done, and told of, while the journal is behind.
static bool is_next_harmless(const fm_host *host)
{
    const fm_job *next = (const fm_job *)host->backlog.first;
    return next != NULL && fm_job_kinds[next->kind].is_harmless;
}

// A journal that is too far behind blocks all that is not harmless; a step or order blocks the jobs
// after it.
static bool holds_up_jobs(const fm_config *config, const fm_host *host)
{
    return host->step != NULL || is_carried_on(config, host) ||
           (fm_recording_is_behind(host) && !is_next_harmless(host));
}

static void prepare(fm_mailbox *mailbox, fm_host *host)
{
    if (fm_recording_may_catch_up(host)) {
        fm_queries_detach(host); // the keyframe settles the world, and some read what that releases
        fm_recording_catch_up(host);
    }
    fm_jobs_finish_order(mailbox, host); // as it may in there
    if (fm_recording_state(mailbox->config, host) != host->recording.journal_shown) {
        show(mailbox, host);
    }
}

const fm_host_kind fm_live_kind = {
    .show = show,
    .due_ns = due_ns,
    .turn = turn,
    .prepare = prepare,
    .holds_up_jobs = holds_up_jobs,
    .refuses = fm_recording_refuses,
};
