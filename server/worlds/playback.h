// server/worlds/playback.h: what the conductor of the replays does in the place of ticks.
//
//                       ┌── seek: some ticks in each turn ──┐
//                       v                                   │
//   RESTING ── seek ──> SEEKING ── there, or not to be ──> ARRIVED ── views were shown ──> RESTING
//      │                   ^       reached                    (answers the seeks)
//      └── play ──> a tick whenever one is due; the end of the journal, or what cannot be read,
//      ends it
//
// A seek that comes while another is under way takes its place, so that whoever drags a slider
// waits for the last of its places only; all that were asked for are answered together.
//
// A world is lost when a keyframe cannot be read, and comes back with the next seek that works.
// What would look into it is refused meanwhile.
//
// Threads: the conductor's.

#pragma once

#include "server/worlds/conductor.h"

/// Whether a world is a replay.
static inline bool fm_playback_is(const fm_host *host)
{
    return host->playback.replay != NULL;
}

/// Whether it is on its way to a tick, which holds up what comes after.
bool fm_playback_is_seeking(const fm_host *host);

/// Begins a seek, or refuses it. Takes the job.
void fm_playback_seek(fm_conductor *conductor, fm_host *host, fm_job *job);

/// Takes seeks out of the backlog that are to take the place of the one under way.
void fm_playback_take_newer(fm_conductor *conductor, fm_host *host);

/// Whether a kind of job cannot be done because there is no world.
bool fm_playback_refuses(const fm_host *host, fm_job_kind kind);

/// When there is something to do: UINT64_MAX never.
uint64_t fm_playback_due_ns(const fm_host *host);

/// Goes on with a seek for a while, or does a tick.
void fm_playback_turn(fm_conductor *conductor, fm_host *host, fm_workers *workers);

/// Answers the seeks that are under way.
void fm_playback_abandon(fm_conductor *conductor, fm_host *host, fm_status status);

/// Fills in what the summary says of a replay.
void fm_playback_summarize(const fm_host *host, fm_replay_summary *summary);
