// server/worlds/outbox.h: what a world sends the event loop, once its journal allows.
//
// Threads: any of the conductor's, one per world.

#pragma once

#include "server/worlds/mailbox.h"

/// Puts an event of a world into the outbox, or holds it back until its contents are in the
/// journal.
void fm_outbox_emit(fm_mailbox *mailbox, fm_host *host, fm_event *event);

/// Ends a job without giving it back: notes its result and the tick.
void fm_outbox_close(fm_job *job, fm_status status);

/// Gives a finished job back to the loop.
void fm_outbox_finish(fm_mailbox *mailbox, fm_job *job, fm_status status);

/// The same for an answer that shows nothing of the world: it does not wait for the journal.
void fm_outbox_finish_at_once(fm_mailbox *mailbox, fm_job *job, fm_status status);

/// Updates the world's summary.
///
/// @param replay  the summary of a replay; NULL: a living world
void fm_outbox_show(fm_mailbox *mailbox, fm_host *host, const fm_replay_summary *replay);
