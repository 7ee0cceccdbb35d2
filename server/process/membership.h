// server/process/membership.h: a server that is a node of a cluster: starts and ends its worlds by
// the directory's orders (server/cluster/node.h).
//
//   TAKE ── thread pool: own it, read its log, replay ──> conductor, hub
//   DROP ── conductor: REMOVE ──> memory dropped; its journal stays as NUMBER-NAME.journal.ended
//   FOLLOW ── thread pool: read the log of a world that lives elsewhere, replay, read on, until it
//             is this node's ──> conductor, hub
//   LEAVE ── conductor: REMOVE ──> journal's writer: last batch, owner/W ──> clients: moved, memory
//            dropped
//
// Without cluster_name there is no store and no node, and all functions do nothing.
//
// Threads: the event loop; the work itself on libuv's thread pool.

#pragma once

#include "server/cluster/etcd_access.h"
#include "server/sessions/hub.h"

/// Makes etcd's access from the settings; reads certificates, key and password.
///
/// @param access  receives it; ends before the config does
/// @param error   receives a sentence; room for FM_ETCD_ERROR_SIZE
/// @return as fm_etcd_access_init()
FM_CHECKED fm_status fm_membership_find_etcd(const fm_config *config, fm_etcd_access *access,
                                             char *error);

/// Reads cluster_secret_file, where there is one. @param error  as above
/// @return FM_OK, FM_ERR_IO or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_membership_read_secrets(const fm_config *config, fm_secrets *secrets,
                                                char *error);

/// The same on SIGHUP: what cannot be read stays unchanged, with a line in the log.
void fm_membership_reload(fm_hub *hub);

/// Makes the store, before the conductor. @return FM_OK, FM_ERR_NO_MEMORY or FM_ERR_BAD_VALUE: a
/// setting is missing or wrong, and the log says which
FM_CHECKED fm_status fm_membership_prepare(fm_hub *hub);

/// Joins, once clients can connect.
///
/// @param address, port  that clients connect to, unless cluster_advertise says where
/// @param wake           called from other threads when there are orders to take
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_membership_join(fm_hub *hub, const char *address, uint16_t port,
                                        void (*wake)(void *context), void *context);

/// Takes the orders that wait.
void fm_membership_take_orders(fm_hub *hub);

/// Publishes this node's load. Called a few times a second.
void fm_membership_tell_load(fm_hub *hub);

/// Gives all worlds to other nodes. @return false: no worlds or no other nodes
bool fm_membership_begin_to_drain(fm_hub *hub);

/// Whether that is over: no world is left, or no node would take one.
bool fm_membership_is_drained(fm_hub *hub);

/// Leaves the cluster: other nodes take the worlds over at once.
void fm_membership_leave(fm_hub *hub);

/// Releases the store, once nothing writes to it.
void fm_membership_end(fm_hub *hub);
