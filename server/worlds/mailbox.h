// server/worlds/mailbox.h: the two queues between the event loop and a conductor, and the one lock
// that they share.
//
//   loop:  post ──> inbox of a world ──> take, backlog ──> done            conductor
//          receive <── outbox <── emit <── answers, publications ──┘
//
// Neither side ever holds the lock while it works. Inboxes are bounded; a full one is FM_ERR_BUSY.
// The outbox is bounded by leaving out publications; a snapshot replaces them later.
//
// The same lock guards a world's summary, which both threads read.

#pragma once

#include "server/base/config.h"
#include "server/worlds/host.h"

#include <pthread.h>

typedef struct fm_mailbox {
    const fm_config *config; // outlives it
    void (*on_event)(void *context);
    void *context;

    // server/streams/shipping.h sets them.
    atomic_bool has_standby;      // there is one: it gets what is committed
    atomic_bool waits_for_copies; // nothing is sent before the standby has it
    atomic_bool is_in_step;       // the standby is there and keeps up

    pthread_mutex_t lock; // guards what follows, and the group `mail` of every host
    pthread_cond_t arrived;
    fm_events outbox;
    fm_host **posted; // hosts whose inbox is not empty; owned
    uint32_t posted_count, posted_capacity;
    bool nudged;         // the conductor shall take a turn although there is nothing to do
    uint64_t turn_count; // turns that the conductor has ended
    bool stop;
} fm_mailbox;

/// @param config    outlives the mailbox
/// @param on_event  called from the conductor's threads when the outbox is no longer empty:
///                  uv_async_send() or the like
void fm_mailbox_init(fm_mailbox *mailbox, const fm_config *config, void (*on_event)(void *context),
                     void *context);
void fm_mailbox_fini(fm_mailbox *mailbox);

// ---- the event loop's side ---------------------------------------------------------------------

/// Puts a job, and the jobs chained to it (event.next), into its world's inbox at once.
/// @return FM_OK, or FM_ERR_BUSY, after fm_mailbox_stop() FM_ERR_GOING_DOWN, or after the job with
///         which the world went to another node FM_ERR_MOVED: the caller keeps the job
FM_CHECKED fm_status fm_mailbox_post(fm_mailbox *mailbox, fm_job *job);

/// Takes all events out of the outbox, oldest first.
fm_event *fm_mailbox_receive(fm_mailbox *mailbox);

/// A world's summary, as of its last tick or command.
fm_host_summary fm_mailbox_summary(fm_mailbox *mailbox, const fm_host *host);

/// Wakes the conductor. @return turns that it has ended so far
uint64_t fm_mailbox_nudge(fm_mailbox *mailbox);

/// From now on nothing can be posted, and fm_mailbox_wait() says to stop.
void fm_mailbox_stop(fm_mailbox *mailbox);

// ---- the conductor's side ----------------------------------------------------------------------

/// Moves the inbox of one world to its backlog, each job to where its turn is (shares.h). @return
/// that world; NULL: all inboxes are empty
fm_host *fm_mailbox_take(fm_mailbox *mailbox);

/// Ends a turn: sleeps until something was posted, stop or nudge was called, or `until_ns`.
/// @return whether to stop
bool fm_mailbox_wait(fm_mailbox *mailbox, uint64_t until_ns);

/// Puts a chain of events into the outbox, at once, whatever the journal says. Any thread. NULL is
/// allowed
void fm_mailbox_emit(fm_mailbox *mailbox, fm_event *first, fm_event *last);

/// Replaces the summary of a world. Its thread.
void fm_mailbox_show(fm_mailbox *mailbox, fm_host *host, const fm_host_summary *summary);

/// From now on a world that holds back may be shown as of this tick. Any thread.
void fm_mailbox_note_known(fm_mailbox *mailbox, fm_host *host, uint64_t tick, uint64_t digest);
