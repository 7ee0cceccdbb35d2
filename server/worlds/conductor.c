// server/worlds/conductor.c: see conductor.h. Here: the thread, its queues, and which world ticks
// when. What a job does is in jobs.c, what a tick tells the loop in publish.c.

#include "server/worlds/conductor.h"

#include "server/base/clock.h"
#include "server/worlds/jobs.h"
#include "server/worlds/playback.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define JOBS_AT_LEAST  64u                // of a world in one round, whatever is due ...
#define JOBS_SLICE_NS  (2 * FM_NS_PER_MS) // ... unless those of all worlds take longer than this
#define SMALL_TICK_NS  500000.0           // worlds whose ticks are shorter ...
#define SMALL_AGENTS   1000u              // ... and that have fewer agents run one per worker
#define QUERY_SLICE_NS (FM_NS_PER_MS / 4) // queries get at least this between two ticks
#define REPLAYS_NICE   10                 // as in nice(1)

struct fm_conductor {
    const fm_config *config;
    void (*on_event)(void *context);
    void *context;

    pthread_mutex_t lock; // guards this group, every host's inbox and every host's summary
    pthread_cond_t arrived;
    fm_event *outbox_first, *outbox_last;
    fm_host **posted; // hosts whose inbox is not empty; owned
    uint32_t posted_count, posted_capacity;
    bool nudged;         // to make a turn although there is nothing to do
    uint64_t turn_count; // that the thread has ended
    bool stop;

    fm_journals *journals; // owned; NULL: worlds have none

    // The thread's own.
    pthread_t thread;
    bool has_thread; // false: somebody calls fm_conductor_turn()
    bool for_replays;
    fm_event stopped; // its last word
    fm_workers *workers;
    fm_scratch scratches[FM_WORKERS_MAX]; // for queries; by worker
    fm_host **hosts;                      // owned array
    uint32_t host_count, host_capacity;
    fm_host **due; // of this round; room for host_capacity
    uint32_t due_count;
};

// ---- queues ------------------------------------------------------------------------------------

static void append(fm_event **first, fm_event **last, fm_event *event)
{
    event->next = NULL;
    if (*first == NULL) {
        *first = event;
    } else {
        (*last)->next = event;
    }
    *last = event;
}

void fm_conductor_emit_all(fm_conductor *conductor, fm_event *first, fm_event *last)
{
    if (first == NULL) {
        return;
    }
    pthread_mutex_lock(&conductor->lock);
    bool was_empty = conductor->outbox_first == NULL;
    if (was_empty) {
        conductor->outbox_first = first;
    } else {
        conductor->outbox_last->next = first;
    }
    last->next = NULL;
    conductor->outbox_last = last;
    pthread_mutex_unlock(&conductor->lock);
    if (was_empty) {
        conductor->on_event(conductor->context);
    }
}

void fm_conductor_emit(fm_conductor *conductor, fm_host *host, fm_event *event)
{
    if (!fm_recording_hold(host, event)) {
        fm_conductor_emit_all(conductor, event, event);
    }
}

static void finish(fm_job *job, fm_status status)
{
    fm_host *host = job->host;
    job->status = status;
    job->tick = host->tick;
    atomic_fetch_sub(&host->jobs_waiting, 1);
}

// Who asks what is wrong must not wait until it is not any more.
void fm_conductor_finish(fm_conductor *conductor, fm_job *job, fm_status status)
{
    finish(job, status);
    if (job->kind == FM_JOB_STATS && fm_recording_is_watched(job->host)) {
        fm_conductor_emit_all(conductor, &job->event, &job->event);
    } else {
        fm_conductor_emit(conductor, job->host, &job->event);
    }
}

// For answers that tell nothing of the world that would have to be on the disk first.
static void finish_at_once(fm_conductor *conductor, fm_job *job, fm_status status)
{
    finish(job, status);
    fm_conductor_emit_all(conductor, &job->event, &job->event);
}

fm_journals *fm_conductor_journals(const fm_conductor *conductor)
{
    return conductor->journals;
}

void fm_conductor_note_known(fm_conductor *conductor, fm_host *host, uint64_t tick, uint64_t digest)
{
    pthread_mutex_lock(&conductor->lock);
    host->tick_known = tick;
    host->digest_known = digest;
    pthread_mutex_unlock(&conductor->lock);
}

const fm_config *fm_conductor_config(const fm_conductor *conductor)
{
    return conductor->config;
}

fm_event *fm_conductor_receive(fm_conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    fm_event *first = conductor->outbox_first;
    conductor->outbox_first = NULL;
    pthread_mutex_unlock(&conductor->lock);
    return first;
}

static bool may_be_refused(fm_job_kind kind)
{
    return kind != FM_JOB_ADD && kind != FM_JOB_REMOVE && kind != FM_JOB_WATCH &&
           kind != FM_JOB_UNWATCH;
}

// Room for one more host in the list of those that have something in their inbox. The lock is held.
static bool posted_reserve(fm_conductor *conductor)
{
    if (conductor->posted_count < conductor->posted_capacity) {
        return true;
    }
    uint32_t capacity = conductor->posted_capacity == 0 ? 64 : conductor->posted_capacity * 2;
    fm_host **posted = realloc(conductor->posted, capacity * sizeof(fm_host *));
    if (posted == NULL) {
        return false;
    }
    conductor->posted = posted;
    conductor->posted_capacity = capacity;
    return true;
}

fm_status fm_conductor_post(fm_conductor *conductor, fm_job *job)
{
    fm_host *host = job->host;
    if (may_be_refused(job->kind) &&
        atomic_load(&host->jobs_waiting) >= conductor->config->inbox_commands_max) {
        return FM_ERR_BUSY;
    }
    pthread_mutex_lock(&conductor->lock);
    if (conductor->stop || !posted_reserve(conductor)) {
        bool stop = conductor->stop; // nobody looks into inboxes any more
        pthread_mutex_unlock(&conductor->lock);
        return stop ? FM_ERR_GOING_DOWN : FM_ERR_BUSY;
    }
    if (host->inbox_first == NULL) {
        conductor->posted[conductor->posted_count++] = host;
    }
    append(&host->inbox_first, &host->inbox_last, &job->event);
    atomic_fetch_add(&host->jobs_waiting, 1);
    pthread_cond_signal(&conductor->arrived);
    pthread_mutex_unlock(&conductor->lock);
    return FM_OK;
}

fm_host_summary fm_conductor_summary(fm_conductor *conductor, const fm_host *host)
{
    pthread_mutex_lock(&conductor->lock);
    fm_host_summary summary = host->summary;
    if (host->holds_back) {
        summary.tick = host->tick_known;
        summary.digest = host->digest_known;
    }
    pthread_mutex_unlock(&conductor->lock);
    return summary;
}

void fm_conductor_show(fm_conductor *conductor, fm_host *host)
{
    host->journal_shown = fm_recording_state(conductor->config, host);
    fm_host_summary summary = {
        .tick = host->tick,
        .digest = host->digest,
        .agents = host->agents,
        .teams = host->teams,
        .paused = host->paused,
        .tick_hz = host->tick_hz,
        .budget_ms = host->budget_ms,
        .journal = host->journal_shown,
        .timeline = host->timeline,
    };
    if (fm_playback_is(host)) {
        fm_playback_summarize(host, &summary.replay);
    }
    pthread_mutex_lock(&conductor->lock);
    host->summary = summary;
    pthread_mutex_unlock(&conductor->lock);
}

// ---- hosts -------------------------------------------------------------------------------------

static bool hosts_reserve(fm_conductor *conductor)
{
    if (conductor->host_count < conductor->host_capacity) {
        return true;
    }
    uint32_t capacity = conductor->host_capacity == 0 ? 16 : conductor->host_capacity * 2;
    fm_host **hosts = realloc(conductor->hosts, capacity * sizeof(fm_host *));
    if (hosts == NULL) {
        return false;
    }
    conductor->hosts = hosts;
    fm_host **due = realloc(conductor->due, capacity * sizeof(fm_host *));
    if (due == NULL) {
        return false;
    }
    conductor->due = due;
    conductor->host_capacity = capacity;
    return true;
}

static void add_host(fm_conductor *conductor, fm_job *job, uint64_t now_ns)
{
    fm_host *host = job->host;
    if (!hosts_reserve(conductor)) {
        fm_conductor_finish(conductor, job, FM_ERR_NO_MEMORY);
        return;
    }
    conductor->hosts[conductor->host_count++] = host;
    fm_pacer_init(&host->pacer, host->tick_hz, host->budget_ms, host->overload, now_ns);
    fm_conductor_show(conductor, host);
    fm_conductor_finish(conductor, job, FM_OK);
}

static void remove_host(fm_conductor *conductor, fm_job *job)
{
    fm_host *host = job->host;
    fm_jobs_abandon(conductor, host, FM_ERR_NO_WORLD);
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        if (conductor->hosts[i] == host) {
            conductor->hosts[i] = conductor->hosts[--conductor->host_count];
            break;
        }
    }
    if (host->journal == NULL) {
        fm_conductor_finish(conductor, job, FM_OK); // the loop may have released the host by now
    } else {
        finish(job, FM_OK);
        fm_recording_end(host, &job->event); // likewise
    }
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
    host->commands_ns += pace->spent_ns;
    fm_distribution_add(&host->commands_times, pace->spent_ns / 1000);
    host->tick_ns += 0.2 * ((double)tick_ns - host->tick_ns);
    fm_histogram_add(&host->tick_histogram, tick_ns / 1000);
    uint64_t overrun_us = fm_pacer_overrun_ns(&host->pacer, tick_ns) / 1000;
    fm_histogram_add(&host->overrun_histogram, overrun_us);
    fm_distribution_add(&host->tick_times, tick_ns / 1000);
    fm_distribution_add(&host->overrun_times, overrun_us);
    for (uint32_t stage = 0; stage < FM_STAGE_COUNT; stage++) {
        host->stage_ns[stage] += report->stage_ns[stage];
        fm_distribution_add(&host->stage_times[stage], report->stage_ns[stage] / 1000);
    }
}

static void tick_host(fm_conductor *conductor, fm_host *host, fm_workers *workers,
                      const fm_pace *pace)
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
    fm_recording_add_tick(host, conductor->config, &report.record);
    fm_conductor_show(conductor, host);

    fm_load load = {
        .tick_us = (fm_clock_now_ns() - pace->start_ns + pace->spent_ns) / 1000,
        .search_us = report.stage_ns[FM_STAGE_SEARCH] / 1000,
        .expansions = report.expansions,
        .moved = report.moved_count,
        .agents = host->agents,
    };
    fm_publish_tick(conductor, host, &load);
    fm_jobs_trace(conductor, host);
    uint64_t end_ns = fm_clock_now_ns();
    record_tick(host, &report, pace, end_ns - pace->start_ns + pace->spent_ns);
    fm_pacer_end(&host->pacer, pace, &report, end_ns);
}

static void finish_step(fm_conductor *conductor, fm_host *host)
{
    fm_job *step = host->step;
    if (step != NULL && --step->step.left == 0) {
        host->step = NULL;
        step->step.digest = host->digest;
        fm_conductor_finish(conductor, step, FM_OK);
    }
}

static void tick_due_host(fm_conductor *conductor, fm_host *host, fm_workers *workers)
{
    if (fm_playback_is(host)) {
        fm_playback_turn(conductor, host, workers);
        return;
    }
    uint64_t now_ns = fm_clock_now_ns();
    fm_pace pace = host->paused ? fm_pacer_begin_step(&host->pacer, now_ns)
                                : fm_pacer_begin(&host->pacer, now_ns);
    tick_host(conductor, host, workers, &pace);
    finish_step(conductor, host);
    fm_recording_flush(conductor, host);
    uint64_t over_ns = fm_clock_now_ns();
    if (fm_recording_keep(host, conductor->config)) {
        fm_recording_flush(conductor, host);
        fm_pacer_spend(&host->pacer, fm_clock_now_ns() - over_ns);
    }
}

static void tick_small_hosts(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_conductor *conductor = context;
    for (uint32_t i = begin; i < end; i++) {
        tick_due_host(conductor, conductor->due[i], NULL);
    }
}

static bool is_due(const fm_conductor *conductor, const fm_host *host, uint64_t now_ns)
{
    if (fm_playback_is(host)) {
        return fm_playback_due_ns(host) <= now_ns;
    }
    if (fm_recording_stands_still(conductor->config, host)) {
        return false;
    }
    return host->paused ? host->step != NULL : fm_pacer_due_ns(&host->pacer) <= now_ns;
}

// Small worlds go to the front of `due`. Returns how many there are.
static uint32_t collect_due(fm_conductor *conductor, uint64_t now_ns)
{
    uint32_t small_count = 0;
    conductor->due_count = 0;
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        fm_host *host = conductor->hosts[i];
        if (!is_due(conductor, host, now_ns)) {
            continue;
        }
        conductor->due[conductor->due_count++] = host;
        if (host->tick_ns < SMALL_TICK_NS && host->agents < SMALL_AGENTS) {
            conductor->due[conductor->due_count - 1] = conductor->due[small_count];
            conductor->due[small_count++] = host;
        }
    }
    return small_count;
}

static void run_due_ticks(fm_conductor *conductor, uint64_t now_ns)
{
    uint32_t small_count = collect_due(conductor, now_ns);
    if (small_count > 1) {
        fm_workers_run(conductor->workers, small_count, 1, tick_small_hosts, conductor);
    }
    for (uint32_t i = small_count > 1 ? small_count : 0; i < conductor->due_count; i++) {
        tick_due_host(conductor, conductor->due[i], conductor->workers);
    }
}

// When the next tick is due; UINT64_MAX when no world ticks.
static uint64_t next_due_ns(const fm_conductor *conductor, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        const fm_host *host = conductor->hosts[i];
        uint64_t due_ns = host->paused ? UINT64_MAX : fm_pacer_due_ns(&host->pacer);
        if (host->step != NULL) {
            due_ns = 0;
        }
        if (fm_playback_is(host)) {
            due_ns = fm_playback_due_ns(host);
        }
        if (fm_recording_stands_still(conductor->config, host)) {
            due_ns = UINT64_MAX;
        }
        if (fm_recording_is_watched(host) && due_ns > now_ns + FM_HELD_UP_NS) {
            due_ns = now_ns + FM_HELD_UP_NS;
        }
        next = due_ns < next ? due_ns : next;
    }
    return next;
}

// ---- jobs --------------------------------------------------------------------------------------

// A step or seek under way holds up what comes after it, so that pipelined requests are done in
// order, and a journal that is too far behind holds up everything. Only the end of the world, which
// is always the last job, does not wait.
static bool must_wait(const fm_host *host)
{
    return (host->step != NULL || fm_playback_is_seeking(host) || fm_recording_is_behind(host)) &&
           ((const fm_job *)host->backlog_last)->kind != FM_JOB_REMOVE;
}

static fm_job *pop_backlog(fm_host *host)
{
    fm_job *job = (fm_job *)host->backlog_first;
    host->backlog_first = job->event.next;
    return job;
}

// While the journal cannot be written, a refusal must not wait for it.
static void run_job(fm_conductor *conductor, fm_host *host, fm_job *job, uint64_t now_ns)
{
    if (fm_recording_refuses(conductor->config, host, job->kind) ||
        fm_playback_refuses(host, job->kind)) {
        finish_at_once(conductor, job, FM_ERR_IO);
    } else {
        fm_jobs_run(conductor, host, job, now_ns);
    }
}

// Jobs must get on although ticks are always late; but what clients ask for must not make them
// late. Each world does one job in any case.
static bool is_enough(const fm_conductor *conductor, uint32_t done, uint64_t begun_ns,
                      uint64_t now_ns)
{
    bool much = done >= JOBS_AT_LEAST || (done > 0 && now_ns - begun_ns > JOBS_SLICE_NS);
    return much && next_due_ns(conductor, now_ns) <= now_ns;
}

static void run_backlog(fm_conductor *conductor, fm_host *host, uint64_t begun_ns)
{
    fm_recording_catch_up(host);
    if (fm_recording_state(conductor->config, host) != host->journal_shown) {
        fm_conductor_show(conductor, host);
    }
    if (fm_playback_is_seeking(host)) {
        fm_playback_take_newer(conductor, host);
    }
    bool worked = false;
    for (uint32_t done = 0; host->backlog_first != NULL && !must_wait(host); done++) {
        uint64_t now_ns = fm_clock_now_ns();
        if (is_enough(conductor, done, begun_ns, now_ns)) {
            break;
        }
        fm_job *job = pop_backlog(host);
        if (job->kind == FM_JOB_REMOVE) {
            remove_host(conductor, job);
            return; // the loop may have released the host by now
        }
        run_job(conductor, host, job, now_ns);
        if (!host->paused) { // nothing is late while it is
            fm_pacer_spend(&host->pacer, fm_clock_now_ns() - now_ns);
        }
        worked = true;
    }
    if (worked) {
        fm_conductor_show(conductor, host);
    }
    fm_recording_flush(conductor, host);
}

// From the last to the first, because a world that ends is replaced in the list by the last one.
static void run_backlogs(fm_conductor *conductor)
{
    uint64_t begun_ns = fm_clock_now_ns();
    for (uint32_t i = conductor->host_count; i-- > 0;) {
        run_backlog(conductor, conductor->hosts[i], begun_ns);
    }
}

// Moves a host's inbox to its backlog. The lock is held.
static void take_inbox(fm_host *host)
{
    if (host->backlog_first == NULL) {
        host->backlog_first = host->inbox_first;
    } else {
        host->backlog_last->next = host->inbox_first;
    }
    host->backlog_last = host->inbox_last;
    host->inbox_first = NULL;
}

// Takes in what the loop has posted. New worlds, whose first job says so, join the others.
static void take_posted(fm_conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    while (conductor->posted_count > 0) {
        fm_host *host = conductor->posted[--conductor->posted_count];
        take_inbox(host);
        if (((fm_job *)host->backlog_first)->kind == FM_JOB_ADD) {
            pthread_mutex_unlock(&conductor->lock);
            add_host(conductor, pop_backlog(host), fm_clock_now_ns());
            pthread_mutex_lock(&conductor->lock);
        }
    }
    pthread_mutex_unlock(&conductor->lock);
}

// ---- the thread --------------------------------------------------------------------------------

// Lets queries search until the next tick is due, for query_budget_ms at most, but for a
// little while in any case. Returns whether some are still running.
static bool run_queries(fm_conductor *conductor)
{
    uint64_t now_ns = fm_clock_now_ns();
    uint64_t end_ns = now_ns + (uint64_t)(conductor->config->query_budget_ms * 1e6);
    uint64_t due_ns = next_due_ns(conductor, now_ns);
    end_ns = due_ns < end_ns ? due_ns : end_ns;
    end_ns = end_ns < now_ns + QUERY_SLICE_NS ? now_ns + QUERY_SLICE_NS : end_ns;
    bool running = false;
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        running |= fm_queries_search(conductor, conductor->hosts[i], conductor->workers,
                                     conductor->scratches, end_ns);
        fm_recording_flush(conductor, conductor->hosts[i]);
    }
    return running;
}

static bool has_backlog(const fm_conductor *conductor)
{
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        const fm_host *host = conductor->hosts[i];
        if (host->backlog_first != NULL && !must_wait(host)) {
            return true;
        }
    }
    return false;
}

// Sleeps until something was posted, stop was called, or `until_ns`. Returns whether to stop.
static bool wait_for_work(fm_conductor *conductor, uint64_t until_ns)
{
    struct timespec until = {
        .tv_sec = (time_t)(until_ns / FM_NS_PER_S),
        .tv_nsec = (long)(until_ns % FM_NS_PER_S),
    };
    pthread_mutex_lock(&conductor->lock);
    int result = 0;
    conductor->turn_count++;
    while (!conductor->stop && !conductor->nudged && conductor->posted_count == 0 &&
           result != ETIMEDOUT) {
        result = until_ns == UINT64_MAX
                     ? pthread_cond_wait(&conductor->arrived, &conductor->lock)
                     : pthread_cond_timedwait(&conductor->arrived, &conductor->lock, &until);
    }
    conductor->nudged = false;
    bool stop = conductor->stop;
    pthread_mutex_unlock(&conductor->lock);
    return stop;
}

uint64_t fm_conductor_nudge(fm_conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    uint64_t turn_count = conductor->turn_count;
    conductor->nudged = true;
    pthread_cond_signal(&conductor->arrived);
    pthread_mutex_unlock(&conductor->lock);
    return turn_count;
}

static void say_stopped(fm_conductor *conductor)
{
    conductor->stopped.kind = FM_EVENT_STOPPED;
    take_posted(conductor);
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        fm_host *host = conductor->hosts[i];
        fm_jobs_abandon(conductor, host, FM_ERR_GOING_DOWN);
        fm_recording_add_last_keyframe(host);
        fm_recording_flush(conductor, host);
    }
    if (conductor->journals != NULL) {
        fm_journals_stop(conductor->journals);
    }
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        fm_recording_give_up(conductor, conductor->hosts[i]); // what memory was out for
    }
    fm_conductor_emit_all(conductor, &conductor->stopped, &conductor->stopped);
}

uint64_t fm_conductor_turn(fm_conductor *conductor)
{
    take_posted(conductor);
    run_backlogs(conductor);
    run_due_ticks(conductor, fm_clock_now_ns());
    bool busy = run_queries(conductor) || has_backlog(conductor);
    uint64_t written_ns = UINT64_MAX;
    if (conductor->journals != NULL && !conductor->has_thread) {
        written_ns = fm_journals_turn(conductor->journals);
    }
    uint64_t due_ns = next_due_ns(conductor, fm_clock_now_ns());
    due_ns = written_ns < due_ns ? written_ns : due_ns;
    return busy ? 0 : due_ns;
}

static void *conduct(void *context)
{
    fm_conductor *conductor = context;
    bool stop = false;
    // For top(1) and gdb.
    pthread_setname_np(pthread_self(), conductor->for_replays ? "replays" : "conductor");
    if (conductor->for_replays) {
        // Of this thread. Where the system refuses, as configs/fogmarchd.service makes it, do
        // without.
        (void)setpriority(PRIO_PROCESS, 0, REPLAYS_NICE);
    }
    while (!stop) {
        uint64_t until_ns = fm_conductor_turn(conductor);
        stop = wait_for_work(conductor, until_ns);
    }
    say_stopped(conductor);
    return NULL;
}

// ---- beginning and end -------------------------------------------------------------------------

// Condition variables look at the same clock as everything else.
static void init_locks(fm_conductor *conductor)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&conductor->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&conductor->lock, NULL);
}

static void release(fm_conductor *conductor)
{
    fm_journals_destroy(conductor->journals);
    fm_workers_destroy(conductor->workers);
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_fini(&conductor->scratches[i]);
    }
    pthread_cond_destroy(&conductor->arrived);
    pthread_mutex_destroy(&conductor->lock);
    free(conductor->posted);
    free(conductor->hosts);
    free(conductor->due);
    free(conductor);
}

static uint32_t worker_count_of(const fm_config *config)
{
    if (config->workers > 0) {
        return (uint32_t)config->workers;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1) {
        return 1;
    }
    return processors > FM_WORKERS_MAX ? FM_WORKERS_MAX : (uint32_t)processors;
}

static fm_status create_journals(fm_conductor *conductor, bool driven)
{
    const fm_config *config = conductor->config;
    if (config->journal_dir[0] == '\0') {
        return FM_OK;
    }
    const fm_journal_options options = {
        .folder = config->journal_dir,
        .durability = config->durability,
        .interval_ms = config->journal_interval_ms,
        .retry_ms = FM_JOURNAL_RETRY_MS,
        .size_max = config->journal_size_max,
        .keep = config->journal_keep,
        .driven = driven,
        .released = fm_recording_released,
        .failed = fm_recording_failed,
        .context = conductor,
    };
    return fm_journals_create(&options, &conductor->journals);
}

static fm_status create(const fm_config *config, bool driven, bool for_replays,
                        void (*on_event)(void *context), void *context, fm_conductor **out)
{
    fm_conductor *conductor = calloc(1, sizeof *conductor);
    if (conductor == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    conductor->config = config;
    conductor->on_event = on_event;
    conductor->context = context;
    init_locks(conductor);
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_init(&conductor->scratches[i], &fm_memory_libc);
    }
    conductor->for_replays = for_replays;
    uint32_t worker_count = for_replays ? 1 : worker_count_of(config);
    if (fm_workers_create(worker_count, &conductor->workers) != FM_OK ||
        (!for_replays && create_journals(conductor, driven) != FM_OK)) {
        release(conductor);
        return FM_ERR_NO_MEMORY;
    }
    *out = conductor;
    return FM_OK;
}

fm_status fm_conductor_create_driven(const fm_config *config, void (*on_event)(void *context),
                                     void *context, fm_conductor **out)
{
    return create(config, true, false, on_event, context, out);
}

static fm_status start(fm_conductor *conductor, fm_conductor **out)
{
    conductor->has_thread = true; // before the thread reads it
    if (pthread_create(&conductor->thread, NULL, conduct, conductor) != 0) {
        release(conductor);
        return FM_ERR_NO_MEMORY;
    }
    *out = conductor;
    return FM_OK;
}

fm_status fm_conductor_create(const fm_config *config, void (*on_event)(void *context),
                              void *context, fm_conductor **out)
{
    fm_conductor *conductor;
    fm_status status = create(config, false, false, on_event, context, &conductor);
    return status == FM_OK ? start(conductor, out) : status;
}

fm_status fm_conductor_create_for_replays(const fm_config *config, void (*on_event)(void *context),
                                          void *context, fm_conductor **out)
{
    fm_conductor *conductor;
    fm_status status = create(config, false, true, on_event, context, &conductor);
    return status == FM_OK ? start(conductor, out) : status;
}

void fm_conductor_stop(fm_conductor *conductor)
{
    pthread_mutex_lock(&conductor->lock);
    conductor->stop = true;
    pthread_cond_signal(&conductor->arrived);
    pthread_mutex_unlock(&conductor->lock);
    if (!conductor->has_thread) {
        say_stopped(conductor);
    }
}

void fm_conductor_destroy(fm_conductor *conductor)
{
    if (conductor != NULL) {
        if (conductor->has_thread) {
            pthread_join(conductor->thread, NULL);
        }
        release(conductor);
    }
}

uint32_t fm_conductor_worker_count(const fm_conductor *conductor)
{
    return fm_workers_count(conductor->workers);
}
