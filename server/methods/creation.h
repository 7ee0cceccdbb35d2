// server/methods/creation.h: making and dropping worlds without blocking the event loop.
//
//   world.create   begin ──> thread pool: map, world ──> conductor: ADD ──> answered, in the hub
//   world.destroy  conductor: REMOVE ──> thread pool: memory dropped ──> answered
//
// In a cluster its subscriptions, its name and its tokens end when its log is gone from etcd, and
// it is answered then: REMOVE comes back that late. If another node had the world before that,
// nothing has ended, and the answer is `moved`.
//
// Threads: the event loop; the work itself on libuv's thread pool.

#pragma once

#include "server/sessions/session.h"

// A world that is being made.
typedef struct fm_creation fm_creation;

/// Whether a world of that name is being made.
bool fm_creation_has_name(const fm_hub *hub, const char *name);

/// Starts making a world; the request is answered when it is done. Takes over the options' map.
/// @return FM_OK, FM_ERR_NO_MEMORY or FM_ERR_IO
FM_CHECKED fm_status fm_creation_begin(fm_session *session, const fm_request *request,
                                       const fm_host_options *options);

/// The conductor has taken a new world, or could not.
void fm_creation_added(fm_hub *hub, fm_job *job);

/// A world is destroyed: ends its subscriptions and tokens, and takes it out of the hub.
void fm_creation_end(fm_hub *hub, fm_host *host);

/// The conductor has released a world. Takes the job over.
void fm_creation_removed(fm_hub *hub, fm_job *job);
