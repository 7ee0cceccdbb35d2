// server/worlds/queries.h: questions about paths, answered between ticks.
//
// A job asks one question or many of the same kind. Questions that labels answer are answered at
// once; for the others each gets an fm_query, and the workers search them while no tick is due,
// for query_budget_ms at most between two ticks; where ticks are always late, in a sixteenth of the
// time. Unfinished searches continue the next time.
//
//   job ── labels up to date? ── no ──> waits; each slice of time brings them on
//              │ yes; and room for a copy of its map?
//              v
//          begun: reachable, or known not to be ──────────────────────────> answered
//              └── searches ── slice by slice ── all questions answered ──> answered
//
// Before the world changes, jobs that have begun are given a copy of the map they read, one for all
// that read the same, of FM_HOST_COPIES_MAX maps at most: others wait to begin. So an answer holds
// for one moment: after the tick that it names.
//
// A few questions search at a time, so that only these hold search memory: the oldest, but those of
// different tokens or teams in turn; these share the places for jobs as well. Jobs of a session
// that has ended are dropped.
//
// Threads: the conductor's, between ticks.

#pragma once

#include "core/search/scratch.h"
#include "server/worlds/mailbox.h"

/// Accepts a job. @return FM_OK: fm_queries_search() will finish it; or an error
FM_CHECKED fm_status fm_queries_take(fm_host *host, fm_job *job);

/// Lets the world's queries search until `deadline_ns`.
///
/// @param scratches  one for each worker
/// @return whether any is still running
bool fm_queries_search(fm_mailbox *mailbox, fm_host *host, fm_workers *workers,
                       fm_scratch *scratches, uint64_t deadline_ns);

/// Before the world changes: running queries get a copy of what they read.
void fm_queries_detach(fm_host *host);

/// Gives all queries back unanswered.
void fm_queries_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status);
