// server/worlds/conductor.h: the thread that owns all worlds.
//
// It sleeps until the next tick is due or something arrives; then it repeats:
//
//   1. takes the jobs that arrived in the inboxes and does them, world by world, in order of
//   arrival
//   2. runs the ticks that are due: small worlds side by side, one per worker, large ones one after
//      the other with all workers
//   3. publishes what the ticks changed in watched views
//   4. spends up to query_budget_ms on path queries, as long as no tick is due; where ticks are
//      always late a sixteenth of its time
//
// The replays (server/worlds/playback.h) have a conductor of their own, with one thread, so that
// replaying never delays live worlds.
//
// Jobs and events wait in its mailbox (server/worlds/mailbox.h).

#pragma once

#include "core/base/workers.h"
#include "server/worlds/mailbox.h"

typedef struct fm_conductor fm_conductor;

/// Starts the thread and its workers.
///
/// @param config    outlives the conductor
/// @param fence     the same: what the worlds' journals go to first; NULL: nothing
/// @param on_event  called from the conductor's threads when the outbox is no longer empty:
///                  uv_async_send() or the like
FM_CHECKED fm_status fm_conductor_create(const fm_config *config, const fm_journal_fence *fence,
                                         void (*on_event)(void *context), void *context,
                                         fm_conductor **out);

/// The same for replays: one thread, of lower priority where processors are scarce, and no
/// journals.
FM_CHECKED fm_status fm_conductor_create_for_replays(const fm_config *config,
                                                     void (*on_event)(void *context), void *context,
                                                     fm_conductor **out);

/// The same without the thread: the caller calls fm_conductor_turn(). For tests and simulations, in
/// which loop and conductor are one thread; with one worker nothing else runs.
FM_CHECKED fm_status fm_conductor_create_driven(const fm_config *config, bool for_replays,
                                                void (*on_event)(void *context), void *context,
                                                fm_conductor **out);

/// Makes one turn as above, without sleeping. Driven conductors only.
///
/// @return when there is something to do without a new job: 0 at once, UINT64_MAX never
uint64_t fm_conductor_turn(fm_conductor *conductor);

/// Joins the thread, which must have sent FM_EVENT_STOPPED, and releases everything. NULL is
/// allowed.
void fm_conductor_destroy(fm_conductor *conductor);

/// Puts a job into its world's inbox. The event loop.
///
/// @return FM_OK, or FM_ERR_BUSY, after fm_conductor_stop() FM_ERR_GOING_DOWN, or FM_ERR_MOVED: the
///         world goes to another node. The caller keeps the job. ADD, REMOVE, WATCH and UNWATCH are
///         never refused as too many: other limits bound them.
FM_CHECKED fm_status fm_conductor_post(fm_conductor *conductor, fm_job *job);

/// Asks the conductor to end: running ticks are finished, jobs still waiting come back with
/// FM_ERR_GOING_DOWN, and FM_EVENT_STOPPED is the last event. A driven conductor has sent it when
/// this returns.
void fm_conductor_stop(fm_conductor *conductor);

/// Makes the thread take a turn soon, even with nothing to do. Any thread.
///
/// @return turns that it has completed: grows as long as the thread is not stuck
uint64_t fm_conductor_nudge(fm_conductor *conductor);

/// Takes all events out of the outbox, oldest first. The event loop.
fm_event *fm_conductor_receive(fm_conductor *conductor);

/// A world's summary, as of its last tick or command.
fm_host_summary fm_conductor_summary(fm_conductor *conductor, const fm_host *host);

/// Says whether a standby gets what is committed, and whether what is sent waits until it has it
/// (host->copies.copied). Called as well when that has grown. Any thread.
///
/// @param is_in_step  whether it keeps up; without one that does, what waits may wait for long
void fm_conductor_set_standby(fm_conductor *conductor, bool has_standby, bool waits_for_it,
                              bool is_in_step);

/// The writer of the worlds' journals; NULL: they have none.
fm_journals *fm_conductor_journals(const fm_conductor *conductor);

uint32_t fm_conductor_worker_count(const fm_conductor *conductor);
