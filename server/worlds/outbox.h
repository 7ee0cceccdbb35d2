// server/worlds/outbox.h: what a world sends the event loop, once its journal allows.
//
// Threads: any of the conductor's, one per world.

#pragma once

#include "server/worlds/mailbox.h"

/// Puts an event of a world into the outbox, or holds it back until what it shows is written.
void fm_outbox_emit(fm_mailbox *mailbox, fm_host *host, fm_event *event);

/// Ends a job without giving it back: notes what came of it, and when.
void fm_outbox_close(fm_job *job, fm_status status);

/// Gives a job that is done back to the loop.
void fm_outbox_finish(fm_mailbox *mailbox, fm_job *job, fm_status status);

/// The same for an answer that shows nothing of the world: it waits for no journal.
void fm_outbox_finish_at_once(fm_mailbox *mailbox, fm_job *job, fm_status status);

/// Puts what the world is now into its summary.
///
/// @param replay  what there is to say of a replay; NULL: the world lives
void fm_outbox_show(fm_mailbox *mailbox, fm_host *host, const fm_replay_summary *replay);
