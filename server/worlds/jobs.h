// server/worlds/jobs.h: what the conductor does for each kind of job.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "server/worlds/conductor.h"

/// Does one job, or begins it (step, query). Jobs that are done are given back.
void fm_jobs_run(fm_conductor *conductor, fm_host *host, fm_job *job, uint64_t now_ns);

/// Inspects the agents that are followed with debug.subscribe. After a tick.
void fm_jobs_trace(fm_conductor *conductor, fm_host *host);

/// Gives back everything that still waits for the world: backlog, step and queries.
void fm_jobs_abandon(fm_conductor *conductor, fm_host *host, fm_status status);
