// server/methods/replays.h: journals as replays: listing, opening and closing them without blocking
// the event loop.
//
//   replay.list   thread pool: reads every journal ──> answered
//   replay.open   thread pool: opens the journal, makes its first world ──> the replays'
//                 conductor: ADD ──> answered, in the hub
//   replay.close  the same conductor: REMOVE ──> thread pool: memory dropped ──> answered
//
// A replay ends with the session that opened it, so closing a page is enough.
//
// Threads: the event loop; the work itself on libuv's thread pool.

#pragma once

#include "server/sessions/session.h"

#define FM_JOURNALS_LISTED_MAX 256u // the newest ones
#define FM_LISTINGS_MAX        4u   // under way at once

/// Whether journals can be replayed here.
bool fm_replays_are_possible(const fm_hub *hub);

/// Starts listing the journals; the request is answered when it is done.
/// @return FM_OK, FM_ERR_BUSY, FM_ERR_NO_MEMORY or FM_ERR_IO
FM_CHECKED fm_status fm_replays_list(fm_session *session, const fm_request *request);

/// Starts opening a journal; the request is answered when it is done.
///
/// @param file   its name in journal_dir, as a client sent it
/// @param error  receives a sentence; room for FM_ERROR_TEXT_SIZE
/// @return FM_OK, FM_ERR_NO_JOURNAL, FM_ERR_LIMIT, FM_ERR_NO_MEMORY or FM_ERR_IO
FM_CHECKED fm_status fm_replays_open(fm_session *session, const fm_request *request,
                                     const fm_value *file, char *error);

/// The conductor has taken a replay, or could not. Takes the job over.
void fm_replays_added(fm_hub *hub, fm_job *job);

/// Ends a replay.
///
/// @param job  FM_JOB_REMOVE of this replay; taken over unless this fails
/// @return FM_OK or FM_ERR_BUSY
FM_CHECKED fm_status fm_replays_close(fm_hub *hub, fm_host *host, fm_job *job);

/// Ends the replays that a session opened.
void fm_replays_end_session(fm_hub *hub, uint64_t session);
