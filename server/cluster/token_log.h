// server/cluster/token_log.h: the tokens that token.create has made on any node, shared by all
// nodes of a cluster. etcd holds hashes only.
//
//   tokens/WORLD/NUMBER  "HASH ROLE TEAM EXPIRES": hash in hexadecimal digits, role as a number,
//                        seconds since 1970 or 0; WORLD of a seat, else 0
//   tokens_next          the number of the next one
//   tokens_changed       something else after each change
//
// Nodes read `tokens_changed` with the directory (server/cluster/node.h), and read the tokens when
// it has changed. A change has the revision of its transaction: a node that reports the same or a
// higher one in nodes/NAME knows of it.
//
// A token that expires has a lease, so that its key is removed after it.
//
// Threads: those of the pool, for what changes; the node's, for what reads.

#pragma once

#include "server/base/tokens.h"
#include "server/cluster/etcd.h"

typedef struct fm_token_log_place {
    const fm_etcd_access *access;
    const char *cluster; // its name
} fm_token_log_place;

/// Stores a token, and gives it a number.
///
/// @param now_s     since 1970
/// @param revision  receives that of the change
/// @param error     receives a sentence; room for FM_ETCD_ERROR_SIZE
/// @return FM_OK, FM_ERR_NO_WORLD: the seat's world is gone, FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_token_log_add(const fm_token_log_place *place, fm_grant *grant,
                                      uint64_t now_s, uint64_t *revision, char *error);

/// Removes a token. @param world  of its seat, or 0 @return FM_OK, FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_token_log_remove(const fm_token_log_place *place, uint64_t world,
                                         uint64_t number, uint64_t *revision, char *error);

/// Removes all tokens for seats of a world. @return as above
FM_CHECKED fm_status fm_token_log_remove_world(const fm_token_log_place *place, uint64_t world,
                                               uint64_t *revision, char *error);

// All tokens as they were at one revision, by their numbers.
typedef struct fm_token_list {
    fm_grant *grants; // owned
    uint32_t count;
    uint64_t revision; // of the last change; 0: there was none yet
} fm_token_list;

/// Reads them. What cannot be read is left out, with a line in the log.
///
/// @param etcd  of the caller
/// @param list  receives them; for free()
fm_etcd_outcome fm_token_log_read(fm_etcd *etcd, const char *cluster, uint32_t timeout_ms,
                                  fm_token_list *list, char *error);

/// Appends to a transaction the request for `tokens_changed`.
void fm_token_log_ask(fm_writer *body, const char *cluster);

/// Its answer: revision of the last change, 0: there was none yet. @param index  of the response
uint64_t fm_token_log_revision(const json_t *answer, size_t index);

/// Reads one. @param key, value as above @return false: not a token
bool fm_token_log_parse(const char *key, const char *value, fm_grant *grant);
