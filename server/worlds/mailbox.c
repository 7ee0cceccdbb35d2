// server/worlds/mailbox.c: see mailbox.h.

#include "server/worlds/mailbox.h"

#include "server/base/clock.h"
#include "server/worlds/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define WATCHES_WAITING_MAX (4u * FM_WATCHES_MAX) // jobs that begin or end a watch

// ---- beginning and end -------------------------------------------------------------------------

// Condition variables use the same clock as everything else.
void fm_mailbox_init(fm_mailbox *mailbox, const fm_config *config, void (*on_event)(void *context),
                     void *context)
{
    *mailbox = (fm_mailbox){.config = config, .on_event = on_event, .context = context};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&mailbox->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&mailbox->lock, NULL);
}

void fm_mailbox_fini(fm_mailbox *mailbox)
{
    pthread_cond_destroy(&mailbox->arrived);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox->posted);
}

// ---- from the loop -----------------------------------------------------------------------------

// Room for one more host in the list of those that have something in their inbox. The lock is held.
static bool posted_reserve(fm_mailbox *mailbox)
{
    return fm_reserve(&fm_memory_libc, (void **)&mailbox->posted, &mailbox->posted_capacity,
                      mailbox->posted_count + 1, sizeof(fm_host *));
}

// Everybody may see the world, however many commands wait. But views are asked for by clients that
// leave and come again, too, so there is a limit.
static bool fits(const fm_mailbox *mailbox, const fm_job *job)
{
    uint64_t most =
        mailbox->config->inbox_commands_max + (job->kind == FM_JOB_WATCH ? WATCHES_WAITING_MAX : 0);
    return fm_job_kinds[job->kind].always_fits ||
           (atomic_load(&job->host->jobs_waiting) < most && fm_shares_have_room(job, most));
}

fm_status fm_mailbox_post(fm_mailbox *mailbox, fm_job *job)
{
    fm_host *host = job->host;
    if (!fits(mailbox, job)) {
        return FM_ERR_BUSY;
    }
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->stop || host->shared.is_closed || !posted_reserve(mailbox)) {
        bool stop = mailbox->stop; // the inboxes are no longer read
        bool is_closed = host->shared.is_closed;
        pthread_mutex_unlock(&mailbox->lock);
        return stop ? FM_ERR_GOING_DOWN : is_closed ? FM_ERR_MOVED : FM_ERR_BUSY;
    }
    host->shared.is_closed = job->kind == FM_JOB_REMOVE;
    if (host->shared.inbox.first == NULL) {
        mailbox->posted[mailbox->posted_count++] = host;
    }
    for (fm_event *event = &job->event, *next; event != NULL; event = next) {
        next = event->next;
        fm_events_append(&host->shared.inbox, event);
        atomic_fetch_add(&host->jobs_waiting, 1);
        fm_shares_note_posted((const fm_job *)event);
    }
    pthread_cond_signal(&mailbox->arrived);
    pthread_mutex_unlock(&mailbox->lock);
    return FM_OK;
}

fm_host *fm_mailbox_take(fm_mailbox *mailbox)
{
    fm_host *host = NULL;
    fm_events taken = {0};
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->posted_count > 0) {
        host = mailbox->posted[--mailbox->posted_count];
        fm_events_append_all(&taken, &host->shared.inbox);
    }
    pthread_mutex_unlock(&mailbox->lock);
    while (taken.first != NULL) {
        fm_shares_queue((fm_job *)fm_events_pop(&taken));
    }
    return host;
}

uint64_t fm_mailbox_nudge(fm_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    uint64_t turn_count = mailbox->turn_count;
    mailbox->nudged = true;
    pthread_cond_signal(&mailbox->arrived);
    pthread_mutex_unlock(&mailbox->lock);
    return turn_count;
}

void fm_mailbox_stop(fm_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->stop = true;
    pthread_cond_signal(&mailbox->arrived);
    pthread_mutex_unlock(&mailbox->lock);
}

bool fm_mailbox_wait(fm_mailbox *mailbox, uint64_t until_ns)
{
    struct timespec until = {
        .tv_sec = (time_t)(until_ns / FM_NS_PER_S),
        .tv_nsec = (long)(until_ns % FM_NS_PER_S),
    };
    pthread_mutex_lock(&mailbox->lock);
    int result = 0;
    mailbox->turn_count++;
    while (!mailbox->stop && !mailbox->nudged && mailbox->posted_count == 0 &&
           result != ETIMEDOUT) {
        result = until_ns == UINT64_MAX
                     ? pthread_cond_wait(&mailbox->arrived, &mailbox->lock)
                     : pthread_cond_timedwait(&mailbox->arrived, &mailbox->lock, &until);
    }
    mailbox->nudged = false;
    bool stop = mailbox->stop;
    pthread_mutex_unlock(&mailbox->lock);
    return stop;
}

// ---- to the loop -------------------------------------------------------------------------------

void fm_mailbox_emit(fm_mailbox *mailbox, fm_event *first, fm_event *last)
{
    if (first == NULL) {
        return;
    }
    last->next = NULL;
    pthread_mutex_lock(&mailbox->lock);
    bool was_empty = mailbox->outbox.first == NULL;
    fm_events_append_all(&mailbox->outbox, &(fm_events){first, last});
    pthread_mutex_unlock(&mailbox->lock);
    if (was_empty) {
        mailbox->on_event(mailbox->context);
    }
}

fm_event *fm_mailbox_receive(fm_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    fm_event *first = mailbox->outbox.first;
    mailbox->outbox.first = NULL;
    pthread_mutex_unlock(&mailbox->lock);
    return first;
}

void fm_mailbox_note_known(fm_mailbox *mailbox, fm_host *host, uint64_t tick, uint64_t digest)
{
    pthread_mutex_lock(&mailbox->lock);
    host->shared.tick_known = tick;
    host->shared.digest_known = digest;
    pthread_mutex_unlock(&mailbox->lock);
}

fm_host_summary fm_mailbox_summary(fm_mailbox *mailbox, const fm_host *host)
{
    pthread_mutex_lock(&mailbox->lock);
    fm_host_summary summary = host->shared.summary;
    if (host->holds_back) {
        summary.tick = host->shared.tick_known;
        summary.digest = host->shared.digest_known;
    }
    pthread_mutex_unlock(&mailbox->lock);
    return summary;
}

void fm_mailbox_show(fm_mailbox *mailbox, fm_host *host, const fm_host_summary *summary)
{
    pthread_mutex_lock(&mailbox->lock);
    host->shared.summary = *summary;
    pthread_mutex_unlock(&mailbox->lock);
}
