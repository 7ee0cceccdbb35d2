// server/worlds/outbox.c: see outbox.h.

#include "server/worlds/outbox.h"

#include "server/worlds/recording.h"
#include "server/worlds/shares.h"

void fm_outbox_emit(fm_mailbox *mailbox, fm_host *host, fm_event *event)
{
    if (!fm_recording_hold(host, event)) {
        fm_mailbox_emit(mailbox, event, event);
    }
}

void fm_outbox_close(fm_job *job, fm_status status)
{
    fm_host *host = job->host;
    job->status = status;
    job->tick = host->tick;
    atomic_fetch_sub(&host->jobs_waiting, 1);
    fm_shares_note_done(job);
}

// Nothing will be released before a standby comes (replica_missing: block).
static bool waits_in_vain(const fm_mailbox *mailbox)
{
    return atomic_load(&mailbox->waits_for_copies) && !atomic_load(&mailbox->is_in_step);
}

// `stats` is answered even while the journal cannot be written, or there is no standby that nothing
// is sent without: it says why. The end of a watch tells nobody anything, and must not pile up
// until the disk works.
static bool is_told_at_once(const fm_mailbox *mailbox, const fm_job *job)
{
    return job->kind == FM_JOB_UNWATCH ||
           (fm_job_kinds[job->kind].is_harmless &&
            (fm_recording_is_watched(job->host) || waits_in_vain(mailbox)));
}

void fm_outbox_finish(fm_mailbox *mailbox, fm_job *job, fm_status status)
{
    fm_outbox_close(job, status);
    if (is_told_at_once(mailbox, job)) {
        fm_mailbox_emit(mailbox, &job->event, &job->event);
    } else {
        fm_outbox_emit(mailbox, job->host, &job->event);
    }
}

void fm_outbox_finish_at_once(fm_mailbox *mailbox, fm_job *job, fm_status status)
{
    fm_outbox_close(job, status);
    fm_mailbox_emit(mailbox, &job->event, &job->event);
}

void fm_outbox_show(fm_mailbox *mailbox, fm_host *host, const fm_replay_summary *replay)
{
    host->recording.journal_shown = fm_recording_state(mailbox->config, host);
    fm_host_summary summary = {
        .tick = host->tick,
        .digest = host->digest,
        .agents = host->agents,
        .teams = host->teams,
        .paused = host->paused,
        .tick_hz = host->tick_hz,
        .budget_ms = host->budget_ms,
        .tick_ns = host->tick_ns,
        .journal = host->recording.journal_shown,
        .timeline = host->timeline,
    };
    fm_recording_describe_halt(mailbox->config, host, summary.halted);
    if (replay != NULL) {
        summary.replay = *replay;
    }
    fm_mailbox_show(mailbox, host, &summary);
}
