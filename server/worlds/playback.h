// server/worlds/playback.h: what the conductor of the replays does in place of ticks.
//
//                       ┌── seek: some ticks in each turn ──┐
//                       v                                   │
//   RESTING ── seek ──> SEEKING ── there, or not to be ──> ARRIVED ── views were shown ──> RESTING
//      │                   ^       reached                    (answers the seeks)
//      └── play ──> a tick whenever one is due; the end of the journal, or what cannot be read,
//      ends it
//
// A seek that comes while another is under way replaces it, so that a user who drags a slider waits
// only for the last position; all are answered together.
//
// A world is lost when a keyframe cannot be read, and comes back with the next seek that works.
// Jobs that read it are refused meanwhile.
//
// Threads: the conductor's.

#pragma once

#include "server/worlds/host_kind.h"

extern const fm_host_kind fm_playback_kind;

/// Begins a seek, or refuses it. Takes the job.
void fm_playback_seek(fm_mailbox *mailbox, fm_host *host, fm_job *job);

/// Answers the seeks that are under way.
void fm_playback_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status);
