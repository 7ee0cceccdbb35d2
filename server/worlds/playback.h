// server/worlds/playback.h: what the conductor of the replays does in the place of ticks.
//
//                       ┌── seek: some ticks in each turn ──┐
//                       v                                   │
//   RESTING ── seek ──> SEEKING ── there, or not to be ──> ARRIVED ── views were shown ──> RESTING
//      │                   ^       reached                    (answers the seeks)
//      └── play ──> a tick whenever one is due; the end of the journal, or what cannot be read,
//      ends it
//
// A seek that comes while another is under way takes its place, so that a user who drags a slider
// waits for the last of its places only; all that were asked for are answered together.
//
// A world is lost when a keyframe cannot be read, and comes back with the next seek that works.
// What would look into it is refused meanwhile.
//
// Threads: the conductor's.

#pragma once

#include "server/worlds/host_kind.h"

extern const fm_host_kind fm_playback_kind;

/// Begins a seek, or refuses it. Takes the job.
void fm_playback_seek(fm_mailbox *mailbox, fm_host *host, fm_job *job);

/// Answers the seeks that are under way.
void fm_playback_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status);
