// server/worlds/playback.c: see playback.h.

#include "server/worlds/playback.h"

#include "core/views/inspect.h"
#include "server/base/clock.h"
#include "server/worlds/inspection.h"
#include "server/worlds/outbox.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/shares.h"

#include <stdio.h>
#include <string.h>

#define SLICE_NS (20 * FM_NS_PER_MS) // time for a seek in one turn, at least a tick
#define RETRY_NS (5 * FM_NS_PER_MS)  // until the loop has taken in what was published
#define LOOK_NS  (1 * FM_NS_PER_S)   // between two looks at the end of a journal that may grow

static fm_job *last_seek(const fm_host *host)
{
    return (fm_job *)host->playback.seeks.last;
}

// Clients need not know where the journals are.
static void note_error(fm_host *host, const char *error)
{
    fm_playback *playback = &host->playback;
    const char *file = strstr(error, playback->file);
    snprintf(playback->error, sizeof playback->error, "%.*s", (int)sizeof playback->error - 1,
             file == NULL ? error : file);
}

static void show_summary(fm_mailbox *mailbox, fm_host *host)
{
    const fm_playback *playback = &host->playback;
    const fm_journal_info *info = fm_replay_info(playback->replay);
    const fm_job *seek = last_seek(host);
    fm_replay_summary summary = {
        .first_tick = info->first_tick,
        .last_tick = info->last_tick > host->tick ? info->last_tick : host->tick,
        .seeks = seek == NULL ? FM_TICK_NONE : seek->seek.wanted,
        .differences = fm_replay_verdict_get(playback->replay).differences,
    };
    memcpy(summary.error, playback->error, sizeof summary.error);
    fm_outbox_show(mailbox, host, &summary);
}

// ---- the journal, which may grow ---------------------------------------------------------------

// A file that is gone, or can no longer be opened, is still read through the old handle.
static void look_again(fm_host *host, uint64_t now_ns)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_status ignored = fm_replay_refresh(host->playback.replay, error);
    (void)ignored;
    host->playback.looked_ns = now_ns;
}

// Copies the replay's state to the host. Returns whether the world is another one.
static bool take_position(fm_host *host)
{
    fm_playback *playback = &host->playback;
    const fm_replay *replay = playback->replay;
    fm_replay_rest(playback->replay);
    bool is_other = fm_replay_worlds_begun(replay) != playback->worlds_begun;
    playback->worlds_begun = fm_replay_worlds_begun(replay);
    host->world = fm_replay_world(playback->replay);
    host->tick = fm_replay_position(replay);
    host->digest = host->world == NULL ? 0 : fm_replay_digest(replay);
    for (uint32_t i = 0; is_other && i < host->watches.count; i++) {
        host->watches.items[i].absent = true; // nobody watches the new world yet
    }
    if (host->world != NULL) {
        fm_world_counts counts;
        fm_world_counts_get(host->world, &counts);
        host->agents = counts.agents;
        host->teams = counts.teams;
    }
    return is_other;
}

// ---- seeking -----------------------------------------------------------------------------------

static void keep_seek(fm_host *host, fm_job *job)
{
    fm_playback *playback = &host->playback;
    fm_events_append(&playback->seeks, &job->event);
    playback->tried_again = false;
    playback->arrived = false;
    playback->retry_ns = 0;
}

void fm_playback_seek(fm_mailbox *mailbox, fm_host *host, fm_job *job)
{
    fm_playback *playback = &host->playback;
    uint64_t now_ns = fm_clock_now_ns();
    if (now_ns - playback->looked_ns >= LOOK_NS) {
        look_again(host, now_ns);
    }
    const fm_journal_info *info = fm_replay_info(playback->replay);
    if (job->seek.wanted >= info->first_tick && job->seek.wanted <= info->last_tick) {
        keep_seek(host, job);
        return;
    }
    snprintf(job->seek.error, sizeof job->seek.error,
             "tick %llu is not in this journal, which holds %llu to %llu",
             (unsigned long long)job->seek.wanted, (unsigned long long)info->first_tick,
             (unsigned long long)info->last_tick);
    fm_outbox_finish(mailbox, job, FM_ERR_BAD_VALUE);
}

// Seeks that wait in the backlog replace the one under way.
static void take_newer(fm_mailbox *mailbox, fm_host *host)
{
    if (!fm_host_is_seeking(host)) {
        return;
    }
    fm_events others = {0};
    while (host->backlog.first != NULL) {
        fm_job *job = fm_shares_take(host);
        if (job->kind == FM_JOB_SEEK) {
            fm_playback_seek(mailbox, host, job);
        } else {
            fm_events_append(&others, &job->event);
        }
    }
    host->backlog = others;
}

static void answer_seeks(fm_mailbox *mailbox, fm_host *host, fm_status status)
{
    fm_playback *playback = &host->playback;
    const fm_journal_info *info = fm_replay_info(playback->replay);
    fm_event *seeks = playback->seeks.first;
    playback->seeks = (fm_events){0};
    show_summary(mailbox, host); // before any client can ask
    while (seeks != NULL) {
        fm_job *job = (fm_job *)seeks;
        seeks = job->event.next;
        job->seek.digest = host->digest;
        job->seek.first_tick = info->first_tick;
        job->seek.last_tick = info->last_tick;
        job->seek.differences = fm_replay_verdict_get(playback->replay).differences;
        memcpy(job->seek.error, playback->error, sizeof job->seek.error);
        fm_outbox_finish(mailbox, job, status);
    }
}

// Publishes the whole views; tries again later if the loop is too far behind.
static void show(fm_mailbox *mailbox, fm_host *host)
{
    fm_playback *playback = &host->playback;
    if (host->world != NULL && fm_publish_cut(mailbox, host) != FM_OK) {
        playback->retry_ns = fm_clock_now_ns() + RETRY_NS;
        return;
    }
    playback->arrived = false;
    if (host->world != NULL) {
        fm_trace_all(mailbox, host);
    }
    answer_seeks(mailbox, host, playback->status);
}

static void arrive(fm_mailbox *mailbox, fm_host *host, fm_status status)
{
    host->playback.arrived = true;
    host->playback.status = status;
    host->playback.retry_ns = 0;
    show(mailbox, host);
}

struct slice {
    uint64_t end_ns;
    bool begun;
};

// At least one tick is done, so that every turn makes progress.
static bool has_time(void *context, uint64_t tick)
{
    (void)tick;
    struct slice *slice = context;
    bool go_on = !slice->begun || fm_clock_now_ns() < slice->end_ns;
    slice->begun = true;
    return go_on;
}

static void go_on_seeking(fm_mailbox *mailbox, fm_host *host, fm_workers *workers)
{
    fm_playback *playback = &host->playback;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    uint64_t now_ns = fm_clock_now_ns();
    struct slice slice = {.end_ns = now_ns + SLICE_NS};
    if (host->world != NULL) {
        fm_queries_detach(host);
    }
    fm_status status = fm_replay_seek(playback->replay, last_seek(host)->seek.wanted, workers,
                                      has_time, &slice, error);
    take_position(host);
    if (status == FM_ERR_BUSY) {
        show_summary(mailbox, host);
        return;
    }
    // A running server may have removed its oldest ticks.
    if ((status == FM_ERR_IO || status == FM_ERR_BAD_FORMAT) && !playback->tried_again) {
        playback->tried_again = true;
        look_again(host, now_ns);
        return;
    }
    note_error(host, status == FM_OK ? "" : error);
    arrive(mailbox, host, status);
}

// ---- playing -----------------------------------------------------------------------------------

static void stop_playing(fm_mailbox *mailbox, fm_host *host, const char *error)
{
    host->paused = true;
    note_error(host, error);
    show_summary(mailbox, host);
}

static void play(fm_mailbox *mailbox, fm_host *host, fm_workers *workers)
{
    fm_playback *playback = &host->playback;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    uint64_t begin_ns = fm_clock_now_ns();
    fm_replay_step step = {.report = NULL};
    bool more = false;
    fm_status status = FM_ERR_IO;
    (void)fm_pacer_begin(&host->pacer, begin_ns);
    if (host->world != NULL) {
        fm_queries_detach(host);
        status = fm_replay_tick(playback->replay, workers, &step, &more, error);
    }
    bool is_other = take_position(host);
    if (status != FM_OK || !more) {
        stop_playing(mailbox, host, error);
    }
    if (is_other) { // behind ticks that were not written, or lost
        arrive(mailbox, host, FM_OK);
        return;
    }
    if (status != FM_OK || !more) {
        return;
    }
    fm_load load = {
        .tick_us = (fm_clock_now_ns() - begin_ns) / 1000,
        .expansions = step.report->expansions,
        .moved = step.report->moved_count,
        .agents = host->agents,
    };
    show_summary(mailbox, host);
    fm_publish_tick(mailbox, host, &load);
    fm_trace_all(mailbox, host);
}

// ---- for the conductor -------------------------------------------------------------------------

static bool refuses(const fm_config *config, const fm_host *host, fm_job_kind kind)
{
    (void)config;
    return host->world == NULL && !fm_job_kinds[kind].needs_no_world;
}

static uint64_t due_ns(const fm_config *config, const fm_host *host)
{
    (void)config;
    if (fm_host_is_seeking(host)) {
        return host->playback.retry_ns;
    }
    return host->paused ? UINT64_MAX : fm_pacer_due_ns(&host->pacer);
}

static void turn(fm_mailbox *mailbox, fm_host *host, fm_workers *workers)
{
    if (host->playback.arrived) {
        show(mailbox, host);
    } else if (fm_host_is_seeking(host)) {
        go_on_seeking(mailbox, host, workers);
    } else {
        play(mailbox, host, workers);
    }
}

void fm_playback_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status)
{
    if (fm_host_is_replay(host)) {
        host->playback.arrived = false;
        answer_seeks(mailbox, host, status);
    }
}

static bool holds_up_jobs(const fm_config *config, const fm_host *host)
{
    (void)config;
    return fm_host_is_seeking(host);
}

const fm_host_kind fm_playback_kind = {
    .show = show_summary,
    .due_ns = due_ns,
    .turn = turn,
    .prepare = take_newer,
    .holds_up_jobs = holds_up_jobs,
    .refuses = refuses,
};
