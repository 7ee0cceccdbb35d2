// server/worlds/jobs.h: what the conductor does for each kind of job.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "server/worlds/host_kind.h"

/// Does one job, or begins it (step, query). Jobs that are done are given back, and those that
/// change the world after its summary shows that: who has the answer may ask for it.
///
/// @param kind  the host's
void fm_jobs_run(fm_mailbox *mailbox, fm_host *host, const fm_host_kind *kind, fm_job *job);

/// Answers an order that was given in parts, once it has reached all agents. Call after what may
/// complete it: a tick, a keyframe, a save.
void fm_jobs_finish_order(fm_mailbox *mailbox, fm_host *host);

/// Answers the step under way with what is done of it.
void fm_jobs_finish_step(fm_mailbox *mailbox, fm_host *host);

/// Gives back everything that still waits for the world: backlog, step and queries. FM_ERR_MOVED
/// tells a client to send its request again to another node; so, with that status, a step that has
/// begun and an order that has reached some of its agents end as done. What a world that is lost
/// has not written ends as fm_recording_released() says.
void fm_jobs_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status);
