// server/jobs.h: what the conductor does for each kind of job.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "core/scratch.h"
#include "server/conductor.h"

/// Does one job, or begins it (step, query). Jobs that are done are given back.
void fm_jobs_run(fm_conductor *conductor, fm_host *host, fm_job *job, uint64_t now_ns);

/// Gives back everything that still waits for the world: backlog, step and queries.
void fm_jobs_abandon(fm_conductor *conductor, fm_host *host, fm_status status);

/// Lets the world's path queries search until `deadline_ns`.
///
/// @param scratches  one for each worker
/// @return whether any is still running
bool fm_jobs_search(fm_conductor *conductor, fm_host *host, fm_workers *workers,
                    fm_scratch *scratches, uint64_t deadline_ns);

/// Before the world changes: running queries get their own copy of what they read.
void fm_jobs_detach_queries(fm_host *host);
