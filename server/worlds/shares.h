// server/worlds/shares.h: what one holder may take of a world's inbox, and of the time that it has
// for requests, so that however much somebody asks for, the others come to their turn. The players
// of a team are one holder, all observers with one token another.
//
//   inbox    a holder has at most as many jobs there as places are left
//   turns    a holder has TURN_UNITS of work in a turn, then come the jobs of all others that wait;
//            what it has asked for beyond that is done in later turns, in order
//
// Admins need no share: their jobs, and views that begin and end, are done before those that a
// holder has in later turns. So a view may begin before what its own client has asked for; it is
// told of that as of everything that happens later. As long as nobody asks for more than TURN_UNITS
// at once, jobs are done in the order in which they came.
//
// Holders are counted in FM_SHARES_MAX places: where there are more of them, or by chance, two may
// have one share together.
//
// Threads: each function says which.

#pragma once

#include "server/worlds/host.h"

/// Whether a job's holder has room for it in an inbox of so many places. The loop.
bool fm_shares_have_room(const fm_job *job, uint64_t places);

/// A job was posted. The loop, with the mailbox's lock.
void fm_shares_note_posted(const fm_job *job);

/// A job that was posted is done. The conductor.
void fm_shares_note_done(const fm_job *job);

/// Puts a job into its world's backlog, where its turn is. The conductor.
void fm_shares_queue(fm_job *job);

/// Takes the first job out of a world's backlog, which must not be empty. The conductor.
fm_job *fm_shares_take(fm_host *host);

/// A job that was taken is about to be done: its turn has come. The conductor.
void fm_shares_begin(const fm_job *job);
