// server/methods/issuance.h: makes and ends tokens while the server runs, and keeps them across
// restarts.
//
//   token.create ──> made ── written on the thread pool ──> answered
//                     └── cannot be written ──> ended again, io
//   token.revoke ──> removed on the thread pool ──> ended, answered
//                     └── cannot be written ──> valid as before, io
//
// Without a ledger nothing is written and the answer comes at once. A token that ends while it is
// being written is removed afterwards.
//
// In a cluster etcd replaces the ledger (server/cluster/token_log.h), and the answer comes when all
// living nodes know of the change:
//
//   written ──> every node has read it (a few looks at the directory), or KNOWN_MS ──> answered
//
// Threads: the event loop; writing on the thread pool, as above.

#pragma once

#include "server/methods/request.h"

/// Makes a token and answers the request.
///
/// @param grant  its role and seat
/// @return FM_OK: answered, or will be; FM_ERR_BUSY: too many changes wait for the disk, the
/// cluster
///         or a standby; FM_ERR_LIMIT, FM_ERR_IO or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_issue_token(fm_session *session, const fm_request *request,
                                    const fm_grant *grant);

/// Ends a token that was made, with the sessions that were opened with it, and answers the request.
/// @return as above; FM_ERR_BAD_VALUE: there is no such token
FM_CHECKED fm_status fm_revoke_token(fm_session *session, const fm_request *request,
                                     uint64_t number);

/// Takes in the tokens of the cluster, where they have changed. Called when the node says so.
void fm_take_cluster_tokens(fm_hub *hub);

/// Answers requests that wait for the other nodes. Called a few times a second.
void fm_issuance_check(fm_hub *hub);

/// Whether changes are still being written: a server that ends waits for them, with the answers.
bool fm_issuance_is_writing(const fm_hub *hub);

/// Ends the tokens that have expired, with their sessions. Called now and then.
void fm_expire_tokens(fm_hub *hub);

/// Ends all tokens for seats of a world that ends.
void fm_revoke_world(fm_hub *hub, uint64_t world);
